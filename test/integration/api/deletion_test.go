// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/testenv"
)

// Whatever the operator decides, the API server lets it delete no Server but one that a class made for a claim and that is not to be
// retained: no machine, no standalone VM, none that somebody wants kept. People delete as their rights say.
func TestTheOperatorDeletesWhatAClassMadeAlone(t *testing.T) {
	awaitPolicies(t)
	awaitDeletionPolicy(t)
	const refused = "the Holdfast operator deletes no Server but one"
	made := func(more set) set {
		changes := set{"spec.classRef.name": "small", "spec.claimRef": claimRef(), "spec.reclaimPolicy": "Delete"}
		for path, value := range more {
			changes[path] = value
		}
		return changes
	}
	tests := map[string]struct {
		who     user
		of      string
		changes set
		refusal string
	}{
		"made by a class for a claim":     {operator, "vm", made(nil), ""},
		"made by a class, no policy said": {operator, "vm", made(set{"spec.reclaimPolicy": nil}), ""},
		"to be retained":                  {operator, "vm", made(set{"spec.reclaimPolicy": "Retain"}), refused},
		"its claimRef was cleared":        {operator, "vm", made(set{"spec.claimRef": nil}), refused},
		"a standalone VM":                 {operator, "vm", nil, refused},
		"a machine":                       {operator, "Server", nil, refused},
		"a claimed machine":               {operator, "Server", set{"spec.claimRef": claimRef()}, refused},
		"a machine, by the platform team": {platformTeam, "Server", nil, ""},
		"a VM, by the platform team":      {platformTeam, "vm", made(nil), ""},
		"by the garbage collector":        {collector, "Server", nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := build(test.of, unique("deletion"), test.changes)
			create(t, admin, object)
			expect(t, as(t, test.who).Delete(t.Context(), object, client.DryRunAll), test.refusal)
		})
	}
}

func awaitDeletionPolicy(t *testing.T) {
	t.Helper()
	object := build("Server", unique("deletion"), nil)
	create(t, admin, object)
	testenv.Eventually(t, "holdfast-deletion is in force", func(ctx context.Context) error {
		return expectPolicy(as(t, operator).Delete(ctx, object, client.DryRunAll))
	})
}
