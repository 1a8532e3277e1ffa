// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"reflect"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// same wants two values to be equal.
func (f *fixture) same(what string, want, got any) {
	f.Helper()
	if !reflect.DeepEqual(want, got) {
		f.Errorf("%s is %+v, want %+v", what, got, want)
	}
}

// action is an acting call whose effect would show on a machine that is off and bears the tag "rack 7".
type action struct {
	name string
	call func(f *fixture, expect provider.Expect) error
}

func drop(_ provider.Outcome, err error) error { return err }

var pxeOnce = provider.BootOverride{Target: provider.BootPXE, Enabled: provider.BootOnce}

var actions = []action{
	{"PowerOn", func(f *fixture, e provider.Expect) error { return drop(f.Actor().PowerOn(f.ctx, f.byUUID(), e)) }},
	{"ShutDown", func(f *fixture, e provider.Expect) error { return drop(f.Actor().ShutDown(f.ctx, f.byUUID(), e)) }},
	{"ForceOff", func(f *fixture, e provider.Expect) error { return drop(f.Actor().ForceOff(f.ctx, f.byUUID(), e)) }},
	{"ConfirmOff", func(f *fixture, e provider.Expect) error { return f.Actor().ConfirmOff(f.ctx, f.byUUID(), e) }},
	{"ConfirmOn", func(f *fixture, e provider.Expect) error { return f.Actor().ConfirmOn(f.ctx, f.byUUID(), e) }},
	{"SetBootOverride", func(f *fixture, e provider.Expect) error {
		return drop(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, e))
	}},
	{"ClearBootOverride", func(f *fixture, e provider.Expect) error {
		return drop(f.Actor().ClearBootOverride(f.ctx, f.byUUID(), e))
	}},
	{"InsertMedia", func(f *fixture, e provider.Expect) error {
		return drop(f.Actor().InsertMedia(f.ctx, f.byUUID(), image, e))
	}},
	{"EjectMedia", func(f *fixture, e provider.Expect) error {
		return drop(f.Actor().EjectMedia(f.ctx, f.byUUID(), image, e))
	}},
	{"WriteAssetTag", func(f *fixture, e provider.Expect) error {
		if e.AssetTag == nil {
			e.AssetTag = new("rack 7")
		}
		return drop(f.Actor().WriteAssetTag(f.ctx, f.byUUID(), "hf1:abc", e))
	}},
	{"SetIndicator", func(f *fixture, e provider.Expect) error {
		return drop(f.Actor().SetIndicator(f.ctx, f.byUUID(), provider.IndicatorLit, e))
	}},
}

// preconditionCases: what Expect names is checked before anything is done, by every acting call.
var preconditionCases = []testCase{
	{name: "an unmet expectation is a Mismatch, and nothing was done", start: Start{AssetTag: "rack 7"}, run: func(f *fixture) {
		for _, unmet := range []struct {
			name   string
			expect provider.Expect
		}{
			{"power", provider.Expect{Power: provider.PowerOn}},
			{"asset tag", provider.Expect{AssetTag: new("somebody else's")}},
			{"asset tag, empty", provider.Expect{AssetTag: new("")}},
			{"override armed", provider.Expect{Boot: &provider.BootExpect{Armed: true, Target: provider.BootPXE}}},
		} {
			for _, a := range actions {
				if a.name == "ConfirmOff" && unmet.expect.Power != "" {
					continue // it means Off whatever Expect says
				}
				f.quiet(func() {
					f.fails(a.call(f, unmet.expect), provider.Mismatch, provider.ReasonStateMismatch)
				})
			}
		}
		f.same("power", provider.PowerOff, f.Power())
		f.same("asset tag", "rack 7", f.AssetTag())
	}},
	{name: "an override armed unseen is a Mismatch for who relies on none", start: Start{AssetTag: "rack 7"}, run: func(f *fixture) {
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, provider.Expect{}))
		for _, expect := range []provider.BootExpect{{Armed: false}, {Armed: true, Target: provider.BootDisk}} {
			for _, a := range actions {
				f.quiet(func() {
					f.fails(a.call(f, provider.Expect{Boot: &expect}), provider.Mismatch, provider.ReasonStateMismatch)
				})
			}
		}
	}},
	{name: "a look at a machine that is On relies on the rest as well", start: Start{AssetTag: "rack 7", Power: provider.PowerOn}, run: func(f *fixture) {
		for _, expect := range []provider.Expect{
			{AssetTag: new("somebody else's")}, {Boot: &provider.BootExpect{Armed: true, Target: provider.BootPXE}},
		} {
			f.quiet(func() {
				f.fails(f.Actor().ConfirmOn(f.ctx, f.byUUID(), expect), provider.Mismatch, provider.ReasonStateMismatch)
			})
		}
	}},
	{name: "met expectations let a call through", start: Start{AssetTag: "rack 7"}, run: func(f *fixture) {
		expect := provider.Expect{Power: provider.PowerOff, AssetTag: new("rack 7"), Boot: &provider.BootExpect{}}
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, expect))
		expect.Boot = &provider.BootExpect{Armed: true, Target: provider.BootPXE}
		f.done(f.Actor().PowerOn(f.ctx, f.byUUID(), expect))
	}},
}

var bootCases = []testCase{
	{name: "an override is armed, shows, and is armed once", run: func(f *fixture) {
		f.once(func() { f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, provider.Expect{})) })
		seen := f.look().Boot
		if !seen.Armed() || seen.Target != provider.BootPXE || seen.Enabled != provider.BootOnce {
			f.Errorf("the look shows %+v", seen)
		}
		if truth := f.Override(); truth.Target != provider.BootPXE || truth.Enabled != provider.BootOnce {
			f.Errorf("the machine has %+v", truth)
		}
		f.quiet(func() { f.unchanged(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, provider.Expect{})) })
	}},
	{name: "an override is cleared, and cleared once", run: func(f *fixture) {
		f.quiet(func() { f.unchanged(f.Actor().ClearBootOverride(f.ctx, f.byUUID(), provider.Expect{})) })
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, provider.Expect{}))
		f.once(func() { f.done(f.Actor().ClearBootOverride(f.ctx, f.byUUID(), provider.Expect{})) })
		if f.look().Boot.Armed() || f.Override().Armed() {
			f.Error("the override is still armed")
		}
	}},
	{name: "one override replaces another", run: func(f *fixture) {
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, provider.Expect{}))
		disk := provider.BootOverride{Target: provider.BootDisk, Enabled: provider.BootOnce}
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), disk, provider.Expect{Boot: &provider.BootExpect{Armed: true, Target: provider.BootPXE}}))
		f.same("target", provider.BootDisk, f.Override().Target)
	}},
	{name: "a once armed override is gone after the boot that took it (B104)", run: func(f *fixture) {
		f.done(f.Actor().SetBootOverride(f.ctx, f.byUUID(), pxeOnce, provider.Expect{}))
		f.done(f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{}))
		f.Settle()
		if f.look().Boot.Armed() {
			f.Error("the override is armed after the boot")
		}
	}},
	{name: "a target the machine does not know is Terminal, and nothing was done", run: func(f *fixture) {
		f.quiet(func() {
			_, err := f.Actor().SetBootOverride(f.ctx, f.byUUID(), provider.BootOverride{Target: "Carrier-Pigeon", Enabled: provider.BootOnce}, provider.Expect{})
			f.fails(err, provider.Terminal, provider.ReasonBootTargetMissing)
		})
	}},
}

var stampCases = []testCase{
	{name: "a tag is written over the one that was seen, and read back", start: Start{AssetTag: "rack 7"}, run: func(f *fixture) {
		f.once(func() {
			f.done(f.Actor().WriteAssetTag(f.ctx, f.byUUID(), "hf1:0123456789abcdef", provider.Expect{AssetTag: new("rack 7")}))
		})
		f.same("asset tag", "hf1:0123456789abcdef", f.AssetTag())
		f.same("asset tag seen", "hf1:0123456789abcdef", f.look().AssetTag)
		if !f.look().StampSupport {
			f.Error("the look says that the machine takes no stamp")
		}
		f.quiet(func() {
			f.unchanged(f.Actor().WriteAssetTag(f.ctx, f.byUUID(), "hf1:0123456789abcdef", provider.Expect{AssetTag: new("hf1:0123456789abcdef")}))
		})
	}},
	{name: "a tag is cleared", start: Start{AssetTag: "hf1:old"}, run: func(f *fixture) {
		f.done(f.Actor().WriteAssetTag(f.ctx, f.byUUID(), "", provider.Expect{AssetTag: new("hf1:old")}))
		f.same("asset tag", "", f.AssetTag())
	}},
	{name: "nobody's tag is overwritten unseen", start: Start{AssetTag: "rack 7"}, run: func(f *fixture) {
		f.quiet(func() {
			_, err := f.Actor().WriteAssetTag(f.ctx, f.byUUID(), "hf1:abc", provider.Expect{})
			f.fails(err, provider.Mismatch, "")
		})
		f.same("asset tag", "rack 7", f.AssetTag())
	}},
	{name: "a tag that is altered is no stamp, and the old one is put back", start: Start{AssetTag: "rack 7"}, run: func(f *fixture) {
		f.Break(AltersTags)
		_, err := f.Actor().WriteAssetTag(f.ctx, f.byUUID(), "hf1:0123456789abcdef", provider.Expect{AssetTag: new("rack 7")})
		f.fails(err, provider.Terminal, provider.ReasonStampUnsupported)
		f.same("asset tag", "rack 7", f.AssetTag())
	}},
}

var indicatorCases = []testCase{
	{name: "the light is switched, shows, and is switched once", run: func(f *fixture) {
		for _, led := range []provider.IndicatorLED{provider.IndicatorLit, provider.IndicatorOff} {
			f.once(func() { f.done(f.Actor().SetIndicator(f.ctx, f.byUUID(), led, provider.Expect{})) })
			f.same("light", led, f.Indicator())
			f.same("light seen", led, f.look().Indicator)
			f.quiet(func() { f.unchanged(f.Actor().SetIndicator(f.ctx, f.byUUID(), led, provider.Expect{})) })
		}
	}},
}
