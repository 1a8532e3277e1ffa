// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// maintenanceSteps enforce the maintenance's own power and nothing else (I4).
var maintenanceSteps = named("Maintenance", join(
	steps{
		{name: "Missing", when: not((*state).inMaintenance), then: func(s *state) answer {
			return holdLive(v1alpha1.ReasonMaintenanceMissing, "the maintenance "+s.spec.MaintenanceRef.Name+" that has this server is not there: restore it, or clear spec.maintenanceRef")
		}},
		{name: "Ending", when: func(s *state) bool { return !s.v.Maintenance.DeletionTimestamp.IsZero() }, then: func(s *state) answer {
			return settled("the maintenance " + s.v.Maintenance.Name + " is ending")
		}},
		{name: "Keep", when: maintenanceWants(v1alpha1.PowerKeep), then: func(s *state) answer {
			return settled("the maintenance " + s.v.Maintenance.Name + " has the machine; its power stays as it is")
		}},
	},
	picture,
	within("PowerOff", all(not((*state).off), maintenanceWants(v1alpha1.PowerOff)), powerOffUnderClaim(ledger.WhyMaintenance)),
	within("Off", all((*state).off, maintenanceWants(v1alpha1.PowerOff)), recordOff(ledger.WhyMaintenance)),
	steps{changingPower},
	within("On", all((*state).off, maintenanceWants(v1alpha1.PowerOn)), join(
		// Whatever is armed must not overwrite what another claim may have on this machine.
		within("", (*state).armed, steps{isElsewhere}),
		// The claim's machine booted for it already: a maintenance's power-on must not image it again (I10). What is armed on a machine
		// that nobody has booted is the maintenance's own business.
		steps{{name: "ClearOverride", when: all((*state).armed, inStage(ledger.StageBooted), not((*state).bootsAlways)), then: clearOverride}},
		steps{{name: "Eject", when: all((*state).mediaMayBeIn, inStage(ledger.StageBooted), not((*state).bootsAlways)), then: eject}},
		switchOn((*state).byMaintenance),
	)),
	steps{{name: "Settled", when: always, then: func(s *state) answer {
		return settled("the maintenance " + s.v.Maintenance.Name + " has the machine")
	}}},
))

// inMaintenance says that the maintenance of maintenanceRef is there. One of the same name and another UID is not it before the
// maintenance controller has said so.
func (s *state) inMaintenance() bool {
	m, ref := s.v.Maintenance, s.spec.MaintenanceRef
	return m != nil && m.Name == ref.Name && string(m.UID) == ref.UID
}

func maintenanceWants(p v1alpha1.Power) func(*state) bool {
	return func(s *state) bool {
		wanted := s.v.Maintenance.Spec.Power
		if wanted == "" {
			wanted = v1alpha1.PowerKeep
		}
		return wanted == p
	}
}
