// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// openedIntent is a ledger entry of an open intent.
func openedIntent(id string) string {
	return fmt.Sprintf(`{"id":%q,"op":"PowerOff","why":"Released","at":"2000-01-01T00:00:00Z","target":"system-uuid"}`, id)
}

func setIntent(id string) func(*v1alpha1.Server) {
	return func(s *v1alpha1.Server) {
		if id == "" {
			delete(s.Annotations, ledger.KeyIntent)
			return
		}
		s.Annotations = map[string]string{ledger.KeyIntent: openedIntent(id)}
	}
}

// pauses returns the pauses between calls.
func pauses(calls []call) []time.Duration {
	var between []time.Duration
	for i := 1; i < len(calls); i++ {
		between = append(between, calls[i].at.Sub(calls[i-1].at))
	}
	return between
}

func TestNewServerIsLookedAtAtOnceAndWithInventory(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		if diff := cmp.Diff(map[string]int{"discover": 1, "inventory": 1}, kinds(bmc.asked())); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"BMC rack1", "Server rack1"}, w.written()); diff != "" {
			t.Error(diff)
		}
		observed := w.server("rack1").Status.Observed
		if observed == nil || !observed.Reachable || observed.PowerState != v1alpha1.ObservedOff || observed.Hardware == nil {
			t.Errorf("region after the first look: %+v", observed)
		}
		if observed := w.bmc("rack1").Status.Observed; observed == nil || !observed.Reachable || len(observed.Systems) != 1 {
			t.Errorf("region of the BMC: %+v", observed)
		}
	})
}

// TestSettledIsPolledSlowlyAndWritesNothing: P8, and only the ComputerSystem is read at rest.
func TestSettledIsPolledSlowlyAndWritesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.asked()
		w.written()
		w.pass(59 * time.Minute)
		if got := kinds(bmc.asked()); got["state"] != 29 || len(got) != 1 {
			t.Errorf("asked in an hour less a minute: %v, want 29 states", got)
		}
		w.pass(46 * time.Hour)
		if got := kinds(bmc.asked()); got["inventory"] != 1 || got["discover"] != 46 {
			t.Errorf("asked in the 46 hours after: %v, want inventory daily and discovery hourly", got)
		}
		if written := w.written(); len(written) != 0 {
			t.Errorf("written at rest: %v", written)
		}
	})
}

// TestLadder: an unsettled server is looked at after 250 ms, then in pauses that double up to the slow one, and from the first
// rung again after each change of ledger or spec.
func TestLadder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.unsettled = func(*v1alpha1.Server) bool { return true }
		w.start()
		bmc := w.enroll("rack1")
		bmc.asked()
		w.change("rack1", func(s *v1alpha1.Server) { s.Generation++ })
		changed := time.Now()
		w.pass(10 * time.Minute)
		calls := bmc.asked()
		if first := calls[0].at.Sub(changed); first != 250*time.Millisecond {
			t.Errorf("first look %s after the change", first)
		}
		want := []time.Duration{}
		for pause := 250 * time.Millisecond; pause <= 64*time.Second; pause *= 2 {
			want = append(want, pause)
		}
		want = append(want, 2*time.Minute, 2*time.Minute, 2*time.Minute)
		got := pauses(calls)
		if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
			t.Errorf("pauses: %s", diff)
		}
		w.change("rack1", setIntent("i1"))
		changed = time.Now()
		w.pass(time.Second)
		calls = bmc.asked()
		if len(calls) != 3 || calls[0].at.Sub(changed) != 250*time.Millisecond {
			t.Errorf("%d looks within a second of a change of the ledger, want 3 from 250ms on: %v", len(calls), calls)
		}
	})
}

// TestSettlingEndsTheHaste: what settles goes back to the slow pace, from that moment on.
func TestSettlingEndsTheHaste(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.change("rack1", setIntent("i1"))
		w.pass(10 * time.Second)
		bmc.asked()
		w.change("rack1", setIntent(""))
		w.pass(119 * time.Second)
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("looked at after it settled: %v", calls)
		}
		w.pass(2 * time.Second)
		if calls := bmc.asked(); len(calls) != 1 {
			t.Errorf("looks after the slow pace: %v", calls)
		}
	})
}

// TestOtherWritesDoNotHurry: labels, other people's annotations and the reconciler's status leave the pace as it is.
func TestOtherWritesDoNotHurry(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.asked()
		w.change("rack1", func(s *v1alpha1.Server) { s.Labels = map[string]string{"rack": "r1"} })
		w.change("rack1", func(s *v1alpha1.Server) { s.Annotations = map[string]string{"example.com/note": "x"} })
		w.change("rack1", func(s *v1alpha1.Server) { s.Status.Phase = v1alpha1.PhaseAvailable })
		w.pass(time.Minute)
		if calls := bmc.asked(); len(calls) != 0 {
			t.Errorf("looked at: %v", calls)
		}
	})
}

// TestRestartOverASettledFleet: first looks are spread over the slow pace, and nothing is written (P8).
func TestRestartOverASettledFleet(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		const fleet = 200
		for i := range fleet {
			w.enroll(fmt.Sprintf("rack%03d", i))
		}
		w.stop()
		w.written()
		for _, bmc := range w.rack {
			bmc.asked()
		}
		random := rand.New(rand.NewPCG(1, 2))
		w.start(random.Float64)
		perQuarter, seen := make([]int, 4), map[*scriptedBMC]bool{}
		for quarter := range perQuarter {
			w.pass(30 * time.Second)
			for _, bmc := range w.rack {
				if kinds(bmc.asked())["state"] > 0 && !seen[bmc] {
					seen[bmc] = true
					perQuarter[quarter]++
				}
			}
		}
		for quarter, looks := range perQuarter {
			if looks < fleet/8 || looks > fleet*3/8 {
				t.Errorf("quarter %d of the slow pace: %d first looks of %d, want them spread: %v", quarter, looks, fleet, perQuarter)
			}
		}
		if written := w.written(); len(written) != 0 {
			t.Errorf("%d writes after a restart", len(written))
		}
	})
}

// TestUnsettledIsLookedAtFirstAfterARestart: what is on its way does not wait for the spread.
func TestUnsettledIsLookedAtFirstAfterARestart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.stop()
		w.change("rack1", setIntent("i1"))
		bmc.asked()
		w.start()
		if got := kinds(bmc.asked()); got["state"] != 1 {
			t.Errorf("asked at the start: %v", got)
		}
	})
}

// TestJitter: pauses stay within a tenth of what they are.
func TestJitter(t *testing.T) {
	for _, random := range []float64{0, 0.3, 0.999} {
		if got := jittered(100*time.Second, func() float64 { return random }); got < 90*time.Second || got > 110*time.Second {
			t.Errorf("jittered 100s: %s", got)
		}
	}
}
