// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

const otherImage = "http://images.example/other.iso"

var (
	byHTTP    = lt.BootBy(v1alpha1.BootHTTP)
	byMedia   = lt.BootBy(v1alpha1.BootVirtualMedia)
	armedHTTP = lt.Armed("UefiHttp", lt.Image)
	armedCD   = lt.Armed("Cd", "")
	inDrive   = lt.InDrive(lt.Image)
	osRunning = lt.Facts(func(o *v1alpha1.ServerObserved) { o.BootProgress = "OSRunning" })
	newImage  = lt.Claim(func(c *v1alpha1.ServerClaim) { c.Spec.Boot.Image = otherImage })
)

// httpCases: the same stages as PXE; the override bears the image's URL.
func httpCases() []decided {
	return []decided{
		{"Reserved.Booting.Override", "HTTP: armed with the claim's image as the URI", given(booting, byHTTP), lifecycle.StepAct, func(t *testing.T, d lifecycle.Decision) {
			if o := d.Step.Effect.Override; o.Target != provider.BootHTTP || o.HTTPURI != lt.Image || o.Enabled != provider.BootOnce {
				t.Errorf("override %+v", o)
			}
		}},
		{"Reserved.Booting.Override", "HTTP: another image armed is not the claim's boot", given(booting, byHTTP, lt.Armed("UefiHttp", otherImage)), lifecycle.StepAct, nil},
		{"Reserved.Booting.Override", "HTTP: PXE armed is not the claim's boot, and no substitute", given(booting, byHTTP, lt.ArmedPXE), lifecycle.StepAct, does(lifecycle.OpSetBootOverride)},
		{"Reserved.Booting.Start", "HTTP: armed and stamped", given(booting, byHTTP, armedHTTP, lt.Stamped(lt.ClaimID)), lifecycle.StepPatch, stage(ledger.StageStarting)},
		{"Reserved.Starting.PowerOn", "HTTP: relies on the override that was seen", given(starting, byHTTP, armedHTTP), lifecycle.StepAct, func(t *testing.T, d lifecycle.Decision) {
			if e := d.Step.Effect.Expect; e.Boot == nil || !e.Boot.Armed || e.Boot.Target != provider.BootHTTP {
				t.Errorf("expects %+v", e)
			}
		}},
		{"Reserved.Starting.BootNotConfirmed", "HTTP: Off with the override gone holds (I10)", given(starting, byHTTP), lifecycle.StepHold, reason(v1alpha1.ReasonBootNotConfirmed)},
		{"Releasing.ClearOverride", "HTTP: what was armed and never taken is disarmed", given(lt.Running, lt.Off, lt.ClaimDeleting, lt.Announced(ledger.WhyReleased, 1), lt.Pictured, armedHTTP), lifecycle.StepAct, does(lifecycle.OpClearBootOverride)},
	}
}

func inserts(t *testing.T, d lifecycle.Decision) {
	t.Helper()
	if e := d.Step.Effect; e.Op != lifecycle.OpInsertMedia || e.Image != lt.Image || e.Expect.Power != provider.PowerOff || e.Expect.AssetTag == nil {
		t.Errorf("effect %+v", e)
	}
}

// ejects checks that an image is taken out, and forgotten by the patch that follows, which keeps the rest of the boot.
func ejects(image string, stage ledger.Stage) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if e := d.Step.Effect; e.Op != lifecycle.OpEjectMedia || e.Image != image || e.Expect.Power == "" {
			t.Errorf("effect %+v", e)
		}
		if _, led := written(t, d); led.Boot == nil || led.Boot.Media != "" || led.Boot.Stage != stage || led.Boot.At.Equal(lt.Now) {
			t.Errorf("boot %+v", led.Boot)
		}
	}
}

// mediaCases: inserted and seen in the drive before anything is armed, and asked of the drive once more before the power-on.
func mediaCases() []decided {
	const act = lifecycle.StepAct
	ready := given(booting, byMedia, inDrive, armedCD, lt.Stamped(lt.ClaimID))
	return []decided{
		{"Reserved.Unbooted.Boot", "media: the image is remembered before it is inserted (P3)", given(lt.Claimed, byMedia), act, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.Boot == nil || led.Boot.Media != lt.Image {
				t.Errorf("boot %+v", led.Boot)
			}
		}},
		{"Reserved.Booting.AwaitBound", "media: the claim remembers first", given(booting, byMedia, unbound), lifecycle.StepWait, nil},
		{"Reserved.Booting.Rest", "media: nothing is inserted while an older power-on may be on the wire", given(booting, byMedia, justOff), lifecycle.StepWait, nil},
		{"Reserved.Booting.Media.Remember", "a ledger that does not know the image learns it first", given(booting, byMedia, lt.MediaRemembered("")), lifecycle.StepPatch, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.Boot.Media != lt.Image || led.Boot.Stage != ledger.StageBooting || led.Boot.At.Equal(lt.Now) {
				t.Errorf("boot %+v", led.Boot)
			}
		}},
		{"Reserved.Booting.Media.EjectOther", "an image that the claim no longer wants goes first", given(booting, byMedia, newImage), act, ejects(lt.Image, ledger.StageBooting)},
		{"Reserved.Booting.Media.Insert", "drives that were not looked at hold nothing", given(booting, byMedia), act, inserts},
		{"Reserved.Booting.Media.Insert", "another image in the drive is not the claim's", given(booting, byMedia, lt.InDrive(otherImage)), act, inserts},
		{"Reserved.Booting.Media.Insert", "an image that is told and not inserted is a leftover (B111)", given(booting, byMedia, inDrive, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Media.Slots[0].Inserted = false })), act, inserts},
		{"Reserved.Booting.Override", "media: armed once the image is seen in the drive", given(booting, byMedia, inDrive), act, func(t *testing.T, d lifecycle.Decision) {
			if o := d.Step.Effect.Override; o.Target != provider.BootCD || o.HTTPURI != "" || o.Enabled != provider.BootOnce {
				t.Errorf("override %+v", o)
			}
		}},
		{"Reserved.Booting.Stamp", "media: stamped once it is armed", given(booting, byMedia, inDrive, armedCD), act, does(lifecycle.OpWriteAssetTag)},
		{"Reserved.Booting.Stamped.BootNotConfirmed", "media: stamped and nothing armed: it may have booted (I10)", given(booting, byMedia, inDrive, lt.Stamped(lt.ClaimID)), lifecycle.StepHold, reason(v1alpha1.ReasonBootNotConfirmed)},
		{"Reserved.Booting.ConfirmMedia", "the drive itself is asked before the boot, then the power-on is announced (B113)", ready, act, and(inserts, func(t *testing.T, d lifecycle.Decision) {
			if e := d.Step.Effect.Expect; e.Boot == nil || !e.Boot.Armed || e.Boot.Target != provider.BootCD {
				t.Errorf("expects %+v", e)
			}
			if _, led := written(t, d); led.Boot.Stage != ledger.StageStarting || led.Boot.Media != lt.Image || led.PowerOn == nil {
				t.Errorf("ledger %+v", led)
			}
		})},
		{"Reserved.Starting.PowerOn", "media: boots from the drive", given(starting, byMedia, inDrive, armedCD), act, does(lifecycle.OpPowerOn)},
		{"Reserved.Starting.InsertMissing", "media: armed, and no image in the drive: nothing has booted, and nothing boots from an empty drive (I10)", given(starting, byMedia, armedCD), act, and(inserts, func(t *testing.T, d lifecycle.Decision) {
			if e := d.Step.Effect.Expect; e.Boot == nil || !e.Boot.Armed {
				t.Errorf("expects %+v: it must still be armed when the image goes in", e)
			}
		})},
		{"Reserved.Starting.InsertMissing", "media: what is in the drive is another's (I1)", given(starting, byMedia, armedCD, lt.InDrive(otherImage)), act, inserts},
		{"Reserved.Starting.PowerOn", "media: an image that the claim changed since is the next boot's", given(starting, byMedia, inDrive, armedCD, newImage), act, does(lifecycle.OpPowerOn)},
		{"Reserved.Starting.On", "media: booted, and the image is remembered on", given(starting, byMedia, lt.On), lifecycle.StepPatch, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.Boot.Media != lt.Image || led.Boot.Stage != ledger.StageBooted {
				t.Errorf("boot %+v", led.Boot)
			}
		}},
		{"Reserved.Starting.BootNotConfirmed", "media: Off with the override gone holds (I10)", given(starting, byMedia, inDrive), lifecycle.StepHold, reason(v1alpha1.ReasonBootNotConfirmed)},
	}
}

// mediaAlwaysCases: a machine that boots from the drive at each power-on keeps its image in it.
func mediaAlwaysCases() []decided {
	const act = lifecycle.StepAct
	always := given(byMedia, lt.BootAlways)
	off := given(lt.Running, lt.Off, always)
	return []decided{
		{"Reserved.Starting.Media.Insert", "diskless: inserted again where it is not seen", given(starting, always), act, inserts},
		{"Reserved.Starting.Media.Remember", "diskless: remembered first", given(starting, always, lt.MediaRemembered("")), lifecycle.StepPatch, nil},
		{"Reserved.Starting.Media.EjectOther", "diskless: the claim's old image goes", given(starting, always, newImage), act, ejects(lt.Image, ledger.StageStarting)},
		{"Reserved.Starting.ArmAgain", "diskless: armed again", given(starting, always, inDrive), act, does(lifecycle.OpSetBootOverride)},
		{"Reserved.Booted.On.Media.Insert", "diskless: inserted before each power-on where it is not seen", off, act, inserts},
		{"Reserved.Booted.On.Media.Remember", "diskless: remembered first", given(off, lt.MediaRemembered("")), lifecycle.StepPatch, nil},
		{"Reserved.Booted.On.Media.EjectOther", "diskless: the next boot takes the claim's new image", given(off, newImage), act, ejects(lt.Image, ledger.StageBooted)},
		{"Reserved.Booted.On.ArmOverride", "diskless: armed before each power-on", given(off, inDrive), act, does(lifecycle.OpSetBootOverride)},
		{"Reserved.Booted.On.PowerOn", "diskless: boots from the drive", given(off, inDrive, armedCD), act, does(lifecycle.OpPowerOn)},
		{"Reserved.Booted.Settled", "diskless: what runs from the drive keeps its image", given(lt.Running, always, osRunning), lifecycle.StepSettled, nil},
	}
}

// mediaOverCases: the image goes when the boot is over or the machine is Off, never from under a machine that boots (B123).
func mediaOverCases() []decided {
	const act = lifecycle.StepAct
	fresh := given(lt.Running, lt.AtStage(ledger.StageBooted, 1), byMedia)
	gone := ejects(lt.Image, ledger.StageBooted)
	released := given(lt.Running, byMedia, lt.Off, lt.ClaimDeleting, lt.Announced(ledger.WhyReleased, 1), lt.Pictured)
	return []decided{
		{"Reserved.Booted.MediaInserted", "not while the machine may be booting from it (B123)", fresh, lifecycle.StepWait, and(reason(v1alpha1.ReasonBooted), func(t *testing.T, d lifecycle.Decision) {
			if d.Step.After > time.Minute {
				t.Errorf("waits %s", d.Step.After)
			}
		})},
		{"Reserved.Booted.Eject", "when the operating system is up", given(fresh, osRunning), act, and(gone, reason(v1alpha1.ReasonBooted))},
		{"Reserved.Booted.Eject", "also where the picture shows an empty drive: the machine is asked (I5)", given(fresh, osRunning, lt.InDrive("")), act, gone},
		{"Reserved.Booted.Eject", "after the boot deadline", given(lt.Running, byMedia), act, gone},
		{"Reserved.Booted.ClearOverride", "at the next Off: the override first", given(fresh, lt.Off, armedCD), act, nil},
		{"Reserved.Booted.Eject", "at the next Off, before it is powered on from its disk (I10)", given(fresh, lt.Off), act, gone},
		{"Reserved.Booted.On.PowerOn", "then from disk", given(fresh, lt.Off, lt.MediaRemembered("")), act, does(lifecycle.OpPowerOn)},
		{"Reserved.Booted.Settled", "and at rest nothing is left of it", given(fresh, osRunning, lt.MediaRemembered("")), lifecycle.StepSettled, nil},
		{"Maintenance.On.Eject", "a maintenance does not boot a claim's image a second time (I10)", given(lt.Running, byMedia, lt.Off, lt.InMaintenance(v1alpha1.PowerOn)), act, gone},
		{"Releasing.ClearOverride", "media: the override first", given(released, armedCD), act, does(lifecycle.OpClearBootOverride)},
		{"Releasing.Eject", "no image of ours is left in when the release finishes", released, act, gone},
		{"Releasing.Eject", "also where the claim is gone: the server remembers", given(lt.Running, byMedia, lt.RefCleared, lt.Announced(ledger.WhyReleased, 1), lt.Pictured, lt.Off), act, gone},
		{"Releasing.MediaMemory", "what the server forgot of the drive the claim still knows", given(released, lt.Ledger(func(l *ledger.Server) { l.Boot, l.DirtySince, l.Intent = nil, time.Time{}, nil })), lifecycle.StepPatch,
			and(sets(ledger.KeyBoot, ledger.KeyDirtySince), stage(ledger.StageBooted), func(t *testing.T, d lifecycle.Decision) {
				if _, led := written(t, d); led.Boot.Media != lt.Image {
					t.Errorf("media %q", led.Boot.Media)
				}
			})},
		{"Releasing.MediaMemory", "and an announced release stays announced", given(released, lt.Ledger(func(l *ledger.Server) { l.Boot = nil })), lifecycle.StepPatch, sets(ledger.KeyBoot)},
		{"Releasing.Unstamp", "then the stamp", given(released, lt.MediaRemembered("")), act, does(lifecycle.OpWriteAssetTag)},
		{"Releasing.PowerOff.ShutDown", "media: not from under a machine that runs (B123)", given(released, lt.On), act, nil},
	}
}
