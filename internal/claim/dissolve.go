// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
)

// goesWithClaim: a VM that is not to be retained is deleted with its claim, by the Server's own policy. Unset is Delete.
func goesWithClaim(s *v1alpha1.Server) bool {
	return servers.IsVirtual(s) && s.Spec.ReclaimPolicy != v1alpha1.ReclaimRetain
}

// beforeDeletion are the holds under which nobody knows whose the VM is, or whether Holdfast may touch it: its Server is not deleted while
// one stands, since a deletion cannot be taken back. Of all others (Lost, Errored, CreateFailed) it is the way out.
var beforeDeletion = []string{
	v1alpha1.ReasonPaused, v1alpha1.ReasonLedgerUnreadable, v1alpha1.ReasonForeignOwner, v1alpha1.ReasonDuplicateIdentity,
	v1alpha1.ReasonStampMismatch, v1alpha1.ReasonCloudReplaced, v1alpha1.ReasonRestoredSnapshot, v1alpha1.ReasonBoundElsewhere,
}

// dissolve deletes the Server of a claim that is being deleted, as read live, and waits until it is gone with its VM (package virtual). The
// Server's deletion is the announcement: under a person's force-release the claim need not wait for more. False: dissolving is not to be
// waited for, a person forces the claim out of a hold.
func (d deciding) dissolve(s *v1alpha1.Server) (decision Decision, waits bool) {
	going, forced := !s.DeletionTimestamp.IsZero(), d.Claim.Annotations[v1alpha1.AnnotationForceRelease] == s.Name
	switch {
	case going && forced:
		return d.disown(s), true
	case going:
		return d.releasing(fmt.Sprintf("server %q is being deleted with its VM", s.Name)), true
	case d.heldBeforeDeletion(s):
		return d.releasing(fmt.Sprintf("server %q is not deleted while it is held", s.Name)), !forced
	case s.Spec.MaintenanceRef != nil:
		return d.releasing(fmt.Sprintf("server %q is deleted after its maintenance %q", s.Name, s.Spec.MaintenanceRef.Name)), true
	}
	return d.delete(s), true
}

// heldBeforeDeletion: also where the view does not tell the hold of this server, one of several, or where the claim cannot be told from
// another of its name (P10).
func (d deciding) heldBeforeDeletion(s *v1alpha1.Server) bool {
	asked := d.Server
	if asked == nil && len(d.Holders) == 1 {
		asked = d.Holders[0]
	}
	if asked == nil || asked.Name != s.Name || d.memory.Identity == "" || s.Spec.Paused {
		return true
	}
	return d.ServerHold != nil && slices.Contains(beforeDeletion, d.ServerHold.Reason)
}

func (d deciding) delete(s *v1alpha1.Server) Decision {
	message := fmt.Sprintf("delete server %q with its VM: its claim is being deleted, and nothing is to be retained", s.Name)
	decision := d.releaseDecision(lifecycle.Step{
		Kind: lifecycle.StepDelete, Live: true, Clause: "Claim.Release.Delete", Message: message,
	}, v1alpha1.ReasonReleasing, message)
	decision.OnServer = s.Name
	return decision
}

// disown takes the claim out of the claimRef of a Server that is being deleted, so that neither waits for the other: the VM is deleted
// whenever its cloud can be reached again.
func (d deciding) disown(s *v1alpha1.Server) Decision {
	message := fmt.Sprintf("let the claim go without confirmation, as a person asked: the VM of server %q may still run until it is deleted", s.Name)
	decision := d.releaseDecision(lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: "Claim.Release.Disown", Message: message, Event: eventForceReleased,
		Patch: &lifecycle.Patch{ClaimRef: &lifecycle.RefChange[v1alpha1.ClaimReference]{}},
	}, v1alpha1.ReasonReleasing, message)
	decision.OnServer = s.Name
	return decision
}
