// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// isElsewhere holds every step that could end or overwrite what another claim may have running here.
var isElsewhere = rules.Lift[*state](rules.Steps[*rules.State]{rules.IsElsewhere})[0]

// bootKnown says that the ledger speaks of a boot for this very claim.
func (s *state) bootKnown() bool {
	return s.Ledger.Boot != nil && s.Spec.ClaimRef != nil && s.Ledger.Boot.Claim == s.Spec.ClaimRef.Identity
}

func inStage(stage ledger.Stage) func(*state) bool {
	return func(s *state) bool { return s.bootKnown() && s.Ledger.Boot.Stage == stage }
}

func claimWants(p v1alpha1.Power) func(*state) bool {
	return func(s *state) bool { return s.ClaimPower() == p }
}

func (s *state) fromDisk() bool {
	return s.Claim.Found != nil && s.Claim.Found.Spec.Boot.Method == v1alpha1.BootDisk
}

// bootsAlways says that the machine is diskless: it boots from the network at each power-on.
func (s *state) bootsAlways() bool {
	return s.Claim.Found != nil && s.Claim.Found.Spec.Boot.When == v1alpha1.BootAlways && !s.fromDisk()
}
