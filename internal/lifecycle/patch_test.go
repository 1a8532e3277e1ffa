// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// TestPatchChangesOnlyWhatItNames: annotations, finalizers and references that a patch does not name stay, and nothing that the
// object shares with a cache is written through.
func TestPatchChangesOnlyWhatItNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		annotations := rapid.MapOf(key, rapid.StringN(1, 4, -1)).Draw(rt, "annotations")
		finalizers := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"f", "g", "h"}), rapid.ID).Draw(rt, "finalizers")
		p := lifecycle.Patch{
			Ledger:          rapid.MapOf(key, rapid.StringN(0, 4, -1)).Draw(rt, "ledger"),
			Remove:          rapid.SliceOf(key).Draw(rt, "remove"),
			AddFinalizer:    rapid.SampledFrom([]string{"", "f"}).Draw(rt, "add"),
			RemoveFinalizer: rapid.SampledFrom([]string{"", "g"}).Draw(rt, "remove finalizer"),
		}
		cached := maps.Clone(annotations)
		server := &v1alpha1.Server{
			ObjectMeta: metav1.ObjectMeta{Annotations: cached, Finalizers: slices.Clone(finalizers)},
			Spec:       v1alpha1.ServerSpec{ClaimRef: &v1alpha1.ClaimReference{Name: "web"}},
		}
		p.Apply(server)

		if diff := cmp.Diff(annotations, cached); diff != "" {
			rt.Fatalf("the cache's own map was written to:\n%s", diff)
		}
		for _, k := range []string{"a", "b", "c", "d"} {
			want, there := annotations[k]
			if value, said := p.Ledger[k]; said {
				want, there = value, value != ""
			}
			if slices.Contains(p.Remove, k) {
				want, there = "", false
			}
			if got, ok := server.Annotations[k]; ok != there || got != want {
				rt.Fatalf("annotation %s is %q (%t), want %q (%t)", k, got, ok, want, there)
			}
		}
		for _, f := range []string{"f", "g", "h"} {
			want := slices.Contains(finalizers, f) && f != p.RemoveFinalizer || f == p.AddFinalizer
			if slices.Contains(server.Finalizers, f) != want {
				rt.Fatalf("finalizers %v of %v", server.Finalizers, finalizers)
			}
		}
		if server.Spec.ClaimRef == nil {
			rt.Fatal("a reference that was not named is gone")
		}
	})
}

// TestPatchMovesReferences: a reference is set, or cleared, only where the patch says so.
func TestPatchMovesReferences(t *testing.T) {
	server := &v1alpha1.Server{Spec: v1alpha1.ServerSpec{ClaimRef: &v1alpha1.ClaimReference{Name: "web"}}}
	lifecycle.Patch{
		ClaimRef:       &lifecycle.RefChange[v1alpha1.ClaimReference]{},
		MaintenanceRef: &lifecycle.RefChange[v1alpha1.MaintenanceReference]{To: &v1alpha1.MaintenanceReference{Name: "fan"}},
	}.Apply(server)
	if server.Spec.ClaimRef != nil || server.Spec.MaintenanceRef == nil || server.Spec.MaintenanceRef.Name != "fan" {
		t.Errorf("spec %+v", server.Spec)
	}
	name := "rack1-u07"
	claim := &v1alpha1.ServerClaim{}
	lifecycle.Patch{ServerName: &name}.Apply(claim)
	if claim.Spec.ServerName != name {
		t.Errorf("serverName %q", claim.Spec.ServerName)
	}
}
