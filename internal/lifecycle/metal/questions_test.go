// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
)

// TestAvailable: free for any claim is only what is confirmed, seen, explained and nobody's.
func TestAvailable(t *testing.T) {
	cases := []struct {
		name  string
		given lt.Override
		want  bool
	}{
		{"free and Off", given(), true},
		{"free, On as its spec wants", given(wantsOn, bySpec, lt.On), true},
		{"found running (P13)", lt.On, false},
		{"found running, and Off since", foundRunning, false},
		{"On as its spec wants, and never to be switched off", given(wantsOn, bySpec, lt.On, neverOff), false},
		{"claimed", lt.Claimed, false},
		{"running for a claim", lt.Running, false},
		{"in maintenance", lt.InMaintenance(v1alpha1.PowerKeep), false},
		{"not discovered", undiscovered, false},
		{"no memory", noMemory, false},
		{"restored", moved, false},
		{"being deleted", lt.Deleting, false},
		{"paused", paused, false},
		{"another cluster's", foreign, false},
		{"stamped for somebody", lt.Stamped(lt.ClaimID), false},
		{"not resumed after a restore", afterEpoch, false},
		{"an intent is open (R2)", lt.Announced(ledger.WhySpec, 1), false},
		{"released but its boot is not forgotten", given(lt.Running, lt.RefCleared), false},
		{"unreachable", lt.Unreachable, false},
		{"never seen", lt.Unseen, false},
		{"no such system", systemNotFound, false},
		{"another machine", otherUUID, false},
		{"ledger cannot be read", lt.Garbled(ledger.KeyIntent, "{"), false},
		{"dirty, and to be cleaned (B075)", given(lt.Ledger(func(l *ledger.Server) { l.DirtySince = lt.Before(5) }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.Cleaning = "Wipe" })), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := lt.View(c.given)
			if got := metal.Available(v.Server, v.Settings); got != c.want {
				t.Errorf("available %t, want %t", got, c.want)
			}
		})
	}
	if metal.Available(nil, lifecycle.Settings{}) {
		t.Error("no server is available")
	}
}

// TestAvailableAgreesWithDecide: what the binder is told is free, Decide leaves alone as free.
func TestAvailableAgreesWithDecide(t *testing.T) {
	for _, c := range cases() {
		v := lt.View(c.given)
		d := metal.Decide(v)
		if !metal.Available(v.Server, v.Settings) {
			if d.Step.Kind == lifecycle.StepSettled && d.Step.Message == "free for a claim" {
				t.Errorf("%s %s: not available, and said to be free", c.clause, c.shows)
			}
			continue
		}
		if d.Phase != v1alpha1.PhaseAvailable && d.Phase != v1alpha1.PhaseInitial {
			t.Errorf("%s %s: available, and in phase %s", c.clause, c.shows, d.Phase)
		}
		others := len(v.Twins) > 0 || len(v.BoundClaims) > 0 // the binder looks at them
		if d.Step.Kind == lifecycle.StepHold && !others {
			t.Errorf("%s %s: available, and held: %s", c.clause, c.shows, d.Step.Message)
		}
	}
}

// TestUnsettled: the monitor looks often while a picture brings something forward, and seldom otherwise.
func TestUnsettled(t *testing.T) {
	cases := []struct {
		name  string
		given lt.Override
		want  bool
		since time.Time
	}{
		{"free and Off", given(), false, lt.Before(600)},
		{"running for a claim", lt.Running, false, lt.Before(60)},
		{"held: found running, and Off", foundRunning, false, lt.Before(50)},
		{"held: found running", given(lt.On, wantsKeep), false, lt.Before(600)},
		{"not remembered yet", given(noMemory, lt.Unseen), true, lt.Before(700)},
		{"not discovered, known and Off", undiscovered, false, lt.Before(700)},
		{"not discovered, and On", given(undiscovered, lt.On), true, lt.Before(700)},
		{"not discovered, and not known", given(undiscovered, noInventory), true, lt.Before(700)},
		{"not discovered, and a power-off is announced", given(undiscovered, lt.Announced(ledger.WhyDiscovery, 2)), true, lt.Before(2)},
		{"just bound, and Off", lt.Claimed, false, lt.Before(600)},
		{"just bound, and On", given(lt.Claimed, lt.On), true, lt.Before(600)},
		{"just bound, and not seen", given(lt.Claimed, lt.Unreachable), true, lt.Before(600)},
		{"booting", booting, true, lt.Before(1)},
		{"booted, override not cleared", given(lt.Running, lt.ArmedPXE), true, lt.Before(60)},
		{"an intent is open", given(bySpec, lt.On, lt.Announced(ledger.WhySpec, 2)), true, lt.Before(2)},
		{"asked to be On, and Off", given(lt.Running, lt.Off), true, lt.Before(60)},
		{"on its way", given(lt.Running, poweringOn), true, lt.Before(60)},
		{"spec wants On", wantsOn, true, lt.Before(600)},
		{"being released", given(lt.Running, lt.RefCleared), true, lt.Before(60)},
		{"light to be switched", lt.Spec(func(s *v1alpha1.ServerSpec) { s.IndicatorLED = v1alpha1.IndicatorLit }), true, lt.Before(600)},
		{"a person consents", given(otherStamp, overStamp), true, lt.Before(600)},
		{"paused", given(paused, wantsOn), false, lt.Before(600)},
		{"going", lt.Deleting, false, lt.Before(1)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			since, got := metal.Unsettled(lt.View(c.given).Server)
			if got != c.want {
				t.Errorf("unsettled %t, want %t", got, c.want)
			}
			if !since.Equal(c.since) {
				t.Errorf("since %s, want %s", since, c.since)
			}
		})
	}
	if _, unsettled := metal.Unsettled(nil); unsettled {
		t.Error("no server is unsettled")
	}
}

// TestWaitingForAPictureIsUnsettled: after an effect whose outcome a picture must show, the picture comes soon.
func TestWaitingForAPictureIsUnsettled(t *testing.T) {
	for _, c := range cases() {
		v := lt.View(c.given)
		d := metal.Decide(v)
		if d.Step.Kind != lifecycle.StepAct || d.Step.Record != nil {
			continue
		}
		if _, unsettled := metal.Unsettled(v.Server); !unsettled {
			t.Errorf("%s %s: acts, and the monitor would look at its outcome slowly", c.clause, c.shows)
		}
	}
}

// TestDescribe: explain shows the rule in words and the ways out of a hold.
func TestDescribe(t *testing.T) {
	d := metal.Describe(lt.View(lt.On, lt.RememberedOn(ledger.ByUnknown, "")))
	if d.Rule != "metal 12" || d.RuleText != "otherwise" || d.Step.Clause != "Available.PowerOff.FoundRunning" || len(d.Gates) == 0 || len(d.Gates[0].WaysOut) != 2 {
		t.Errorf("%+v", d)
	}
}
