// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// reservedSteps run the machine for its claim: boot it for the claim once, in three stages of which each is written before its effect,
// then keep its power.
var reservedSteps = named("Reserved", join(
	steps{
		{name: "Memory", when: all(not((*state).bootKnown), (*state).boundHere), then: restoreMemory},
		{name: "OtherMemory", when: func(s *state) bool { return s.led.Boot != nil && !s.bootKnown() }, then: func(s *state) answer {
			return hold(v1alpha1.ReasonClaimMismatch, "the server's memory speaks of a boot for another claim ("+s.led.Boot.Claim+") than the one that has it: restore that claim; or clear spec.claimRef, which releases the machine")
		}},
	},
	picture,
	within("Unbooted", not((*state).bootKnown), unbooted),
	within("Booting", inStage(ledger.StageBooting), booting),
	within("Starting", inStage(ledger.StageStarting), starting),
	within("Booted", always, booted),
))

// restoreMemory writes back what the server has forgotten and the claim still knows: it may have booted here. Nothing is done to the
// machine (I9).
func restoreMemory(s *state) answer {
	p := s.byClaim()
	entries := ledger.Entries{}.Boot(s.boot(ledger.StageBooted)).PowerOn(&p).Restarted(s.restartKnown())
	if s.led.DirtySince.IsZero() {
		entries.DirtySince(s.now())
	}
	return patch(v1alpha1.ReasonBooting, "the claim may have booted here: remember it as booted", lifecycle.Patch{Ledger: entries})
}

// boot is the ledger's entry for the claim of claimRef. What may be in the drive stays remembered from stage to stage.
func (s *state) boot(stage ledger.Stage) *ledger.Boot {
	b := &ledger.Boot{Claim: s.spec.ClaimRef.Identity, Stage: stage, At: s.now(), Media: s.image()}
	if s.bootKnown() {
		b.Media = s.mediaLeft()
	}
	return b
}

// danglingSteps hold a machine whose claim is not there, or is another one: what a restore looks like from here (P10). What runs on
// it keeps running.
var danglingSteps = named("Reserved", steps{
	{name: "ClaimMissing", when: func(s *state) bool { return s.claim.found == nil }, then: func(s *state) answer {
		return holdLive(v1alpha1.ReasonClaimMissing, "the claim "+s.claimName()+" that has this server is not there: restore it; or clear spec.claimRef, which releases the machine")
	}},
	{name: "ClaimMismatch", when: always, then: func(s *state) answer {
		return holdLive(v1alpha1.ReasonClaimMismatch, "the claim "+s.claimName()+" is not the one that has this server, or names another server: restore the right one; or clear spec.claimRef, which releases the machine")
	}},
})

func (s *state) claimName() string { return s.spec.ClaimRef.Namespace + "/" + s.spec.ClaimRef.Name }
