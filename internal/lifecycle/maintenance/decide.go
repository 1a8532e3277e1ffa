// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// View is all that deciding about a maintenance may look at, from one read. Nothing in it is changed.
type View struct {
	Now      time.Time
	Settings lifecycle.Settings
	// Live is true where everything below was read from the API server itself.
	Live bool
	// Maintenance as read. Its status is never looked at (P1).
	Maintenance *v1alpha1.ServerMaintenance
	// Server named by spec.serverRef; nil where it does not exist.
	Server *v1alpha1.Server
	// Claim named by the server's claimRef; nil where there is no claimRef or no such object.
	Claim *v1alpha1.ServerClaim
	// Rivals are the other maintenances of the same server, in any order.
	Rivals []*v1alpha1.ServerMaintenance
}

// Decision is what a pass is to do, and what it is to report.
type Decision struct {
	// Step is the one thing this pass does (P4).
	Step lifecycle.Step
	// OnServer names the Server that Step.Patch is written to; "" where it is the maintenance itself.
	OnServer string
	// Conditions is Active; the reconciler derives Ready, Reconciling and Stalled from Gates.
	Conditions []lifecycle.Condition
	Gates      []lifecycle.Gate
}

// Decide answers what is to be done for a maintenance. It is total and deterministic (P5).
func Decide(v View) Decision {
	m := v.Maintenance
	deleting := !m.DeletionTimestamp.IsZero()
	ours := slices.Contains(m.Finalizers, v1alpha1.FinalizerMaintenance)
	switch {
	case deleting && !ours:
		return Decision{Step: lifecycle.Step{Kind: lifecycle.StepSettled, Clause: "Maintenance.NotOurs", Message: "being deleted, and not held by Holdfast"}}
	case deleting && v.has():
		return v.end()
	case deleting:
		return v.gone()
	case !ours:
		return v.remember()
	case v.has():
		return v.active()
	}
	return v.enter()
}

// has says that the server's lock is this maintenance's, by name: there is one of a name at any time, and a restored one is the
// same (P11).
func (v View) has() bool {
	return v.Server != nil && v.Server.Spec.MaintenanceRef != nil && v.Server.Spec.MaintenanceRef.Name == v.Maintenance.Name
}

func (v View) remember() Decision {
	return v.notActive(lifecycle.Progressing, v1alpha1.ReasonInitializing, "its finalizer is being written", lifecycle.Step{
		Kind: lifecycle.StepPatch, Clause: "Maintenance.Remember", Message: "write the finalizer",
		Patch: &lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerMaintenance},
	})
}

// enter takes the lock where it may.
func (v View) enter() Decision {
	s := v.Server
	switch {
	case s == nil:
		return v.settled(lifecycle.Stalled, v1alpha1.ReasonServerGone, "Maintenance.ServerGone",
			fmt.Sprintf("server %q does not exist; restore it, or delete this maintenance", v.Maintenance.Spec.ServerRef.Name))
	case !s.DeletionTimestamp.IsZero():
		return v.settled(lifecycle.Stalled, v1alpha1.ReasonDeleting, "Maintenance.ServerDeleting",
			fmt.Sprintf("server %q is being deleted: it takes no new maintenance", s.Name))
	case s.Spec.MaintenanceRef != nil:
		return v.settled(lifecycle.Progressing, v1alpha1.ReasonQueued, "Maintenance.Queued",
			fmt.Sprintf("maintenance %q has server %q", s.Spec.MaintenanceRef.Name, s.Name))
	case s.Spec.Paused:
		return v.settled(lifecycle.Stalled, v1alpha1.ReasonPaused, "Maintenance.ServerPaused",
			fmt.Sprintf("server %q is paused: it is not written to", s.Name))
	case v.foreign():
		return v.settled(lifecycle.Stalled, v1alpha1.ReasonForeignOwner, "Maintenance.ForeignOwner",
			fmt.Sprintf("server %q belongs to cluster %q; take it over first", s.Name, s.Annotations[ledger.KeyOwner]))
	case !v.admits(v.Maintenance):
		return v.settled(lifecycle.Progressing, v1alpha1.ReasonAwaitingApproval, "Maintenance.AwaitingApproval", v.askApproval())
	}
	if first := v.first(); first != nil {
		return v.settled(lifecycle.Progressing, v1alpha1.ReasonQueued, "Maintenance.Queued",
			fmt.Sprintf("maintenance %q goes first", first.Name))
	}
	return v.take("Maintenance.Enter", v1alpha1.ReasonQueued, fmt.Sprintf("enters server %q", s.Name))
}

func (v View) foreign() bool {
	owner := v.Server.Annotations[ledger.KeyOwner]
	return owner != "" && owner != v.Settings.ClusterID
}

// take writes this maintenance into the server's lock, by resourceVersion. Where it is there already only its UID changes: it was
// restored.
func (v View) take(clause, reason, message string) Decision {
	ref := v1alpha1.MaintenanceReference{Name: v.Maintenance.Name, UID: string(v.Maintenance.UID)}
	decision := v.notActive(lifecycle.Progressing, reason, message, lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: clause, Message: message,
		Patch: &lifecycle.Patch{MaintenanceRef: &lifecycle.RefChange[v1alpha1.MaintenanceReference]{To: &ref}},
	})
	decision.OnServer = v.Server.Name
	return decision
}

// active has the server.
func (v View) active() Decision {
	if v.Server.Spec.MaintenanceRef.UID != string(v.Maintenance.UID) && !v.Server.Spec.Paused && !v.foreign() {
		return v.take("Maintenance.StampUID", v1alpha1.ReasonInitializing, fmt.Sprintf("is stamped anew on server %q after a restore", v.Server.Name))
	}
	message := fmt.Sprintf("has server %q", v.Server.Name)
	return Decision{
		Step:       lifecycle.Step{Kind: lifecycle.StepSettled, Clause: "Maintenance.Active", Message: message},
		Conditions: []lifecycle.Condition{{Type: v1alpha1.ConditionActive, Status: "True", Reason: v1alpha1.ReasonActive, Message: message}},
		Gates:      []lifecycle.Gate{{Level: lifecycle.Converged, Reason: v1alpha1.ReasonActive, Message: message}},
	}
}

// end gives the server back in one patch: the lock; the latch of discovery where nobody has the server, for hands were on it; and
// the intent that this maintenance had opened, for nobody wants it any more (R3).
func (v View) end() Decision {
	switch {
	case v.Server.Spec.Paused:
		return v.settled(lifecycle.Stalled, v1alpha1.ReasonPaused, "Maintenance.End.Paused",
			fmt.Sprintf("server %q is paused: it is not written to", v.Server.Name))
	case v.foreign():
		return v.settled(lifecycle.Stalled, v1alpha1.ReasonForeignOwner, "Maintenance.End.ForeignOwner",
			fmt.Sprintf("server %q belongs to cluster %q: it is not written to; take it over first", v.Server.Name, v.Server.Annotations[ledger.KeyOwner]))
	}
	patch := &lifecycle.Patch{
		Ledger:         map[string]string{},
		MaintenanceRef: &lifecycle.RefChange[v1alpha1.MaintenanceReference]{},
	}
	if v.Server.Spec.ClaimRef == nil {
		patch.Ledger[ledger.KeyDiscoveredAt] = ""
	}
	memory, err := ledger.ParseServer(v.Server.Annotations)
	if err == nil && memory.Intent != nil && memory.Intent.Why == ledger.WhyMaintenance {
		// Its power-off may still be on the wire: the next power-on waits until it cannot be.
		ledger.Entries(patch.Ledger).Intent(nil).OffAt(v.Now)
	}
	message := fmt.Sprintf("gives server %q back", v.Server.Name)
	decision := v.notActive(lifecycle.Progressing, v1alpha1.ReasonDeleting, message,
		lifecycle.Step{Kind: lifecycle.StepPatch, Live: true, Clause: "Maintenance.End", Message: message, Patch: patch})
	decision.OnServer = v.Server.Name
	return decision
}

// gone: no server has it any more; a server that does not exist counts as cleaned (B065).
func (v View) gone() Decision {
	return v.notActive(lifecycle.Progressing, v1alpha1.ReasonDeleting, "has no server any more", lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: "Maintenance.Gone", Message: "has no server any more; let it go",
		Patch: &lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerMaintenance},
	})
}

func (v View) notActive(level lifecycle.Level, reason, message string, step lifecycle.Step) Decision {
	return Decision{
		Step:       step,
		Conditions: []lifecycle.Condition{{Type: v1alpha1.ConditionActive, Status: "False", Reason: reason, Message: message}},
		Gates:      []lifecycle.Gate{{Level: level, Reason: reason, Message: message}},
	}
}

// settled waits for a change of the server, the claim or a rival, on no timer.
func (v View) settled(level lifecycle.Level, reason, clause, message string) Decision {
	kind := lifecycle.StepSettled
	if level == lifecycle.Stalled {
		kind = lifecycle.StepHold
	}
	return v.notActive(level, reason, message, lifecycle.Step{Kind: kind, Clause: clause, Message: message, Live: kind == lifecycle.StepHold})
}
