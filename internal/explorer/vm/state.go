// SPDX-License-Identifier: Apache-2.0

package vm

import "github.com/holdfast-dev/holdfast/internal/explorer/apiserver"

// The largest world.
const (
	maxServers = 2
	maxVMs     = 4 // ever made
	maxUIDs    = 3 // objects of one name, one after the other or restored
)

// id names one content of one kind of object in the explorer's tables; absent is no object.
type id = apiserver.ID

const absent = apiserver.Absent

// overtaken is a resourceVersion that no object has any more.
const overtaken id = -1

// objects are the objects of the API server, or a manager's copy of them.
type objects struct {
	server      [maxServers]id
	claim       id
	maintenance id
}

// slotCount is how many places for objects there are: a write of one is known by its slot.
const slotCount = maxServers + 2

const (
	claimSlot       = maxServers
	maintenanceSlot = maxServers + 1
)

func (o *objects) slot(i int) *id {
	switch i {
	case claimSlot:
		return &o.claim
	case maintenanceSlot:
		return &o.maintenance
	}
	return &o.server[i]
}

// condition of a VM at the cloud.
type condition uint8

const (
	unmade   condition = iota
	building           // never launched
	broken             // ERROR, never launched
	active             // from here on it was launched
	stopped            //
	errored            //
	rebuilding
	vanished // 404; whether it was launched is not told any more
)

// who is an identity: that of the n-th object, or of the n-th claim; 0 is nobody.
type who uint8

func (w who) bit() uint8 {
	if w == 0 {
		return 0
	}
	return 1 << (w - 1)
}

// instance is a VM: the real thing, which no object can change but through an effect.
type instance struct {
	is    condition
	image uint8 // 1 or 2
	of    who   // whose identity it bears
	claim who   // stamp; 0 none
	// elsewhere: it is in the other project that the Cloud may lead to.
	elsewhere bool
	// foreign: another cluster has taken it over, and stamped it.
	foreign bool
}

func (v instance) exists() bool   { return v.is != unmade && v.is != vanished }
func (v instance) launched() bool { return v.is >= active && v.is != vanished }

// cloud is where VMs are.
type cloud struct {
	vms [maxVMs]instance
	// hidden: a cell is down, and listings miss what runs there; by its id a VM is found all the same.
	hidden bool
	// rotated: the Cloud leads to another project than before. What is in the first is not found there.
	rotated bool
	// ports and floating are the bits of those who have ports and a floating IP of ours; theirs of those to whose port somebody else gave
	// one.
	ports, floating, theirs uint8
}

// there says that a VM is in the project that the Cloud leads to.
func (c *cloud) there(vm instance) bool { return vm.exists() && vm.elsewhere == c.rotated }

// flight is a pass that stalls: decided on a live view, not finished yet.
type flight struct {
	kind   flightKind
	slot   uint8 // the object that is decided about, and written
	choice int32
	target id    // the content that the write was decided from
	given  uint8 // those who had given their VM up by then
	comes  extent
	asked  bool // whether the effect was asked for when it was decided
	live   bool // decided on a live view: never of one that stalls, which goes on as if it were
	made   made // what the effect told, while its record stalls
	// outlasted says that a stop of ours was recorded since the decision: what rests on that comes later than this effect can.
	outlasted bool
}

type flightKind uint8

const (
	noFlight          flightKind = iota
	effectStalls                 // about to ask the cloud
	recordStalls                 // the cloud was asked, the record is not written
	serverWrites                 // about to write a server's own patch
	claimWrites                  // about to write, make or delete for a claim
	maintenanceWrites            // about to write a maintenance's patch
)

// made is what an effect told, in numbers: 1 + the VM's slot, and its image, and whether it gave a floating IP. The zero value: nothing.
type made struct {
	vm, image uint8
	floating  bool
}

// lateLook is a look of the monitor that is not written yet.
type lateLook struct {
	open  bool
	slot  uint8
	of    cloud
	basis id
}

// State is one state of a world. It is a value without pointers: equal states are the same state.
type State struct {
	now    objects
	lag    objects // the other manager's cache, while lagging
	old    objects // a backup taken once
	cloud  cloud
	flight flight
	late   lateLook

	lagging bool
	outrun  uint8 // slots of objects that were written since the lagging cache saw them
	backup  bool
	epoch   bool // the managers run with --after-restore

	suid, cuid uint8 // UIDs handed out
	alive      uint8 // bits of those who want their VM
	freed      uint8 // bits of those whose VM was released, or whose server a person released by hand and whose claim speaks against it no more
	unbound    uint8 // bits of those whose claim's memory was lost or made older
	latched    uint8 // bits of those whose first launch is remembered, and was not lost
	restarted  uint8 // restarts carried out
	restarts   uint8 // restarts that tenants asked for, and those whose record was lost
	deletions  uint8 // VMs deleted to be made again
	budget     uint8 // how many may be, by what was armed anew or forgotten

	adverse, people, stalls, luck uint8 // moves left
}

// outrun notes what a step wrote: a compare-and-swap that was decided from what stood before fails from now on, also where later
// writes bring the same content back.
func outrun(before, after *State) {
	for i := range slotCount {
		now := *after.now.slot(i)
		written := *before.now.slot(i) != now
		if after.lagging && *before.lag.slot(i) != *after.lag.slot(i) && *after.lag.slot(i) == now {
			after.outrun &^= 1 << i
		} else if written {
			after.outrun |= 1 << i
		}
		if written && after.flight.kind != noFlight && int(after.flight.slot) == i {
			after.flight.overtake()
		}
		if written && after.late.open && int(after.late.slot) == i {
			after.late = lateLook{}
		}
	}
	if !after.lagging {
		after.outrun = 0
	}
}

// overtake: the write of a pass that stalls can no longer succeed. Only an effect is still to come.
func (f *flight) overtake() {
	if f.kind == effectStalls {
		f.target = overtaken
		return
	}
	*f = flight{}
}

// Spends implements search.Walker.
func (*explorer) Spends(before, after *State) bool { return after.budgets() < before.budgets() }

// budgets are all moves that are left to those who interfere.
func (s *State) budgets() int {
	return int(s.adverse) + int(s.people) + int(s.stalls) + int(s.luck)
}

// Tidy implements search.Game.
func (*explorer) Tidy(s *State) {
	if !s.lagging {
		s.lag = objects{}
	}
	if s.adverse == 0 {
		s.backup, s.old = false, objects{}
	}
}
