// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
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
	shortGrace := lt.Settings(func(s *lifecycle.Settings) { s.GracePeriod = 10 * time.Second })
	vain := lt.Ledger(func(l *ledger.Server) { l.Intent.InVain = true })
	onSince := func(minutes int) lt.Override {
		return lt.Ledger(func(l *ledger.Server) { l.PowerOn.At = lt.Before(minutes) })
	}
	since := func(minutes int) lt.Override {
		return lt.Facts(func(o *v1alpha1.ServerObserved) { o.Since = &metav1.Time{Time: lt.Before(minutes)} })
	}
	return []decided{
		{"Available.PowerOff.ShutDown", "at once: no write for it, unless it is refused", announced(0), act, and(asks, remembers(inVain))},
		{"Available.PowerOff.ShutDown", "after a third of the grace period: remembered", announced(2), act, and(asks, remembers(accepted, inVain))},
		{"Available.PowerOff.ShutDown", "after the grace period", announced(6), act, and(asks, remembers(accepted, inVain))},
		{"Available.PowerOff.ShutDown", "after a day without a manager", announced(24 * 60), act, and(asks, remembers(accepted, inVain))},
		{"Available.PowerOff.ShutDown", "once it is remembered it stays so", given(announced(4), lt.Asked(2)), act, and(asks, remembers())},
		{"Available.PowerOff.Asked", "the operating system has its time", given(announced(3), lt.Asked(1)), wait, within(100 * time.Second)},
		{"Available.PowerOff.Asked", "also after the grace period", given(announced(24*60), lt.Asked(1)), wait, within(100 * time.Second)},
		{"Available.PowerOff.ShutDown", "two thirds of the grace period, however late it was asked", given(announced(24*60), lt.Asked(3)), act, and(asks, remembers())},
		{"Available.PowerOff.Force", "and not more", given(announced(24*60), lt.Asked(4)), act, cuts},
		{"Available.PowerOff.Force", "asked at once: the grace period", given(announced(6), lt.Asked(6)), act, cuts},
		{"Available.PowerOff.ShutDown", "asked at once: not before", given(announced(4), lt.Asked(4)), act, asks},
		{"Available.PowerOff.ShutDown", "the BMC would not have it: asked again, and that it took it is remembered", given(announced(3), lt.Asked(1), vain), act, and(asks, remembers(accepted))},
		{"Available.PowerOff.Force", "it never would: not for ever", given(announced(6), lt.Asked(4), vain), act, cuts},
		{"Available.PowerOff.ShutDown", "we have switched it on since it was asked", given(announced(24*60), lt.Asked(23*60), onSince(22*60)), act, and(asks, remembers(accepted, inVain))},
		{"Available.PowerOff.ShutDown", "asked by a process whose clock goes ahead", given(announced(24*60), lt.Asked(-60)), act, and(asks, remembers(accepted, inVain))},
		{"Available.PowerOff.Changing", "on its way down since it was asked late", given(announced(24*60), lt.Asked(1), poweringOff), wait, nil},
		{"Available.PowerOff.Changing", "on its way down, and nobody has written who asked it", given(announced(24*60), poweringOff, since(1)), wait, nil},
		{"Available.PowerOff.Force", "on its way down for longer than the operating system is given", given(announced(24*60), poweringOff, since(4)), act, cuts},
		{"Available.PowerOff.Force", "a machine that does not come up needs not be asked", given(announced(6), lt.Power(v1alpha1.ObservedPoweringOn)), act, cuts},
		{"Available.PowerOff.ShutDown", "a grace period that ends before the second request: the first is remembered", given(announced(0), shortGrace), act, and(asks, remembers(accepted, inVain))},
		{"Available.PowerOff.Force", "no grace is no request", given(announced(0), noGrace), act, cuts},
		{"Available.PowerOff.ShutDown", "a task from before it was remembered, which runs for ever", given(announced(6), lt.Tasked(provider.TaskRunning)), act, and(asks, remembers(accepted, inVain))},
	}
}

// An end is how an effect may end, after which something is written.
type end string

const (
	accepted end = "accepted"
	inVain   end = "in vain"
)

// remembers checks after which ends of the effect, and of no other, the intent tells that the operating system was asked now.
func remembers(ends ...end) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		wanted := map[end]bool{}
		for _, e := range ends {
			wanted[e] = true
		}
		for e, patch := range map[end]*lifecycle.Patch{accepted: d.Step.Record, inVain: d.Step.Tried} {
			if (patch != nil) != wanted[e] {
				t.Errorf("%s: writes %+v", e, patch)
			}
			if patch == nil {
				continue
			}
			memory, err := ledger.ParseServer(patch.Ledger)
			if err != nil || memory.Intent == nil || memory.Intent.ID != "i-1" || !memory.Intent.Asked.Equal(lt.Now) || memory.Intent.InVain != (e == inVain) {
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
