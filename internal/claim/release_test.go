// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// releaseCases: a claim that is being deleted.
func releaseCases() []decideCase {
	c := tenant(named("s1"), boundTo(idOf("s1")), deleted)
	goes := &lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerClaim}
	forced := func(c *v1alpha1.ServerClaim) { c.Annotations[v1alpha1.AnnotationForceRelease] = "s1" }
	f := tenant(named("s1"), boundTo(idOf("s1")), deleted, forced)
	held := func(v *claim.View) {
		v.ServerHold = &lifecycle.Gate{Level: lifecycle.Stalled, Reason: v1alpha1.ReasonStampMismatch}
	}
	lostIdentity := tenant(named("s1"), deleted, func(c *v1alpha1.ServerClaim) { c.Annotations = map[string]string{} })
	waits := func(name string, v claim.View, reason string) decideCase {
		return decideCase{
			name: name, view: v, clause: "Claim.Releasing", kind: lifecycle.StepWait, reason: reason, phase: v1alpha1.ClaimReleasing,
		}
	}
	done := func(name string, v claim.View) decideCase {
		return decideCase{
			name: name, view: v, clause: "Claim.Release.Done", kind: lifecycle.StepPatch, reason: v1alpha1.ReasonReleased, phase: v1alpha1.ClaimReleasing, patch: goes,
		}
	}
	forcedOut := func(name string, v claim.View) decideCase {
		d := done(name, v)
		d.clause, d.event = "Claim.Release.Forced", "ForceReleased"
		return d
	}
	intentStands := intent(ledger.WhyReleased, "web-uid", "web-uid")
	return []decideCase{
		waits("Release: waits while the server has the claim", view(c, server("s1", heldBy(c))), v1alpha1.ReasonReleasing),
		waits("Release: an open release intent is not yet a release", view(c, server("s1", heldBy(c), intentStands)), v1alpha1.ReasonReleasing),
		waits("Release: what was released from another claim does not count", view(c, server("s1", heldBy(c), released("db-uid"))), v1alpha1.ReasonReleasing),
		waits("Release: a claim that lost its identity waits for the server that names it", view(lostIdentity, server("s1", heldBy(c))), v1alpha1.ReasonReleasing),
		waits("Release: says why the server holds", with(view(c, server("s1", heldBy(c))), held), v1alpha1.ReasonStampMismatch),
		done("Release: claimRef is nil", view(c, server("s1"))),
		done("Release: claimRef is another's", view(c, server("s1", heldBy(other())))),
		done("Release: released names the claim (Retain)", view(c, server("s1", heldBy(c), released("web-uid")))),
		done("Release: the server is gone", view(c)),
		done("Release: nothing was ever chosen", view(tenant(deleted))),
		done("Release: the copy of a claim goes without touching the original's server",
			view(tenant(named("s1"), deleted, func(c *v1alpha1.ServerClaim) { c.Namespace = "copy" }), server("s1", heldBy(tenant())))),
		waits("Force-release: not before the release intent stands", view(f, server("s1", heldBy(f))), v1alpha1.ReasonReleasing),
		waits("Force-release: an intent for another UID is not this claim's", view(f, server("s1", heldBy(f), intent(ledger.WhyReleased, "web-uid", "web-uid-0"))), v1alpha1.ReasonReleasing),
		waits("Force-release: an intent of another kind is no release", view(f, server("s1", heldBy(f), intent(ledger.WhyClaimPower, "web-uid", "web-uid"))), v1alpha1.ReasonReleasing),
		waits("Force-release: names another server",
			view(tenant(named("s1"), deleted, func(c *v1alpha1.ServerClaim) { c.Annotations[v1alpha1.AnnotationForceRelease] = "s9" }), server("s1", heldBy(c), intentStands)), v1alpha1.ReasonReleasing),
		forcedOut("Force-release: as soon as the release intent stands", view(f, server("s1", heldBy(f), intentStands))),
		forcedOut("Force-release: the server is held", with(view(f, server("s1", heldBy(f))), held)),
		forcedOut("Force-release: the server's memory cannot be read", view(f, server("s1", heldBy(f), entries(ledger.Entries{ledger.KeyBoot: "{"})))),
	}
}
