// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
)

// TestEveryPhaseAnswers: the last clause of every phase applies always, so that Decide is total by construction.
func TestEveryPhaseAnswers(t *testing.T) {
	for phase, ok := range metal.LastAlwaysApplies() {
		if !ok {
			t.Errorf("the last clause of %s does not always apply", phase)
		}
	}
}

// TestDecideIsTotalDeterministicAndBlind: for any view an answer of a sound form, the same twice, whatever the reconciler's own part
// of status says (P1, P5).
func TestDecideIsTotalDeterministicAndBlind(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scene := anyScene(rt)
		d := metal.Decide(scene.View())
		sound(rt, d)
		if diff := cmp.Diff(d, metal.Decide(scene.View())); diff != "" {
			rt.Fatalf("two decisions on one view differ:\n%s", diff)
		}
		v := scene.View()
		v.Server.Status.Phase = v1alpha1.PhaseReleasing
		v.Server.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True"}}
		v.Server.Status.ObservedGeneration = 99
		if diff := cmp.Diff(d, metal.Decide(v)); diff != "" {
			rt.Fatalf("the reconciler's own status changed the decision:\n%s", diff)
		}
		metal.Available(v.Server, v.Settings)
		metal.Unsettled(v.Server)
		metal.Describe(v)
	})
}

// sound checks the form of a decision, and the rules that hold for every one.
func sound(rt *rapid.T, d lifecycle.Decision) {
	step := d.Step
	if d.Phase == "" || d.Rule == "" || step.Clause == "" || step.Message == "" {
		rt.Fatalf("incomplete: %+v", d)
	}
	if (step.Kind == lifecycle.StepPatch) != (step.Patch != nil) || (step.Kind == lifecycle.StepAct) != (step.Effect != nil) {
		rt.Fatalf("fields do not fit the kind: %+v", step)
	}
	if step.Kind == lifecycle.StepAct && !step.Live {
		rt.Fatalf("%s acts without a live view (P4)", step.Clause)
	}
	if step.Kind == lifecycle.StepWait && step.After <= 0 {
		rt.Fatalf("%s waits without a timer", step.Clause)
	}
	if e := step.Effect; e != nil && e.Op.Destructive() && (e.Intent == "" || e.Expect.Power == "" || e.Expect.AssetTag == nil) {
		rt.Fatalf("%s: %s without its intent, or without what it relies on (P6): %+v", step.Clause, e.Op, e)
	}
	if step.Kind == lifecycle.StepHold {
		i := slices.IndexFunc(d.Gates, func(g lifecycle.Gate) bool { return g.Level == lifecycle.Stalled })
		if i < 0 || len(lifecycle.WaysOut(d.Gates[i].Reason)) == 0 {
			rt.Fatalf("%s holds without a way out: %+v", step.Clause, d.Gates)
		}
	}
	for _, p := range []*lifecycle.Patch{step.Patch, step.Record, step.Refused} {
		soundPatch(rt, step.Clause, p)
	}
}

// soundPatch: what is written can be read again.
func soundPatch(rt *rapid.T, clause string, p *lifecycle.Patch) {
	if p == nil {
		return
	}
	written := map[string]string{}
	for key, value := range p.Ledger {
		if value != "" {
			written[key] = value
		}
	}
	if _, err := ledger.ParseServer(written); err != nil {
		rt.Fatalf("%s writes what it cannot read: %v", clause, err)
	}
}

// anyScene draws a scene near and far from those that occur.
func anyScene(rt *rapid.T) *lt.Scene {
	pick := func(label string, options ...lt.Override) lt.Override {
		return rapid.SampledFrom(append(options, nil, nil)).Draw(rt, label)
	}
	return lt.New(
		pick("claim", lt.Claimed, lt.Claimed, lt.All(lt.Claimed, lt.Bound), lt.All(lt.Claimed, lt.Bound), lt.All(lt.Claimed, lt.ClaimDeleting),
			lt.All(lt.Claimed, lt.Bound, lt.ClaimDeleting), lt.All(lt.Claimed, lt.ClaimGone)),
		pick("claim power", claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff }),
			claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerKeep })),
		pick("claim boot", claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Boot.When = v1alpha1.BootAlways }),
			claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Boot.Method = v1alpha1.BootDisk })),
		pick("claim names", claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.ServerName = "other" })),
		pick("restart", claimRestart(5), claimRestart(90)),
		anyLedger(rt), anyFacts(rt), anySpec(rt),
		pick("elsewhere", lt.OtherBound),
		pick("maintenance", lt.InMaintenance(v1alpha1.PowerOn), lt.InMaintenance(v1alpha1.PowerOff), lt.InMaintenance(v1alpha1.PowerKeep), func(s *lt.Scene) {
			lt.InMaintenance(v1alpha1.PowerOff)(s)
			s.Maintenance = nil
		}, func(s *lt.Scene) {
			lt.InMaintenance(v1alpha1.PowerOff)(s)
			t := metav1.NewTime(lt.Now)
			s.Maintenance.DeletionTimestamp = &t
		}, nil, nil, nil),
		pick("deleting", lt.Deleting, nil, nil, nil),
		pick("stage", lt.AtStage(ledger.StageBooting, 3), lt.AtStage(ledger.StageStarting, 3), lt.AtStage(ledger.StageBooted, 3), lt.AtStage(ledger.StageBooted, 60)),
		pick("intent", anyIntent(rt), anyIntent(rt)),
		pick("user data", func(s *lt.Scene) { s.UserData = lifecycle.UserDataMissing }, func(s *lt.Scene) { s.UserData = lifecycle.UserDataDenied }),
		pick("settings", lt.Settings(func(s *lifecycle.Settings) { s.Epoch = "e1" }), lt.Settings(func(s *lifecycle.Settings) { s.TakeOver = "cluster-0" }), nil, nil, nil, nil),
		pick("twins", func(s *lt.Scene) { s.Twins = []string{"rack9"} }, nil, nil, nil, nil, nil),
		pick("bmc", func(s *lt.Scene) { s.BMC = nil }, func(s *lt.Scene) { s.BMC.Finalizers = nil }, func(s *lt.Scene) {
			t := metav1.NewTime(lt.Now)
			s.BMC.DeletionTimestamp = &t
		}, nil, nil, nil, nil, nil, nil),
		pick("consent 1", anyConsent(rt), nil), pick("consent 2", anyConsent(rt), nil),
		pick("garbled", lt.Garbled(ledger.KeyBoot, "{"), nil, nil, nil, nil, nil, nil, nil, nil),
	)
}

func claimChange(change func(*v1alpha1.ServerClaim)) lt.Override {
	return func(s *lt.Scene) {
		if s.Claim != nil {
			change(s.Claim)
		}
	}
}

func claimRestart(minutes int) lt.Override {
	return claimChange(func(c *v1alpha1.ServerClaim) { t := metav1.NewTime(lt.Before(minutes)); c.Spec.RestartedAt = &t })
}

func anyConsent(rt *rapid.T) lt.Override {
	return rapid.SampledFrom([]lt.Override{
		lt.Annotated(v1alpha1.AnnotationPowerOff, lt.Identity), lt.Annotated(v1alpha1.AnnotationResume, lt.Identity),
		lt.Annotated(v1alpha1.AnnotationTakeOver, "cluster-0"), lt.Annotated(v1alpha1.AnnotationAbandon, lt.ServerName),
		lt.Annotated(v1alpha1.AnnotationBootAgain, lt.ClaimID), lt.Annotated(v1alpha1.AnnotationBooted, lt.ClaimID),
		lt.Annotated(v1alpha1.AnnotationPowerOff, "somebody else"),
	}).Draw(rt, "consent")
}

func anyIntent(rt *rapid.T) lt.Override {
	why := rapid.SampledFrom([]ledger.Why{
		ledger.WhyDiscovery, ledger.WhySpec, ledger.WhyBootClaim, ledger.WhyClaimPower, ledger.WhyRestart, ledger.WhyReleased, ledger.WhyMaintenance, ledger.WhyConsent,
	}).Draw(rt, "why")
	minutes := rapid.SampledFrom([]int{0, 1, 30}).Draw(rt, "intent age")
	if rapid.Bool().Draw(rt, "pictured") {
		return lt.All(lt.Announced(why, minutes), lt.Pictured)
	}
	return lt.Announced(why, minutes)
}

func anyLedger(rt *rapid.T) lt.Override {
	return rapid.SampledFrom([]lt.Override{
		nil, nil, nil, nil, lt.RememberedOn(ledger.BySpec, ""), lt.RememberedOn(ledger.ByMaintenance, lt.Maintenance), lt.RememberedOn(ledger.ByClaim, lt.ClaimID),
		lt.Ledger(func(l *ledger.Server) { *l = ledger.Server{} }),
		lt.Ledger(func(l *ledger.Server) { l.DiscoveredAt = time.Time{} }),
		lt.Ledger(func(l *ledger.Server) {
			l.DiscoveredAt, l.PowerOn = time.Time{}, &ledger.PowerOn{By: ledger.BySpec, At: lt.Before(4)}
		}),
		lt.Ledger(func(l *ledger.Server) { l.ObjectUID = "another" }),
		lt.Ledger(func(l *ledger.Server) { l.ObjectUID = "" }),
		lt.Ledger(func(l *ledger.Server) { l.Owner = "cluster-0" }),
		lt.Ledger(func(l *ledger.Server) { l.Owner = "" }),
		lt.Ledger(func(l *ledger.Server) { l.Identity = "another" }),
		lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now }),
		lt.Ledger(func(l *ledger.Server) { l.DirtySince = lt.Before(9) }),
		lt.Ledger(func(l *ledger.Server) { l.Released = &ledger.Released{Claim: lt.ClaimID, At: lt.Before(9)} }),
		lt.Ledger(func(l *ledger.Server) {
			l.Boot = &ledger.Boot{Claim: "claim-db", Stage: ledger.StageBooted, At: lt.Before(9)}
		}),
		lt.Ledger(func(l *ledger.Server) { l.AssetTag = &ledger.AssetTag{Unwritable: true} }),
	}).Draw(rt, "ledger")
}

func anyFacts(rt *rapid.T) lt.Override {
	power := rapid.SampledFrom([]v1alpha1.ObservedPower{
		v1alpha1.ObservedOff, v1alpha1.ObservedOff, v1alpha1.ObservedOff, v1alpha1.ObservedOn, v1alpha1.ObservedOn,
		v1alpha1.ObservedPoweringOn, v1alpha1.ObservedPoweringOff, v1alpha1.ObservedUnknown, "Paused",
	}).Draw(rt, "power")
	tag := rapid.SampledFrom([]lt.Override{
		nil, nil, nil, lt.Stamped(lt.ClaimID), lt.Stamped(lt.ClaimID), lt.Stamped("claim-db"), lt.AssetTag("shelf 7"), lt.AssetTag(ledger.Stamp(lt.Identity, "cluster-0", lt.ClaimID)),
	}).Draw(rt, "tag")
	more := rapid.SampledFrom([]lt.Override{
		nil, nil, nil, nil, lt.ArmedPXE, lt.ArmedPXE, lt.ArmedPXE, lt.Unseen, lt.Unreachable, lt.SeenSince(0), lt.SeenSince(500),
		lt.Facts(func(o *v1alpha1.ServerObserved) { o.Hardware = nil }),
		lt.Facts(func(o *v1alpha1.ServerObserved) { o.SystemUUID = "" }),
		lt.Facts(func(o *v1alpha1.ServerObserved) { o.SystemUUID = "11111111-2222-3333-4444-555555555555" }),
		lt.Facts(func(o *v1alpha1.ServerObserved) { o.Reachable, o.Reason = false, v1alpha1.ReasonSystemNotFound }),
		lt.Facts(func(o *v1alpha1.ServerObserved) { o.Reachable, o.Reason = false, v1alpha1.ReasonAmbiguousSystem }),
		lt.Facts(func(o *v1alpha1.ServerObserved) { o.StampUnsupported = true }),
		lt.All(lt.ArmedPXE, lt.Facts(func(o *v1alpha1.ServerObserved) { o.BootProgress = "OSRunning" })),
	}).Draw(rt, "facts")
	return func(s *lt.Scene) {
		for _, o := range []lt.Override{lt.Power(power), tag, more} {
			if o != nil {
				o(s)
			}
		}
	}
}

func anySpec(rt *rapid.T) lt.Override {
	return rapid.SampledFrom([]lt.Override{
		nil, nil, nil,
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerOn }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerOn }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerKeep }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.PowerOff = v1alpha1.PowerOffNever }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.PowerOff, s.Power = v1alpha1.PowerOffNever, v1alpha1.PowerKeep }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.FoundRunning = v1alpha1.FoundRunningPowerOff }),
		lt.Spec(func(s *v1alpha1.ServerSpec) {
			s.FoundRunning, s.Power = v1alpha1.FoundRunningPowerOff, v1alpha1.PowerKeep
		}),
		lt.Spec(func(s *v1alpha1.ServerSpec) {
			s.FoundRunning, s.PowerOff, s.Power = v1alpha1.FoundRunningPowerOff, v1alpha1.PowerOffNever, v1alpha1.PowerKeep
		}),
		lt.Spec(func(s *v1alpha1.ServerSpec) {
			s.FoundRunning, s.PowerOff = v1alpha1.FoundRunningPowerOff, v1alpha1.PowerOffNever
		}),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.ReclaimPolicy = v1alpha1.ReclaimRetain }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.Cleaning = "Wipe" }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.IndicatorLED = v1alpha1.IndicatorLit }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.Paused = true }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.Redfish = nil }),
		lt.Spec(func(s *v1alpha1.ServerSpec) { s.Redfish.SystemUUID, s.Redfish.SystemID = "", "1" }),
	}).Draw(rt, "spec")
}
