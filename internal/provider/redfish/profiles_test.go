// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/conformance"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// TestConformanceOfVendors runs the suite over every model the simulator plays (B100). The suite's machine can do all that the
// contracts speak of, so what a model lacks is given to it here; TestVendorsLackWhatTheyLack has it without.
func TestConformanceOfVendors(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(sim.Profiles())) {
		if slices.Contains(sim.Profiles()[name].Without, "UUID") {
			continue // the suite names its machine by UUID
		}
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t testing.TB, start conformance.Start) conformance.Machine {
				profile := able(sim.Profiles()[name])
				return vendorMachine{newMachine(t, start, sim.BMCSpec{Profile: &profile})}
			})
		})
	}
}

// able is the profile with what the suite asks for and the model lacks.
func able(p sim.Profile) sim.Profile {
	p.Without = slices.DeleteFunc(slices.Clone(p.Without), func(member string) bool { return member == "AssetTag" })
	p.Machine.SerialNumber = ""
	if p.Drives == sim.DrivesNowhere {
		p.Drives = sim.DrivesInStorage
	}
	return p
}

// vendorMachine tells the machine's state in the contract's words: a light that can only blink is lit, and a disk is a disk.
type vendorMachine struct{ *machine }

func (m vendorMachine) Indicator() provider.IndicatorLED {
	if led := m.machine.Indicator(); led != provider.IndicatorBlinking {
		return led
	}
	return provider.IndicatorLit
}

// life is a vendor's machine in a test that walks through its life.
type life struct {
	*machine
	t   *testing.T
	ctx context.Context
}

func newLife(t *testing.T, name string, start conformance.Start) life {
	profile := sim.Profiles()[name]
	return life{newMachine(t, start, sim.BMCSpec{Profile: &profile}), t, t.Context()}
}

func eachModel(t *testing.T, run func(t *testing.T, name string)) {
	for _, name := range slices.Sorted(maps.Keys(sim.Profiles())) {
		t.Run(name, func(t *testing.T) { run(t, name) })
	}
}

// byName names the machine as it can be named: by UUID where the model has one, else by Id.
func (l life) byName() provider.SystemRef {
	if slices.Contains(l.model.Without, "UUID") {
		return provider.SystemRef{ID: l.ID()}
	}
	return provider.SystemRef{UUID: l.UUID()}
}

// switchedOn is somebody who has the machine running: some tell more then.
func (l life) switchedOn() {
	l.t.Helper()
	if _, err := l.Actor().PowerOn(l.ctx, l.byName(), provider.Expect{}); err != nil {
		l.t.Fatal(err)
	}
	l.Settle()
}

// look takes a picture; "not now" is waited out.
func (l life) look() provider.SystemFacts {
	l.t.Helper()
	var facts provider.SystemFacts
	l.insist("look", func() (err error) {
		facts, err = l.Observer().Observe(l.ctx, l.byName(), provider.DepthState, "")
		return err
	})
	return facts
}

// insist calls until what passes has passed, with a growing pause as its callers have.
func (l life) insist(what string, call func() error) {
	l.t.Helper()
	var err error
	for pause := time.Second; pause < time.Minute; pause *= 2 {
		if err = call(); err == nil {
			return
		}
		if class := provider.ClassOf(err); class != provider.Busy && class != provider.Transient {
			break
		}
		l.clock.Advance(pause)
	}
	l.t.Fatalf("%s: %v", what, err)
}

func TestVendorsLackWhatTheyLack(t *testing.T) {
	eachModel(t, func(t *testing.T, name string) {
		l := newLife(t, name, conformance.Start{Power: provider.PowerOff})
		facts := l.look()
		stampable := !slices.Contains(l.model.Without, "AssetTag")
		if facts.StampSupport != stampable {
			t.Errorf("stamp support %v, want %v", facts.StampSupport, stampable)
		}
		_, err := l.Actor().WriteAssetTag(l.ctx, l.byName(), "hf1:0123456789abcdef", provider.Expect{AssetTag: &facts.AssetTag})
		if class := provider.ClassOf(err); stampable != (err == nil) || err != nil && class != provider.Terminal {
			t.Errorf("stamp: %v", err)
		}
		bmc, err := l.Observer().Discover(l.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if bmc.Firmware != l.model.Firmware || len(bmc.Systems) != 1+len(l.model.Trays) {
			t.Errorf("discovered %+v", bmc)
		}
		for _, s := range bmc.Systems {
			if s.CanReset == slices.Contains(l.model.Trays, s.ID) {
				t.Errorf("system %+v: a machine can be reset, a tray cannot (B149)", s)
			}
		}
	})
}

func TestVendorsQuirksAreDetected(t *testing.T) {
	want := map[string][]string{
		"dell-idrac9":           {"indicator-lit-is-normal"},
		"supermicro-x13":        {"no-asset-tag"},
		"supermicro-x10":        {"boot-target-words", "no-asset-tag"},
		"nvidia-dgx-h100":       {"boot-in-pending-settings"},
		"nvidia-bluefield3":     {"no-asset-tag", "no-uuid", "boot-progress-oem"},
		"openbmc":               {"no-asset-tag"},
		"openbmc-evb-host-dark": {"no-asset-tag", "no-uuid"},
	}
	eachModel(t, func(t *testing.T, name string) {
		l := newLife(t, name, conformance.Start{Power: provider.PowerOff})
		l.switchedOn()
		bmc, err := l.Observer().Discover(l.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[name], bmc.Quirks); diff != "" && len(want[name])+len(bmc.Quirks) > 0 {
			t.Errorf("quirks (-want +got):\n%s", diff)
		}
	})
}

// hopelessAilments keep a machine from being switched on at all: then nothing must look as if it was.
var hopelessAilments = []string{"tasks-that-fail", "resets-ignored"}

// TestVendorsAilmentsAreOutlived walks a machine of each model through its life under each of the faults its model is known
// for: armed, on, off, and the truth is told at each step.
func TestVendorsAilmentsAreOutlived(t *testing.T) {
	eachModel(t, func(t *testing.T, name string) {
		for _, ailment := range sim.Profiles()[name].Ailments {
			t.Run(ailment.Name, func(t *testing.T) {
				l := newLife(t, name, conformance.Start{Power: provider.PowerOff})
				if err := l.BMC().Suffer(ailment.Name); err != nil {
					t.Fatal(err)
				}
				if l.BMC().Behaviour().UnknownWhileOff && l.byName().UUID != "" {
					l.knowsItsHostOnlyWhileOn()
					return
				}
				l.outlive(slices.Contains(hopelessAilments, ailment.Name))
			})
		}
	})
}

// TestVendorsAilmentsTogetherAreOutlived is the worst day of each model.
func TestVendorsAilmentsTogetherAreOutlived(t *testing.T) {
	eachModel(t, func(t *testing.T, name string) {
		l := newLife(t, name, conformance.Start{Power: provider.PowerOff})
		for _, ailment := range l.model.Ailments {
			if slices.Contains(hopelessAilments, ailment.Name) || ailment.Name == "nothing-known-while-off" {
				continue
			}
			if err := l.BMC().Suffer(ailment.Name); err != nil {
				t.Fatal(err)
			}
		}
		l.outlive(false)
	})
}

func (l life) outlive(hopeless bool) {
	l.t.Helper()
	pxe := provider.BootOverride{Target: provider.BootPXE, Enabled: provider.BootOnce}
	l.insist("arm", func() error {
		_, err := l.Actor().SetBootOverride(l.ctx, l.byName(), pxe, provider.Expect{Power: provider.PowerOff})
		return err
	})
	l.insist("armed", func() error {
		_, err := l.Actor().PowerOn(l.ctx, l.byName(), provider.Expect{Power: provider.PowerOff, Boot: &provider.BootExpect{Armed: true, Target: provider.BootPXE}})
		return err
	})
	l.Settle()
	want := provider.PowerOn
	if hopeless {
		want = provider.PowerOff
	}
	if seen, truth := l.look().Power, l.Power(); seen != want || truth != want {
		l.t.Errorf("on: seen %s, truly %s, want %s", seen, truth, want)
	}
	if hopeless {
		return
	}
	if booted := l.Booted(); !slices.Contains(booted, "netboot") || l.look().Boot.Armed() {
		l.t.Errorf("booted %v, armed %v: want the network once", booted, l.look().Boot.Armed())
	}
	if !l.Lacks(conformance.MediaDrive) {
		l.insertAndEject()
	}
	l.insist("off", func() error {
		_, err := l.Actor().ForceOff(l.ctx, l.byName(), provider.Expect{})
		return err
	})
	l.Settle()
	l.insist("confirm", func() error { return l.Actor().ConfirmOff(l.ctx, l.byName(), provider.Expect{}) })
	if truth := l.Power(); truth != provider.PowerOff {
		l.t.Errorf("off: truly %s", truth)
	}
	facts, err := l.Observer().Observe(l.ctx, l.byName(), provider.DepthInventory, "")
	if err != nil || facts.Hardware == nil {
		l.t.Errorf("inventory: %v", err)
	}
}

const lifeImage = "http://images.example/debian-12.iso"

// insertAndEject puts an image into the drive and takes it out again, and wants both to show.
func (l life) insertAndEject() {
	l.t.Helper()
	for _, step := range []struct {
		what string
		call func(context.Context, provider.SystemRef, string, provider.Expect) (provider.Outcome, error)
		held bool
	}{{"insert", l.Actor().InsertMedia, true}, {"eject", l.Actor().EjectMedia, false}} {
		l.insist(step.what, func() error {
			_, err := step.call(l.ctx, l.byName(), lifeImage, provider.Expect{})
			return err
		})
		l.Settle()
		facts, err := l.Observer().Observe(l.ctx, l.byName(), provider.DepthMedia, "")
		held := slices.ContainsFunc(facts.Media, func(slot provider.MediaSlot) bool { return slot.Holds(lifeImage) })
		if err != nil || held != step.held || (l.Media() == lifeImage) != step.held {
			l.t.Errorf("%s: shown %v, truly %q, %v", step.what, held, l.Media(), err)
		}
	}
}

// knowsItsHostOnlyWhileOn: a machine whose UUID is not told is never said not to exist (P10), and nothing is done to it; once it was
// seen at its place, silence there contradicts nothing.
func (l life) knowsItsHostOnlyWhileOn() {
	l.t.Helper()
	before := l.Writes()
	_, err := l.Observer().Observe(l.ctx, l.byName(), provider.DepthState, "")
	if class := provider.ClassOf(err); class != provider.Transient {
		l.t.Errorf("observe: %v, want Transient", err)
	}
	_, err = l.Actor().PowerOn(l.ctx, l.byName(), provider.Expect{})
	if provider.ClassOf(err) != provider.Transient || l.Writes() != before {
		l.t.Errorf("power on: %v, %d writes", err, l.Writes()-before)
	}
	if _, err := l.Actor().PowerOn(l.ctx, provider.SystemRef{ID: l.ID()}, provider.Expect{}); err != nil {
		l.t.Errorf("power on by Id: %v", err)
	}
	l.Settle()
	if facts := l.look(); facts.Power != provider.PowerOn || facts.UUID != strings.ToLower(l.UUID()) {
		l.t.Errorf("on: %+v", facts)
	}
	l.SwitchOff()
	l.outlive(false)
}
