// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// reservedSteps run the machine for its claim: boot it for the claim once, in three stages of which each is written before its effect,
// then keep its power.
var reservedSteps = rules.Named("Reserved", rules.Join(
	steps{
		{Name: "Memory", When: rules.All(rules.Not((*state).bootKnown), (*state).BoundHere), Then: restoreMemory},
		{Name: "OtherMemory", When: func(s *state) bool { return s.Ledger.Boot != nil && !s.bootKnown() }, Then: func(s *state) answer {
			return rules.Hold(v1alpha1.ReasonClaimMismatch, "the server's memory speaks of a boot for another claim ("+s.Ledger.Boot.Claim+") than the one that has it: restore that claim; or clear spec.claimRef, which releases the machine")
		}},
	},
	picture,
	rules.Within("Unbooted", rules.Not((*state).bootKnown), unbooted),
	rules.Within("Booting", inStage(ledger.StageBooting), booting),
	rules.Within("Starting", inStage(ledger.StageStarting), starting),
	rules.Within("Booted", rules.Always[*state], booted),
))

// restoreMemory writes back what the server has forgotten and the claim still knows: it may have booted here. Nothing is done to the
// machine (I9).
func restoreMemory(s *state) answer {
	p := s.byClaim()
	entries := ledger.Entries{}.Boot(s.boot(ledger.StageBooted)).PowerOn(&p).Restarted(s.RestartKnown())
	if s.Ledger.DirtySince.IsZero() {
		entries.DirtySince(s.Now())
	}
	return rules.Patch(v1alpha1.ReasonBooting, "the claim may have booted here: remember it as booted", lifecycle.Patch{Ledger: entries})
}

// boot is the ledger's entry for the claim of claimRef. What may be in the drive stays remembered from stage to stage.
func (s *state) boot(stage ledger.Stage) *ledger.Boot {
	b := &ledger.Boot{Claim: s.Spec.ClaimRef.Identity, Stage: stage, At: s.Now(), Media: s.image()}
	if s.bootKnown() {
		b.Media = s.mediaLeft()
	}
	return b
}

// danglingSteps hold a machine whose claim is not there, or is another one (P10). What runs on it keeps running.
var danglingSteps = rules.Named("Reserved", rules.Lift[*state](rules.Dangling))
