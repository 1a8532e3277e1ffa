// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// row is one rule by which the phase is derived (P2), and the steps of a server for which it holds.
type row struct {
	number string
	text   string
	when   func(*state) bool
	phase  v1alpha1.ServerPhase
	steps  steps
}

// table are the rules in order; the first that holds gives the phase. Row 1 of the contract, deletion that waits, is row 2 not
// holding: the rows below it then apply to an object being deleted as to any other.
var table = []row{
	{"2", "being deleted, and nobody has it: no maintenanceRef, no claimRef that was not released", all((*state).deleting, not((*state).held)), v1alpha1.PhaseDeleting, deletingSteps},
	{"3", "memory not confirmed", not((*state).confirmed), v1alpha1.PhaseInitial, initialSteps},
	{"4", "maintenanceRef", func(s *state) bool { return s.spec.MaintenanceRef != nil }, v1alpha1.PhaseMaintenance, maintenanceSteps},
	{"5", "claimRef, and released for that claim", (*state).released, v1alpha1.PhaseReleased, releasedSteps},
	{"6", "claimRef, and its claim is seen being deleted, or its release was announced and it is gone", claimed((*state).leaving), v1alpha1.PhaseReleasing, releasingSteps},
	{"7", "claimRef, and the claim is live, has the same identity and names this server", claimed((*state).reserved), v1alpha1.PhaseReserved, reservedSteps},
	{"8", "claimRef otherwise: hold", claimed(always), v1alpha1.PhaseReserved, danglingSteps},
	{"9", "no claimRef, but a boot or an announced release", (*state).stranded, v1alpha1.PhaseReleasing, releasingSteps},
	{"10", "dirty, and cleaning is asked for", (*state).needsCleaning, v1alpha1.PhaseCleaning, cleaningSteps},
	{"11", "not discovered", func(s *state) bool { return s.led.DiscoveredAt.IsZero() }, v1alpha1.PhaseDiscovery, discoverySteps},
	{"12", "otherwise", always, v1alpha1.PhaseAvailable, availableSteps},
}

func claimed(when func(*state) bool) func(*state) bool {
	return func(s *state) bool { return s.spec.ClaimRef != nil && when(s) }
}

// stranded says that nobody has the machine, and it was not released: a person cleared claimRef, or the object is older than the binding.
func (s *state) stranded() bool {
	return s.led.Boot != nil || s.releaseOpen()
}

func (s *state) needsCleaning() bool {
	return !s.led.DirtySince.IsZero() && s.spec.Cleaning != "" && s.spec.Cleaning != v1alpha1.CleaningNone
}

// row is the first rule of the table that holds, and its name for people.
func (s *state) row() (row, string) {
	for _, r := range table {
		if r.when(s) {
			return r, s.rule(r)
		}
	}
	return table[len(table)-1], s.rule(table[len(table)-1])
}

// rule names a row as the contract numbers it: 1 before it where a deletion waits.
func (s *state) rule(r row) string {
	if s.deleting() && r.phase != v1alpha1.PhaseDeleting {
		return "metal 1, " + r.number
	}
	return "metal " + r.number
}
