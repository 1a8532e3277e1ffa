// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
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
		}).
		WithIndex(&v1alpha1.ServerClaim{}, index.ClaimClass, func(o client.Object) []string {
			return []string{o.(*v1alpha1.ServerClaim).Spec.ClassName}
		}).Build()
	return &Reconciler{Client: cache, Reader: &view.Claims{Settings: lifecycle.DefaultSettings(lifecycletest.ClusterID)}}
}

// B048: a claim without a server hears of each server that it could have now and could not before, and of nothing else that moves of a free
// one: a thousand waiting claims are not woken by a lamp.
func TestWhatAFreeServerOffers(t *testing.T) {
	taint := lifecycletest.Spec(func(s *v1alpha1.ServerSpec) { s.Taints = []v1alpha1.Taint{{Key: "gpu", Effect: v1alpha1.TaintNoBind}} })
	inRack := func(s *lifecycletest.Scene) { s.Server.Labels = map[string]string{"rack": "r1"} }
	for _, c := range []struct {
		name          string
		before, after lifecycletest.Override
		want          bool
	}{
		{"free as before", nil, nil, false},
		{"becomes free", lifecycletest.Claimed, nil, true},
		{"is switched off by hand", lifecycletest.Power(v1alpha1.ObservedOn), nil, true},
		{"is taken", nil, lifecycletest.Claimed, false},
		{"loses a taint", taint, nil, true},
		{"gets a label", nil, inRack, true},
		{"is no longer cordoned", lifecycletest.Spec(func(s *v1alpha1.ServerSpec) { s.Unschedulable = true }), nil, true},
		{"is found to be larger", nil, lifecycletest.Facts(func(o *v1alpha1.ServerObserved) {
			o.Hardware = &v1alpha1.Hardware{CPUs: v1alpha1.CPUSummary{Cores: 64}}
		}), true},
		{"is somebody else now", lifecycletest.Ledger(func(l *ledger.Server) { l.Identity = "twin" }), nil, true},
		{"its lamp is lit", nil, lifecycletest.Facts(func(o *v1alpha1.ServerObserved) { o.IndicatorLED = "Lit" }), false},
		{"its health changes", nil, lifecycletest.Facts(func(o *v1alpha1.ServerObserved) { o.Health = "Warning" }), false},
		{"gets a label while it is taken", lifecycletest.Claimed, lifecycletest.All(lifecycletest.Claimed, inRack), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := lifecycletest.View(c.before).Server, lifecycletest.View(c.after).Server
			got := offers(lifecycle.DefaultSettings(lifecycletest.ClusterID)).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
			if got != c.want {
				t.Errorf("wakes those without a server: %t, want %t", got, c.want)
			}
		})
	}
}

// A class wakes the claims that it has still to make a server for, and of them those alone.
func TestAClassWakesWhomItMadeNothingYet(t *testing.T) {
	of := func(name, class, bound string) *v1alpha1.ServerClaim {
		c := tenant(name)
		c.Spec.ClassName = class
		if bound != "" {
			c.Annotations[ledger.KeyBound] = bound
		}
		return c
	}
	r := reconcilerOver(t, of("waits", "small", ""), of("has", "small", "s1"), of("other", "large", ""), tenant("metal"))
	got := r.unmadeOf(t.Context(), &v1alpha1.ServerClass{ObjectMeta: metav1.ObjectMeta{Name: "small"}})
	if len(got) != 1 || got[0].Name != "waits" {
		t.Errorf("wakes %v", got)
	}
}
