// SPDX-License-Identifier: Apache-2.0

package explorer

import "github.com/holdfast-dev/holdfast/internal/explorer/apiserver"

// The largest world.
const (
	maxServers = 3
	maxClaims  = 4
	maxUIDs    = 3 // a claim's name is used by at most so many claims, one after the other or restored
)

// id names one content of one kind of object in the explorer's tables; absent is no object.
type id = apiserver.ID

const absent = apiserver.Absent

// objects are the objects of the API server, or a manager's copy of them.
type objects struct {
	server      [maxServers]id
	claim       [maxClaims]id
	maintenance id
}

// owner is a claim as its tenant means it: one identity. 0 is nobody.
type owner uint8

// stranger is whoever uses a machine that was switched on without us.
const stranger owner = maxClaims*maxUIDs + 1

func ownerOf(claim, uid int) owner { return owner(1 + claim*maxUIDs + uid - 1) }

// owners are bits of owners.
type owners uint16

func (o owner) bit() owners {
	if o == 0 {
		return 0
	}
	return 1 << (o - 1)
}

// machine is the real thing: what no object can change but through an effect.
type machine struct {
	on       bool
	starting bool   // switched on, and not booted yet
	stopping bool   // a graceful shutdown is under way
	asked    bool   // to shut down, since what runs was installed
	armed    uint8  // boot override: 0 none, 1 once, 2 continuous
	media    uint8  // image in the virtual drive: 0 none, else 1 + the number of the claim whose it is
	tag      uint8  // asset tag, index into the explorer's texts
	runs     owner  // whose workload runs
	disk     owner  // whose installation is on the disk
	era      uint8  // the last era whose restart was recorded as carried out
	imaged   owners // bits of the owners it was network-booted for
	task     uint8  // number of the last task that a power-off became, see task.go
	failed   bool   // that task failed
}

// flight is a pass that stalls: decided on a live view, not finished yet.
type flight struct {
	kind   flightKind
	server uint8
	choice int32  // of serverChoices, claimChoices or maintenanceChoices
	slot   uint8  // the object that is to be written
	target id     // the content that the write was decided from
	agreed owners // who that agreed to a power-off when it was decided
	given  owners // who had given their machine up by then
	live   bool   // decided on a live view: never of one that stalls, which goes on as if it were
	armFor owner
	ends   ending // what becomes of the effect
	record id     // what the record that stalls makes of the object
	// outlasted says that a machine was switched on since the effect was decided.
	outlasted bool
}

type flightKind uint8

const (
	noFlight       flightKind = iota
	effectStalls              // about to ask the machine
	recordStalls              // the machine was asked, the record is not written
	serverWrites              // about to write a server's own patch
	claimWrites               // about to write a claim's patch, to the claim or to its server
	maintainWrites            // about to write a maintenance's patch
)

// picture is a look of the monitor that is not written yet.
type picture struct {
	open   bool
	server uint8
	of     machine
	era    uint8
	basis  id
}

// State is one state of a world. It is a value without pointers: equal states are the same state.
type State struct {
	now    objects
	lag    objects // the other manager's cache, while lagging
	old    objects // a backup taken once
	mach   [maxServers]machine
	flight flight
	look   picture

	lagging  bool
	outrun   uint8 // slots of objects that were written since the lagging cache saw them
	backup   bool
	era      uint8 // rises with each restart that a tenant asks for
	snapshot bool  // everything was restored from an older snapshot
	epoch    bool  // the managers run with --after-restore

	uids    [maxClaims]uint8 // UIDs handed out to claims of each name
	suids   [maxServers]uint8
	alive   owners // bits of the owners whose tenants have not given their machine up
	adverse uint8  // moves the adversary has left
	people  uint8  // moves people have left
	stalls  uint8  // passes that may still stall or lag
	tenant  uint8  // times a machine may still go off or on by itself
}

// overtaken is a resourceVersion that no object has any more.
const overtaken id = -1

// slots are the numbers of the places for objects: a write of one is known by it.
const slotCount = maxServers + maxClaims + 1

func (o *objects) slot(i int) *id {
	switch {
	case i < maxServers:
		return &o.server[i]
	case i < maxServers+maxClaims:
		return &o.claim[i-maxServers]
	}
	return &o.maintenance
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
		if written && after.flight.kind != noFlight && after.flight.slot == uint8(i) {
			after.flight.overtake()
		}
		if written && after.look.open && int(after.look.server) == i {
			after.look = picture{}
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
