// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
)

// A claim that named a server is gone, or chooses anew, and nobody took that server: it does not change, so its events wake nobody. The
// claims that passed it over meanwhile must hear of it (B048).
func TestAServerNobodySpeaksForAnyMoreWakesThoseWithoutOne(t *testing.T) {
	former := tenant("former")
	former.Spec.ServerName = lifecycletest.ServerName
	for _, c := range []struct {
		name   string
		server lifecycletest.Override
		want   int
	}{
		{"free", nil, 1},
		{"taken by another", lifecycletest.Claimed, 0},
		{"running for no reason of ours", lifecycletest.Power(v1alpha1.ObservedOn), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reconcilerOver(t, lifecycletest.View(c.server).Server, tenant("waiting"))
			if got := r.rivals(t.Context(), former); len(got) != c.want {
				t.Errorf("wakes %v, want %d claims", got, c.want)
			}
			if got := r.rivals(t.Context(), tenant("undecided")); len(got) != 0 {
				t.Errorf("a claim that named none wakes %v", got)
			}
		})
	}
}

func TestOnlyAClaimThatLeavesAServerWakesOthers(t *testing.T) {
	without, with := tenant("a"), tenant("a")
	with.Spec.ServerName = "s"
	for _, c := range []struct {
		name          string
		before, after *v1alpha1.ServerClaim
		want          bool
	}{
		{"chose", without, with, false},
		{"stays", with, with, false},
		{"chooses anew", with, without, true},
	} {
		if got := unspoken.Update(event.UpdateEvent{ObjectOld: c.before, ObjectNew: c.after}); got != c.want {
			t.Errorf("%s: wakes %t", c.name, got)
		}
	}
	if unspoken.Create(event.CreateEvent{Object: with}) || !unspoken.Delete(event.DeleteEvent{Object: with}) {
		t.Error("a claim wakes others when it goes, not when it comes")
	}
}

func reconcilerOver(t *testing.T, objects ...client.Object) *Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cache := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&v1alpha1.ServerClaim{}, index.ClaimServerName, func(o client.Object) []string {
			if o.(*v1alpha1.ServerClaim).Spec.ServerName != "" {
				return nil
			}
			return []string{index.None}
		}).Build()
	return &Reconciler{Client: cache, Reader: &view.Claims{Settings: lifecycle.DefaultSettings(lifecycletest.ClusterID)}}
}
