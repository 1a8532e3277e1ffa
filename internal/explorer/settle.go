// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// longestWay is how many steps everything may take to come to rest once nobody interferes any more.
const longestWay = 200

// restless checks I6: once people, adversary and stalls stop, every object settles, or holds with a reason, within a bounded number of
// steps.
func (x *explorer) restless(s State) breach {
	s = calm(s)
	if x.rests.Has(s) {
		return unbroken
	}
	end, way := x.settle(s)
	if len(way) >= longestWay {
		return breach{"I6", "does not come to rest"}
	}
	if !x.rests.Has(end) {
		if broken := x.unsettled(&end); broken != unbroken {
			return broken
		}
	}
	for _, passed := range way {
		x.rests.Add(passed)
	}
	return unbroken
}

// atRest says that nobody has anything to do, or to see.
func (x *explorer) atRest(s *State) bool {
	_, way := x.settle(calm(*s))
	return len(way) == 0
}

// calm is the state without anybody who interferes: what stalls is dropped, what lags catches up.
func calm(s State) State {
	s.adverse, s.people, s.stalls, s.tenant = 0, 0, 0, 0
	s.flight, s.look, s.lagging = flight{}, picture{}, false
	s.tidy()
	return s
}

// settle lets monitor, machine and managers take turns until none has anything to do, or it is known to end well.
func (x *explorer) settle(s State) (end State, way []State) {
	s = calm(s)
	for len(way) < longestWay {
		way = append(way, s)
		next, moved := x.turn(s)
		if !moved {
			return s, way
		}
		if s = next; x.rests.Has(s) {
			return s, way
		}
	}
	return s, way
}

// turn is one step of a fair schedule: the monitor looks first, then what can go on without time passing, then the rest.
func (x *explorer) turn(s State) (State, bool) {
	var found State
	moved := false
	take := func(next *State, m move) {
		candidate := *next
		candidate.tidy()
		if !moved && candidate != s {
			found, moved = candidate, true
		}
	}
	for i := range x.world.Servers {
		if s.now.server[i] != absent {
			next := s
			next.now.server[i] = x.picture(s.now.server[i], s.mach[i], i, s.era)
			take(&next, move{})
		}
	}
	x.machines(&s, take)
	for c := range x.world.Claims {
		if !moved {
			x.passClaim(&s, leader, c, take)
		}
	}
	if !moved {
		x.passMaintenance(&s, leader, take)
	}
	for _, late := range []bool{false, true} {
		for i := range x.world.Servers {
			if !moved {
				x.passServer(&s, leader, i, late, take)
			}
		}
	}
	return found, moved
}

// unsettled says which object still wants something when nobody has anything to do any more.
func (x *explorer) unsettled(s *State) breach {
	awaiting, stalled := false, false
	for i := range x.world.Servers {
		if s.now.server[i] != absent {
			q := s.ask(leader, i, true)
			q.live = true
			chosen := x.serverChoices.list[x.server(q, s)]
			if broken := atRest(chosen, serverName(i)); broken != unbroken {
				return broken
			}
			awaiting = awaiting || search.AwaitsClaim(chosen.gates)
		}
	}
	for c := range x.world.Claims {
		if s.now.claim[c] != absent {
			q := s.ask(leader, c, true)
			q.live = true
			chosen := x.claimChoices.list[x.claim(q)]
			if broken := atRest(chosen, claimName(c)); broken != unbroken {
				return broken
			}
			stalled = stalled || search.Stalls(chosen.gates)
		}
	}
	if s.now.maintenance != absent {
		q := s.ask(leader, 0, true)
		q.live = true
		if broken := atRest(x.maintenanceChoices.list[x.maintenance(q)], maintName); broken != unbroken {
			return broken
		}
	}
	if awaiting && !stalled {
		return breach{"I6", "a server waits for ever for what its claim is to write"}
	}
	return unbroken
}

// atRest: a step that patches or acts and yet moves nothing is refused for ever; one that waits without saying for what waits for
// nothing; and what has nothing to do and says that it goes on by itself waits for ever, and so do those who wait for it.
func atRest(c choice, name string) breach {
	switch c.step.Kind {
	case lifecycle.StepHold:
		return unbroken
	case lifecycle.StepSettled:
		if gate := search.GoesOn(c.gates); gate != nil {
			return breach{"I6", name + " says for ever that it goes on (" + gate.Reason + "), at " + c.step.Clause}
		}
		return unbroken
	case lifecycle.StepWait:
		if len(c.gates) > 0 && c.gates[0].Level != lifecycle.Converged {
			return unbroken
		}
	}
	return breach{"I6", name + " never gets past " + c.step.Clause}
}
