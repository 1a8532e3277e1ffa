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

// situation is a machine that is On, for a reason of ours, and is to be Off.
type situation struct {
	clause string // the name before ".Picture" and ".PowerOff"
	given  lt.Override
	why    ledger.Why
}

func situations() []situation {
	return []situation{
		{"First.Stamp", given(lt.Claimed, otherStamp, overStamp), ledger.WhyConsent},
		{"Discovery", given(undiscovered, bySpec), ledger.WhyDiscovery},
		{"Available", bySpec, ledger.WhySpec},
		{"Maintenance", given(bySpec, lt.InMaintenance(v1alpha1.PowerOff)), ledger.WhyMaintenance},
		{"Reserved.Unbooted", given(lt.Claimed, bySpec), ledger.WhyBootClaim},
		{"Reserved.Booted", given(lt.Running, lt.ClaimPower(v1alpha1.PowerOff)), ledger.WhyClaimPower},
		{"Reserved.Booted.Restart", given(lt.Running, lt.RestartAsked(5)), ledger.WhyRestart},
		{"Releasing", given(lt.Running, lt.ClaimDeleting), ledger.WhyReleased},
	}
}

// pictureCases: in every phase that needs to know how the machine is, not knowing it does nothing and loses nothing.
func pictureCases() []decided {
	prefixes := []struct {
		clause string
		given  lt.Override
	}{
		{"First.TakeOver", given(foreign, takeOver)},
		{"First.Stamp", given(otherStamp, overStamp)},
		{"Discovery", undiscovered},
		{"Available", given()},
		{"Maintenance", lt.InMaintenance(v1alpha1.PowerOff)},
		{"Reserved", lt.Running},
		{"Releasing", given(lt.Running, lt.ClaimDeleting, lt.Announced(ledger.WhyReleased, 1))},
	}
	notHost := lt.Facts(func(o *v1alpha1.ServerObserved) { o.Reason = v1alpha1.ReasonAmbiguousSystem })
	var out []decided
	for _, p := range prefixes {
		at := p.clause + ".Picture."
		unreachable, unknown := v1alpha1.ReasonProviderUnreachable, v1alpha1.ReasonNotObserved
		if p.clause == "Releasing" {
			unreachable, unknown = v1alpha1.ReasonReleaseUnconfirmed, v1alpha1.ReasonReleaseUnconfirmed
		}
		out = append(out,
			decided{at + "SystemMissing", "the BMC has no such system (B043)", given(p.given, systemNotFound), lifecycle.StepHold, reason(v1alpha1.ReasonSystemNotFound)},
			decided{at + "SystemMissing", "several systems and none named (B154)", given(p.given, notHost), lifecycle.StepHold, reason(v1alpha1.ReasonAmbiguousSystem)},
			decided{at + "Unreachable", "waits, and goes on by itself (B082)", given(p.given, lt.Unreachable), lifecycle.StepWait, reason(unreachable)},
			decided{at + "SystemReplaced", "another machine holds", given(p.given, otherUUID), lifecycle.StepHold, reason(v1alpha1.ReasonSystemReplaced)},
			decided{at + "PowerUnknown", "a power state nobody knows (B028)", given(p.given, lt.Power("Chassis Power is on")), lifecycle.StepWait, reason(unknown)},
		)
	}
	return out
}

// powerOffCases: whoever asks, a machine is switched off in one way only.
func powerOffCases() []decided {
	var out []decided
	for _, s := range situations() {
		out = append(out, s.cases()...)
	}
	return out
}

func (s situation) cases() []decided {
	out := append(s.carriedOut(), s.guarded()...)
	if s.why != ledger.WhyReleased {
		out = append(out, s.announcing()...)
	}
	if s.why != ledger.WhyConsent { // there the consent has been given
		out = append(out, s.unexplained()...)
	}
	return out
}

func (s situation) at() string { return s.clause + ".PowerOff." }

// announced: On, and the intent stands since some minutes.
func (s situation) announced(minutes int) lt.Override {
	return given(s.given, lt.On, lt.Announced(s.why, minutes))
}

func (s situation) carriedOut() []decided {
	at := s.at()
	stands := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if e := d.Step.Effect; e.Intent != "i-1" || e.Expect.Power != provider.PowerOn || e.Expect.AssetTag == nil || e.Expect.Serial != "S-1" {
			t.Errorf("effect %+v: carries out the intent it read, on the machine as seen (P6)", e)
		}
	}
	return []decided{
		{at + "ShutDown", "gracefully first", s.announced(1), lifecycle.StepAct, and(does(lifecycle.OpShutDown), live, stands)},
		{at + "AwaitTask", "the BMC took it as a task and is at it (B144)", given(s.announced(1), lt.Tasked(provider.TaskRunning)), lifecycle.StepWait, reason(v1alpha1.ReasonPoweringOff)},
		{at + "ShutDown", "its task failed: told, and asked for again (B142)", given(s.announced(1), lt.Tasked(provider.TaskFailed)), lifecycle.StepAct, and(does(lifecycle.OpShutDown), live, stands, reason(v1alpha1.ReasonTaskFailed))},
		{at + "Force", "a task that runs for ever does not keep the cut away", given(s.announced(6), lt.Asked(6), lt.Tasked(provider.TaskRunning)), lifecycle.StepAct, and(does(lifecycle.OpForceOff), reason(v1alpha1.ReasonPoweringOff))},
		{at + "Force", "by force after the grace period", given(s.announced(6), lt.Asked(4)), lifecycle.StepAct, and(does(lifecycle.OpForceOff), live, stands)},
		{at + "Asked", "the operating system has its time", given(s.announced(3), lt.Asked(1)), lifecycle.StepWait, reason(v1alpha1.ReasonPoweringOff)},
		{at + "Changing", "waits for a machine that is going down", given(s.announced(1), poweringOff), lifecycle.StepWait, func(t *testing.T, d lifecycle.Decision) {
			if d.Step.After > time.Minute {
				t.Errorf("waits %s", d.Step.After)
			}
		}},
		{at + "Force", "and cuts the power of one that does not come down", given(s.announced(6), poweringOff), lifecycle.StepAct, func(t *testing.T, d lifecycle.Decision) {
			if d.Step.Effect.Expect.Power != provider.PoweringOff {
				t.Errorf("expects %+v", d.Step.Effect.Expect)
			}
		}},
	}
}

// guarded: what stops a power-off that was announced.
func (s situation) guarded() []decided {
	at, announced := s.at(), s.announced(1)
	var out []decided
	switch s.why {
	case ledger.WhyReleased, ledger.WhyConsent:
		out = append(out, decided{at + "Forbidden", "powerOff Never, announced or not (B024)", given(announced, neverOff), lifecycle.StepHold, reason(v1alpha1.ReasonPowerOffForbidden)})
	default:
		out = append(out, decided{at + "Forbidden.Withdraw", "powerOff Never: what was announced is withdrawn (B024)", given(announced, neverOff), lifecycle.StepPatch, nil})
	}
	switch s.why {
	case ledger.WhyBootClaim, ledger.WhyClaimPower, ledger.WhyRestart, ledger.WhyMaintenance, ledger.WhyConsent:
		out = append(out, decided{at + "BoundElsewhere", "not while another claim is bound (I1)", given(s.given, lt.On, lt.OtherBound), lifecycle.StepHold, and(reason(v1alpha1.ReasonBoundElsewhere), live)})
	}
	return out
}

// announcing: nothing is carried out that does not stand written as it is meant.
func (s situation) announcing() []decided {
	at, on := s.at(), given(s.given, lt.On)
	intent := func(change func(*ledger.Intent)) lt.Override {
		return given(s.announced(1), lt.Ledger(func(l *ledger.Server) { change(l.Intent) }))
	}
	return []decided{
		{at + "Announce", "written first, carried out by a later pass (P6, I7)", on, lifecycle.StepPatch, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.Intent == nil || led.Intent.Why != s.why || !led.Intent.At.Equal(lt.Now) {
				t.Errorf("intent %+v", led.Intent)
			}
		}},
		{at + "Announce", "another reason's intent is not this one's", given(on, lt.Announced(another(s.why), 1)), lifecycle.StepPatch, nil},
		{at + "Announce", "nor is one of another machine", intent(func(i *ledger.Intent) { i.Target = "other" }), lifecycle.StepPatch, nil},
		{at + "Announce", "nor is one opened under another claim", intent(func(i *ledger.Intent) { i.Claim = "claim-db" }), lifecycle.StepPatch, nil},
		{at + "Announce", "nor is one of another UID of the claim", intent(func(i *ledger.Intent) { i.ClaimUID = "uid-x" }), lifecycle.StepPatch, nil},
		{at + "GoingDown", "somebody else is powering it off: waits", given(on, poweringOff), lifecycle.StepWait, nil},
		{at + "Forbidden", "nothing is announced under powerOff Never", given(on, neverOff), lifecycle.StepHold, reason(v1alpha1.ReasonPowerOffForbidden)},
	}
}

// unexplained: what runs for no reason of ours is not touched, whatever asks (P13); and where no claim booted it, also not once it is Off:
// that may be a power cut (docs/decisions/0157).
func (s situation) unexplained() []decided {
	at := s.at()
	forgotten := given(s.announced(1), lt.Ledger(func(l *ledger.Server) { l.PowerOn = nil }))
	unannounced := lt.Ledger(func(l *ledger.Server) { l.Intent = nil })
	hold := reason(v1alpha1.ReasonFoundRunning)
	out := []decided{
		{at + "ShutDown", "unexplained On: a person consents", given(forgotten, powerOff), lifecycle.StepAct, nil},
		{at + "ShutDown", "unexplained On: the policy consents", given(forgotten, policyOff), lifecycle.StepAct, nil},
	}
	switch s.why {
	case ledger.WhyReleased:
		return append(out,
			decided{at + "FoundRunning", "unexplained On is held; the release stands", forgotten, lifecycle.StepHold, hold},
			decided{s.clause + ".RememberFound", "unexplained On that no claim booted is remembered first; the release stands", given(forgotten, unbooted, unbound), lifecycle.StepAct, and(remembersFound, hold)})
	case ledger.WhyClaimPower, ledger.WhyRestart:
		return append(out,
			decided{at + "FoundRunning.Withdraw", "unexplained On: the intent is withdrawn", forgotten, lifecycle.StepPatch, nil},
			decided{at + "FoundRunning", "unexplained On is held", given(forgotten, unannounced), lifecycle.StepHold, hold})
	}
	out = append(out,
		decided{s.clause + ".RememberFound.Withdraw", "unexplained On: the intent is withdrawn", forgotten, lifecycle.StepPatch, nil},
		decided{s.clause + ".RememberFound", "unexplained On is remembered, by the machine's own word", given(forgotten, unannounced), lifecycle.StepAct, and(remembersFound, hold)},
		decided{at + "FoundRunning", "and held", given(forgotten, unannounced, foundRunning), lifecycle.StepHold, hold},
		decided{at + "ShutDown", "a person consents", given(forgotten, foundRunning, powerOff), lifecycle.StepAct, nil},
	)
	if s.why == ledger.WhyMaintenance {
		return out // which asks for Off, and has it
	}
	return append(out,
		decided{s.clause + ".FoundBefore", "Off, and nobody has said that it may be used", given(s.given, lt.Off, foundRunning), lifecycle.StepHold, hold},
		decided{s.clause + ".FoundBefore", "a consent that names something else says nothing", given(s.given, lt.Off, foundRunning, lt.Annotated(v1alpha1.AnnotationPowerOff, "other")), lifecycle.StepHold, hold},
		decided{s.clause + ".FoundBefore", "nor does an intent of ours, whose consent was taken back", given(s.announced(1), lt.Off, lt.Pictured, foundRunning, unannounced), lifecycle.StepHold, hold},
	)
}

var (
	foundRunning = lt.RememberedOn(ledger.ByUnknown, "")
	unbooted     = lt.Ledger(func(l *ledger.Server) { l.Boot = nil })
)

func remembersFound(t *testing.T, d lifecycle.Decision) {
	t.Helper()
	and(does(lifecycle.OpConfirmOn), live, changes([]string{ledger.KeyPowerOn}, nil))(t, d)
	if _, led := written(t, d); led.PowerOn == nil || led.PowerOn.By != ledger.ByUnknown {
		t.Errorf("remembers %+v", led.PowerOn)
	}
	if len(d.Gates) == 0 || d.Gates[0].Level != lifecycle.Stalled {
		t.Errorf("gates %+v: held from the first moment", d.Gates)
	}
}

func another(why ledger.Why) ledger.Why {
	if why == ledger.WhySpec {
		return ledger.WhyDiscovery
	}
	return ledger.WhySpec
}

// withdrawCases: an intent that nothing asks for any more is withdrawn, whatever else is to be done (R3).
func withdrawCases() []decided {
	withdrawn := changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent})
	return []decided{
		{"Available.Settled.Withdraw", "the spec changed its mind", given(wantsOn, bySpec, lt.On, lt.Announced(ledger.WhySpec, 1)), lifecycle.StepPatch, withdrawn},
		{"Reserved.Booted.Settled.Withdraw", "the claim changed its mind", given(lt.Running, lt.Announced(ledger.WhyClaimPower, 1)), lifecycle.StepPatch, withdrawn},
		{"Reserved.Booted.On.PowerOn.Withdraw", "too late: the Off is recorded with it, then it is powered on", given(lt.Running, lt.Off, lt.Announced(ledger.WhyClaimPower, 1), lt.Pictured), lifecycle.StepPatch,
			changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent, ledger.KeyPowerOn})},
		{"Reserved.ClaimMissing.Withdraw", "the claim is gone", given(lt.Running, lt.ClaimGone, lt.Announced(ledger.WhyClaimPower, 1)), lifecycle.StepPatch, and(withdrawn, live)},
		{"Maintenance.Keep.Withdraw", "a maintenance that keeps power began", given(lt.Running, lt.InMaintenance(v1alpha1.PowerKeep), lt.Announced(ledger.WhyClaimPower, 1)), lifecycle.StepPatch, withdrawn},
		{"Maintenance.Keep", "an announced release is kept through a maintenance", given(lt.Running, lt.ClaimGone, lt.InMaintenance(v1alpha1.PowerKeep), lt.Announced(ledger.WhyReleased, 1)), lifecycle.StepSettled, nil},
		{"Releasing.BoundElsewhere.Withdraw", "a bound claim can only be bound again where nothing is open (R2)", given(lt.Running, lt.RefCleared, lt.OtherBound, lt.Announced(ledger.WhyReleased, 1)), lifecycle.StepPatch, and(withdrawn, live)},
		{"Reserved.Booted.Adopt", "a patch takes the withdrawal along", given(lt.Running, lt.Ledger(func(l *ledger.Server) { l.PowerOn = nil }), lt.Announced(ledger.WhyClaimPower, 1)), lifecycle.StepPatch,
			changes([]string{ledger.KeyPowerOn, ledger.KeyOffAt}, []string{ledger.KeyIntent})},
	}
}
