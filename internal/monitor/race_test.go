// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestOlderStateRestoredAfterALostRace: the ETag of a picture that could not be written is not used: the region, though it is as
// it was once, does not say what that picture said.
func TestOlderStateRestoredAfterALostRace(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.etags = true })
		w.pass(10 * time.Minute)
		older := w.server("rack1").Status.Observed
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		var raced atomic.Bool
		bmc.set(func(b *scriptedBMC) {
			b.during = func() {
				if raced.CompareAndSwap(false, true) {
					w.meanwhile("rack1", func(s *v1alpha1.Server) { s.Status.Observed.Health = "Critical" })
				}
			}
		})
		w.pass(time.Minute + 59*time.Second)
		for !raced.Load() {
			w.pass(100 * time.Millisecond)
		}
		w.change("rack1", func(s *v1alpha1.Server) { s.Status.Observed = older })
		w.pass(time.Second)
		if got := w.server("rack1").Status.Observed.PowerState; got != v1alpha1.ObservedOn {
			t.Errorf("power %s, want On", got)
		}
	})
}

// TestReconcilersWriteDuringALookIsNoLostRace: the region is not touched by it, so the picture holds.
func TestReconcilersWriteDuringALookIsNoLostRace(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		bmc.set(func(b *scriptedBMC) {
			b.during = func() {
				w.meanwhile("rack1", func(s *v1alpha1.Server) { s.Status.Phase += "x" })
			}
		})
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(3 * time.Minute)
		if got := w.server("rack1").Status; got.Observed.PowerState != v1alpha1.ObservedOn || got.Phase == "" {
			t.Errorf("status: %+v", got)
		}
		if diff := cmp.Diff([]string{"Server rack1"}, w.written()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestNewerPictureOfAnotherMonitorIsNotReverted: ours was taken before and is dropped; the next look tells.
func TestNewerPictureOfAnotherMonitorIsNotReverted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		raced := false
		bmc.set(func(b *scriptedBMC) {
			b.during = func() {
				if raced {
					return
				}
				raced = true
				w.meanwhile("rack1", func(s *v1alpha1.Server) { s.Status.Observed.Health = "Critical" })
			}
		})
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(2*time.Minute + 100*time.Millisecond)
		if got := w.server("rack1").Status.Observed; !raced || got.Health != "Critical" || len(w.written()) != 0 {
			t.Fatalf("the other's picture was reverted: %+v", got)
		}
		w.pass(time.Second)
		if got := w.server("rack1").Status.Observed; got.Health != "OK" || got.PowerState != v1alpha1.ObservedOn {
			t.Errorf("a second later: %+v, want what the BMC says", got)
		}
	})
}

// TestLockLost: a write that comes between the cache's copy and ours is a conflict; the look is done again at once, by what is
// there then.
func TestLockLost(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		raced := false
		w.onPatch(func() {
			if !raced {
				raced = true
				w.meanwhile("rack1", func(s *v1alpha1.Server) { s.Status.Phase = v1alpha1.PhaseAvailable })
			}
		})
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(2*time.Minute + time.Second)
		got := w.server("rack1").Status
		if !raced || got.Observed.PowerState != v1alpha1.ObservedOn || got.Phase != v1alpha1.PhaseAvailable {
			t.Errorf("status: %+v", got)
		}
	})
}

// TestStoppedProcessDoesNotTellThePast: a picture begun long ago is not written.
func TestStoppedProcessDoesNotTellThePast(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		bmc.set(func(b *scriptedBMC) { b.deaf = 5 * time.Minute })
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(2*time.Minute + 5*time.Minute + 100*time.Millisecond)
		if written := w.written(); len(written) != 0 {
			t.Errorf("written five minutes after the look began: %v", written)
		}
		bmc.set(func(b *scriptedBMC) { b.deaf = 0 })
		w.pass(10 * time.Minute)
		if got := w.server("rack1").Status.Observed.PowerState; got != v1alpha1.ObservedOn {
			t.Errorf("power %s after it goes on", got)
		}
	})
}

// TestOutageOfTheAPIServer: what could not be written is looked at again, and told when the API server is back.
func TestOutageOfTheAPIServer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		w.mu.Lock()
		w.patchError = apierrors.NewInternalError(fmt.Errorf("etcd does not answer"))
		w.mu.Unlock()
		bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(20 * time.Minute)
		if looks := len(bmc.asked()); looks < 10 || looks > 30 {
			t.Errorf("%d looks in 20 minutes of outage, want the ladder up to the slow pace", looks)
		}
		w.mu.Lock()
		w.patchError = nil
		w.mu.Unlock()
		w.pass(2*time.Minute + time.Second)
		if got := w.server("rack1").Status.Observed.PowerState; got != v1alpha1.ObservedOn {
			t.Errorf("power %s after the outage", got)
		}
	})
}
