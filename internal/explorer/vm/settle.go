// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// longestWay is how many steps everything may take to come to rest once nobody interferes any more.
const longestWay = 120

// Restless implements search.Game: I6.
func (x *explorer) Restless(s State) search.Breach {
	s = x.calm(s)
	if x.rests.Has(s) {
		return unbroken
	}
	end, way := x.settle(s)
	if len(way) >= longestWay {
		return search.Breach{Invariant: "I6", How: "does not come to rest"}
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

// calm is the state without anybody who interferes: what stalls is dropped, what lags catches up.
func (x *explorer) calm(s State) State {
	s.adverse, s.people, s.stalls, s.luck = 0, 0, 0, 0
	s.flight, s.late, s.lagging = flight{}, lateLook{}, false
	x.Tidy(&s)
	return s
}

// settle lets monitor, cloud and managers take turns until none has anything to do, or it is known to end well.
func (x *explorer) settle(s State) (end State, way []State) {
	s = x.calm(s)
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

// turn is one step of a fair schedule: the monitor looks first, then the cloud goes on, then claims and servers.
func (x *explorer) turn(s State) (State, bool) {
	var found State
	moved := false
	take := func(next *State, _ move) {
		candidate := *next
		x.Tidy(&candidate)
		if !moved && candidate != s {
			found, moved = candidate, true
		}
	}
	x.monitor(&s, take)
	x.befall(&s, take)
	if x.world.Class && !moved {
		x.passClaim(&s, leader, take)
	}
	if !moved {
		x.passMaintenance(&s, leader, take)
	}
	for slot := range maxServers {
		if !moved {
			x.passServer(&s, leader, slot, take)
		}
	}
	return found, moved
}

// unsettled says which object still wants something when nobody has anything to do any more.
func (x *explorer) unsettled(s *State) search.Breach {
	asking, awaiting := false, false
	for slot, server := range s.now.server {
		if server == absent {
			continue
		}
		chosen := x.server(question{slot: uint8(slot), live: true, epoch: s.epoch, seen: s.now}, s)
		if broken := or(x.atRest(s, chosen, nameOfSlot(slot)), x.leftOff(s, slot)); broken != unbroken {
			return broken
		}
		asking = asking || x.choices.list[chosen].step.Kind == lifecycle.StepAct
		awaiting = awaiting || search.AwaitsClaim(x.choices.list[chosen].gates)
	}
	if s.now.maintenance != absent {
		chosen := x.maintenance(question{slot: maintenanceSlot, live: true, epoch: s.epoch, seen: s.now})
		if broken := x.atRest(s, chosen, maintName); broken != unbroken {
			return broken
		}
	}
	if s.now.claim != absent && !asking {
		chosen := x.claim(question{slot: claimSlot, live: true, epoch: s.epoch, seen: s.now})
		if awaiting && !search.Stalls(x.choices.list[chosen].gates) {
			return search.Breach{Invariant: "I6", How: "a server waits for ever for what its claim is to write"}
		}
		return x.atRest(s, chosen, claimName)
	}
	return unbroken
}

// leftOff says that a VM whose power is kept, and that nothing but a restart switches off, stays Off.
func (x *explorer) leftOff(s *State, slot int) search.Breach {
	server := x.servers.Get(s.now.server[slot])
	if !x.world.Keep || server.Spec.MaintenanceRef != nil {
		return unbroken
	}
	for _, vm := range s.cloud.vms {
		if vm.is == stopped && vm.of == x.serves(s.now.server[slot]) {
			return search.Breach{Invariant: "I6", How: "a VM that was stopped to be restarted stays Off"}
		}
	}
	return unbroken
}

// atRest: a step that writes or acts and yet moves nothing is refused for ever; one that waits without saying for what waits for nothing.
// What asks the cloud for a VM and is told why there can be none is told to people (FoundExisting), and here at the end of the world's
// own room.
func (x *explorer) atRest(s *State, chosen int32, name string) search.Breach {
	c := &x.choices.list[chosen]
	switch c.step.Kind {
	case lifecycle.StepHold:
		return unbroken
	case lifecycle.StepSettled:
		if gate := search.GoesOn(c.gates); gate != nil {
			return search.Breach{Invariant: "I6", How: name + " says for ever that it goes on (" + gate.Reason + "), at " + c.step.Clause}
		}
		return unbroken
	case lifecycle.StepWait:
		if len(c.gates) > 0 && c.gates[0].Level != lifecycle.Converged {
			return unbroken
		}
	case lifecycle.StepCreate:
		if s.suid == maxUIDs || s.now.server[0] != absent && s.now.server[1] != absent {
			return unbroken
		}
	case lifecycle.StepAct:
		switch c.step.Effect.Op {
		case lifecycle.OpCreateInstance, lifecycle.OpAttachFloatingIP:
			return unbroken
		}
	}
	return search.Breach{Invariant: "I6", How: name + " never gets past " + c.step.Clause}
}
