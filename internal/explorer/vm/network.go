// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// floatingIP is what servers of worlds with one ask for.
func floatingIP() *v1alpha1.FloatingIP {
	return &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}}
}

// The one port and the one floating IP of a server.
const (
	portID     = "port-1"
	floatingID = "floating-1"
)

// attach gives the VM its floating IP: in one request that names its port, so that nothing is allocated for a port that is not there. A port
// that somebody else gave one is left alone.
func (x *explorer) attach(s *State, of who) (made, outcome, search.Breach) {
	bit := of.bit()
	switch {
	case s.cloud.theirs&bit != 0:
		return made{}, declined, unbroken // Busy
	case s.cloud.ports&bit == 0 && x.brain.OnPort:
		return made{}, declined, unbroken // Mismatch
	}
	s.cloud.floating |= bit
	if s.cloud.ports&bit != 0 || slices.ContainsFunc(s.now.server[:], func(server id) bool { return server != absent && x.serves(server) == of }) {
		return made{floating: true}, done, unbroken
	}
	return made{}, done, search.Breach{Invariant: "I3", How: "a floating IP is allocated for a server that is gone"}
}

// release takes the floating IP away. That of a server that asks for one is not: not for an older memory of it, either (I9).
func (x *explorer) release(s *State, e effect) search.Breach {
	had := s.cloud.floating&e.of.bit() != 0
	s.cloud.floating &^= e.of.bit()
	if !had || e.asked {
		return unbroken
	}
	return search.Breach{Invariant: "I9", How: "the floating IP of a server that asks for one is released"}
}

// extent is how far a call comes that takes a server away: what is to go may take its time, and the call ends Busy.
type extent uint8

const (
	whole        extent = iota
	floatingOnly        // the floating IP is released; the VM is going
	portsStay           // the VM is gone as well; its ports are going
)

var extentNames = map[extent]string{floatingOnly: ", and only the floating IP goes at once", portsStay: ", and its ports do not go at once"}

// extents are how far a call may come.
func (x *explorer) extents(s *State) []extent {
	if x.lingers && s.luck > 0 {
		return []extent{whole, floatingOnly, portsStay}
	}
	return []extent{whole}
}

// dismantle takes all of a server away, in order: floating IP, VMs, ports. What a pass that stalls would still make finds no ports any more.
func (x *explorer) dismantle(s *State, e effect) (made, outcome, search.Breach) {
	known := slotOf(e.step.Effect.Virtual.Instance.ID)
	for slot, vm := range s.cloud.vms {
		if s.cloud.there(vm) && vm.of == e.of && s.cloud.hidden && slot != known {
			return made{}, declined, unbroken // Busy: its ports tell that it is there
		}
	}
	if known >= 0 && s.cloud.there(s.cloud.vms[known]) && s.cloud.vms[known].foreign && x.brain.Own {
		return made{}, declined, unbroken // Mismatch: it bears another owner's stamp
	}
	s.cloud.floating &^= e.of.bit()
	if e.comes == floatingOnly {
		return made{}, x.busy(), unbroken
	}
	var ended search.Breach
	for slot := range s.cloud.vms {
		vm := &s.cloud.vms[slot]
		if !s.cloud.there(*vm) || vm.of != e.of || (vm.foreign && x.brain.Own) {
			continue
		}
		if vm.foreign {
			ended = search.Breach{Invariant: "I1", How: "a VM that another cluster has taken over is deleted"}
		}
		if vm.launched() {
			ended = or(ended, x.ends(s, e, "deleted"))
		}
		vm.is = vanished
	}
	if e.comes == portsStay {
		return made{}, x.busy(), ended
	}
	s.cloud.ports &^= e.of.bit()
	s.cloud.theirs &^= e.of.bit()
	x.outlive(s, e.of)
	return made{}, done, ended
}

// busy is how a call ends that has not come to its end.
func (x *explorer) busy() outcome {
	if x.brain.Whole {
		return begun
	}
	return done
}

// leftBehind says what a server that goes leaves at the cloud (I3).
func (x *explorer) leftBehind(s *State, of who) search.Breach {
	for _, vm := range s.cloud.vms {
		if vm.exists() && vm.of == of && !vm.foreign {
			return search.Breach{Invariant: "I3", How: "a server is gone and leaves its VM behind"}
		}
	}
	switch bit := of.bit(); {
	case !x.world.Floating:
	case s.cloud.floating&bit != 0:
		return search.Breach{Invariant: "I3", How: "a server is gone and leaves its floating IP behind"}
	case s.cloud.ports&bit != 0:
		return search.Breach{Invariant: "I3", How: "a server is gone and leaves its ports behind"}
	}
	return unbroken
}

// networks are what befalls floating IPs without anybody of ours.
func (x *explorer) networks(s *State, yield step) {
	if !x.world.Floating || s.luck == 0 {
		return
	}
	for of := who(1); of <= 2*maxUIDs; of++ {
		bit := of.bit()
		for _, chance := range x.world.Chances {
			next := *s
			next.luck--
			switch {
			case chance == TakeFloating && s.cloud.floating&bit != 0:
				next.cloud.floating &^= bit
			case chance == GiveFloating && s.cloud.ports&bit != 0 && (s.cloud.floating|s.cloud.theirs)&bit == 0:
				next.cloud.theirs |= bit
			default:
				continue
			}
			yield(&next, move{actor: "cloud", what: "a port " + chanceNames[chance]})
		}
	}
}

// observeNetwork is what is seen of the ports and the floating IP of an identity.
func (x *explorer) observeNetwork(o *v1alpha1.ServerObserved, c cloud, of who) {
	if !x.world.Floating || c.rotated {
		return
	}
	if c.ports&of.bit() != 0 {
		o.Ports = []v1alpha1.ObservedPort{{ID: portID}}
	}
	if c.floating&of.bit() != 0 {
		o.FloatingIP = &v1alpha1.ObservedFloatingIP{ID: floatingID}
		if c.ports&of.bit() != 0 {
			o.FloatingIP.PortID = portID
		}
	}
}
