// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// WalkWorlds are worlds that are walked at random: far more of everybody than can be explored to the end. What is left out of them is in
// docs/explorer.md.
func WalkWorlds() []World {
	own := World{
		Name: "walk-vm", About: "a VM that a person wrote, and everybody at once",
		Rebuilds: true, Floating: true, Policy: v1alpha1.MaintenanceEnforced, MaintenancePower: v1alpha1.PowerOff,
		Deeds:  []Deed{Create, Delete, TogglePower, EditImage, Retry, EditFloating, CreateMaintenance, DeleteMaintenance},
		People: 12, Harms: []Harm{WipeStatus, OldStatus, DropLedger, LoseServer, RestoreServer}, Adverse: 3,
		Chances: []Chance{Fails, Errors, Recover, Vanish, Hide, GiveFloating, TakeFloating, Linger}, Luck: 8, Stalls: 4, StallWrites: true, StallLooks: true, Lag: true,
	}
	class := own
	class.Name, class.About, class.Class = "walk-class", "a claim's VM, and everybody at once", true
	class.Policy = v1alpha1.MaintenanceOwnerApproval
	class.Deeds = []Deed{
		Create, Delete, DeleteServer, TogglePower, EditImage, Approve, Restart, Retry, Force, EditFloating, CreateMaintenance, ApproveMaintenance, DeleteMaintenance,
	}
	class.Harms = []Harm{WipeStatus, OldStatus, DropLedger, LoseServer, RestoreServer, DropClaimLedger, LoseClaim, RestoreClaim}
	return []World{own, class}
}

// Walk plays a world at random.
func Walk(w World, b Brain, walks search.Walks) search.Result {
	return search.Walk(w.Name, func() search.Walker[State] { return newExplorer(w, b) }, walks)
}
