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

var (
	undiscovered = lt.Ledger(func(l *ledger.Server) { l.DiscoveredAt = time.Time{} })
	bySpec       = lt.RememberedOn(ledger.BySpec, "")
	wantsOn      = lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerOn })
	wantsKeep    = lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerKeep })
	justOff      = lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now.Add(-time.Second) })
	poweringOn   = lt.Power(v1alpha1.ObservedPoweringOn)
	poweringOff  = lt.Power(v1alpha1.ObservedPoweringOff)
	policyOff    = lt.Spec(func(s *v1alpha1.ServerSpec) { s.FoundRunning = v1alpha1.FoundRunningPowerOff })
)

func discoveryCases() []decided {
	const (
		patch = lifecycle.StepPatch
		wait  = lifecycle.StepWait
	)
	return []decided{
		{"Discovery.BoundElsewhere", "a server made anew under a bound claim is left alone", given(undiscovered, lt.On, lt.OtherBound), lifecycle.StepHold, and(reason(v1alpha1.ReasonBoundElsewhere), live)},
		{"Discovery.Inventory", "waits for the inventory", given(undiscovered, noInventory), wait, rule("metal 11")},
		{"Discovery.AwaitPicture", "Off is believed on a picture that bears the intent (R4)", given(undiscovered, lt.Announced(ledger.WhyDiscovery, 1)), wait, nil},
		{"Discovery.Changing", "on its way up: waits", given(undiscovered, wantsOn, bySpec, poweringOn), wait, nil},
		{"Discovery.Latch", "Off: discovered", given(undiscovered), patch, changes([]string{ledger.KeyDiscoveredAt}, []string{ledger.KeyPowerOn})},
		{"Discovery.Latch", "the patch closes the intent and forgets why it was On", given(undiscovered, bySpec, lt.Announced(ledger.WhyDiscovery, 1), lt.Pictured), patch,
			changes([]string{ledger.KeyDiscoveredAt, ledger.KeyOffAt}, []string{ledger.KeyPowerOn, ledger.KeyIntent})},
		{"Discovery.RememberFound", "On without a reason of ours, before anything is known of it", given(undiscovered, noInventory, lt.On), lifecycle.StepAct, and(remembersFound, reason(v1alpha1.ReasonFoundRunning))},
		{"Discovery.Latch", "Off, as far as a picture tells that may be older than our own power-on: the machine is asked", given(undiscovered, lt.RememberedOn(ledger.ByMaintenance, "m-1")), lifecycle.StepAct,
			and(does(lifecycle.OpConfirmOff), live, changes([]string{ledger.KeyDiscoveredAt}, []string{ledger.KeyPowerOn}))},
		{"Discovery.Latch", "found running, and Off now: a person says that it is free", given(undiscovered, foundRunning, powerOff), lifecycle.StepAct,
			and(does(lifecycle.OpConfirmOff), live, changes([]string{ledger.KeyDiscoveredAt}, []string{ledger.KeyPowerOn}), removes(v1alpha1.AnnotationPowerOff))},
		{"Discovery.Latch", "wanted On, and On for a reason of ours: not power-cycled", given(undiscovered, wantsOn, bySpec, lt.On), patch, sets(ledger.KeyDiscoveredAt)},
	}
}

func availableCases() []decided {
	const (
		hold  = lifecycle.StepHold
		patch = lifecycle.StepPatch
		act   = lifecycle.StepAct
		wait  = lifecycle.StepWait
	)
	return []decided{
		{"Available.BoundElsewhere", "bindable to the bound claim only", given(lt.On, lt.OtherBound), hold, and(reason(v1alpha1.ReasonBoundElsewhere), live)},
		{"Available.RememberFound", "On without a reason of ours, whatever the spec wants (P13, B016)", given(lt.On, wantsOn), act, and(remembersFound, reason(v1alpha1.ReasonFoundRunning))},
		{"Available.PowerOff.FoundRunning", "and held", given(lt.On, wantsOn, foundRunning), hold, reason(v1alpha1.ReasonFoundRunning)},
		{"Available.RememberFound", "On for a claim that is not known here is unexplained", given(lt.On, lt.RememberedOn(ledger.ByClaim, lt.ClaimID)), act, remembersFound},
		{"Available.FoundBefore", "found running, and Off now: not switched on again either", given(wantsOn, foundRunning), hold, reason(v1alpha1.ReasonFoundRunning)},
		{"Available.Off.RecordOff", "found running, and Off now: a person says that it is free", given(foundRunning, powerOff), act,
			and(does(lifecycle.OpConfirmOff), live, changes(nil, []string{ledger.KeyPowerOn}), removes(v1alpha1.AnnotationPowerOff))},
		{"Available.Off.RecordOff", "or the policy does", given(foundRunning, policyOff), act, and(does(lifecycle.OpConfirmOff), live, changes(nil, []string{ledger.KeyPowerOn}))},
		{"Available.On.Remember", "the policy does, and the spec wants it On", given(wantsOn, foundRunning, policyOff), patch, sets(ledger.KeyPowerOn)},
		{"Available.PowerOff.Announce", "consented where the spec keeps power", given(lt.On, wantsKeep, powerOff), patch, and(sets(ledger.KeyIntent), tells("PowerOffConsented"))},
		{"Available.PowerOff.Announce", "consented by policy", given(lt.On, wantsKeep, policyOff), patch, nil},
		{"Available.Off.AwaitPicture", "Off is believed on a picture that bears the intent (R4)", given(lt.Announced(ledger.WhySpec, 1), bySpec), wait, nil},
		{"Available.Off.RecordOff", "closes the intent, forgets why it was On, and removes the consent", given(lt.Announced(ledger.WhySpec, 1), lt.Pictured, bySpec, powerOff), patch,
			and(changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent, ledger.KeyPowerOn}), removes(v1alpha1.AnnotationPowerOff))},
		{"Available.Off.RecordOff", "switched off by hand, or a picture older than our own power-on: the machine is asked, and from now on an On is somebody's", given(bySpec), act,
			and(does(lifecycle.OpConfirmOff), live, changes(nil, []string{ledger.KeyPowerOn}))},
		{"Available.Off.RecordOff", "a consent that is not needed any more does not wait for the next tenant", given(powerOff), patch, removes(v1alpha1.AnnotationPowerOff)},
		{"Available.Changing", "on its way up: waits", given(wantsOn, bySpec, poweringOn), wait, nil},
		{"Available.On.Rest", "after a power-off of ours the next power-on waits", given(wantsOn, justOff), wait, func(t *testing.T, d lifecycle.Decision) {
			if d.Step.After <= 0 || d.Step.After > 30*time.Second {
				t.Errorf("waits %s", d.Step.After)
			}
		}},
		{"Available.On.Remember", "why it is to be On is written first (P13)", given(wantsOn), patch, sets(ledger.KeyPowerOn)},
		{"Available.On.PowerOn", "then it is switched on, if it is still Off", given(wantsOn, bySpec), act, and(does(lifecycle.OpPowerOn), live, func(t *testing.T, d lifecycle.Decision) {
			if e := d.Step.Effect.Expect; e.Power != provider.PowerOff || e.AssetTag == nil || e.Boot == nil || e.Boot.Armed {
				t.Errorf("expects %+v", e)
			}
		})},
		{"Available.Indicator", "the light as the spec says", given(lt.Spec(func(s *v1alpha1.ServerSpec) { s.IndicatorLED = v1alpha1.IndicatorLit })), act, does(lifecycle.OpSetIndicator)},
		{"Available.Settled", "no light, no effect", given(lt.Spec(func(s *v1alpha1.ServerSpec) { s.IndicatorLED = v1alpha1.IndicatorLit }), lt.Facts(func(o *v1alpha1.ServerObserved) { o.IndicatorLED = "" })), lifecycle.StepSettled, nil},
		{"Available.Settled.UnusedConsent", "a consent that lets nothing go is removed", given(wantsOn, bySpec, lt.On, powerOff), patch, removes(v1alpha1.AnnotationPowerOff)},
		{"Available.Settled", "free, Off, and silent (P8)", given(), lifecycle.StepSettled, and(rule("metal 12"), reason(v1alpha1.ReasonSettled))},
		{"Available.Settled", "power kept, and On for a reason of ours", given(wantsKeep, bySpec, lt.On), lifecycle.StepSettled, nil},
		{"Released.Settled", "retained: nothing, until a person clears claimRef", given(lt.Claimed, lt.On, lt.Ledger(func(l *ledger.Server) { l.Released = &ledger.Released{Claim: lt.ClaimID, At: lt.Before(5)} })), lifecycle.StepSettled, and(rule("metal 5"), reason(v1alpha1.ReasonReleased))},
	}
}

func cleaningCases() []decided {
	dirty := given(lt.Ledger(func(l *ledger.Server) { l.DirtySince = lt.Before(5) }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.Cleaning = "Wipe" }))
	return []decided{
		{"Cleaning.Policy", "an unknown policy holds the machine back (B075)", dirty, lifecycle.StepHold, and(reason(v1alpha1.ReasonCleaning), rule("metal 10"))},
		{"Cleaning.BoundElsewhere", "never while a claim is bound", given(dirty, lt.OtherBound), lifecycle.StepHold, live},
		{"Available.Settled", "dirty, and no cleaning asked for", given(lt.Ledger(func(l *ledger.Server) { l.DirtySince = lt.Before(5) })), lifecycle.StepSettled, nil},
	}
}

func maintenanceCases() []decided {
	const (
		patch = lifecycle.StepPatch
		act   = lifecycle.StepAct
		wait  = lifecycle.StepWait
	)
	on, off, keep := lt.InMaintenance(v1alpha1.PowerOn), lt.InMaintenance(v1alpha1.PowerOff), lt.InMaintenance(v1alpha1.PowerKeep)
	missing := func(s *lt.Scene) { s.Maintenance = nil }
	byMaintenance := lt.RememberedOn(ledger.ByMaintenance, lt.Maintenance)
	return []decided{
		{"Maintenance.Missing", "a maintenance that is not there has not ended (P10)", given(off, missing), lifecycle.StepHold, and(reason(v1alpha1.ReasonMaintenanceMissing), live, rule("metal 4"))},
		{"Maintenance.Missing", "one of the same name and another UID is not it", given(off, func(s *lt.Scene) { s.Maintenance.UID = "other" }), lifecycle.StepHold, nil},
		{"Maintenance.Ending", "an ending maintenance asks for nothing", given(off, lt.On, bySpec, func(s *lt.Scene) { t := metav1.NewTime(lt.Now); s.Maintenance.DeletionTimestamp = &t }), lifecycle.StepSettled, nil},
		{"Maintenance.Keep", "power stays as it is, also when nothing explains it", given(keep, lt.On), lifecycle.StepSettled, reason(v1alpha1.ReasonMaintenance)},
		{"Maintenance.Keep", "a claim's wishes wait (B036, B052)", given(lt.Running, keep, lt.ClaimPower(v1alpha1.PowerOff)), lifecycle.StepSettled, nil},
		{"Maintenance.Off.AwaitPicture", "Off is believed on a picture that bears the intent (R4)", given(off, lt.Announced(ledger.WhyMaintenance, 1)), wait, nil},
		{"Maintenance.Off.RecordOff", "closes the intent", given(lt.Running, off, lt.Off, lt.Announced(ledger.WhyMaintenance, 1), lt.Pictured), patch, changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent, ledger.KeyPowerOn})},
		{"Maintenance.Changing", "on its way: waits", given(on, poweringOn), wait, nil},
		{"Maintenance.On.FoundBefore", "found running, and Off now: not switched on", given(on, foundRunning), lifecycle.StepHold, reason(v1alpha1.ReasonFoundRunning)},
		{"Maintenance.On.Remember", "a person says that it may be used: the consent has done its work", given(on, foundRunning, powerOff), patch, and(sets(ledger.KeyPowerOn), removes(v1alpha1.AnnotationPowerOff))},
		{"Maintenance.Settled.UnusedConsent", "found running, and Off as it should be: a consent to something else goes, the memory stays", given(off, foundRunning, lt.Annotated(v1alpha1.AnnotationPowerOff, "other")), patch,
			and(removes(v1alpha1.AnnotationPowerOff), changes(nil, nil))},
		{"Maintenance.Off.RecordOff", "nor does closing an intent whose consent was taken back", given(off, foundRunning, lt.Announced(ledger.WhyMaintenance, 1), lt.Pictured), patch, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.Intent != nil || led.PowerOn == nil {
				t.Errorf("writes %+v", led)
			}
		}},
		{"Maintenance.On.ClearOverride", "never images the claim's machine a second time (I10)", given(lt.Running, lt.Off, on, lt.ArmedPXE), act, does(lifecycle.OpClearBootOverride)},
		{"Maintenance.On.BoundElsewhere", "nothing that is armed may overwrite another claim's disk", given(on, lt.ArmedPXE, lt.OtherBound), lifecycle.StepHold, live},
		{"Maintenance.On.Rest", "after a power-off of ours the next power-on waits", given(on, justOff), wait, nil},
		{"Maintenance.On.Remember", "why it is to be On is written first (P13)", given(on), patch, sets(ledger.KeyPowerOn)},
		{"Maintenance.On.PowerOn", "then it is switched on", given(on, byMaintenance), act, does(lifecycle.OpPowerOn)},
		{"Maintenance.Settled", "as the maintenance wants it", given(off), lifecycle.StepSettled, reason(v1alpha1.ReasonMaintenance)},
		{"Maintenance.PowerOff.ShutDown", "an announced release stands in for the maintenance's own intent, and is kept", given(lt.Running, lt.ClaimGone, off, lt.Announced(ledger.WhyReleased, 1)), act, does(lifecycle.OpShutDown)},
		{"Maintenance.Off.RecordOff", "and is not closed by it", given(lt.Running, lt.ClaimGone, off, lt.Off, lt.Announced(ledger.WhyReleased, 1), lt.Pictured), patch, func(t *testing.T, d lifecycle.Decision) {
			if p, _ := written(t, d); len(p.Ledger) != 1 {
				t.Errorf("patch %+v, want power-on cleared alone", p.Ledger)
			}
		}},
	}
}
