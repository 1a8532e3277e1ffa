// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// graceCases: however late a manager, or a BMC, comes to it, no power is cut of a machine that was not asked to shut down before (B025,
// docs/decisions/0163). The grace period is five minutes, and a request is repeated after a third of it.
func graceCases() []decided {
	const act, wait = lifecycle.StepAct, lifecycle.StepWait
	announced := func(minutes int) lt.Override { return given(bySpec, lt.On, lt.Announced(ledger.WhySpec, minutes)) }
	asks, cuts := does(lifecycle.OpShutDown), does(lifecycle.OpForceOff)
	noGrace := lt.Settings(func(s *lifecycle.Settings) { s.GracePeriod = 0 })
	return []decided{
		{"Available.PowerOff.ShutDown", "at once: no write for it, unless it is refused", announced(0), act, and(asks, remembers(refused))},
		{"Available.PowerOff.ShutDown", "after a third of the grace period: remembered", announced(2), act, and(asks, remembers(accepted, refused))},
		{"Available.PowerOff.ShutDown", "after the grace period: remembered also where the BMC has no time for it", announced(6), act, and(asks, remembers(accepted, refused, deferred))},
		{"Available.PowerOff.ShutDown", "after a day without a manager", announced(24 * 60), act, and(asks, remembers(accepted, refused, deferred))},
		{"Available.PowerOff.ShutDown", "once it is remembered it stays so", given(announced(4), lt.Asked(2)), act, and(asks, remembers())},
		{"Available.PowerOff.Asked", "the operating system has its time", given(announced(3), lt.Asked(1)), wait, within(100 * time.Second)},
		{"Available.PowerOff.Asked", "also after the grace period", given(announced(24*60), lt.Asked(1)), wait, within(100 * time.Second)},
		{"Available.PowerOff.ShutDown", "two thirds of the grace period, however late it was asked", given(announced(24*60), lt.Asked(3)), act, and(asks, remembers())},
		{"Available.PowerOff.Force", "and not more", given(announced(24*60), lt.Asked(4)), act, cuts},
		{"Available.PowerOff.Force", "asked at once: the grace period", given(announced(6), lt.Asked(6)), act, cuts},
		{"Available.PowerOff.ShutDown", "asked at once: not before", given(announced(4), lt.Asked(4)), act, asks},
		{"Available.PowerOff.Force", "a machine that is on its way down needs not be asked", given(announced(6), poweringOff), act, cuts},
		{"Available.PowerOff.Force", "no grace is no request", given(announced(0), noGrace), act, cuts},
		{"Available.PowerOff.ShutDown", "a task from before it was remembered, which runs for ever", given(announced(6), lt.Tasked(provider.TaskRunning)), act, and(asks, remembers(accepted, refused, deferred))},
	}
}

// An end is how an effect may end, after which something is written.
type end string

const (
	accepted end = "accepted"
	refused  end = "refused"
	deferred end = "deferred"
)

// remembers checks after which ends of the effect, and of no other, the intent tells that the operating system was asked now.
func remembers(ends ...end) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		wanted := map[end]bool{}
		for _, e := range ends {
			wanted[e] = true
		}
		for e, patch := range map[end]*lifecycle.Patch{accepted: d.Step.Record, refused: d.Step.Refused, deferred: d.Step.Deferred} {
			if (patch != nil) != wanted[e] {
				t.Errorf("%s: writes %+v", e, patch)
			}
			if patch == nil {
				continue
			}
			memory, err := ledger.ParseServer(patch.Ledger)
			if err != nil || memory.Intent == nil || memory.Intent.ID != "i-1" || !memory.Intent.Asked.Equal(lt.Now) {
				t.Errorf("%s: writes %+v (%v)", e, memory.Intent, err)
			}
		}
	}
}

// within checks that a step waits no longer.
func within(d time.Duration) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, made lifecycle.Decision) {
		t.Helper()
		if made.Step.After <= 0 || made.Step.After > d {
			t.Errorf("waits %s", made.Step.After)
		}
	}
}
