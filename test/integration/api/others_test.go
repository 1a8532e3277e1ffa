// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Tools that know nothing of Holdfast work on its objects as on any other: server-side apply keeps the ledger it does not name.
func TestServerSideApplyKeepsTheLedger(t *testing.T) {
	awaitPolicies(t)
	for _, kind := range []string{"Server", "ServerClaim"} {
		object := remembering(t, kind)
		manifest := build(kind, object.GetName(), set{"spec.power": "Keep"})
		apply := client.ApplyConfigurationFromUnstructured(manifest)
		if err := as(t, editor).Apply(t.Context(), apply, client.FieldOwner("gitops"), client.ForceOwnership); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		expectLedger(t, object)
	}
}

// Deletion is anybody's who has the right, in the foreground too, and ends when the finalizers go.
func TestDeletionAndGarbageCollectionAreAllowed(t *testing.T) {
	awaitPolicies(t)
	for _, kind := range []string{"Server", "ServerClaim"} {
		object := remembering(t, kind)
		if err := as(t, editor).Delete(t.Context(), object.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
			t.Errorf("%s: delete: %v", kind, err)
		}
		expect(t, as(t, collector).Patch(t.Context(), object.DeepCopy(), merge(t, map[string]any{
			"metadata": map[string]any{"finalizers": []any{"holdfast.dev/server"}},
		})), "")
		expect(t, as(t, editor).Patch(t.Context(), object.DeepCopy(), merge(t, map[string]any{
			"metadata": map[string]any{"finalizers": nil},
		})), "")
		if err := as(t, admin).Get(t.Context(), client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%s: still there: %v", kind, err)
		}
	}
}

// Each of two identities writes its own region of status, and neither the other's (P7). Nobody else is held to one: wiping a
// status is safe (P1).
func TestRegionsOfStatus(t *testing.T) {
	awaitPolicies(t)
	const ofMonitor = "status.observed is written by the Holdfast monitor only"
	const ofReconciler = "the Holdfast monitor writes status.observed only"
	const seen, seenOff = `{"observed":{"reachable":true}}`, `{"observed":{"reachable":false}}`
	const told, toldNull = `{"conditions":[{"type":"Ready","status":"True","reason":"Settled","message":"","lastTransitionTime":"2026-11-29T12:00:00Z"}]}`, `{"conditions":null}`
	steps := []struct {
		what    string
		who     user
		status  string
		refusal string
	}{
		{"monitor's first look", monitor, seen, ""},
		{"monitor's second look", monitor, seenOff, ""},
		{"reconciler looks", reconciler, seen, ofMonitor},
		{"reconciler wipes", reconciler, `null`, ofMonitor},
		{"reconciler reports", reconciler, told, ""},
		{"monitor reports", monitor, toldNull, ofReconciler},
		{"monitor reports a generation", monitor, `{"observedGeneration":7}`, ofReconciler},
		{"monitor wipes", monitor, `null`, ofReconciler},
		{"monitor looks again", monitor, seen, ""},
		{"one process as one identity", operator, seenOff, ""},
		{"cluster admin wipes", admin, `null`, ""},
		{"monitor's look after a wipe", monitor, seen, ""},
		{"cluster admin replaces", admin, `{"observed":null,"conditions":null,"observedGeneration":1}`, ""},
	}
	for _, kind := range []string{"Server", "BMC", "Cloud"} {
		object := build(kind, unique("regions"), nil)
		create(t, admin, object)
		for _, step := range steps {
			t.Run(kind+"/"+step.what, func(t *testing.T) {
				expect(t, patchStatus(t.Context(), t, step.who, object, step.status), step.refusal)
			})
		}
	}
}

// A status is reported by the operator and wiped by an admin, with the ledger in place: /status carries no metadata.
func TestStatusWritesLeaveMetadataAlone(t *testing.T) {
	awaitPolicies(t)
	object := remembering(t, "Server")
	withoutLedger := &unstructured.Unstructured{Object: object.DeepCopy().Object}
	withoutLedger.SetAnnotations(nil)
	change(withoutLedger, set{"status": map[string]any{}})
	expect(t, as(t, admin).Status().Update(t.Context(), withoutLedger), "")
	expectLedger(t, object)
}
