// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var (
	bound     = given(lt.Claimed, lt.Bound)
	booting   = given(bound, lt.AtStage(ledger.StageBooting, 1))
	starting  = given(bound, lt.AtStage(ledger.StageStarting, 1), lt.Stamped(lt.ClaimID))
	unbound   = func(s *lt.Scene) { delete(s.Claim.Annotations, ledger.KeyBound) }
	forgotten = lt.Ledger(func(l *ledger.Server) { l.PowerOn = nil })
	byDisk    = lt.Claim(func(c *v1alpha1.ServerClaim) { c.Spec.Boot.Method = v1alpha1.BootDisk })
	bootAgain = lt.Annotated(v1alpha1.AnnotationBootAgain, lt.ClaimID)
	sayBooted = lt.Annotated(v1alpha1.AnnotationBooted, lt.ClaimID)
	lasting   = lt.Facts(func(o *v1alpha1.ServerObserved) {
		o.BootOverride = &v1alpha1.ObservedBootOverride{Target: "Pxe", Enabled: "Continuous"}
	})
	newUID = lt.Claim(func(c *v1alpha1.ServerClaim) { c.UID = "uid-after-the-restore" })
)

func reservedCases() []decided {
	const hold = lifecycle.StepHold
	return []decided{
		{"Reserved.ClaimMissing", "a claim that is not found is no release (P10)", given(lt.Running, lt.ClaimGone), hold, and(reason(v1alpha1.ReasonClaimMissing), live, rule("metal 8"))},
		{"Reserved.ClaimMismatch", "a claim recreated from Git is another claim", given(lt.Running, lt.Claim(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyIdentity] = "uid-new" })), hold, and(reason(v1alpha1.ReasonClaimMismatch), live)},
		{"Reserved.ClaimMismatch", "a claim that names another server", given(lt.Running, lt.Claim(func(c *v1alpha1.ServerClaim) { c.Spec.ServerName = "rack9" })), hold, nil},
		{"Reserved.ClaimMismatch", "a claim whose ledger cannot be read", given(lt.Running, lt.Claim(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyBound] = "" })), hold, nil},
		{"Reserved.Booted.Settled", "a claim restored with a new UID is the same claim (P11)", given(lt.Running, newUID), lifecycle.StepSettled, rule("metal 7")},
		{"Reserved.Memory", "what the server forgot and the claim knows is written back, nothing else (B001, I9)", given(bound, lt.On, lt.Stamped(lt.ClaimID)), lifecycle.StepPatch,
			and(stage(ledger.StageBooted), sets(ledger.KeyBoot, ledger.KeyPowerOn, ledger.KeyRestarted, ledger.KeyDirtySince), rule("metal 7"))},
		{"Reserved.Memory", "also while nothing is known of the machine", given(bound, lt.Unseen), lifecycle.StepPatch, stage(ledger.StageBooted)},
		{"Reserved.Memory", "an older intent goes with it", given(bound, lt.On, bySpec, lt.Announced(ledger.WhyBootClaim, 1)), lifecycle.StepPatch, func(t *testing.T, d lifecycle.Decision) {
			if p, _ := written(t, d); p.Ledger[ledger.KeyIntent] != "" || p.Ledger[ledger.KeyOffAt] == "" {
				t.Errorf("patch %+v", p.Ledger)
			}
		}},
		{"Reserved.OtherMemory", "a boot for another claim is nobody's to overwrite", given(lt.Claimed, lt.Ledger(func(l *ledger.Server) {
			l.Boot = &ledger.Boot{Claim: "claim-db", Stage: ledger.StageBooted, At: lt.Before(9)}
		})), hold, reason(v1alpha1.ReasonClaimMismatch)},
	}
}

func unbootedCases() []decided {
	const (
		hold  = lifecycle.StepHold
		patch = lifecycle.StepPatch
		act   = lifecycle.StepAct
		wait  = lifecycle.StepWait
	)
	confirmsOff := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if e := d.Step.Effect; e.Op != lifecycle.OpConfirmOff || e.Expect.Power != provider.PowerOff || e.Expect.AssetTag == nil || !d.Step.Live {
			t.Errorf("effect %+v", e)
		}
	}
	return []decided{
		{"Reserved.Unbooted.Stamped.BootNotConfirmed", "stamped for this claim and forgotten by both: never booted from the network again", given(lt.Claimed, lt.Stamped(lt.ClaimID)), hold, reason(v1alpha1.ReasonBootNotConfirmed)},
		{"Reserved.Unbooted.Stamped.BootNotConfirmed", "also while it runs", given(lt.Claimed, lt.Stamped(lt.ClaimID), lt.On, bootAgain), hold, nil},
		{"Reserved.Unbooted.Stamped.SayBooted", "a person says that it is installed", given(lt.Claimed, lt.Stamped(lt.ClaimID), lt.On, sayBooted), patch,
			and(stage(ledger.StageBooted), removes(v1alpha1.AnnotationBooted), func(t *testing.T, d lifecycle.Decision) {
				if _, led := written(t, d); led.PowerOn == nil {
					t.Error("a running machine that is the claim's is explained by the claim")
				}
			})},
		{"Reserved.Unbooted.Stamped.SayBooted", "and what runs on it was not a stranger's", given(lt.Claimed, lt.Stamped(lt.ClaimID), foundRunning, sayBooted), patch,
			changes([]string{ledger.KeyBoot, ledger.KeyDirtySince, ledger.KeyRestarted}, []string{ledger.KeyPowerOn})},
		{"Reserved.Unbooted.Stamped.BootAgain", "a person asks for one more network boot", given(lt.Claimed, lt.Stamped(lt.ClaimID), bootAgain), patch, and(stage(ledger.StageBooting), removes(v1alpha1.AnnotationBootAgain))},
		{"Reserved.Unbooted.Boot", "diskless: boots from the network always", given(lt.Claimed, lt.Stamped(lt.ClaimID), lt.BootAlways), act, confirmsOff},
		{"Reserved.Unbooted.RememberFound", "On without a reason of ours under a claim that knows nothing (P13)", given(lt.Claimed, lt.On), act, and(remembersFound, reason(v1alpha1.ReasonFoundRunning))},
		{"Reserved.Unbooted.RememberFound", "On for the claim, and no boot: memory contradicts itself", given(lt.Claimed, lt.On, lt.RememberedOn(ledger.ByClaim, lt.ClaimID)), act, remembersFound},
		{"Reserved.Memory", "found running, and the claim remembers that it is its own", given(lt.Claimed, lt.On, lt.Bound, foundRunning), patch, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.PowerOn == nil || led.PowerOn.By != ledger.ByClaim {
				t.Errorf("remembers %+v", led.PowerOn)
			}
		}},
		{"Reserved.Unbooted.Boot", "found running, and Off now: a person says that it is free", given(lt.Claimed, foundRunning, powerOff), act, and(confirmsOff, stage(ledger.StageBooting), removes(v1alpha1.AnnotationPowerOff))},
		{"Reserved.Unbooted.Off.AwaitPicture", "no power wanted: Off is believed on a picture that bears the intent", given(lt.Claimed, lt.ClaimPower(v1alpha1.PowerOff), lt.Announced(ledger.WhyBootClaim, 1)), wait, nil},
		{"Reserved.Unbooted.Off.RecordOff", "no power wanted: the Off is recorded", given(lt.Claimed, lt.ClaimPower(v1alpha1.PowerOff), bySpec), act, and(does(lifecycle.OpConfirmOff), live, changes(nil, []string{ledger.KeyPowerOn}))},
		{"Reserved.Unbooted.PowerNotWanted", "boots when the claim asks for power", given(lt.Claimed, lt.ClaimPower(v1alpha1.PowerOff)), lifecycle.StepSettled, reason(v1alpha1.ReasonPowerNotWanted)},
		{"Reserved.Unbooted.PowerNotWanted", "power Keep: as it is", given(lt.Claimed, lt.ClaimPower(v1alpha1.PowerKeep), lt.On), lifecycle.StepSettled, nil},
		{"Reserved.Unbooted.AwaitPicture", "Off is believed on a picture that bears the intent (R4)", given(lt.Claimed, lt.Announced(ledger.WhyBootClaim, 1)), wait, nil},
		{"Reserved.Unbooted.BoundElsewhere", "not while another claim is bound (I8)", given(lt.Claimed, lt.OtherBound), hold, and(reason(v1alpha1.ReasonBoundElsewhere), live)},
		{"Reserved.Unbooted.Settle", "an Off of a moment ago may be a BMC's that has just restarted (B018)", given(lt.Claimed, lt.SeenSince(0)), wait, nil},
		{"Reserved.Unbooted.Disk", "boots from disk, without stages, once confirmed Off", given(lt.Claimed, byDisk), act, and(confirmsOff, stage(ledger.StageBooted), sets(ledger.KeyBoot, ledger.KeyPowerOn, ledger.KeyDirtySince, ledger.KeyRestarted))},
		{"Reserved.Unbooted.Boot", "confirmed Off: one patch opens the boot", given(lt.Claimed, lt.AssetTag("shelf 7")), act, and(confirmsOff, stage(ledger.StageBooting),
			changes([]string{ledger.KeyBoot, ledger.KeyDirtySince, ledger.KeyRestarted, ledger.KeyAssetTag}, []string{ledger.KeyPowerOn}), func(t *testing.T, d lifecycle.Decision) {
				if _, led := written(t, d); led.AssetTag.Previous != "shelf 7" || led.Boot.Again {
					t.Errorf("wrote %+v %+v", led.AssetTag, led.Boot)
				}
			})},
		{"Reserved.Unbooted.Boot", "the same patch closes the intent", given(lt.Claimed, bySpec, powerOff, lt.Announced(ledger.WhyBootClaim, 1), lt.Pictured), act, and(removes(v1alpha1.AnnotationPowerOff),
			changes([]string{ledger.KeyBoot, ledger.KeyDirtySince, ledger.KeyRestarted, ledger.KeyAssetTag, ledger.KeyOffAt}, []string{ledger.KeyPowerOn, ledger.KeyIntent}))},
		{"Reserved.Unbooted.Boot", "records the claim's restart as it stands", given(lt.Claimed, lt.RestartAsked(7)), act, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); !led.Restarted.Equal(lt.Before(7)) {
				t.Errorf("restarted %s", led.Restarted)
			}
		}},
	}
}

func bootingCases() []decided {
	const (
		hold  = lifecycle.StepHold
		patch = lifecycle.StepPatch
		act   = lifecycle.StepAct
		wait  = lifecycle.StepWait
	)
	again := lt.Ledger(func(l *ledger.Server) { l.Boot.Again = true })
	return []decided{
		{"Reserved.Booting.FoundOn", "On already: booted, and nothing is done", given(booting, lt.On), patch, and(stage(ledger.StageBooted), sets(ledger.KeyBoot, ledger.KeyPowerOn))},
		{"Reserved.Booting.Changing", "on its way up: waits", given(booting, poweringOn), wait, nil},
		{"Reserved.Booting.AwaitBound", "the claim remembers first", given(booting, unbound), wait, reason(v1alpha1.ReasonAwaitingBound)},
		{"Reserved.Booting.BoundElsewhere", "not while another claim is bound", given(booting, lt.OtherBound), hold, live},
		{"Reserved.Booting.PowerNotWanted", "boots when the claim asks for power", given(booting, lt.ClaimPower(v1alpha1.PowerOff)), lifecycle.StepSettled, nil},
		{"Reserved.Booting.PowerNotWanted", "its user data is not looked at before", given(booting, lt.ClaimPower(v1alpha1.PowerOff), func(s *lt.Scene) { s.UserData = lifecycle.UserDataMissing }), lifecycle.StepSettled, nil},
		{"Reserved.Booting.Stamped.BootNotConfirmed", "an older memory is told of before power is asked for again (I10)", given(booting, lt.Stamped(lt.ClaimID), lt.ClaimPower(v1alpha1.PowerOff)), hold, reason(v1alpha1.ReasonBootNotConfirmed)},
		{"Reserved.Booting.UserData", "missing user data stalls (B247)", given(booting, func(s *lt.Scene) { s.UserData = lifecycle.UserDataMissing }), wait, reason(v1alpha1.ReasonUserDataMissing)},
		{"Reserved.Booting.UserData", "denied user data stalls, and the message says how to allow it", given(booting, func(s *lt.Scene) { s.UserData = lifecycle.UserDataDenied }), wait, reason(v1alpha1.ReasonUserDataDenied)},
		{"Reserved.Booting.Override", "user data that was not looked at is looked at live", given(booting, func(s *lt.Scene) { s.UserData = lifecycle.UserDataUnknown }), act, live},
		{"Reserved.Booting.Override", "armed first, on a machine that is Off", given(booting), act, and(does(lifecycle.OpSetBootOverride), func(t *testing.T, d lifecycle.Decision) {
			e := d.Step.Effect
			if e.Override.Target != provider.BootPXE || e.Override.Enabled != provider.BootOnce || e.Expect.Power != provider.PowerOff || e.Expect.AssetTag == nil {
				t.Errorf("effect %+v", e)
			}
		})},
		{"Reserved.Booting.Override", "an override that lasts tells nothing afterwards: armed for once instead", given(booting, lasting), act, does(lifecycle.OpSetBootOverride)},
		{"Reserved.Booting.Override", "armed again where a person asked for it", given(booting, again, lt.Stamped(lt.ClaimID)), act, nil},
		{"Reserved.Booting.Stamped.BootNotConfirmed", "stamped and nothing armed: an older memory, it may have booted (I10)", given(booting, lt.Stamped(lt.ClaimID)), hold, reason(v1alpha1.ReasonBootNotConfirmed)},
		{"Reserved.Booting.Stamped.BootAgain", "a person asks for one more network boot", given(booting, lt.Stamped(lt.ClaimID), bootAgain), patch, stage(ledger.StageBooting)},
		{"Reserved.Booting.Stamped.SayBooted", "a person says that it is installed", given(booting, lt.Stamped(lt.ClaimID), sayBooted), patch, stage(ledger.StageBooted)},
		{"Reserved.Booting.RememberTag", "a person's tag is noted before it is stamped over", given(booting, lt.ArmedPXE, lt.AssetTag("shelf 9")), patch, sets(ledger.KeyAssetTag)},
		{"Reserved.Booting.Stamp", "stamped for the claim, over the very tag that was seen", given(booting, lt.ArmedPXE), act, and(does(lifecycle.OpWriteAssetTag), func(t *testing.T, d lifecycle.Decision) {
			e := d.Step.Effect
			if e.AssetTag != ledger.Stamp(lt.Identity, lt.ClusterID, lt.ClaimID) || *e.Expect.AssetTag != "" || e.Expect.Power != provider.PowerOff || !e.Expect.Boot.Armed {
				t.Errorf("effect %+v", e)
			}
			if d.Step.Refused == nil {
				t.Error("a BMC that refuses must be remembered")
			}
		})},
		{"Reserved.Booting.Start", "a machine that keeps no stamp boots without", given(booting, lt.ArmedPXE, lt.Ledger(func(l *ledger.Server) { l.AssetTag = &ledger.AssetTag{Unwritable: true} })), patch, nil},
		{"Reserved.Booting.Start", "an asset tag longer than a picture holds cannot be put back, so it is not stamped over", given(booting, lt.ArmedPXE, lt.AssetTag(strings.Repeat("x", v1alpha1.MaxFactLength))), patch, nil},
		{"Reserved.Booting.Rest", "after a power-off of ours nothing is armed: an older power-on may be on the wire (I10)", given(booting, justOff), wait, nil},
		{"Reserved.Booting.Rest", "a server made anew knows of no power-off: it waits from its discovery (I10)", given(booting, lt.Ledger(func(l *ledger.Server) { l.DiscoveredAt = lt.Now.Add(-time.Second) })), wait, nil},
		{"Reserved.Booting.Rest", "nor is it powered on", given(booting, lt.ArmedPXE, lt.Stamped(lt.ClaimID), justOff), wait, nil},
		{"Reserved.Booting.Start", "the power-on is announced before it happens", given(booting, lt.ArmedPXE, lt.Stamped(lt.ClaimID)), patch, and(stage(ledger.StageStarting), sets(ledger.KeyBoot, ledger.KeyPowerOn))},
	}
}

func startingCases() []decided {
	const (
		hold  = lifecycle.StepHold
		patch = lifecycle.StepPatch
		act   = lifecycle.StepAct
		wait  = lifecycle.StepWait
	)
	return []decided{
		{"Reserved.Starting.On", "On seen: booted", given(starting, lt.On), patch, and(stage(ledger.StageBooted), sets(ledger.KeyBoot))},
		{"Reserved.Starting.Found.BootNotConfirmed", "On, and nothing remembers why: a person says whether it is installed (P13)", given(starting, lt.On, forgotten), hold, reason(v1alpha1.ReasonBootNotConfirmed)},
		{"Reserved.Starting.Found.SayBooted", "a person says that it is installed", given(starting, lt.On, forgotten, sayBooted), patch, and(stage(ledger.StageBooted), func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.PowerOn == nil {
				t.Error("a running machine that is the claim's is explained by the claim")
			}
		})},
		{"Reserved.Starting.Changing", "on its way up: waits", given(starting, poweringOn, lt.ArmedPXE), wait, nil},
		{"Reserved.Starting.PowerNotWanted", "not booted, and no power wanted now", given(starting, lt.ArmedPXE, lt.ClaimPower(v1alpha1.PowerOff)), lifecycle.StepSettled, nil},
		{"Reserved.Starting.FoundBefore", "found running before, as an older memory tells, and Off: not started, armed or not", given(starting, lt.ArmedPXE, foundRunning), hold, reason(v1alpha1.ReasonFoundRunning)},
		{"Reserved.Starting.AwaitBound", "the claim remembers first", given(starting, lt.ArmedPXE, unbound), wait, nil},
		{"Reserved.Starting.BoundElsewhere", "not while another claim is bound", given(starting, lt.ArmedPXE, lt.OtherBound), hold, live},
		{"Reserved.Starting.Rest", "after a maintenance's power-off the power-on waits", given(starting, lt.ArmedPXE, justOff), wait, nil},
		{"Reserved.Starting.Remember", "and why it is to be On is written again first (P13)", given(starting, lt.ArmedPXE, forgotten), patch, sets(ledger.KeyPowerOn)},
		{"Reserved.Starting.PowerOn", "Off with the override armed: powered on, again", given(starting, lt.ArmedPXE), act, and(does(lifecycle.OpPowerOn), func(t *testing.T, d lifecycle.Decision) {
			e := d.Step.Effect.Expect
			if e.Power != provider.PowerOff || !e.Boot.Armed || e.Boot.Target != provider.BootPXE || *e.AssetTag != ledger.Stamp(lt.Identity, lt.ClusterID, lt.ClaimID) {
				t.Errorf("expects %+v", e)
			}
		})},
		{"Reserved.Starting.ArmAgain", "diskless: armed again", given(starting, lt.BootAlways), act, does(lifecycle.OpSetBootOverride)},
		{"Reserved.Starting.BootNotConfirmed", "Off with override gone holds", given(starting), hold, reason(v1alpha1.ReasonBootNotConfirmed)},
		{"Reserved.Starting.BootNotConfirmed", "an override that lasts is no proof that the machine has not booted (I10)", given(starting, lasting), hold, nil},
		{"Reserved.Starting.BootNotConfirmed", "a consent that names another claim is none", given(starting, lt.Annotated(v1alpha1.AnnotationBootAgain, "claim-db")), hold, nil},
		{"Reserved.Starting.BootAgain", "a person asks for one more network boot", given(starting, bootAgain), patch, and(tells("BootAgain"), stage(ledger.StageBooting), removes(v1alpha1.AnnotationBootAgain), func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); !led.Boot.Again {
				t.Error("the stamp that stands must not hold what the person asked for")
			}
		})},
		{"Reserved.Starting.SayBooted", "a person says that it is installed", given(starting, sayBooted), patch, and(stage(ledger.StageBooted), removes(v1alpha1.AnnotationBooted), tells("BootedByConsent"))},
	}
}

func bootedCases() []decided {
	const (
		patch = lifecycle.StepPatch
		act   = lifecycle.StepAct
		wait  = lifecycle.StepWait
	)
	off := given(lt.Running, lt.Off)
	forgetOn := lt.Ledger(func(l *ledger.Server) { l.PowerOn = nil })
	wantsOff := lt.ClaimPower(v1alpha1.PowerOff)
	armedUp := given(lt.ArmedPXE, lt.Facts(func(o *v1alpha1.ServerObserved) { o.BootProgress = "OSRunning" }))
	fromDisk := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if e := d.Step.Effect.Expect; e.Power != provider.PowerOff || e.Boot == nil || e.Boot.Armed {
			t.Errorf("expects %+v: a power-on from disk relies on nothing being armed (I10)", e)
		}
	}
	return []decided{
		{"Reserved.Booted.Off.AwaitPicture", "Off is believed on a picture that bears the intent (R4)", given(off, wantsOff, lt.Announced(ledger.WhyClaimPower, 1)), wait, nil},
		{"Reserved.Booted.Off.RecordOff", "closes the intent", given(off, wantsOff, lt.Announced(ledger.WhyClaimPower, 1), lt.Pictured), patch, changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent, ledger.KeyPowerOn})},
		{"Reserved.Booted.Adopt", "On by hand, and the claim asks for On: remembered", given(lt.Running, forgetOn), patch, sets(ledger.KeyPowerOn)},
		{"Reserved.Booted.Changing", "on its way: waits", given(lt.Running, poweringOn), wait, nil},
		{"Reserved.Booted.ClearOverride", "when the operating system is up", given(lt.Running, lt.AtStage(ledger.StageBooted, 1), armedUp), act, does(lifecycle.OpClearBootOverride)},
		{"Reserved.Booted.ClearOverride", "at the next Off", given(off, lt.ArmedPXE), act, nil},
		{"Reserved.Booted.ClearOverride", "after the boot deadline", given(lt.Running, lt.ArmedPXE), act, nil},
		{"Reserved.Booted.OverrideArmed", "not before", given(lt.Running, lt.AtStage(ledger.StageBooted, 1), lt.ArmedPXE), wait, and(reason(v1alpha1.ReasonBooted), func(t *testing.T, d lifecycle.Decision) {
			if d.Step.After > time.Minute {
				t.Errorf("waits %s", d.Step.After)
			}
		})},
		{"Reserved.Booted.On.AwaitBound", "the claim remembers before its machine first runs", given(off, unbound), wait, reason(v1alpha1.ReasonAwaitingBound)},
		{"Reserved.Booted.On.ArmOverride", "diskless: armed before each power-on", given(off, lt.BootAlways), act, does(lifecycle.OpSetBootOverride)},
		{"Reserved.Booted.On.PowerOn", "diskless: boots from the network", given(off, lt.BootAlways, lt.ArmedPXE), act, func(t *testing.T, d lifecycle.Decision) {
			if !d.Step.Effect.Expect.Boot.Armed {
				t.Error("relies on the override")
			}
		}},
		{"Reserved.Booted.On.Settle", "an Off of a moment ago may be a BMC's that has just restarted: no reset of a running machine (B018)", given(off, lt.SeenSince(0)), wait, func(t *testing.T, d lifecycle.Decision) {
			if d.Step.After != 30*time.Second {
				t.Errorf("waits %s, want one effect deadline", d.Step.After)
			}
		}},
		{"Reserved.Booted.On.Rest", "after a power-off of ours the power-on waits", given(off, justOff), wait, nil},
		{"Reserved.Booted.On.Remember", "why it is to be On is written first (P13)", given(off, forgetOn), patch, sets(ledger.KeyPowerOn)},
		{"Reserved.Booted.On.PowerOn", "a tenant that powers itself off is powered on from its disk, never imaged again", off, act, and(does(lifecycle.OpPowerOn), fromDisk)},
		{"Reserved.Booted.On.PowerOn", "from disk also while another claim is bound (I9)", given(off, lt.OtherBound), act, fromDisk},
		{"Reserved.Booted.Indicator", "the light as the spec says", given(lt.Running, lt.Spec(func(s *v1alpha1.ServerSpec) { s.IndicatorLED = v1alpha1.IndicatorBlinking })), act, nil},
		{"Reserved.Booted.Settled.UnusedConsent", "a consent that lets nothing go is removed", given(lt.Running, powerOff, bootAgain), patch, removes(v1alpha1.AnnotationPowerOff)},
		{"Reserved.Booted.Settled", "runs, and is left alone (P8)", lt.Running, lifecycle.StepSettled, reason(v1alpha1.ReasonBooted)},
		{"Reserved.Booted.Settled", "power Keep: Off stays Off", given(off, lt.ClaimPower(v1alpha1.PowerKeep), lt.SeenSince(5)), lifecycle.StepSettled, nil},
		{"Reserved.Picture.PowerUnknown", "a wiped status causes nothing (B001, I5)", given(lt.Running, func(s *lt.Scene) { s.Server.Status.Observed = &v1alpha1.ServerObserved{Reachable: true} }), wait, nil},
		{"Reserved.Picture.Unreachable", "a wiped status causes nothing (B006, I5)", given(lt.Running, lt.Unseen), wait, reason(v1alpha1.ReasonNotObserved)},
	}
}

func restartCases() []decided {
	const (
		patch = lifecycle.StepPatch
		wait  = lifecycle.StepWait
	)
	asked := given(lt.Running, lt.RestartAsked(5))
	off := given(asked, lt.Off)
	kept := given(asked, lt.ClaimPower(v1alpha1.PowerKeep), lt.Ledger(func(l *ledger.Server) {
		l.Restarted, l.OffAt, l.PowerOn.At, l.PowerOn.Restart = lt.Before(5), lt.Before(3), lt.Before(3), true
	}))
	restarting := lt.Ledger(func(l *ledger.Server) { l.PowerOn.Restart = true })
	stillRestarting := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if _, led := written(t, d); led.PowerOn == nil || !led.PowerOn.Restart {
			t.Errorf("it forgets why the machine was On: %+v", led.PowerOn)
		}
	}
	wroteRestart := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if _, led := written(t, d); !led.Restarted.Equal(lt.Before(5)) {
			t.Errorf("restarted %s", led.Restarted)
		}
	}
	return []decided{
		{"Reserved.Booted.RestartForgotten", "an absent record never means an older one", given(asked, lt.Ledger(func(l *ledger.Server) { l.Restarted = time.Time{} })), patch, and(wroteRestart, sets(ledger.KeyRestarted))},
		{"Reserved.Booted.Restart.Since", "the current On began after it: carried out already, whatever the record says", given(asked, lt.SeenSince(2)), patch, and(wroteRestart, sets(ledger.KeyRestarted))},
		{"Reserved.Booted.Restart.ComingUp", "asked for while it is powering on: whether it is older than that On is told by when it is On", given(asked, poweringOn), wait, nil},
		{"Reserved.Booted.Restart.PowerOff.Announce", "one that hangs on its way up is brought down by asking for Off", given(asked, poweringOn, lt.ClaimPower(v1alpha1.PowerOff)), patch, sets(ledger.KeyIntent)},
		{"Reserved.Booted.Restart.PowerOff.Changing", "powering on anew under the announcement", given(asked, poweringOn, lt.Announced(ledger.WhyRestart, 0)), wait, nil},
		{"Reserved.Booted.Restart.AwaitPicture", "Off is believed on a picture that bears the intent (R4)", given(off, lt.Announced(ledger.WhyRestart, 1)), wait, nil},
		{"Reserved.Booted.Restart.PowerOff.Announce", "announced, with that the machine is to be On again", asked, patch, sets(ledger.KeyIntent, ledger.KeyPowerOn)},
		{"Reserved.Booted.Restart.PowerOff.ShutDown", "On anew under the announcement, by itself or by a status that was wiped: it was not restarted yet", given(asked, lt.Announced(ledger.WhyRestart, 1), lt.SeenSince(0)), lifecycle.StepAct, does(lifecycle.OpShutDown)},
		{"Reserved.Booted.Restart.Record", "once Off one patch records it and closes the intent", given(off, lt.Announced(ledger.WhyRestart, 1), restarting, lt.Pictured), patch,
			and(wroteRestart, changes([]string{ledger.KeyRestarted, ledger.KeyPowerOn, ledger.KeyOffAt}, []string{ledger.KeyIntent}))},
		{"Reserved.Booted.Restart.Record", "the consent that explained it has done its work", given(off, powerOff, lt.Announced(ledger.WhyRestart, 1), lt.Pictured), patch, removes(v1alpha1.AnnotationPowerOff)},
		{"Reserved.Booted.Restart.Record", "Off already: recorded, then the claim's power", given(off, lt.ClaimPower(v1alpha1.PowerOff)), patch, changes([]string{ledger.KeyRestarted}, []string{ledger.KeyPowerOn})},
		{"Reserved.Booted.On.PowerOn", "then on, also where power is Keep", given(kept, lt.Off, lt.SeenSince(4)), lifecycle.StepAct, does(lifecycle.OpPowerOn)},
		{"Reserved.Booted.On.PowerOn", "also where the status was wiped since, and Off is first seen after it", given(kept, lt.Off, lt.SeenSince(2)), lifecycle.StepAct, does(lifecycle.OpPowerOn)},
		{"Reserved.Booted.Restarted", "On after it, by the machine's own word: what it does by itself from now on is kept", given(kept, lt.On, lt.SeenSince(2)), lifecycle.StepAct, and(does(lifecycle.OpConfirmOn), sets(ledger.KeyPowerOn), func(t *testing.T, d lifecycle.Decision) {
			if d.Step.Effect.Expect.Power != provider.PowerOn {
				t.Error("does not rely on On")
			}
		})},
		{"Reserved.Booted.Restarted", "its claim asks for Off by now", given(kept, lt.Off, lt.ClaimPower(v1alpha1.PowerOff)), patch, sets(ledger.KeyPowerOn)},
		{"Reserved.Booted.Restarted", "also where it is On: it is not asked whether it is", given(kept, lt.On, lt.ClaimPower(v1alpha1.PowerOff)), patch, sets(ledger.KeyPowerOn)},
		{"Reserved.Booted.RestartOver", "On, and a power-off that was withdrawn may still be on the wire", given(kept, lt.On, lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now })), wait, nil},
		{"Maintenance.Keep.Withdraw", "a maintenance that begins between Off and its record costs the restart its intent, and not that the machine is to be On again",
			given(off, lt.InMaintenance(v1alpha1.PowerKeep), lt.Announced(ledger.WhyRestart, 1), restarting, lt.Pictured), patch, stillRestarting},
		{"Reserved.Booted.Settled", "a restart carried out is not carried out again", given(asked, lt.Ledger(func(l *ledger.Server) { l.Restarted = lt.Before(5) })), lifecycle.StepSettled, nil},
	}
}

func releasingCases() []decided {
	const (
		hold  = lifecycle.StepHold
		patch = lifecycle.StepPatch
		act   = lifecycle.StepAct
		wait  = lifecycle.StepWait
	)
	leaving := given(lt.Running, lt.ClaimDeleting)
	announced := given(leaving, lt.Announced(ledger.WhyReleased, 1))
	down := given(announced, lt.Off)
	done := given(down, lt.Pictured, lt.AssetTag(""))
	retain := lt.Spec(func(s *v1alpha1.ServerSpec) { s.ReclaimPolicy = v1alpha1.ReclaimRetain })
	clears := []string{ledger.KeyIntent, ledger.KeyBoot, ledger.KeyPowerOn, ledger.KeyRestarted, ledger.KeyAssetTag}
	released := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if _, led := written(t, d); led.Released == nil || led.Released.Claim != lt.ClaimID {
			t.Errorf("released %+v", led.Released)
		}
	}
	refCleared := func(want bool) func(*testing.T, lifecycle.Decision) {
		return func(t *testing.T, d lifecycle.Decision) {
			t.Helper()
			if p, _ := written(t, d); (p.ClaimRef != nil && p.ClaimRef.To == nil) != want {
				t.Errorf("claimRef change %+v, want cleared %t", p.ClaimRef, want)
			}
		}
	}
	return []decided{
		{"Releasing.Abandon", "being deleted and abandoned: goes without confirmation (B061)", given(announced, lt.Deleting, lt.Unreachable, lt.Annotated(v1alpha1.AnnotationAbandon, lt.ServerName)), patch, and(rule("metal 1, 6"), tells("Abandoned"))},
		{"Releasing.Picture.Unreachable", "abandoned but not deleted is not abandoned", given(announced, lt.Unreachable, lt.Annotated(v1alpha1.AnnotationAbandon, lt.ServerName)), wait, reason(v1alpha1.ReasonReleaseUnconfirmed)},
		{"Releasing.BoundElsewhere", "a cleared claimRef is no release while a live claim is bound", given(lt.Running, lt.RefCleared, lt.OtherBound), hold, and(reason(v1alpha1.ReasonBoundElsewhere), live, rule("metal 9"))},
		{"Releasing.Memory", "what the claim knows explains the machine, then it is released", given(bound, lt.ClaimDeleting, lt.On), patch, stage(ledger.StageBooted)},
		{"Releasing.Memory", "also where the machine was found running before that was known", given(bound, lt.ClaimDeleting, foundRunning), patch, stage(ledger.StageBooted)},
		{"Releasing.Announce", "a claim seen being deleted is released: announced first", leaving, patch, and(sets(ledger.KeyIntent), rule("metal 6"), func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.Intent.Why != ledger.WhyReleased || led.Intent.Claim != lt.ClaimID || led.Intent.ClaimUID != lt.ClaimUID || led.Intent.Target != lt.SystemUUID || led.Intent.ID == "" {
				t.Errorf("intent %+v", led.Intent)
			}
		})},
		{"Releasing.Announce", "also when the last picture says Off", given(leaving, lt.Off), patch, nil},
		{"Releasing.Announce", "also while the BMC does not answer: force-release needs it", given(leaving, lt.Unreachable), patch, nil},
		{"Releasing.Announce", "another intent gives way", given(leaving, lt.Announced(ledger.WhyClaimPower, 1)), patch, nil},
		{"Releasing.Announce", "a person cleared claimRef: released all the same", given(lt.Running, lt.RefCleared), patch, rule("metal 9")},
		{"Releasing.PowerOff.ShutDown", "a claim forced away: the announced release goes on", given(announced, lt.ClaimGone), act, and(does(lifecycle.OpShutDown), rule("metal 6"))},
		{"Reserved.ClaimMissing.Withdraw", "an intent for another UID of the claim announces nothing", given(announced, lt.ClaimGone, lt.Spec(func(s *v1alpha1.ServerSpec) { s.ClaimRef.UID = "uid-2" })), patch, live},
		{"Reserved.Booted.Settled.Withdraw", "a claim that lives again (restored) is reserved again: the release is withdrawn (R3)", given(lt.Running, newUID, lt.Announced(ledger.WhyReleased, 1)), patch, nil},
		{"Reserved.ClaimMismatch.Withdraw", "a claim whose ledger cannot be read is not gone: an announced release does not go on", given(announced, lt.Claim(func(c *v1alpha1.ServerClaim) {
			c.DeletionTimestamp, c.Annotations[ledger.KeyBound] = nil, ""
		})), patch, live},
		{"Releasing.AwaitPicture", "Off is believed on a picture that bears the intent (R4)", down, wait, nil},
		{"Releasing.Settle", "an Off of a moment ago confirms nothing (B018)", given(down, lt.Pictured, lt.SeenSince(0)), wait, nil},
		{"Releasing.ClearOverride", "a network boot that was armed and never taken is disarmed", given(down, lt.Pictured, lt.ArmedPXE), act, does(lifecycle.OpClearBootOverride)},
		{"Releasing.Unstamp", "the stamp goes and the old asset tag comes back", given(down, lt.Pictured, lt.Ledger(func(l *ledger.Server) { l.AssetTag = &ledger.AssetTag{Previous: "shelf 7"} })), act, func(t *testing.T, d lifecycle.Decision) {
			if e := d.Step.Effect; e.Op != lifecycle.OpWriteAssetTag || e.AssetTag != "shelf 7" || e.Expect.Power != provider.PowerOff || !ledger.IsStamp(*e.Expect.AssetTag) {
				t.Errorf("effect %+v", e)
			}
		}},
		{"Releasing.Finish", "confirmed Off, one patch frees the machine", done, act, and(does(lifecycle.OpConfirmOff), live, released, refCleared(true),
			changes([]string{ledger.KeyReleased, ledger.KeyOffAt}, append(clears, ledger.KeyDirtySince)))},
		{"Releasing.Finish", "retained: claimRef stays beside the record", given(done, retain), act, and(released, refCleared(false), changes([]string{ledger.KeyReleased, ledger.KeyOffAt}, clears))},
		{"Releasing.Finish", "cleaning asked for: stays dirty", given(done, lt.Spec(func(s *v1alpha1.ServerSpec) { s.Cleaning = "Wipe" })), act, changes([]string{ledger.KeyReleased, ledger.KeyOffAt}, clears)},
		{"Releasing.Finish", "without a claimRef: released for the claim that the boot names", given(lt.Running, lt.RefCleared, lt.Announced(ledger.WhyReleased, 1), lt.Pictured, lt.Off, lt.AssetTag("")), act, and(released, rule("metal 9"))},
		{"Releasing.Finish", "never booted: announced and confirmed all the same", given(lt.Claimed, lt.ClaimDeleting, lt.Announced(ledger.WhyReleased, 1), lt.Pictured), act, released},
		{"Releasing.Finish", "powerOff Never, and switched off by hand: released (B024)", given(done, neverOff), act, does(lifecycle.OpConfirmOff)},
		{"Releasing.Finish", "what a machine refused stays known", given(done, lt.Ledger(func(l *ledger.Server) { l.AssetTag = &ledger.AssetTag{Previous: "x", Unwritable: true} })), act, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.AssetTag == nil || !led.AssetTag.Unwritable || led.AssetTag.Previous != "" {
				t.Errorf("asset tag %+v", led.AssetTag)
			}
		}},
		{"Releasing.Unstamp", "no BMC object: held, and said so", given(down, lt.Pictured, func(s *lt.Scene) { s.BMC = nil }), hold, and(reason(v1alpha1.ReasonDependencyMissing), live)},
		{"Reserved.Booted.Settled", "a claim being deleted under another identity releases nothing", given(lt.Running, func(s *lt.Scene) {
			other := lt.NewClaim("old", lt.ClaimID+"-old", "uid-old")
			t := metav1.NewTime(lt.Now)
			other.DeletionTimestamp = &t
			s.Bound = append(s.Bound, other)
		}), lifecycle.StepSettled, nil},
	}
}
