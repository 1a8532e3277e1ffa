// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var (
	foreign     = lt.Ledger(func(l *ledger.Server) { l.Owner = "cluster-0" })
	takeOver    = lt.Annotated(v1alpha1.AnnotationTakeOver, "cluster-0")
	abandon     = lt.Annotated(v1alpha1.AnnotationAbandon, lt.ServerName)
	oldStamp    = lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Owner = "cluster-0" })
	thirdStamp  = lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Owner = "cluster-7" })
	otherVM     = lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Identity = "another" })
	otherClaim  = lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Claim = "claim-db" })
	twoVMs      = lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Others = []string{"vm-9"} })
	resumed     = lt.Annotated(v1alpha1.AnnotationResume, lifecycle.ResumeConsent(lt.Identity, "e1"))
	afterEpoch  = lt.Settings(func(s *lifecycle.Settings) { s.Epoch = "e1" })
	notOurs     = func(s *lt.Scene) { s.Server.Finalizers = []string{"other/finalizer"} }
	paused      = lt.Spec(func(s *v1alpha1.ServerSpec) { s.Paused = true })
	neverOff    = lt.Spec(func(s *v1alpha1.ServerSpec) { s.PowerOff = v1alpha1.PowerOffNever })
	moved       = lt.Ledger(func(l *ledger.Server) { l.ObjectUID = "uid-before" })
	fresh       = lt.Ledger(func(l *ledger.Server) { *l = ledger.Server{} })
	elsewhereAt = lt.Facts(func(o *v1alpha1.ServerObserved) { o.ProjectID = "project-2" })
	noPicture   = lt.Facts(func(o *v1alpha1.ServerObserved) { o.Instance = nil })
)

func firstCases() []decided {
	return []decided{
		{"First.NotOurs", "deleted without our finalizer is settled", given(lt.Deleting, notOurs), settled, nil},
		{"First.Paused", "paused: hands off", given(paused), hold, lt.Reason(v1alpha1.ReasonPaused)},
		{"First.Paused", "paused outranks deletion and abandon (B056)", given(paused, lt.Deleting, abandon), hold, nil},
		{"First.Abandon", "a person gives the VM up: no call, an Event", given(lt.Deleting, abandon), patch, lt.And(lt.Tells("Abandoned"), lets)},
		{"First.Abandon", "under every hold: an unreadable ledger", given(lt.Deleting, abandon, lt.Garbled(ledger.KeyReleased, "{")), patch, lets},
		{"First.Abandon", "under every hold: another cluster's", given(lt.Deleting, abandon, foreign), patch, lets},
		{"First.Abandon", "under every hold: a claim that is not there", given(lt.Serving, lt.ClaimGone, lt.Deleting, abandon), patch, lets},
		{"Reserved.Settled", "not while a live claim has the VM", given(lt.Serving, lt.Deleting, abandon), settled, lt.Rule("virtual 1, 12")},
		{"Deleting.Dismantle", "a consent that names another server is none", given(lt.Deleting, lt.Annotated(v1alpha1.AnnotationAbandon, "other")), act, nil},
		{"First.LedgerUnreadable", "an unreadable entry parks, deletion too", given(lt.Deleting, lt.Garbled(ledger.KeyIntent, "{")), hold, lt.Reason(v1alpha1.ReasonLedgerUnreadable)},
		{"First.CloudReplaced", "the Cloud leads to another project: what is not found there is not gone (P10)", given(lt.Gone, elsewhereAt), hold, lt.Reason(v1alpha1.ReasonCloudReplaced)},
		{"First.CloudReplaced", "nor is it taken away by finding nothing to take away (I3)", given(lt.Gone, elsewhereAt, lt.Deleting), hold, nil},
		{"First.CloudReplaced", "nor let go with a claim that is being deleted", given(lt.Serving, lt.ClaimDeleting, lt.Gone, elsewhereAt, lt.Deleting), hold, nil},
		{"First.CloudReplaced", "nor made there: a reply may have been lost in the first (I3)", given(lt.Unmade, elsewhereAt), hold, nil},
		{"First.CloudReplaced", "nor is a VM that never launched made anew there", given(lt.Unlaunched("BUILD"), lt.Gone, elsewhereAt), hold, nil},
		{"First.CloudReplaced", "nor is a retained one released as gone", given(lt.Serving, lt.Retained, lt.ClaimDeleting, lt.Gone, elsewhereAt), hold, nil},
		{"First.CloudReplaced", "nor is a restored server confirmed by it", given(moved, lt.Gone, elsewhereAt), hold, nil},
		{"First.Abandon", "under every hold: a Cloud that was replaced", given(lt.Gone, elsewhereAt, lt.Deleting, abandon), patch, lets},
		{"First.ForeignOwner", "another cluster's ledger is observed only", given(foreign), hold, lt.Reason(v1alpha1.ReasonForeignOwner)},
		{"First.ForeignOwner", "another cluster's VM is not deleted with our object", given(foreign, lt.Deleting), hold, nil},
		{"First.TakeOver.Restamp", "the VM first, so that the old owner stands down", given(foreign, oldStamp, takeOver), act, lt.And(lt.Does(lifecycle.OpStampInstance), expects(func(e lifecycle.VirtualEffect) bool {
			return e.OldOwner == "cluster-0" && e.Instance.Owner == lt.ClusterID && e.Claim == "" && *e.Expect.Claim == "" && e.Instance.ID == lt.VMID
		}))},
		{"First.TakeOver.Restamp", "the claim stays on the VM", given(lt.Serving, foreign, oldStamp, takeOver), act, expects(func(e lifecycle.VirtualEffect) bool { return e.Claim == lt.ClaimID })},
		{"First.TakeOver.Own", "stamped as ours: then the ledger, and the consent goes", given(foreign, takeOver), patch, lt.And(lt.Sets(ledger.KeyOwner), lt.Removes(v1alpha1.AnnotationTakeOver), lt.Tells("TakenOver"))},
		{"First.TakeOver.Own", "an open intent was the old owner's", given(foreign, takeOver, lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhySpec, 1)), patch, lt.Changes([]string{ledger.KeyOwner, ledger.KeyOffAt}, []string{ledger.KeyIntent})},
		{"First.TakeOver.Own", "never made: the ledger is all there is", given(lt.Unmade, foreign, takeOver), patch, nil},
		{"First.TakeOver.ForeignStamp", "a third cluster's VM stops a take-over", given(foreign, thirdStamp, takeOver), hold, lt.Reason(v1alpha1.ReasonForeignOwner)},
		{"First.TakeOver.StampMismatch", "another server's VM stops a take-over", given(foreign, otherVM, takeOver), hold, lt.Reason(v1alpha1.ReasonStampMismatch)},
		{"First.TakeOver.Picture.Unreachable", "not blind", given(foreign, takeOver, lt.Unreachable), wait, lt.Reason(v1alpha1.ReasonProviderUnreachable)},
		{"First.TakeOver.Picture.Unknown", "not without a picture of the VM remembered", given(foreign, takeOver, noPicture), wait, nil},
		{"First.GlassBroken", "becomes an event, and the glass is put back", given(lt.Annotated(v1alpha1.AnnotationBreakGlass, "repaired")), patch, lt.And(lt.Removes(v1alpha1.AnnotationBreakGlass), lt.Tells("GlassBroken"))},
		{"First.DuplicateIdentity", "two objects for one VM both hold", given(func(s *lt.Scene) { s.Twins = []string{"vm-copy"} }), hold, lt.Reason(v1alpha1.ReasonDuplicateIdentity)},
		{"First.DuplicateIdentity", "deleting the copy must not delete the VM of the other", given(lt.Deleting, func(s *lt.Scene) { s.Twins = []string{"vm-copy"} }), hold, nil},
		{"First.StaleConsent", "a take-over that nothing asks for is removed", given(takeOver), patch, lt.Removes(v1alpha1.AnnotationTakeOver)},
		{"First.DuplicateVM", "two VMs of one identity: named, never a guess (B186)", given(twoVMs), hold, lt.Reason(v1alpha1.ReasonDuplicateVM)},
		{"First.DuplicateVM", "nor are both deleted", given(lt.Deleting, twoVMs), hold, nil},
		{"First.DuplicateVM", "one that ran and is gone, and another: what became of the first must be known", given(lt.Gone, twoVMs), hold, nil},
		{"First.DuplicateVM", "two besides the one that is gone", given(lt.Unlaunched("BUILD"), lt.Gone, lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Others = []string{"vm-8", "vm-9"} })), hold, nil},
		{"Creating.Vanished", "memory of an attempt before the last: the VM of the last is found by identity", given(lt.Unlaunched("BUILD"), lt.Gone, twoVMs), patch, lt.Changes(nil, []string{ledger.KeyProviderID})},
		{"First.ForeignStamp", "a VM that another cluster has taken over", given(oldStamp), hold, lt.Reason(v1alpha1.ReasonForeignOwner)},
		{"First.ForeignStamp", "is not deleted from here", given(oldStamp, lt.Deleting), hold, nil},
		{"First.StampMismatch", "another server's VM", given(otherVM), hold, lt.Reason(v1alpha1.ReasonStampMismatch)},
		{"First.StampMismatch", "a VM without our tags is not ours to delete (B040)", given(lt.Deleting, lt.VM(func(vm *v1alpha1.ObservedInstance) { vm.Identity, vm.Owner = "", "" })), hold, nil},
		{"First.StampMismatch", "a VM that serves another claim", given(lt.Serving, otherClaim), hold, nil},
		{"First.RestoredSnapshot", "restored from a snapshot: everything waits for a person", given(afterEpoch, lt.Broken), hold, lt.Reason(v1alpha1.ReasonRestoredSnapshot)},
		{"First.Resume", "who looked at the VM lets it go on", given(afterEpoch, resumed), patch, lt.And(lt.Sets(ledger.KeyRestoreEpoch), lt.Tells("Resumed"))},
	}
}

// lets checks that the server is let go, without any effect.
func lets(t *testing.T, d lifecycle.Decision) {
	t.Helper()
	if d.Step.Patch == nil || d.Step.Patch.RemoveFinalizer != v1alpha1.FinalizerServer {
		t.Errorf("patch %+v, want the finalizer removed", d.Step.Patch)
	}
}

func initialCases() []decided {
	return []decided{
		{"Initial.Remember", "finalizer, identity, owner and object in one patch", given(fresh, lt.Unmade, notOurs), patch, lt.And(
			lt.Sets(ledger.KeyIdentity, ledger.KeyOwner, ledger.KeyObjectUID), remembers(ledger.ObjectIdentity(lt.ServerUID)), func(t *testing.T, d lifecycle.Decision) {
				if d.Step.Patch.AddFinalizer != v1alpha1.FinalizerServer {
					t.Error("no finalizer")
				}
			})},
		{"Initial.Remember", "made for a claim: the claim's identity gives it (P11)", given(lt.Claimed, fresh, lt.Unmade), patch, remembers(ledger.ClaimedIdentity(lt.ClaimID))},
		{"Initial.Complete", "an owner that is missing", given(lt.Ledger(func(l *ledger.Server) { l.Owner = "" })), patch, lt.Sets(ledger.KeyOwner, ledger.KeyObjectUID)},
		{"Initial.AwaitFacts", "restored: first a picture", given(moved, lt.Unseen), wait, nil},
		{"Initial.AwaitFacts", "restored: of the VM that is remembered", given(moved, noPicture), wait, nil},
		{"Initial.Confirm", "restored with a new UID: the same server (P11)", given(moved), patch, lt.Sets(ledger.KeyOwner, ledger.KeyObjectUID)},
		{"Initial.Confirm", "what was announced was another time's", given(moved, lt.Broken, lt.AnnouncedVM(ledger.IntentRetry, ledger.WhyCreate, 1)), patch, lt.Changes([]string{ledger.KeyOwner, ledger.KeyObjectUID}, []string{ledger.KeyIntent})},
		{"First.StampMismatch", "restored, and the VM of that id is another's", given(moved, otherVM), hold, nil},
		{"Initial.Confirm", "restored, and there is no VM", given(moved, lt.Unmade), patch, nil},
	}
}

func remembers(identity string) lt.Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if _, led := lt.Written(t, d); led.Identity != identity {
			t.Errorf("identity %q, want %q", led.Identity, identity)
		}
	}
}

func deletingCases() []decided {
	return []decided{
		{"Deleting.Dismantle", "the deletion is the announcement (I7); the finalizer goes once all is gone", given(lt.Deleting), act, lt.And(
			lt.Does(lifecycle.OpDismantle), lt.Live, at("Deleting"), expects(func(e lifecycle.VirtualEffect) bool {
				return e.Instance == provider.InstanceRef{Identity: lt.Identity, Owner: lt.ClusterID, Name: lt.ServerName, ID: lt.VMID, Project: lt.ProjectID}
			}), func(t *testing.T, d lifecycle.Decision) {
				if d.Step.Record == nil || d.Step.Record.RemoveFinalizer != v1alpha1.FinalizerServer {
					t.Errorf("record %+v", d.Step.Record)
				}
			})},
		{"Deleting.Dismantle", "also where nothing is known of a VM: a reply may have been lost (B088, B187)", given(lt.Unmade, lt.Deleting), act, nil},
		{"Deleting.Dismantle", "what the cloud has lost already is no error", given(lt.Gone, lt.Deleting), act, nil},
		{"Deleting.Dismantle", "its claim is seen being deleted, and policy is Delete", given(lt.Serving, lt.ClaimDeleting, lt.Deleting), act, lt.Rule("virtual 2")},
		{"Deleting.Dismantle", "a VM that was released and retained", given(lt.Serving, lt.Retained, wasReleased, lt.ClaimDeleting, lt.Deleting), act, nil},
		{"Deleting.Dismantle", "memory lost: what the identity gives is taken away, and nothing else", given(fresh, lt.Unmade, lt.Deleting), act, expects(func(e lifecycle.VirtualEffect) bool {
			return e.Instance.Identity == ledger.ObjectIdentity(lt.ServerUID)
		})},
		{"Deleting.Dismantle", "an intent that is open is not withdrawn first", given(lt.Deleting, lt.AnnouncedVM(ledger.IntentPowerOff, ledger.WhySpec, 1)), act, nil},
		{"Deleting.Dismantle", "the cloud is not reachable: waits", given(lt.Deleting, lt.Unreachable), wait, lt.Reason(v1alpha1.ReasonProviderUnreachable)},
		{"Deleting.Dismantle", "the Cloud object is not there: a person may abandon", given(lt.Deleting, func(s *lt.Scene) { s.Cloud = nil }), hold, lt.And(lt.Reason(v1alpha1.ReasonDependencyMissing), lt.Live)},
		{"Deleting.BoundElsewhere", "another live claim is bound to the VM (B001)", given(lt.Deleting, lt.OtherBound), hold, lt.And(lt.Reason(v1alpha1.ReasonBoundElsewhere), lt.Live)},
		{"Reserved.Settled", "deletion waits for a live claim", given(lt.Serving, lt.Deleting), settled, lt.And(lt.Rule("virtual 1, 12"), func(t *testing.T, d lifecycle.Decision) {
			if d.Gates[0].Reason != v1alpha1.ReasonInUse {
				t.Errorf("gates %+v", d.Gates)
			}
		})},
		{"Reserved.ClaimMissing", "a claim that is not found is no release (P10)", given(lt.Serving, lt.ClaimGone, lt.Deleting), hold, lt.And(lt.Live, lt.Rule("virtual 1, 5b"))},
		{"Releasing.Announce", "Retain: deletion waits for the release", given(lt.Serving, lt.Retained, lt.ClaimDeleting, lt.Deleting), patch, nil},
		{"Maintenance.Keep", "deletion waits for a maintenance (I4)", given(lt.InMaintenance(v1alpha1.PowerKeep), lt.Deleting), settled, lt.Rule("virtual 1, 4")},
	}
}
