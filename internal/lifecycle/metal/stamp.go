// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// The stamp is the third copy of memory, kept outside Kubernetes: before its first network power-on for a claim the machine is marked
// with what it is, whose, and for which claim. It outlives every restore.

// stamped says that the machine bears a stamp, whoever's it is.
func (s *state) stamped() bool { return ledger.IsStamp(s.Facts.AssetTag) }

func (s *state) stampFor(claim string) string {
	return ledger.Stamp(s.Ledger.Identity, s.V.Settings.ClusterID, claim)
}

func (s *state) stampedFor(claim string) bool {
	return claim != "" && s.Facts.AssetTag == s.stampFor(claim)
}

// stampable says that the machine can keep a stamp, as far as is known.
func (s *state) stampable() bool {
	return !s.Facts.StampUnsupported && s.tagSeen() != nil && (s.Ledger.AssetTag == nil || !s.Ledger.AssetTag.Unwritable)
}

// claims are the identities that the machine may rightly be stamped for, as far as is known here.
func (s *state) claims() []string {
	var known []string
	add := func(identity string) {
		if identity != "" && !slices.Contains(known, identity) {
			known = append(known, identity)
		}
	}
	if s.Spec.ClaimRef != nil {
		add(s.Spec.ClaimRef.Identity)
		return known
	}
	if s.Ledger.Boot != nil {
		add(s.Ledger.Boot.Claim)
	}
	if s.ReleaseOpen() {
		add(s.Ledger.Intent.Claim)
	}
	for _, claim := range s.V.BoundClaims {
		add(rules.ClaimIdentity(claim))
	}
	return known
}

// stampedBy gives the claim for which owner stamped the machine; "" where the stamp is none of owner's for a claim known here.
func (s *state) stampedBy(owner string) string {
	for _, claim := range s.claims() {
		if s.Facts.AssetTag == ledger.Stamp(s.Ledger.Identity, owner, claim) {
			return claim
		}
	}
	return ""
}

// mismatched says that the machine bears a stamp that the ledger does not account for.
func (s *state) mismatched() bool {
	return s.stamped() && !s.Fresh() && s.stampedBy(s.V.Settings.ClusterID) == ""
}

// previousTag is what a person had in the asset tag before our stamp.
func (s *state) previousTag() string {
	if s.Ledger.AssetTag == nil || ledger.IsStamp(s.Ledger.AssetTag.Previous) {
		return ""
	}
	return s.Ledger.AssetTag.Previous
}

// rememberTag notes what a person has in the asset tag now, so that it can be put back.
func (s *state) rememberTag() *ledger.AssetTag {
	if s.stamped() {
		return s.Ledger.AssetTag
	}
	return &ledger.AssetTag{Previous: s.Facts.AssetTag, Unwritable: s.Ledger.AssetTag != nil && s.Ledger.AssetTag.Unwritable}
}

// tagForgotten says that a person's tag stands on the machine that is not the one noted.
func (s *state) tagForgotten() bool {
	return !s.stamped() && (s.Ledger.AssetTag == nil || s.Ledger.AssetTag.Previous != s.Facts.AssetTag)
}

// resolve are the clauses by which a person's consent to power off settles a stamp that disagrees: off, then stamped anew or cleared.
var resolve = rules.Join(
	picture,
	rules.Within("PowerOff", rules.Not((*state).off), rules.Join(steps{goingDown(ledger.WhyConsent), isElsewhere, forbidden, announce(ledger.WhyConsent)}, carryOut)),
	steps{
		{Name: "AwaitPicture", When: rules.All(isAnnounced(ledger.WhyConsent), rules.Not((*state).Pictured)), Then: awaitPicture},
		isElsewhere,
		{Name: "Restamp", When: rules.Always[*state], Then: func(s *state) answer {
			tag := s.previousTag()
			if b := s.Ledger.Boot; b != nil && b.Stage != ledger.StageBooting && slices.Contains(s.claims(), b.Claim) {
				tag = s.stampFor(b.Claim)
			}
			a := s.act(v1alpha1.ReasonStampMismatch, "replace the stamp that disagrees, as a person consented", lifecycle.Effect{
				Op: lifecycle.OpWriteAssetTag, AssetTag: tag, Expect: s.expectSeen(),
			})
			if s.off() && s.rememberedFound() { // what it was found running for has been told by the consent
				a = a.Recording(lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(nil)})
			}
			return a
		}},
	},
)
