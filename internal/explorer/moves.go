// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// moveKind is who does what in one step.
type moveKind uint8

const (
	moveServer moveKind = iota
	moveClaim
	moveMaintenance
	moveResume
	moveCrash
	moveLag
	moveCatchUp
	moveLook
	moveLookStalls
	moveLookLands
	moveMake
	moveComesUp
	moveStops
	moveStays
	moveTenantStops
	moveTenantOff
	moveBackup
	movePeople
	moveHarm
)

// move is one step of a path, in numbers; trace.go puts it into words.
type move struct {
	kind   moveKind
	by     manager
	a      uint8
	b      uint8
	late   bool
	stalls bool
	acted  bool
	choice int32
	broken breach
}

func (m move) breaking(b breach) move {
	m.broken = b
	return m
}

// breach is an invariant broken by a step, and how.
type breach struct{ invariant, how string }

var unbroken breach

// told is the breach as a search tells it.
func (b breach) told() search.Breach { return search.Breach{Invariant: b.invariant, How: b.how} }

// or is the first of two that is broken.
func (b breach) or(other breach) breach {
	if b != unbroken {
		return b
	}
	return other
}

// Spends implements search.Walker.
func (*explorer) Spends(before, after *State) bool { return after.budgets() < before.budgets() }

// budgets are all moves that are left to those who interfere.
func (s *State) budgets() int {
	return int(s.adverse) + int(s.people) + int(s.stalls) + int(s.tenant)
}

// step receives a successor. The state may be changed and kept by nobody.
type step func(next *State, m move)

// successors are all steps that can be taken from a state, always in the same order.
func (x *explorer) successors(s *State, receive step) {
	yield := func(next *State, m move) {
		outrun(s, next)
		receive(next, m)
	}
	x.passes(s, leader, yield)
	x.resume(s, yield)
	x.lags(s, yield)
	x.looks(s, yield)
	x.machines(s, yield)
	x.peoples(s, yield)
	x.harms(s, yield)
}

// looks are the monitor's. It reads the intent, looks, and writes what it saw by resourceVersion.
func (x *explorer) looks(s *State, yield step) {
	for i := range x.world.Servers {
		seen := s.now.server[i]
		if seen == absent {
			continue
		}
		next := *s
		if next.now.server[i] = x.picture(seen, s.mach[i], i, s.era); next.now.server[i] != seen {
			yield(&next, move{kind: moveLook, a: uint8(i)})
		}
		if x.world.StallLooks && s.stalls > 0 && !s.look.open {
			next = *s
			next.stalls--
			next.look = picture{open: true, server: uint8(i), of: s.mach[i], era: s.era, basis: seen}
			yield(&next, move{kind: moveLookStalls, a: uint8(i)})
		}
	}
	if !s.look.open {
		return
	}
	next := *s
	next.look = picture{}
	i := int(s.look.server)
	next.now.server[i] = x.picture(s.look.basis, s.look.of, i, s.look.era)
	yield(&next, move{kind: moveLookLands, a: s.look.server})
}

// shot is what a picture depends on.
type shot struct {
	seen id
	of   machine
	i    int
	era  uint8
}

// picture is the server with the picture that is taken of a machine.
func (x *explorer) picture(seen id, of machine, i int, era uint8) id {
	// What nobody can see must not make pictures differ.
	of.runs, of.disk, of.imaged, of.era = 0, 0, 0, 0
	of.stopping = of.stopping && (x.world.Tasks || x.world.Shows)
	key := shot{seen, of, i, era}
	if known, ok := x.pictures[key]; ok {
		return known
	}
	object := x.servers.Get(seen).DeepCopy()
	object.Status.Observed = observe(object.Status.Observed, of, object, i, era, x.world)
	taken := x.servers.Intern(object)
	x.pictures[key] = taken
	return taken
}
