// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What is left out is filled in by the API server, so that no reader has to know a default.
func TestDefaults(t *testing.T) {
	want := map[string]map[string]any{
		"Server": {
			"redfish":  map[string]any{"bmcRef": map[string]any{"name": "rack1-u07"}},
			"powerOff": "Allowed", "foundRunning": "Hold", "cleaning": "None", // power and reclaimPolicy: another for a machine than for a VM
		},
		"vm": {
			"openstack": vmBlock(map[string]any{"rebuildPolicy": "Never"}),
			"powerOff":  "Allowed", "foundRunning": "Hold", "cleaning": "None",
		},
		"ServerClass": {
			"openstack":     vmBlock(map[string]any{"rebuildPolicy": "Never"}),
			"reclaimPolicy": "Delete",
		},
		"Cloud": {
			"cloudsSecretRef": map[string]any{"name": "fra1"},
			"cloudName":       "fra1",
		},
		"SSHCertificateAuthority": {
			"publicKeys": []any{staffKey},
		},
		"ServerClaim": {
			"power": "On",
			"boot":  map[string]any{"method": "PXE", "when": "Once"},
		},
		"BMC": {
			"endpoint":             "https://10.0.0.7",
			"credentialsSecretRef": map[string]any{"name": "rack1-u07"},
		},
		"ServerMaintenance": {
			"serverRef": map[string]any{"name": "rack1-u07"},
			"policy":    "OwnerApproval", "power": "Keep",
		},
	}
	for kind := range bare {
		object := build(kind, unique("defaults"), nil)
		create(t, admin, object)
		if diff := cmp.Diff(want[kind], object.Object["spec"]); diff != "" {
			t.Errorf("%s: spec (-want +got):\n%s", kind, diff)
		}
		if diff := cmp.Diff(any(map[string]any{"observedGeneration": int64(-1)}), object.Object["status"]); diff != "" {
			t.Errorf("%s: status (-want +got):\n%s", kind, diff)
		}
	}
	tolerating := claim(unique("defaults"), set{"spec.tolerations": []any{map[string]any{"key": "gpu", "value": "a100"}}})
	create(t, admin, tolerating)
	got, _, _ := unstructured.NestedSlice(tolerating.Object, "spec", "tolerations")
	if diff := cmp.Diff([]any{map[string]any{"key": "gpu", "operator": "Equal", "value": "a100"}}, got); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
}

// vmBlock is the block of the smallest VM, with what the API server adds.
func vmBlock(more map[string]any) map[string]any {
	block := map[string]any{
		"cloudRef": map[string]any{"name": "fra1"}, "flavor": map[string]any{"name": "m1.small"}, "image": map[string]any{"name": "debian-12"},
		"networks": []any{map[string]any{"network": map[string]any{"name": "private"}}},
	}
	maps.Copy(block, more)
	return block
}

// kstatus, by which kubectl, Flux and Argo wait, takes a new object and one whose status was wiped for in progress, never for
// current: a lost status must not read as done (P1).
func TestNewAndWipedObjectsAreInProgress(t *testing.T) {
	const settled = `{"observedGeneration":1,"conditions":[` +
		`{"type":"Ready","status":"True","reason":"Settled","message":"","lastTransitionTime":"2026-11-29T12:00:00Z"},` +
		`{"type":"Reconciling","status":"False","reason":"Settled","message":"","lastTransitionTime":"2026-11-29T12:00:00Z"},` +
		`{"type":"Stalled","status":"False","reason":"Settled","message":"","lastTransitionTime":"2026-11-29T12:00:00Z"}]}`
	for kind := range bare {
		object := build(kind, unique("kstatus"), nil)
		create(t, admin, object)
		expectKstatus(t, object, status.InProgressStatus, "new")
		wipes := map[string]func() error{
			"patched to null": func() error { return patchStatus(t.Context(), t, admin, object, `null`) },
			"replaced by {}": func() error {
				change(object, set{"status": map[string]any{}})
				return as(t, admin).Status().Update(t.Context(), object)
			},
			"left out of an update": func() error {
				change(object, set{"status": nil})
				return as(t, admin).Status().Update(t.Context(), object)
			},
		}
		for how, wipe := range wipes {
			if err := patchStatus(t.Context(), t, admin, object, settled); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			expectKstatus(t, object, status.CurrentStatus, "settled, before it is "+how)
			if err := wipe(); err != nil {
				t.Fatalf("%s: %s: %v", kind, how, err)
			}
			expectKstatus(t, object, status.InProgressStatus, how)
		}
	}
}

func expectKstatus(t *testing.T, object *unstructured.Unstructured, want status.Status, when string) {
	t.Helper()
	if err := as(t, admin).Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	got, err := status.Compute(object)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != want {
		t.Errorf("%s %s: kstatus is %s (%s), want %s", object.GetKind(), when, got.Status, got.Message, want)
	}
}
