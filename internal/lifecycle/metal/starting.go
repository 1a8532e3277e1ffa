// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// starting: the power-on for the claim was announced, and may or may not have happened. The override tells: while it is armed it has not.
var starting = join(
	steps{
		{name: "On", when: all((*state).on, (*state).remembered), then: func(s *state) answer {
			return patch(v1alpha1.ReasonBooting, "the machine is On: it booted for the claim", lifecycle.Patch{Ledger: ledger.Entries{}.Boot(s.boot(ledger.StageBooted))})
		}},
		changingPower,
	},
	// On, and no power-on of ours is remembered: memory was lost.
	within("Found", (*state).on, bootNotConfirmed),
	steps{
		{name: "PowerNotWanted", when: all((*state).armedForClaim, not(claimWants(v1alpha1.PowerOn))), then: func(*state) answer {
			return settled("ready to boot for the claim; the claim asks for no power now")
		}},
		awaitBound,
		isElsewhere,
	},
	within("", (*state).armedForClaim, switchOn((*state).byClaim)),
	within("", (*state).bootsAlways, media),
	steps{
		{name: "ArmAgain", when: (*state).bootsAlways, then: armOverride},
		{name: "BootAgain", when: (*state).consentsBootAgain, then: bootAgain},
	},
	bootNotConfirmed,
)
