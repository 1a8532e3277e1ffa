// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

var lookCases = []testCase{
	{name: "discovery tells the system with its UUID in lower case, and that it can be reset", run: func(f *fixture) {
		facts, err := f.Observer().Discover(f.ctx)
		if err != nil {
			f.Fatal(err)
		}
		i := slices.IndexFunc(facts.Systems, func(s provider.SystemSummary) bool { return s.UUID == strings.ToLower(f.Ref().UUID) })
		if i < 0 || facts.Systems[i].ID != f.Ref().ID || !facts.Systems[i].CanReset {
			f.Errorf("systems are %+v, want %+v among them, with a reset", facts.Systems, f.Ref())
		}
		if facts.AuthMode == "" || facts.Firmware == "" {
			f.Errorf("auth mode %q, firmware %q: not told", facts.AuthMode, facts.Firmware)
		}
	}},
	{name: "a system is found by UUID whatever its case, by Id, and alone", run: func(f *fixture) {
		for _, ref := range []provider.SystemRef{
			{UUID: strings.ToUpper(f.Ref().UUID)}, {UUID: strings.ToLower(f.Ref().UUID)}, {ID: f.Ref().ID}, {},
		} {
			facts, err := f.Observer().Observe(f.ctx, ref, provider.DepthState, "")
			if err != nil || facts.UUID != strings.ToLower(f.Ref().UUID) || facts.ID != f.Ref().ID {
				f.Errorf("%+v: got %q %q %v, want %+v", ref, facts.UUID, facts.ID, err, f.Ref())
			}
		}
	}},
	{name: "a system that is not there is NotFound, and nothing is acted upon (B043)", run: func(f *fixture) {
		for _, ref := range []provider.SystemRef{{UUID: "b6a1a1f2-5c1d-4c43-8f0e-000000000000"}, {ID: "no-such-system"}} {
			_, err := f.Observer().Observe(f.ctx, ref, provider.DepthState, "")
			f.fails(err, provider.NotFound, provider.ReasonSystemNotFound)
			f.quiet(func() {
				_, err = f.Actor().PowerOn(f.ctx, ref, provider.Expect{})
				f.fails(err, provider.NotFound, provider.ReasonSystemNotFound)
			})
		}
	}},
	{name: "a look at the state reads no inventory, a look at the inventory reads both", run: func(f *fixture) {
		if f.look().Hardware != nil {
			f.Error("a look at the state read the inventory")
		}
		facts, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthInventory, "")
		if err != nil {
			f.Fatal(err)
		}
		hw := facts.Hardware
		if hw == nil || facts.Power != provider.PowerOff {
			f.Fatalf("hardware %v, power %s", hw, facts.Power)
		}
		if hw.Manufacturer == "" || hw.Model == "" || hw.Serial == "" || hw.MemoryBytes == 0 || len(hw.Processors) == 0 || len(hw.NICs) == 0 || len(hw.Drives) == 0 {
			f.Errorf("the inventory is not whole: %+v", hw)
		}
		if len(facts.Gaps) > 0 {
			f.Errorf("gaps on a machine that tells all: %v", facts.Gaps)
		}
	}},
	{name: "two looks at the inventory of a machine at rest are equal (B158)", run: func(f *fixture) {
		first, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthInventory, "")
		if err != nil {
			f.Fatal(err)
		}
		second, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthInventory, "")
		if err != nil {
			f.Fatal(err)
		}
		f.same("inventory", first.Hardware, second.Hardware)
	}},
	{name: "looking writes nothing", run: func(f *fixture) {
		f.quiet(func() {
			_, _ = f.Observer().Discover(f.ctx)
			_, _ = f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthInventory, "")
		})
	}},
	{name: "a change of power is never hidden behind NotModified (B037)", start: Start{Power: provider.PowerOn}, run: func(f *fixture) {
		for round := range 6 {
			tag := f.look().ETag
			for range 3 {
				facts, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthState, tag)
				if err != nil {
					f.Fatal(err)
				}
				if !facts.NotModified {
					tag = facts.ETag
				}
			}
			want := provider.PowerOff
			if round%2 == 0 {
				f.SwitchOff()
			} else {
				f.done(f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{}))
				want = provider.PowerOn
			}
			f.Settle()
			facts, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthState, tag)
			if err != nil || facts.NotModified || facts.Power != want {
				f.Fatalf("round %d: got %+v, %v; want %s", round, facts, err, want)
			}
		}
	}},
}
