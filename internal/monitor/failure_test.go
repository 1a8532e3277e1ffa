// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestHysteresis: failures in a row make unreachable, one success reachable. The facts stay as last seen.
func TestHysteresis(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.pass(time.Minute)
		w.written()
		seen := w.server("rack1").Status.Observed
		for range 3 { // flickers: two failures, then an answer
			failures := 0
			bmc.set(func(b *scriptedBMC) {
				b.failing = timeout()
				b.during = func() {
					if failures++; failures >= 2 {
						b.set(func(b *scriptedBMC) { b.failing, b.during = nil, nil })
					}
				}
			})
			w.pass(10 * time.Minute)
		}
		if written := w.written(); len(written) != 0 {
			t.Fatalf("flickers were told: %v", written)
		}
		bmc.set(func(b *scriptedBMC) { b.failing = timeout() })
		w.pass(3 * time.Minute)
		if diff := cmp.Diff([]string{"BMC rack1", "Server rack1"}, w.written()); diff != "" {
			t.Errorf("lost: %s", diff)
		}
		want := *seen
		want.Reachable, want.Reason = false, provider.ReasonTimeout
		if diff := cmp.Diff(&want, w.server("rack1").Status.Observed); diff != "" {
			t.Errorf("region of a server that was lost: %s", diff)
		}
		if got := w.bmc("rack1").Status.Observed; got.Reachable || got.Reason != provider.ReasonTimeout || got.Firmware != "1.2.3" {
			t.Errorf("region of a BMC that was lost: %+v", got)
		}
		bmc.asked()
		w.pass(24 * time.Hour)
		if written := w.written(); len(written) != 0 {
			t.Errorf("written again and again: %v", written)
		}
		if looks := len(bmc.asked()); looks < 280 || looks > 300 {
			t.Errorf("%d looks in a day, want one each five minutes", looks)
		}
		bmc.set(func(b *scriptedBMC) { b.failing = nil })
		w.pass(6 * time.Minute)
		if diff := cmp.Diff(seen, w.server("rack1").Status.Observed); diff != "" {
			t.Errorf("region after it came back: %s", diff)
		}
		if diff := cmp.Diff([]string{"BMC rack1", "Server rack1"}, w.written()); diff != "" {
			t.Errorf("back: %s", diff)
		}
	})
}

// TestFailedLookIsNoPicture: R4. The facts seen before the intent do not get its id by a look that failed.
func TestFailedLookIsNoPicture(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.failing = timeout() })
		w.change("rack1", setIntent("i1"))
		w.pass(time.Hour)
		got := w.server("rack1").Status.Observed
		if got.Reachable || got.Intent != "" || got.PowerState != v1alpha1.ObservedOff {
			t.Errorf("region: %+v, want unreachable, Off as last seen, and no intent", got)
		}
	})
}

// TestNeverReachedIsToldAtOnce: where there is no good picture to keep steady, a person who enrolls sees what is wrong.
func TestNeverReachedIsToldAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := newScriptedBMC()
		bmc.failing = timeout()
		w.rack["rack1"] = bmc
		w.put(newServer("rack1"))
		w.put(newBMC("rack1"))
		if got := w.bmc("rack1").Status.Observed; got == nil || got.Reachable || got.Reason != provider.ReasonTimeout || got.Message != "no answer" {
			t.Errorf("region of the BMC: %+v", got)
		}
		if got := w.server("rack1").Status.Observed; got == nil || got.Reachable || got.PowerState != v1alpha1.ObservedUnknown {
			t.Errorf("region of the server: %+v", got)
		}
	})
}

// TestTroubleOfOurOwnIsNotTheBMCs: where credentials could not be read, nothing follows about the BMC.
func TestTroubleOfOurOwnIsNotTheBMCs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		w.written()
		w.mu.Lock()
		delete(w.rack, "rack1") // For fails with an error that is no provider's
		w.mu.Unlock()
		w.pass(20 * time.Minute)
		if written := w.written(); len(written) != 0 {
			t.Errorf("told: %v", written)
		}
		w.mu.Lock()
		w.rack["rack1"] = bmc
		w.mu.Unlock()
		bmc.asked()
		w.pass(6 * time.Minute)
		if len(bmc.asked()) == 0 {
			t.Error("not looked at again")
		}
	})
}

// TestBusyIsGivenTime: the pause that a BMC asks for is kept, up to the longest back-off.
func TestBusyIsGivenTime(t *testing.T) {
	c := DefaultCadence()
	one := strikes{count: 1, same: 1}
	for after, want := range map[time.Duration]time.Duration{0: time.Second, 30 * time.Second: 30 * time.Second, time.Hour: 5 * time.Minute} {
		fail := failureOf(&provider.Error{Class: provider.Busy, Reason: provider.ReasonBusy, After: after})
		if got := c.retry(fail, one); got != want {
			t.Errorf("pause after Busy(%s): %s, want %s", after, got, want)
		}
	}
}

// TestOneBadSystemStopsNoOther: behind one BMC, a system that fails by itself is told alone, and the others are looked at.
func TestOneBadSystemStopsNoOther(t *testing.T) {
	for name, broken := range map[string]error{
		"server error": &provider.Error{Class: provider.Transient, Reason: provider.ReasonServerError, Message: "500"},
		"hangs alone":  timeout(),
		"not found":    &provider.Error{Class: provider.NotFound, Reason: provider.ReasonSystemNotFound, Message: "no such system"},
		"ambiguous":    &provider.Error{Class: provider.Terminal, Reason: provider.ReasonAmbiguousSystem, Message: "several"},
		"no class":     errors.New("broken"),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.start()
				bmc := w.enroll("rack1")
				second := newServer("rack1")
				second.Name, second.Spec.Redfish.SystemUUID = "rack1-2", "uuid-2"
				w.put(second)
				w.pass(time.Minute)
				w.written()
				bmc.set(func(b *scriptedBMC) { b.broken["uuid-rack1"] = broken })
				w.pass(10 * time.Minute)
				if diff := cmp.Diff([]string{"Server rack1"}, w.written()); diff != "" {
					t.Errorf("written: %s", diff)
				}
				absent := failureOf(broken).absent
				if got := w.server("rack1").Status.Observed; got.Reachable != absent || got.Reason == "" {
					t.Errorf("region of the broken one: %+v", got)
				}
				bmc.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
				w.pass(5 * time.Minute)
				if got := w.server("rack1-2").Status.Observed; !got.Reachable || got.PowerState != v1alpha1.ObservedOn {
					t.Errorf("region of the other: %+v", got)
				}
				bmc.set(func(b *scriptedBMC) { delete(b.broken, "uuid-rack1") })
				w.pass(6 * time.Minute)
				if got := w.server("rack1").Status.Observed; !got.Reachable || got.Reason != "" || got.PowerState != v1alpha1.ObservedOn {
					t.Errorf("region after it was repaired: %+v", got)
				}
			})
		})
	}
}

// TestPanicStopsNothing: the BMC in whose visit it was is tried again later, the others go on.
func TestPanicStopsNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bad, good := w.enroll("bad"), w.enroll("good")
		bad.set(func(b *scriptedBMC) { b.panics = true })
		good.asked()
		w.pass(10 * time.Minute)
		if got := kinds(good.asked())["state"]; got != 5 {
			t.Errorf("%d looks at the other, want 5", got)
		}
		bad.set(func(b *scriptedBMC) { b.panics, b.inFlight = false, 0 })
		bad.facts(func(f *provider.SystemFacts) { f.Power = provider.PowerOn })
		w.pass(10 * time.Minute)
		if got := w.server("bad").Status.Observed.PowerState; got != v1alpha1.ObservedOn {
			t.Errorf("power %s after it stopped panicking", got)
		}
	})
}

// TestDeadBMCIsTriedForOneWhoWaits: a change of the ledger is worth one try within the back-off, and does not end it.
func TestDeadBMCIsTriedForOneWhoWaits(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start()
		bmc := w.enroll("rack1")
		bmc.set(func(b *scriptedBMC) { b.failing = timeout() })
		w.pass(time.Hour + time.Minute)
		bmc.asked()
		w.change("rack1", setIntent("i1"))
		w.pass(time.Minute)
		if calls := bmc.asked(); len(calls) != 1 {
			t.Errorf("tries for one who waits: %v, want 1", calls)
		}
	})
}

// TestConfirmed is the table of hysteresis.
func TestConfirmed(t *testing.T) {
	transient, definite, own := failureOf(timeout()), failureOf(refused()), ownFailure()
	for name, test := range map[string]struct {
		strikes strikes
		fail    failure
		now     standing
		want    bool
	}{
		"never seen, first failure":         {strikes{count: 1, same: 1}, transient, standingUnknown, true},
		"good, too few":                     {strikes{count: 2, same: 2}, transient, standingGood, false},
		"good, enough":                      {strikes{count: 3, same: 3}, transient, standingGood, true},
		"good, enough of different reasons": {strikes{count: 3, same: 1}, transient, standingGood, true},
		"good, refused":                     {strikes{count: 1, same: 1}, definite, standingGood, true},
		"bad, another reason once":          {strikes{count: 9, same: 1}, transient, standingBad, false},
		"bad, another reason for good":      {strikes{count: 9, same: 3}, transient, standingBad, true},
		"bad, refused now":                  {strikes{count: 9, same: 1}, definite, standingBad, true},
		"our own trouble":                   {strikes{count: 9, same: 9}, own, standingGood, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.strikes.confirmed(test.fail, test.now, 3); got != test.want {
				t.Errorf("confirmed: %t, want %t", got, test.want)
			}
		})
	}
}

func TestFailureOf(t *testing.T) {
	provided := func(class provider.Class, reason string) error {
		return fmt.Errorf("wrapped: %w", &provider.Error{Class: class, Reason: reason, Message: "m"})
	}
	for name, test := range map[string]struct {
		err  error
		want failure
	}{
		"no provider's": {errors.New("x"), failure{outcome: "Transient", reason: "Unreachable", message: "the BMC could not be read", wide: true}},
		"deadline": {context.DeadlineExceeded,
			failure{outcome: "Transient", reason: "Timeout", message: "the BMC did not answer within the deadline", wide: true}},
		"unreachable":   {provided(provider.Transient, provider.ReasonUnreachable), failure{outcome: "Transient", reason: "Unreachable", message: "m", wide: true}},
		"server error":  {provided(provider.Transient, provider.ReasonServerError), failure{outcome: "Transient", reason: "ServerError", message: "m"}},
		"forbidden":     {provided(provider.Denied, provider.ReasonForbidden), failure{outcome: "Denied", reason: "Forbidden", message: "m"}},
		"credentials":   {provided(provider.Denied, provider.ReasonCredentialsInvalid), failure{outcome: "Denied", reason: "CredentialsInvalid", message: "m", wide: true, definite: true, locking: true}},
		"no secret":     {provided(provider.Denied, provider.ReasonCredentialsMissing), failure{outcome: "Denied", reason: "CredentialsMissing", message: "m", wide: true, definite: true}},
		"certificate":   {provided(provider.Denied, provider.ReasonTLSVerifyFailed), failure{outcome: "Denied", reason: "TLSVerifyFailed", message: "m", wide: true, definite: true}},
		"endpoint":      {provided(provider.Terminal, provider.ReasonEndpointInvalid), failure{outcome: "Terminal", reason: "EndpointInvalid", message: "m", wide: true, definite: true}},
		"no system":     {provided(provider.NotFound, provider.ReasonSystemNotFound), failure{outcome: "NotFound", reason: "SystemNotFound", message: "m", absent: true}},
		"ambiguous":     {provided(provider.Terminal, provider.ReasonAmbiguousSystem), failure{outcome: "Terminal", reason: "AmbiguousSystem", message: "m", absent: true}},
		"busy":          {provided(provider.Busy, provider.ReasonBusy), failure{outcome: "Busy", reason: "Busy", message: "m", wide: true}},
		"without a why": {provided(provider.Transient, ""), failure{outcome: "Transient", reason: "Transient", message: "m"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, failureOf(test.err), cmp.AllowUnexported(failure{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
