// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// explorer explores one world with one brain.
type explorer struct {
	world World
	brain Brain
	bmc   *v1alpha1.BMC

	servers      apiserver.Contents[*v1alpha1.Server]
	claims       apiserver.Contents[*v1alpha1.ServerClaim]
	maintenances apiserver.Contents[*v1alpha1.ServerMaintenance]

	serverChoices, claimChoices, maintenanceChoices choices

	same     map[[2]int32]bool
	pictures map[shot]id
	intents  map[id][]string
	memories map[id]memory
	rests    search.Set[State] // states from which everything is known to come to rest

	symmetry  *symmetry // nil: none, or not used
	backups   bool      // some harm needs one
	harmBroke breach
}

func newExplorer(w World, b Brain) *explorer {
	x := &explorer{
		world: w, brain: b, bmc: newBMC(),
		servers: apiserver.NewContents[*v1alpha1.Server](), claims: apiserver.NewContents[*v1alpha1.ServerClaim](), maintenances: apiserver.NewContents[*v1alpha1.ServerMaintenance](),
		serverChoices: newChoices(), claimChoices: newChoices(), maintenanceChoices: newChoices(),
		same: map[[2]int32]bool{}, pictures: map[shot]id{}, intents: map[id][]string{}, memories: map[id]memory{}, rests: search.NewSet[State](),
	}
	x.symmetry = newSymmetry(x)
	x.backups = slices.ContainsFunc(w.Harms, Harm.needsBackup)
	return x
}

// Options bound an exploration.
type Options = search.Options

// Result is what an exploration found.
type Result = search.Result

// Line is one step of a path in words.
type Line = search.Line

// Explore visits every state of a world within its budgets, shortest paths first, and reports what breaks.
func Explore(w World, b Brain, o Options) Result {
	if w.Depth > 0 {
		o.Depth = w.Depth
	}
	return search.Explore(w.Name, newExplorer(w, b), o)
}

// Start implements search.Game.
func (x *explorer) Start() State { return x.initial() }

// Tidy implements search.Game.
func (x *explorer) Tidy(s *State) {
	s.tidy()
	if x.symmetry != nil {
		x.symmetry.canonical(s)
	}
}

// Moves implements search.Game.
func (x *explorer) Moves(s *State, yield func(next *State, broken search.Breach)) {
	x.successors(s, func(next *State, m move) { yield(next, m.broken.told()) })
}

// Restless implements search.Game.
func (x *explorer) Restless(s State) search.Breach { return x.restless(s).told() }

// Tell implements search.Game.
func (x *explorer) Tell(path []uint16) []Line {
	lines, _ := x.tell(path)
	return lines
}

// TellRest implements search.Game.
func (x *explorer) TellRest(path []uint16) []Line {
	lines, last := x.tell(path)
	return append(lines, x.tellRest(last)...)
}

// Decisions implements search.Game.
func (x *explorer) Decisions() int {
	return len(x.serverChoices.list) + len(x.claimChoices.list) + len(x.maintenanceChoices.list)
}

// Remembers implements search.Walker.
func (x *explorer) Remembers() int { return x.Decisions() + x.rests.Len() }

// tidy gives states that mean the same the same form.
func (s *State) tidy() {
	if !s.lagging {
		s.lag = objects{}
	}
	if s.adverse == 0 {
		s.backup, s.old = false, objects{}
	}
}
