// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Before is what outranks even deletion.
var Before = Steps[*State]{
	{Name: "NotOurs", When: All((*State).Deleting, Not((*State).Ours)), Then: func(*State) Answer {
		return Settled("being deleted, and we promised nothing about it")
	}},
	{Name: "Paused", When: func(s *State) bool { return s.Spec.Paused }, Then: func(*State) Answer {
		return Hold(v1alpha1.ReasonPaused, "spec.paused: nothing is written and nothing is done, until it is false again")
	}},
}

// LedgerUnreadable holds what cannot be read: an unreadable memory is never an empty one (P3).
var LedgerUnreadable = Clause[*State]{Name: "LedgerUnreadable", When: func(s *State) bool { return s.Unreadable != nil }, Then: func(s *State) Answer {
	return Hold(v1alpha1.ReasonLedgerUnreadable, s.Unreadable.Error()+". Correct or remove it; with "+v1alpha1.AnnotationBreakGlass+"=<reason> in the same request the API server lets you")
}}

// ForeignOwner holds what is another cluster's. It comes after taking over.
var ForeignOwner = Clause[*State]{Name: "ForeignOwner", When: (*State).Foreign, Then: func(s *State) Answer {
	return Hold(v1alpha1.ReasonForeignOwner, "this server belongs to the cluster "+s.Ledger.Owner+". Once that cluster can act no more, annotate the Server with "+v1alpha1.AnnotationTakeOver+"="+s.Ledger.Owner)
}}

// Standing are the holds of an object that is ours to write to, whatever its machine is.
var Standing = Steps[*State]{
	{Name: "GlassBroken", When: func(s *State) bool { return len(s.Given(v1alpha1.AnnotationBreakGlass)) > 0 }, Then: glassBroken},
	{Name: "DuplicateIdentity", When: func(s *State) bool { return len(s.V.Twins) > 0 }, Then: func(s *State) Answer {
		return Hold(v1alpha1.ReasonDuplicateIdentity, "the same machine is also the Server "+strings.Join(s.V.Twins, ", ")+": delete all but one")
	}},
	// A consent that lets nothing go now must not lie about until a restore brings it back into force.
	{Name: "StaleConsent", When: func(s *State) bool { return len(s.stale()) > 0 }, Then: func(s *State) Answer { return DropConsents(s.stale()) }},
}

// Snapshot holds everything after a restore of the whole cluster, until a person has looked at the server.
var Snapshot = Steps[*State]{
	{Name: "Resume", When: All((*State).Snapshot, (*State).Resumed), Then: func(s *State) Answer {
		return s.Resume("resume, as a person consented", ledger.Entries{})
	}},
	{Name: "RestoredSnapshot", When: (*State).Snapshot, Then: func(s *State) Answer {
		return Hold(v1alpha1.ReasonRestoredSnapshot, "the cluster was restored from a snapshot ("+s.V.Settings.Epoch+"): this server may have been claimed, booted or released since. Look at the machine, then annotate the Server with "+
			v1alpha1.AnnotationResume+"="+s.resumeConsent())
	}},
}

// MaintenanceStanding is what a maintenance says whatever the machine is: it must be there (P10), and not be ending.
var MaintenanceStanding = Steps[*State]{
	{Name: "Missing", When: Not((*State).InMaintenance), Then: func(s *State) Answer {
		return HoldLive(v1alpha1.ReasonMaintenanceMissing, "the maintenance "+s.Spec.MaintenanceRef.Name+" that has this server is not there: restore it, or clear spec.maintenanceRef")
	}},
	{Name: "Ending", When: func(s *State) bool { return !s.V.Maintenance.DeletionTimestamp.IsZero() }, Then: func(s *State) Answer {
		return Settled("the maintenance " + s.V.Maintenance.Name + " is ending")
	}},
}

// glassBroken turns the breaking of the glass into an Event, and puts the glass back.
func glassBroken(s *State) Answer {
	const most = 200
	why := []rune(s.V.Server.Annotations[v1alpha1.AnnotationBreakGlass])
	spent := s.Given(v1alpha1.AnnotationBreakGlass)
	if s.Ledger.Intent != nil && s.Ledger.Intent.Why == ledger.WhyConsent {
		spent = s.Given(v1alpha1.AnnotationBreakGlass, v1alpha1.AnnotationPowerOff)
	}
	return Patch(v1alpha1.ReasonInitializing, "the glass was broken: "+string(why[:min(len(why), most)]), lifecycle.Patch{
		Ledger: s.overtaken(ledger.Entries{}), Remove: spent,
	}).Quiet().Telling(EventGlassBroken)
}

// overtaken adds to a change that a power-off that stands announced is no more: memory was brought back by hand, and what it announces may be
// another time's. What is still wanted is announced anew. A release stays: it is the memory that the claim has left.
func (s *State) overtaken(entries ledger.Entries) ledger.Entries {
	if i := s.Ledger.Intent; i != nil && i.Op == ledger.IntentPowerOff && !s.ReleaseOpen() {
		entries.Intent(nil).OffAt(s.Now())
	}
	return entries
}

// stale are consents to what is not held.
func (s *State) stale() []string {
	if s.V.Settings.Epoch == "" || s.Ledger.RestoreEpoch == s.V.Settings.Epoch {
		return s.Given(v1alpha1.AnnotationTakeOver, v1alpha1.AnnotationResume)
	}
	return s.Given(v1alpha1.AnnotationTakeOver)
}

// DropConsents removes consents that let nothing go.
func DropConsents(consents []string) Answer {
	return Patch(v1alpha1.ReasonSettled, "nothing is held that the consent would let go: remove it", lifecycle.Patch{Remove: consents}).Quiet()
}

// Resume lets a server go on after the restore of a snapshot, and writes down what follows from that. A restart that is asked for may have been
// carried out after the snapshot was taken: it is taken as carried out, for a second one interrupts whoever has the machine.
func (s *State) Resume(message string, entries ledger.Entries) Answer {
	if s.Claim.Same && !s.RestartUnknown() && s.RestartWanted() {
		entries.Restarted(s.RestartAsked())
		message += "; the restart that its claim asks for is taken as carried out"
	}
	return Patch(v1alpha1.ReasonInitializing, message, lifecycle.Patch{
		Ledger: s.overtaken(entries).RestoreEpoch(s.V.Settings.Epoch), Remove: append(s.Given(v1alpha1.AnnotationResume), s.broughtBack()...),
	}).Telling(EventResumed)
}

// broughtBack are the consents about the machine that a snapshot may have brought back: they are about how it was then. One that names a
// stamp is about the machine that bears it.
func (s *State) broughtBack() []string {
	consents := s.Given(v1alpha1.AnnotationBooted, v1alpha1.AnnotationBootAgain)
	if s.Consent(v1alpha1.AnnotationPowerOff, s.Ledger.Identity) {
		consents = append(consents, v1alpha1.AnnotationPowerOff)
	}
	return consents
}

// Resumed says that a person consents that this server goes on after that restore.
func (s *State) Resumed() bool { return s.Consent(v1alpha1.AnnotationResume, s.resumeConsent()) }

func (s *State) resumeConsent() string {
	return lifecycle.ResumeConsent(s.Ledger.Identity, s.V.Settings.Epoch)
}
