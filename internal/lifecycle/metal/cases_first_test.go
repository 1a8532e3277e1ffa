// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var (
	foreign     = lt.Ledger(func(l *ledger.Server) { l.Owner = "cluster-0" })
	takeOver    = lt.Annotated(v1alpha1.AnnotationTakeOver, "cluster-0")
	powerOff    = lt.Annotated(v1alpha1.AnnotationPowerOff, lt.Identity)
	otherStamp  = lt.AssetTag(ledger.Stamp(lt.Identity, "cluster-9", "claim-x"))
	overStamp   = lt.Annotated(v1alpha1.AnnotationPowerOff, ledger.Stamp(lt.Identity, "cluster-9", "claim-x"))
	oldStamp    = lt.AssetTag(ledger.Stamp(lt.Identity, "cluster-0", lt.ClaimID))
	resumed     = lt.Annotated(v1alpha1.AnnotationResume, lifecycle.ResumeConsent(lt.Identity, "e1"))
	afterEpoch  = lt.Settings(func(s *lifecycle.Settings) { s.Epoch = "e1" })
	withoutOurs = func(s *lt.Scene) { s.Server.Finalizers = []string{"other/finalizer"} }
	paused      = lt.Spec(func(s *v1alpha1.ServerSpec) { s.Paused = true })
	neverOff    = lt.Spec(func(s *v1alpha1.ServerSpec) { s.PowerOff = v1alpha1.PowerOffNever })
)

func firstCases() []decided {
	const (
		hold  = lifecycle.StepHold
		patch = lifecycle.StepPatch
		act   = lifecycle.StepAct
	)
	booting := lt.Ledger(func(l *ledger.Server) {
		l.Boot = &ledger.Boot{Claim: lt.ClaimID, Stage: ledger.StageBooting, At: lt.Before(20)}
	})
	startingNow := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if _, led := written(t, d); led.Boot == nil || led.Boot.Stage != ledger.StageStarting || led.Boot.Claim != lt.ClaimID || led.Restarted.IsZero() {
			t.Errorf("remembers %+v", led)
		}
	}
	bootStays := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if _, said := d.Step.Patch.Ledger[ledger.KeyBoot]; said {
			t.Errorf("writes %v", d.Step.Patch.Ledger)
		}
	}
	return []decided{
		{"First.NotOurs", "deleted without our finalizer is settled", given(lt.Deleting, withoutOurs), lifecycle.StepSettled, nil},
		{"First.Paused", "paused: hands off", given(paused), hold, reason(v1alpha1.ReasonPaused)},
		{"First.Paused", "paused outranks deletion (B056)", given(paused, lt.Deleting), hold, reason(v1alpha1.ReasonPaused)},
		{"First.Paused", "an open intent is not even withdrawn", given(lt.Running, paused, lt.Announced(ledger.WhyClaimPower, 1)), hold, nil},
		{"First.LedgerUnreadable", "an unreadable entry parks, and is named", given(lt.Running, lt.Garbled(ledger.KeyBoot, "{")), hold, and(reason(v1alpha1.ReasonLedgerUnreadable), func(t *testing.T, d lifecycle.Decision) {
			if want := "annotation " + ledger.KeyBoot; len(d.Step.Message) < len(want) || d.Step.Message[:len(want)] != want {
				t.Errorf("message %q does not name the entry", d.Step.Message)
			}
		})},
		{"First.LedgerUnreadable", "deletion waits where it cannot be told whether the claim was released", given(lt.Running, lt.Deleting, lt.Garbled(ledger.KeyReleased, "{")), hold, nil},
		{"First.ForeignOwner", "another cluster's ledger is observed only", given(foreign), hold, reason(v1alpha1.ReasonForeignOwner)},
		{"First.ForeignOwner", "a consent that names somebody else is none", given(foreign, lt.Annotated(v1alpha1.AnnotationTakeOver, "cluster-7")), hold, nil},
		{"First.TakeOver.Own", "without a stamp one patch takes over and removes the consent", given(foreign, takeOver), patch, and(sets(ledger.KeyOwner), removes(v1alpha1.AnnotationTakeOver), tells("TakenOver"))},
		{"First.TakeOver.Own", "the manager's flag stands for the consent", given(foreign, lt.Settings(func(s *lifecycle.Settings) { s.TakeOver = "cluster-0" })), patch, sets(ledger.KeyOwner)},
		{"First.TakeOver.Own", "the old owner's intent is dropped", given(foreign, takeOver, lt.Announced(ledger.WhySpec, 1)), patch, changes([]string{ledger.KeyOwner, ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"First.TakeOver.Own", "stamped as ours already: a take-over that crashed may finish", given(lt.Running, foreign, takeOver), patch, sets(ledger.KeyOwner)},
		{"First.TakeOver.Restamp", "the old owner's stamp is replaced first", given(lt.Running, foreign, takeOver, oldStamp), act, and(does(lifecycle.OpWriteAssetTag), func(t *testing.T, d lifecycle.Decision) {
			e := d.Step.Effect
			if e.AssetTag != ledger.Stamp(lt.Identity, lt.ClusterID, lt.ClaimID) || *e.Expect.AssetTag != ledger.Stamp(lt.Identity, "cluster-0", lt.ClaimID) {
				t.Errorf("writes %q, expecting %q", e.AssetTag, *e.Expect.AssetTag)
			}
		})},
		{"First.TakeOver.StampMismatch", "a third cluster's stamp stops a take-over", given(lt.Running, foreign, takeOver, otherStamp), hold, reason(v1alpha1.ReasonStampMismatch)},
		{"First.GlassBroken", "a power-off that stands announced may be another time's: it is announced anew if it is still wanted", given(lt.Running, lt.Announced(ledger.WhyRestart, 20), lt.Annotated(v1alpha1.AnnotationBreakGlass, "an older ledger")), patch,
			changes([]string{ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"First.GlassBroken", "a release is remembered", given(lt.Running, lt.Announced(ledger.WhyReleased, 1), lt.Annotated(v1alpha1.AnnotationBreakGlass, "repaired")), patch, changes(nil, nil)},
		{"First.GlassBroken", "becomes an event, and the glass is put back", given(lt.Running, lt.Annotated(v1alpha1.AnnotationBreakGlass, "repaired by hand")), patch, and(removes(v1alpha1.AnnotationBreakGlass), tells("GlassBroken"))},
		{"First.Paused", "nothing is written while paused, broken glass or not", given(paused, lt.Annotated(v1alpha1.AnnotationBreakGlass, "x")), hold, nil},
		{"First.DuplicateIdentity", "two objects for one machine both hold", given(func(s *lt.Scene) { s.Twins = []string{"rack9"} }), hold, reason(v1alpha1.ReasonDuplicateIdentity)},
		{"First.StampMismatch", "a stamp that the ledger does not account for", given(otherStamp), hold, reason(v1alpha1.ReasonStampMismatch)},
		{"First.StampMismatch", "an old owner that is stamped over stands down", given(lt.Running, lt.AssetTag(ledger.Stamp(lt.Identity, "cluster-2", lt.ClaimID))), hold, nil},
		{"First.StampMismatch", "another claim's stamp under this claim", given(lt.Running, lt.Stamped("claim-db")), hold, nil},
		{"First.StampMismatch", "a consent that names another machine is none", given(otherStamp, lt.Annotated(v1alpha1.AnnotationPowerOff, "other")), hold, nil},
		{"First.StampMismatch", "a consent from before the machine bore this stamp, as a snapshot brings it back into force, is none", given(otherStamp, powerOff), hold, nil},
		{"First.StampMismatch", "a consent that names another stamp is none", given(lt.Running, lt.Stamped("claim-db"), overStamp), hold, nil},
		{"First.Stamp.Restamp", "off and consented: a stamp nobody accounts for is cleared", given(otherStamp, overStamp, lt.Ledger(func(l *ledger.Server) { l.AssetTag = &ledger.AssetTag{Previous: "shelf 7"} })), act, func(t *testing.T, d lifecycle.Decision) {
			if e := d.Step.Effect; e.AssetTag != "shelf 7" || e.Expect.Power != provider.PowerOff || *e.Expect.AssetTag == "" {
				t.Errorf("effect %+v", e)
			}
		}},
		{"First.Stamp.Restamp", "off and consented under a claim: stamped anew for it", given(lt.Running, lt.Off, otherStamp, overStamp), act, func(t *testing.T, d lifecycle.Decision) {
			if d.Step.Effect.AssetTag != ledger.Stamp(lt.Identity, lt.ClusterID, lt.ClaimID) {
				t.Errorf("writes %q", d.Step.Effect.AssetTag)
			}
		}},
		{"Initial.Confirm", "consented on a restored object: memory first", given(lt.Running, moved, otherStamp, overStamp), patch, nil},
		{"First.RestoredSnapshot", "consented after a restore: resumed first", given(otherStamp, overStamp, afterEpoch), hold, nil},
		{"First.Stamp.AwaitPicture", "off is believed on a picture taken after the announcement", given(otherStamp, overStamp, lt.Announced(ledger.WhyConsent, 1)), lifecycle.StepWait, nil},
		{"First.Stamp.BoundElsewhere", "not while another claim is bound", given(lt.Claimed, otherStamp, overStamp, lt.OtherBound), hold, and(reason(v1alpha1.ReasonBoundElsewhere), live)},
		{"First.StaleConsent", "resume, and nothing to resume: it must not come back with a snapshot", given(resumed), patch, removes(v1alpha1.AnnotationResume)},
		{"First.StaleConsent", "take-over of a server that is ours", given(lt.Running, takeOver), patch, removes(v1alpha1.AnnotationTakeOver)},
		{"First.StaleConsent", "resumed already", given(afterEpoch, resumed, lt.Ledger(func(l *ledger.Server) { l.RestoreEpoch = "e1" })), patch, nil},
		{"First.RestoredSnapshot", "a consent of an earlier restore, as a snapshot brings it back, resumes nothing", given(afterEpoch, lt.Annotated(v1alpha1.AnnotationResume, lifecycle.ResumeConsent(lt.Identity, "e0"))), hold, nil},
		{"First.RestoredSnapshot", "nor does one that names no restore", given(afterEpoch, lt.Annotated(v1alpha1.AnnotationResume, lt.Identity)), hold, nil},
		{"First.Resume", "a person resumes this server", given(afterEpoch, resumed), patch, and(sets(ledger.KeyRestoreEpoch), removes(v1alpha1.AnnotationResume), tells("Resumed"))},
		{"First.ResumeUnconfirmed", "a claim that had not booted by then may have since: neither stamp nor memory tells (I10)", given(lt.Claimed, afterEpoch, resumed), patch, and(sets(ledger.KeyRestoreEpoch, ledger.KeyBoot, ledger.KeyDirtySince, ledger.KeyRestarted), startingNow)},
		{"First.ResumeUnconfirmed", "what stands announced was another time's", given(lt.Claimed, lt.Announced(ledger.WhyBootClaim, 20), afterEpoch, resumed), patch,
			changes([]string{ledger.KeyRestoreEpoch, ledger.KeyBoot, ledger.KeyDirtySince, ledger.KeyRestarted, ledger.KeyOffAt}, []string{ledger.KeyIntent, ledger.KeyPowerOn})},
		{"First.Resume", "and so it was where the machine had booted", given(lt.Running, lt.Announced(ledger.WhyRestart, 20), afterEpoch, resumed), patch, changes([]string{ledger.KeyRestoreEpoch, ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"First.Resume", "a restart may have been carried out since the snapshot: it is not repeated", given(lt.Running, lt.RestartAsked(5), afterEpoch, resumed), patch, changes([]string{ledger.KeyRestoreEpoch, ledger.KeyRestarted}, nil)},
		{"First.Resume", "a release is remembered", given(lt.Running, lt.Announced(ledger.WhyReleased, 1), afterEpoch, resumed), patch, changes([]string{ledger.KeyRestoreEpoch}, nil)},
		{"First.Resume", "consents that came back with the snapshot are about the machine as it was then", given(powerOff, lt.Annotated(v1alpha1.AnnotationBootAgain, lt.ClaimID), afterEpoch, resumed), patch,
			removes(v1alpha1.AnnotationPowerOff, v1alpha1.AnnotationBootAgain)},
		{"First.GlassBroken", "the consent that a power-off was announced for goes with it", given(lt.On, powerOff, lt.Announced(ledger.WhyConsent, 1), lt.Annotated(v1alpha1.AnnotationBreakGlass, "repaired")), patch, removes(v1alpha1.AnnotationPowerOff)},
		{"First.ResumeUnconfirmed", "that the machine was found running is kept", given(lt.Claimed, foundRunning, afterEpoch, resumed), patch, changes([]string{ledger.KeyRestoreEpoch, ledger.KeyBoot, ledger.KeyDirtySince, ledger.KeyRestarted}, nil)},
		{"First.ResumeUnconfirmed", "nor where its boot was being prepared", given(lt.Claimed, booting, afterEpoch, resumed), patch, startingNow},
		{"First.ResumeUnconfirmed", "without a picture no asset tag is taken for the machine's own", given(lt.Claimed, lt.Unseen, afterEpoch, resumed), patch, and(sets(ledger.KeyRestoreEpoch, ledger.KeyBoot, ledger.KeyDirtySince, ledger.KeyRestarted), startingNow)},
		{"First.Resume", "a stamp tells that it has booted", given(lt.Claimed, lt.Stamped(lt.ClaimID), afterEpoch, resumed), patch, bootStays},
		{"First.Resume", "one that had booted by then", given(lt.Running, afterEpoch, resumed), patch, bootStays},
		{"First.RestoredSnapshot", "after a restore every server waits for a person", given(lt.Running, afterEpoch), hold, reason(v1alpha1.ReasonRestoredSnapshot)},
		{"First.RestoredSnapshot", "resumed for another epoch is not resumed", given(afterEpoch, lt.Ledger(func(l *ledger.Server) { l.RestoreEpoch = "e0" })), hold, nil},
		{"Available.Settled", "resumed for this epoch goes on", given(afterEpoch, lt.Ledger(func(l *ledger.Server) { l.RestoreEpoch = "e1" })), lifecycle.StepSettled, nil},
	}
}

func deletingCases() []decided {
	free := rule("metal 2")
	patch := lifecycle.StepPatch
	letsGo := func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if p, _ := written(t, d); p.RemoveFinalizer != v1alpha1.FinalizerServer || len(p.Ledger) > 0 {
			t.Errorf("patch %+v", p)
		}
	}
	return []decided{
		{"Deleting.Finalizer", "a free machine goes, its power stays", given(lt.Deleting, lt.On), patch, and(free, letsGo)},
		{"Deleting.Finalizer", "under another cluster's ledger", given(lt.Deleting, foreign), patch, letsGo},
		{"Deleting.Finalizer", "under a stamp that disagrees", given(lt.Deleting, otherStamp), patch, letsGo},
		{"Deleting.Finalizer", "under an unreadable ledger (B062)", given(lt.Deleting, lt.Garbled(ledger.KeyBoot, "{")), patch, letsGo},
		{"Deleting.Finalizer", "after a restore", given(lt.Deleting, afterEpoch), patch, letsGo},
		{"Deleting.Finalizer", "with the BMC gone (B061)", given(lt.Deleting, lt.Unreachable, func(s *lt.Scene) { s.BMC = nil }), patch, letsGo},
		{"Deleting.Finalizer", "released and retained is free", given(lt.Claimed, lt.Deleting, lt.Ledger(func(l *ledger.Server) { l.Released = &ledger.Released{Claim: lt.ClaimID, At: lt.Before(9)} })), patch, free},
		{"Reserved.Booted.Settled", "under a live claim deletion waits", given(lt.Running, lt.Deleting), lifecycle.StepSettled, and(rule("metal 1, 7"), reason(v1alpha1.ReasonInUse))},
		{"Maintenance.Keep", "in maintenance deletion waits (I4)", given(lt.InMaintenance(v1alpha1.PowerKeep), lt.Deleting), lifecycle.StepSettled, and(rule("metal 1, 4"), reason(v1alpha1.ReasonInUse))},
	}
}

var (
	noMemory    = lt.Ledger(func(l *ledger.Server) { *l = ledger.Server{} })
	moved       = lt.Ledger(func(l *ledger.Server) { l.ObjectUID = "uid-before-the-restore" })
	otherUUID   = lt.Facts(func(o *v1alpha1.ServerObserved) { o.SystemUUID = "11111111-2222-3333-4444-555555555555" })
	byID        = lt.Spec(func(s *v1alpha1.ServerSpec) { s.Redfish.SystemUUID, s.Redfish.SystemID = "", "1" })
	bySerial    = lt.Ledger(func(l *ledger.Server) { l.Identity = ledger.MachineIdentity(ledger.Hardware{Serial: "S-1"}) })
	otherSerial = lt.Facts(func(o *v1alpha1.ServerObserved) { o.Hardware.SerialNumber = "S-2" })
	noInventory = lt.Facts(func(o *v1alpha1.ServerObserved) { o.Hardware = nil })
	bmcDeleting = func(s *lt.Scene) { t := metav1.NewTime(lt.Now); s.BMC.DeletionTimestamp = &t }
)

func initialCases() []decided {
	const (
		hold  = lifecycle.StepHold
		patch = lifecycle.StepPatch
		wait  = lifecycle.StepWait
	)
	finalizer := func(want string) func(*testing.T, lifecycle.Decision) {
		return func(t *testing.T, d lifecycle.Decision) {
			t.Helper()
			if p, _ := written(t, d); p.AddFinalizer != want {
				t.Errorf("finalizer %q, want %q", p.AddFinalizer, want)
			}
		}
	}
	memory := []string{ledger.KeyIdentity, ledger.KeyOwner, ledger.KeyObjectUID}
	return []decided{
		{"Initial.DependencyMissing", "no BMC object", given(noMemory, func(s *lt.Scene) { s.BMC = nil }), hold, and(reason(v1alpha1.ReasonDependencyMissing), live, rule("metal 3"))},
		{"Initial.DependencyDeleting", "a BMC being deleted takes no new server", given(noMemory, bmcDeleting), hold, reason(v1alpha1.ReasonDependencyDeleting)},
		{"Initial.Confirm", "a BMC being deleted keeps the servers it has", given(moved, bmcDeleting), patch, nil},
		{"Initial.AwaitGuard", "the BMC is guarded before its first use", given(noMemory, func(s *lt.Scene) { s.BMC.Finalizers = nil }), wait, nil},
		{"Initial.AwaitIdentity", "without a UUID the serial number is waited for", given(noMemory, byID, noInventory), wait, nil},
		{"Initial.Unidentifiable", "nothing tells the machine from others", given(noMemory, byID, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Hardware.SerialNumber = "To be filled by O.E.M." })), hold, reason(v1alpha1.ReasonAmbiguousSystem)},
		{"Initial.Remember", "one patch: finalizer, identity, owner, object-uid, and discovery when Off already", given(noMemory, func(s *lt.Scene) { s.Server.Finalizers = nil }), patch, and(
			changes(append(memory, ledger.KeyDiscoveredAt), nil), finalizer(v1alpha1.FinalizerServer), func(t *testing.T, d lifecycle.Decision) {
				if _, led := written(t, d); led.Identity != lt.Identity || led.Owner != lt.ClusterID || led.ObjectUID != lt.ServerUID {
					t.Errorf("wrote %+v", led)
				}
			})},
		{"Initial.Remember", "without a picture discovery is left for later", given(noMemory, lt.Unseen), patch, changes(memory, nil)},
		{"Initial.Remember", "On: discovery is left for later", given(noMemory, lt.On), patch, changes(memory, nil)},
		{"Initial.Remember", "a dropped ledger under a running claim is made anew, nothing is latched (I9)", given(lt.Running, noMemory), patch, changes(memory, nil)},
		{"Initial.RememberLoss", "where the claim has forgotten too, it may have booted: that is remembered (I10)", given(lt.Claimed, noMemory), patch, and(live, stage(ledger.StageStarting),
			changes(append([]string{ledger.KeyBoot, ledger.KeyDirtySince, ledger.KeyRestarted}, memory...), nil))},
		{"Initial.Remember", "a claim that is not there tells nothing yet", given(lt.Claimed, lt.ClaimGone, noMemory), patch, changes(memory, nil)},
		{"Initial.Remember", "a stamp that nobody accounts for does not keep memory from being written", given(noMemory, otherStamp, lt.On), patch, changes(memory, nil)},
		{"Initial.Remember", "by serial number where there is no UUID", given(noMemory, byID), patch, func(t *testing.T, d lifecycle.Decision) {
			if _, led := written(t, d); led.Identity != ledger.MachineIdentity(ledger.Hardware{Serial: "S-1"}) {
				t.Errorf("identity %s", led.Identity)
			}
		}},
		{"Initial.SystemReplaced", "facts that disagree after a restore hold", given(moved, otherUUID), hold, reason(v1alpha1.ReasonSystemReplaced)},
		{"Initial.SystemReplaced", "another serial number is another machine", given(moved, byID, bySerial, otherSerial), hold, nil},
		{"Initial.SystemReplaced", "a ledger copied from another Server is not this machine's", given(moved, lt.Ledger(func(l *ledger.Server) { l.Identity = "another" })), hold, nil},
		{"Initial.Confirm", "the same serial number is the same machine", given(moved, byID, bySerial), patch, nil},
		{"Available.Settled", "a picture without a serial number tells nothing of a swap", given(byID, bySerial, lt.Facts(func(o *v1alpha1.ServerObserved) { o.Hardware.SerialNumber = "" })), lifecycle.StepSettled, nil},
		{"Available.Settled", "a machine named by its manager keeps its identity when a serial number turns up", given(byID, func(s *lt.Scene) {
			s.BMC.Status.Observed = &v1alpha1.BMCObserved{UUID: "m-1"}
			s.Ledger.Identity = ledger.MachineIdentity(ledger.Hardware{ManagerUUID: "m-1", SystemID: "1"})
		}), lifecycle.StepSettled, nil},
		{"Initial.Complete", "what is missing is added where the object is the same", given(lt.Ledger(func(l *ledger.Server) { l.Owner = "" })), patch, changes([]string{ledger.KeyOwner, ledger.KeyObjectUID}, nil)},
		{"Initial.Complete", "a finalizer forced away comes back", given(func(s *lt.Scene) { s.Server.Finalizers = nil }), patch, finalizer(v1alpha1.FinalizerServer)},
		{"Initial.AwaitFacts", "after a restore the machine is looked at first (B003)", given(lt.Running, moved, lt.Unseen), wait, nil},
		{"Initial.AwaitFacts", "and stays as it is while its BMC does not answer", given(lt.Running, moved, lt.Unreachable), wait, nil},
		{"Initial.AwaitFacts", "a BMC without the system stalls", given(moved, systemNotFound), hold, reason(v1alpha1.ReasonSystemNotFound)},
		{"Initial.Confirm", "the same machine: confirmed, and any intent dropped", given(lt.Running, moved, lt.Announced(ledger.WhyClaimPower, 1)), patch, and(
			changes([]string{ledger.KeyOwner, ledger.KeyObjectUID, ledger.KeyOffAt}, []string{ledger.KeyIntent}), finalizer(v1alpha1.FinalizerServer))},
		{"Initial.Confirm", "no finalizer is added to an object being deleted", given(lt.Running, moved, lt.Deleting), patch, finalizer("")},
	}
}

var systemNotFound = lt.Facts(func(o *v1alpha1.ServerObserved) { o.Reason = v1alpha1.ReasonSystemNotFound })
