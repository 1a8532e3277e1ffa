// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
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
	{"2", "being deleted, and nobody has it: no maintenanceRef, no claimRef that was not released", rules.All((*state).Deleting, rules.Not((*state).held)), v1alpha1.PhaseDeleting, deletingSteps},
	{"3", "memory not confirmed", rules.Not((*state).Confirmed), v1alpha1.PhaseInitial, initialSteps},
	{"4", "maintenanceRef", func(s *state) bool { return s.Spec.MaintenanceRef != nil }, v1alpha1.PhaseMaintenance, maintenanceSteps},
	{"5", "claimRef, and released for that claim", (*state).Released, v1alpha1.PhaseReleased, releasedSteps},
	{"6", "claimRef, and its claim is seen being deleted, or its release was announced and it is gone", rules.Claimed((*state).Leaving), v1alpha1.PhaseReleasing, releasingSteps},
	{"7", "claimRef, and the claim is live, has the same identity and names this server", rules.Claimed((*state).Reserved), v1alpha1.PhaseReserved, reservedSteps},
	{"8", "claimRef otherwise: hold", rules.Claimed(rules.Always[*state]), v1alpha1.PhaseReserved, danglingSteps},
	{"9", "no claimRef, but a boot or an announced release", (*state).stranded, v1alpha1.PhaseReleasing, releasingSteps},
	{"10", "dirty, and cleaning is asked for", (*state).needsCleaning, v1alpha1.PhaseCleaning, cleaningSteps},
	{"11", "not discovered", func(s *state) bool { return s.Ledger.DiscoveredAt.IsZero() }, v1alpha1.PhaseDiscovery, discoverySteps},
	{"12", "otherwise", rules.Always[*state], v1alpha1.PhaseAvailable, availableSteps},
}

// stranded says that nobody has the machine, and it was not released: a person cleared claimRef, or the object is older than the binding.
func (s *state) stranded() bool {
	return s.Ledger.Boot != nil || s.ReleaseOpen()
}

func (s *state) needsCleaning() bool {
	return !s.Ledger.DirtySince.IsZero() && s.Spec.Cleaning != "" && s.Spec.Cleaning != v1alpha1.CleaningNone
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
	if s.Deleting() && r.phase != v1alpha1.PhaseDeleting {
		return "metal 1, " + r.number
	}
	return "metal " + r.number
}
