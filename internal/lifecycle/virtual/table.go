// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
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

// dangling is the row of a claimRef whose claim is not there, or another one.
const dangling = "5b"

// table are the rules in order; the first that holds gives the phase. Row 1 of the contract, deletion that waits, is row 2 not
// holding: the rows below it then apply to an object being deleted as to any other.
var table = []row{
	{"2", "being deleted, and nobody has it: no maintenanceRef, no claimRef but one that was released, or whose claim is seen being deleted under policy Delete", rules.All((*state).Deleting, rules.Not((*state).held)), v1alpha1.PhaseDeleting, deletingSteps},
	{"3", "memory not confirmed", rules.Not((*state).Confirmed), v1alpha1.PhaseInitial, initialSteps},
	{"4", "maintenanceRef", (*state).Maintained, v1alpha1.PhaseMaintenance, maintenanceSteps},
	{"5", "claimRef, and released for that claim", (*state).Released, v1alpha1.PhaseReleased, releasedSteps},
	{"5a", "claimRef, and its claim is seen being deleted, or its release was announced and it is gone", rules.Claimed((*state).Leaving), v1alpha1.PhaseReleasing, releasingSteps},
	{dangling, "claimRef otherwise not live and matching: hold", rules.Claimed(rules.Not((*state).Reserved)), v1alpha1.PhaseReserved, danglingSteps},
	{"6", "the creation failed before a first launch, and the budget of retries is not used up; or a retry is announced", (*state).retrying, v1alpha1.PhaseRetrying, retryingSteps},
	{"7", "the creation failed before a first launch, and the budget is used up", (*state).createFailed, v1alpha1.PhaseFailed, failedSteps},
	{"8", "never launched", rules.Not((*state).launched), v1alpha1.PhaseCreating, creatingSteps},
	{"9", "launched, and a GET by id says 404: hold", (*state).gone, v1alpha1.PhaseLost, lostSteps},
	{"10", "a rebuild is asked for and may be done, or is announced", (*state).rebuilding, v1alpha1.PhaseRebuilding, rebuildingSteps},
	{"11", "the cloud calls the VM broken: hold", (*state).errored, v1alpha1.PhaseErrored, erroredSteps},
	{"12", "otherwise, with a claim", rules.Claimed(rules.Always[*state]), v1alpha1.PhaseReserved, reservedSteps},
	{"13", "otherwise", rules.Always[*state], v1alpha1.PhaseRunning, runningSteps},
}

// retrying says that a VM that never launched is to be deleted and made again, or is being so.
func (s *state) retrying() bool {
	if i := s.Ledger.Intent; i != nil && i.Op == ledger.IntentRetry && !s.launched() {
		return true
	}
	return s.createFailed() && s.budgetLeft()
}

// errored says that the cloud calls a VM broken that was launched once.
func (s *state) errored() bool { return s.exists() && s.vm.Errored }

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
		return "virtual 1, " + r.number
	}
	return "virtual " + r.number
}
