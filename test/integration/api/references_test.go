// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// References that bind are set by the operator; a person's one right is to clear those on a Server, which is a release.
func TestReferencesAreSetByTheOperator(t *testing.T) {
	awaitPolicies(t)
	const ofServer = "spec.claimRef and spec.maintenanceRef are set by the Holdfast operator"
	const ofClaim = "spec.serverName is set by the Holdfast operator"
	tests := map[string]struct {
		who     user
		kind    string
		before  set
		patch   string
		refusal string
	}{
		"operator binds":                   {operator, "Server", nil, `{"spec":{"claimRef":{"namespace":"default","name":"web","identity":"c1","uid":"u1"}}}`, ""},
		"operator stamps the uid anew":     {operator, "Server", set{"spec.claimRef": claimRef()}, `{"spec":{"claimRef":{"uid":"u2"}}}`, ""},
		"operator enters maintenance":      {operator, "Server", nil, `{"spec":{"maintenanceRef":{"name":"m1","uid":"u1"}}}`, ""},
		"operator releases":                {operator, "Server", set{"spec.claimRef": claimRef()}, `{"spec":{"claimRef":null}}`, ""},
		"operator chooses":                 {operator, "ServerClaim", nil, `{"spec":{"serverName":"a"}}`, ""},
		"operator chooses again":           {operator, "ServerClaim", set{chosen: "a"}, `{"spec":{"serverName":null}}`, ""},
		"person clears claimRef":           {editor, "Server", set{"spec.claimRef": claimRef()}, `{"spec":{"claimRef":null}}`, ""},
		"person clears maintenanceRef":     {editor, "Server", set{"spec.maintenanceRef": maintenanceRef()}, `{"spec":{"maintenanceRef":null}}`, ""},
		"person edits a bound server":      {editor, "Server", set{"spec.claimRef": claimRef()}, `{"spec":{"powerOff":"Never"}}`, ""},
		"person binds":                     {admin, "Server", nil, `{"spec":{"claimRef":{"namespace":"default","name":"web","identity":"c1","uid":"u1"}}}`, ofServer},
		"person stamps a uid":              {admin, "Server", set{"spec.claimRef": claimRef()}, `{"spec":{"claimRef":{"uid":"u2"}}}`, ofServer},
		"person enters maintenance":        {platformTeam, "Server", nil, `{"spec":{"maintenanceRef":{"name":"m1","uid":"u1"}}}`, ofServer},
		"person swaps one for the other":   {admin, "Server", set{"spec.claimRef": claimRef()}, `{"spec":{"claimRef":null,"maintenanceRef":{"name":"m1","uid":"u1"}}}`, ofServer},
		"tenant takes a server":            {tenant, "ServerClaim", nil, `{"spec":{"serverName":"a"}}`, ofClaim},
		"tenant lets go by hand":           {tenant, "ServerClaim", set{chosen: "a"}, `{"spec":{"serverName":null}}`, "to give the machine back, delete the claim"},
		"cluster admin lets go by hand":    {admin, "ServerClaim", set{chosen: "a"}, `{"spec":{"serverName":null}}`, ofClaim},
		"platform team breaks the glass":   {platformTeam, "ServerClaim", set{chosen: "a"}, `{"spec":{"serverName":null},"metadata":{"annotations":{"holdfast.dev/break-glass":"stuck"}}}`, ""},
		"tenant cannot break it":           {tenant, "ServerClaim", set{chosen: "a"}, `{"spec":{"serverName":null},"metadata":{"annotations":{"holdfast.dev/break-glass":"stuck"}}}`, ofClaim},
		"tenant edits its bound claim":     {tenant, "ServerClaim", set{chosen: "a"}, `{"spec":{"power":"Off","restartedAt":"2026-11-29T12:00:00Z"}}`, ""},
		"tenant annotates its bound claim": {tenant, "ServerClaim", set{chosen: "a"}, `{"metadata":{"annotations":{"holdfast.dev/maintenance-approved":"m1"}}}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := build(test.kind, unique("refs"), test.before)
			create(t, admin, object)
			patch := client.RawPatch(types.MergePatchType, []byte(test.patch))
			expect(t, as(t, test.who).Patch(t.Context(), object, patch), test.refusal)
		})
	}
}

// Memory cannot be forged: an object that carries some is created by the operator, or by who may restore.
func TestMemoryCannotBeForgedAtCreation(t *testing.T) {
	awaitPolicies(t)
	withLedger := func(object *unstructured.Unstructured) *unstructured.Unstructured {
		object.SetAnnotations(map[string]string{identity: "i1"})
		return object
	}
	objects := map[string]func() *unstructured.Unstructured{
		"claim with a ledger":  func() *unstructured.Unstructured { return withLedger(claim(unique("forged"), nil)) },
		"claim with a server":  func() *unstructured.Unstructured { return claim(unique("forged"), set{chosen: "a"}) },
		"server with a ledger": func() *unstructured.Unstructured { return withLedger(server(unique("forged"), nil)) },
		"server with a claim":  func() *unstructured.Unstructured { return server(unique("forged"), set{"spec.claimRef": claimRef()}) },
		"server with a maintenance": func() *unstructured.Unstructured {
			return server(unique("forged"), set{"spec.maintenanceRef": maintenanceRef()})
		},
		"server with a name to be set": func() *unstructured.Unstructured { return generated(withLedger(server("", nil))) },
	}
	for name, object := range objects {
		t.Run(name, func(t *testing.T) {
			forgers := []user{editor}
			if object().GetKind() == "ServerClaim" {
				forgers = append(forgers, tenant)
			}
			for _, who := range forgers {
				expect(t, as(t, who).Create(t.Context(), object()), "needs the right to the verb restore")
				broken := object()
				broken.SetAnnotations(map[string]string{identity: "i1", breakGlass: "want"})
				expect(t, as(t, who).Create(t.Context(), broken), "needs the right to the verb restore")
			}
			for _, who := range []user{platformTeam, admin} {
				expect(t, as(t, who).Create(t.Context(), object()), "")
			}
		})
	}
	expect(t, as(t, tenant).Create(t.Context(), claim(unique("plain"), nil)), "")
	expect(t, as(t, editor).Create(t.Context(), server(unique("plain"), nil)), "")
	expect(t, as(t, operator).Create(t.Context(), withLedger(server(unique("made"), set{"spec.claimRef": claimRef()}))), "")
}

func generated(object *unstructured.Unstructured) *unstructured.Unstructured {
	object.SetName("")
	object.SetGenerateName("forged-")
	return object
}
