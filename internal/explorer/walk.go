// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// WalkWorlds are worlds that are walked at random: far more of everybody than can be explored to the end. What is left out of them is in
// docs/explorer.md.
func WalkWorlds() []World {
	everything := World{
		Name: "walk", About: "four claims, three machines and a maintenance, and everybody at once",
		Servers: 3, Claims: 4, Enrolled: true,
		Policy: v1alpha1.MaintenanceOwnerApproval, MaintenancePower: v1alpha1.PowerOff,
		Deeds: []Deed{
			CreateClaim, DeleteClaim, ClaimPower, Restart, DeleteServer, ForceRelease, CreateMaintenance, DeleteMaintenance, Approve, Cordon, Pause,
		}, People: 16,
		Harms:   []Harm{WipeStatus, OldStatus, DropLedger, DropClaimLedger, LoseServer, LoseClaim, RestoreServer, RestoreClaim, OldServer, HandOn, PowerCycle},
		Adverse: 2, Tenant: 6, Stalls: 6, StallEffects: true, StallWrites: true, StallLooks: true, Lag: true,
	}
	small := everything
	small.Name, small.About = "walk-two", "the same with two claims and two machines"
	small.Servers, small.Claims, small.People, small.Tenant, small.Stalls = 2, 2, 12, 4, 4
	return []World{small, everything}
}

// Walk plays a world at random.
func Walk(w World, b Brain, walks search.Walks) Result {
	return search.Walk(w.Name, func() search.Walker[State] { return newExplorer(w, b) }, walks)
}
