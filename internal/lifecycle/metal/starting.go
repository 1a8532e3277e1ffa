// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// starting: the power-on for the claim was announced, and may or may not have happened. The override tells: while it is armed it has not.
var starting = rules.Join(
	steps{
		{Name: "On", When: rules.All((*state).on, (*state).remembered), Then: func(s *state) answer {
			return rules.Patch(v1alpha1.ReasonBooting, "the machine is On: it booted for the claim", lifecycle.Patch{Ledger: ledger.Entries{}.Boot(s.boot(ledger.StageBooted))})
		}},
		changingPower,
	},
	// On, and no power-on of ours is remembered: memory was lost.
	rules.Within("Found", (*state).on, bootNotConfirmed),
	rules.Within("", rules.Not(rules.Either((*state).consentsBooted, (*state).consentsBootAgain)), steps{foundBefore}),
	steps{
		{Name: "PowerNotWanted", When: rules.All((*state).armedForClaim, rules.Not(claimWants(v1alpha1.PowerOn))), Then: powerNotWanted},
		awaitBound,
		isElsewhere,
	},
	// Armed still, so it has not booted; but that may be a late effect of another claim's boot. What this one boots from must be in the
	// drive, or it boots from nothing, which would count as its one boot (I10).
	steps{{Name: "InsertMissing", When: rules.All((*state).armedForClaim, (*state).imageMissing), Then: func(s *state) answer {
		return s.insert("insert the claim's image, which is not in the virtual drive", s.expectOffArmed())
	}}},
	rules.Within("", (*state).armedForClaim, switchOn((*state).byClaim)),
	rules.Within("", (*state).bootsAlways, media),
	steps{
		{Name: "ArmAgain", When: (*state).bootsAlways, Then: armOverride},
		{Name: "BootAgain", When: (*state).consentsBootAgain, Then: bootAgain},
	},
	bootNotConfirmed,
)

// imageMissing says that the image that is remembered for this boot is not seen in the drive. One that the claim has changed since is the
// next boot's matter.
func (s *state) imageMissing() bool {
	return s.byMedia() && s.mediaLeft() == s.image() && !s.inserted()
}
