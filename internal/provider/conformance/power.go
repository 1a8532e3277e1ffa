// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var (
	on  = Start{Power: provider.PowerOn}
	off = Start{Power: provider.PowerOff}
)

var powerCases = []testCase{
	{name: "a machine is switched on by one write; again is Unchanged", start: off, run: func(f *fixture) {
		f.once(func() { f.done(f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{Power: provider.PowerOff})) })
		f.Settle()
		f.same("power", provider.PowerOn, f.Power())
		f.same("power seen", provider.PowerOn, f.look().Power)
		f.quiet(func() { f.unchanged(f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{})) })
	}},
	{name: "a machine that says it is on its way on is not switched on again (B030)", start: off, run: func(f *fixture) {
		f.done(f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{}))
		if f.look().Power != provider.PowerOff {
			f.quiet(func() { f.unchanged(f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{})) })
		} else if _, err := f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{}); err != nil {
			f.fails(err, provider.Busy, "") // it does not tell yet: once more does no harm, "not now" is fine
		}
		f.Settle()
		f.same("power", provider.PowerOn, f.Power())
	}},
	{name: "a machine that is on is a Mismatch for who relies on Off", start: on, run: func(f *fixture) {
		f.quiet(func() {
			_, err := f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{Power: provider.PowerOff})
			f.fails(err, provider.Mismatch, provider.ReasonStateMismatch)
		})
	}},
	{name: "a machine shuts down by one write; off it is Unchanged", start: on, run: func(f *fixture) {
		f.once(func() { f.done(f.Actor().ShutDown(f.ctx, f.byUUID(), provider.Expect{Power: provider.PowerOn})) })
		f.Settle()
		f.same("power", provider.PowerOff, f.Power())
		f.quiet(func() { f.unchanged(f.Actor().ShutDown(f.ctx, f.byUUID(), provider.Expect{})) })
	}},
	{name: "power is cut by one write; off it is Unchanged", start: on, run: func(f *fixture) {
		f.once(func() { f.done(f.Actor().ForceOff(f.ctx, f.byUUID(), provider.Expect{})) })
		f.Settle()
		f.same("power", provider.PowerOff, f.Power())
		f.quiet(func() { f.unchanged(f.Actor().ForceOff(f.ctx, f.byUUID(), provider.Expect{})) })
	}},
	{name: "a machine that shuts down slowly can still be cut off", start: on, run: func(f *fixture) {
		f.done(f.Actor().ShutDown(f.ctx, f.byUUID(), provider.Expect{}))
		f.done(f.Actor().ForceOff(f.ctx, f.byUUID(), provider.Expect{}))
		f.Settle()
		f.same("power", provider.PowerOff, f.Power())
	}},
	{name: "Off is confirmed by a look, and changes nothing", start: on, run: func(f *fixture) {
		f.quiet(func() {
			f.fails(f.Actor().ConfirmOff(f.ctx, f.byUUID(), provider.Expect{}), provider.Mismatch, provider.ReasonStateMismatch)
		})
		f.SwitchOff()
		f.quiet(func() {
			if err := f.Actor().ConfirmOff(f.ctx, f.byUUID(), provider.Expect{}); err != nil {
				f.Errorf("a machine switched off by hand is not confirmed: %v", err)
			}
			f.fails(f.Actor().ConfirmOff(f.ctx, f.byUUID(), provider.Expect{AssetTag: new("another")}), provider.Mismatch, provider.ReasonStateMismatch)
		})
	}},
	{name: "On is confirmed by a look, and changes nothing", start: on, run: func(f *fixture) {
		f.quiet(func() {
			if err := f.Actor().ConfirmOn(f.ctx, f.byUUID(), provider.Expect{}); err != nil {
				f.Errorf("a machine that is On is not confirmed: %v", err)
			}
			f.fails(f.Actor().ConfirmOn(f.ctx, f.byUUID(), provider.Expect{AssetTag: new("another")}), provider.Mismatch, provider.ReasonStateMismatch)
		})
		f.SwitchOff()
		f.quiet(func() {
			f.fails(f.Actor().ConfirmOn(f.ctx, f.byUUID(), provider.Expect{}), provider.Mismatch, provider.ReasonStateMismatch)
		})
	}},
	{name: "a target state is never taken for the actual one (B034, B037)", start: on, run: func(f *fixture) {
		f.Break(IgnoresResets)
		f.done(f.Actor().ForceOff(f.ctx, f.byUUID(), provider.Expect{}))
		f.Settle()
		f.same("power seen", provider.PowerOn, f.look().Power)
		f.fails(f.Actor().ConfirmOff(f.ctx, f.byUUID(), provider.Expect{}), provider.Mismatch, provider.ReasonStateMismatch)
	}},
}
