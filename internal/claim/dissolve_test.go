// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// dissolveCases: a claim with a VM is being deleted (P10).
func dissolveCases() []decideCase {
	forced := func(c *v1alpha1.ServerClaim) { c.Annotations[v1alpha1.AnnotationForceRelease] = nth(wanting(), 0) }
	c, f := wanting(boundTo(vmIdentity), deleted), wanting(boundTo(vmIdentity), deleted, forced)
	name := nth(c, 0)
	waits := func(title string, v claim.View, reason string) decideCase {
		return decideCase{name: title, view: v, clause: "Claim.Releasing", kind: lifecycle.StepWait, reason: reason, phase: v1alpha1.ClaimReleasing}
	}
	step := func(title string, v claim.View, clause string, kind lifecycle.StepKind, reason, on string, patch *lifecycle.Patch) decideCase {
		return decideCase{name: title, view: v, clause: clause, kind: kind, reason: reason, phase: v1alpha1.ClaimReleasing, on: on, patch: patch}
	}
	goes := &lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerClaim}
	deletes := func(title string, v claim.View) decideCase {
		return step(title, v, "Claim.Release.Delete", lifecycle.StepDelete, v1alpha1.ReasonReleasing, name, nil)
	}
	disown := step("Dissolve, forced: the Server is going: the claim need not wait", view(f, vm(f, inDeletion)), "Claim.Release.Disown", lifecycle.StepPatch,
		v1alpha1.ReasonReleasing, name, &lifecycle.Patch{ClaimRef: &lifecycle.RefChange[v1alpha1.ClaimReference]{}})
	disown.event = "ForceReleased"
	forcedOut := step("Dissolve, forced: out of a hold, as a machine", with(view(f, vm(f)), holds(v1alpha1.ReasonStampMismatch)), "Claim.Release.Forced",
		lifecycle.StepPatch, v1alpha1.ReasonReleased, "", goes)
	forcedOut.event = "ForceReleased"
	all := []decideCase{
		deletes("Dissolve: deletes the Server", view(c, vm(c, launched))),
		deletes("Dissolve: unset is Delete", view(c, vm(c, func(s *v1alpha1.Server) { s.Spec.ReclaimPolicy = "" }))),
		deletes("Dissolve: before anything was made", view(wanting(deleted), vm(c, bare))),
		deletes("Dissolve: the way out of Lost", with(view(c, vm(c, launched)), holds(v1alpha1.ReasonLost))),
		deletes("Dissolve: forced, deletes first", view(f, vm(f))),
		waits("Dissolve: waits until the Server is gone", view(c, vm(c, inDeletion)), v1alpha1.ReasonReleasing),
		waits("Dissolve: not in maintenance (I4)", view(c, vm(c, func(s *v1alpha1.Server) {
			s.Spec.MaintenanceRef = &v1alpha1.MaintenanceReference{Name: "m1", UID: "m1-uid"}
		})), v1alpha1.ReasonReleasing),
		waits("Dissolve: not while paused", view(c, vm(c, func(s *v1alpha1.Server) { s.Spec.Paused = true })), v1alpha1.ReasonReleasing),
		waits("Dissolve: one of two that bear the claim is not told from the other",
			with(view(c, vm(c)), func(v *claim.View) { v.Holders, v.Server = append(v.Holders, server("copy", heldBy(c))), nil }), v1alpha1.ReasonReleasing),
		waits("Dissolve: a claim that lost its identity deletes nothing", view(wanting(deleted, func(c *v1alpha1.ServerClaim) { c.Annotations = nil }), vm(c)), v1alpha1.ReasonReleasing),
		waits("Retain: released as a machine is", view(c, vm(c, retained)), v1alpha1.ReasonReleasing),
		step("Retain: goes when released names it", view(c, vm(c, retained, released("web-uid"))), "Claim.Release.Done", lifecycle.StepPatch, v1alpha1.ReasonReleased, "", goes),
		step("Dissolve: the Server is gone", view(c), "Claim.Release.Done", lifecycle.StepPatch, v1alpha1.ReasonReleased, "", goes),
		step("Dissolve: a cleared claimRef makes it a person's VM", view(c, vm(c, free)), "Claim.Release.Done", lifecycle.StepPatch, v1alpha1.ReasonReleased, "", goes),
		step("Dissolve: another claim's is not touched", view(c, vm(c, heldBy(other()))), "Claim.Release.Done", lifecycle.StepPatch, v1alpha1.ReasonReleased, "", goes),
		disown, forcedOut,
	}
	for _, reason := range []string{
		v1alpha1.ReasonStampMismatch, v1alpha1.ReasonForeignOwner, v1alpha1.ReasonDuplicateIdentity, v1alpha1.ReasonRestoredSnapshot,
		v1alpha1.ReasonBoundElsewhere, v1alpha1.ReasonLedgerUnreadable, v1alpha1.ReasonCloudReplaced,
	} {
		all = append(all, waits("Dissolve: not while nobody knows whose the VM is: "+reason, with(view(c, vm(c, launched)), holds(reason)), reason))
	}
	return all
}
