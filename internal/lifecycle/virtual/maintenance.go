// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// maintenanceSteps enforce the maintenance's own power and nothing else (I4). Memory is written all the same: it has no effect.
var maintenanceSteps = rules.Named("Maintenance", rules.Join(
	rules.Lift[*state](rules.MaintenanceStanding),
	steps{{Name: "NoVM", When: func(s *state) bool { return !s.launched() || s.gone() }, Then: maintained}},
	remember,
	picture,
	steps{{Name: "Keep", When: maintenanceWants(v1alpha1.PowerKeep), Then: maintained}},
	rules.Within("PowerOff", rules.All(rules.Not((*state).off), maintenanceWants(v1alpha1.PowerOff)), rules.Join(elsewhere, powerOff(whyMaintenance))),
	rules.Within("Off", rules.All((*state).off, maintenanceWants(v1alpha1.PowerOff)), recordOff(whyMaintenance)),
	steps{{Name: "Changing", When: (*state).busy, Then: changing}},
	rules.Within("On", rules.All((*state).off, maintenanceWants(v1alpha1.PowerOn)), switchOn),
	steps{{Name: "Settled", When: rules.Always[*state], Then: maintained}},
))

func maintained(s *state) answer {
	return rules.Settled("the maintenance " + s.V.Maintenance.Name + " has the VM")
}

func whyMaintenance(*state) ledger.Why { return ledger.WhyMaintenance }

func maintenanceWants(p v1alpha1.Power) func(*state) bool {
	return func(s *state) bool { return s.MaintenancePower() == p }
}
