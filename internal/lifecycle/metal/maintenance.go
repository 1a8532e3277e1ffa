// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// maintenanceSteps enforce the maintenance's own power and nothing else (I4).
var maintenanceSteps = rules.Named("Maintenance", rules.Join(
	rules.Lift[*state](rules.MaintenanceStanding),
	steps{
		{Name: "Keep", When: maintenanceWants(v1alpha1.PowerKeep), Then: func(s *state) answer {
			return rules.Settled("the maintenance " + s.V.Maintenance.Name + " has the machine; its power stays as it is")
		}},
	},
	picture,
	steps{rememberFound},
	rules.Within("PowerOff", rules.All(rules.Not((*state).off), maintenanceWants(v1alpha1.PowerOff)), powerOff(ledger.WhyMaintenance, isElsewhere)),
	rules.Within("Off", rules.All((*state).off, maintenanceWants(v1alpha1.PowerOff)), recordOff(ledger.WhyMaintenance)),
	steps{changingPower},
	rules.Within("On", rules.All((*state).off, maintenanceWants(v1alpha1.PowerOn)), rules.Join(
		steps{foundBefore},
		// Whatever is armed must not overwrite what another claim may have on this machine.
		rules.Within("", (*state).armed, steps{isElsewhere}),
		// The claim's machine booted for it already: a maintenance's power-on must not image it again (I10). What is armed on a machine
		// that nobody has booted is the maintenance's own business.
		steps{{Name: "ClearOverride", When: rules.All((*state).armed, inStage(ledger.StageBooted), rules.Not((*state).bootsAlways)), Then: clearOverride}},
		steps{{Name: "Eject", When: rules.All((*state).mediaMayBeIn, inStage(ledger.StageBooted), rules.Not((*state).bootsAlways)), Then: eject}},
		switchOn((*state).byMaintenance),
	)),
	steps{{Name: "Settled", When: rules.Always[*state], Then: func(s *state) answer {
		return rules.Settled("the maintenance " + s.V.Maintenance.Name + " has the machine")
	}}},
))

func maintenanceWants(p v1alpha1.Power) func(*state) bool {
	return func(s *state) bool { return s.MaintenancePower() == p }
}
