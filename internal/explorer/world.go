// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// World says what there is, who may do what, and how often. Each budget bounds how often a kind of move is made on one path; within
// them every order of every move is explored.
type World struct {
	Name string
	// About says in a line what the world is for.
	About string
	// Servers and Claims are how many names of each there are.
	Servers, Claims int
	// Enrolled servers start discovered and Available; others without any memory.
	Enrolled bool
	// Running worlds start with claim 1 bound and booted on server 1.
	Running bool
	// Found machines run for a stranger, who has an installation on them; where they are Enrolled, from when a hand switches them on.
	Found bool
	// NoStamp machines cannot keep an asset tag.
	NoStamp bool
	// Unguarded ledgers can be replaced without breaking the glass: the cluster lacks the policy that Holdfast is installed with.
	Unguarded bool
	// Always: claims boot from the network at each power-on (diskless machines).
	Always bool
	// Method by which claims boot; "" is PXE.
	Method v1alpha1.BootMethod
	// Tasks lets BMCs take power-offs as tasks, which may fail: as often as Tenant says.
	Tasks bool
	// Shows lets machines take their time to come up and to go down, and their BMCs tell so.
	Shows bool
	// Deaf BMCs refuse to ask an operating system to shut down, but as often as Tenant says.
	Deaf bool
	// Retain keeps servers for a person after a release.
	Retain bool
	// Policy and MaintenancePower of the maintenance that people may make.
	Policy           v1alpha1.MaintenancePolicy
	MaintenancePower v1alpha1.Power
	// Deeds that people do, at most People of them on a path.
	Deeds  []Deed
	People int
	// Harms that the adversary does, at most Adverse of them on a path.
	Harms   []Harm
	Adverse int
	// Stalls is how many passes may stall, or caches begin to lag, on a path.
	Stalls int
	// StallEffects, StallWrites, StallLooks and Lag say what may: a pass before its effect or its record, a pass before its write, the
	// monitor between its look and its write, and the cache of a second manager.
	StallEffects, StallWrites, StallLooks, Lag bool
	// Tenant is how often a machine goes off or on without us: its tenant, a power cut, a hand.
	Tenant int
	// Depth bounds the length of a path; 0: none.
	Depth int
}

func (w World) when() v1alpha1.BootWhen {
	if w.Always {
		return v1alpha1.BootAlways
	}
	return v1alpha1.BootOnce
}

// Deed is what people do.
type Deed uint8

// What people do.
const (
	CreateClaim Deed = iota
	DeleteClaim
	ClaimPower // edits the claim's power: On becomes Off, Off becomes On
	Restart
	DeleteServer
	ClearClaimRef
	ConsentPowerOff
	ConsentBooted
	ConsentBootAgain
	ConsentResume
	ForceRelease
	StripClaim // removes the finalizer of a claim being deleted by force
	CreateMaintenance
	DeleteMaintenance
	Approve
	Cordon
	Pause
	ConsentChooseAnew // by whoever knows that the claim has no machine
)

// Harm is what the adversary does.
type Harm uint8

// What the adversary does. What is older comes out of a backup that was taken once, at any moment.
const (
	WipeStatus Harm = iota // of a server: the monitor's region
	OldStatus              // an older picture of the same server
	DropLedger             // of a server
	DropClaimLedger
	OldLedger
	OldClaimLedger
	LoseServer // the object is gone, as if it had never been
	LoseClaim
	RestoreServer // from the backup, with a new UID, over nothing
	RestoreClaim
	OldServer // lost and restored older, in one go
	OldClaim
	OldCluster // everything is as it was when the backup was taken; UIDs as well
	HandOn     // somebody switches the machine on
	PowerCycle // power is lost and comes back, and the machine comes on by itself
	PowerCut   // power is lost, and the machine stays off
)

// initial is the state that a world starts in.
func (x *explorer) initial() State {
	w := x.world
	s := State{
		adverse: uint8(w.Adverse), people: uint8(w.People), stalls: uint8(w.Stalls), tenant: uint8(w.Tenant),
	}
	for i := range w.Servers {
		s.suids[i] = 1
		object := newServer(i, 1)
		if w.Enrolled || w.Running {
			object = available(i, w)
		}
		if w.Retain {
			object.Spec.ReclaimPolicy = v1alpha1.ReclaimRetain
		}
		s.now.server[i] = x.servers.Intern(object)
		if w.Found && !w.Enrolled {
			s.mach[i].on, s.mach[i].runs, s.mach[i].disk = true, stranger, stranger
			s.alive |= stranger.bit()
		}
	}
	if w.Running {
		x.startRunning(&s)
	}
	return s
}

// startRunning lets the production code itself bring claim 1 up, with nobody interfering: the world starts where it is at rest.
func (x *explorer) startRunning(s *State) {
	x.makeClaim(s, 0)
	end, _ := x.settle(*s)
	memory, err := ledger.ParseServer(x.servers.Get(end.now.server[0]).Annotations)
	if err != nil || memory.Boot == nil || memory.Boot.Stage != ledger.StageBooted || !end.mach[0].on {
		panic("the world does not come up: " + x.describeState(&end))
	}
	end.adverse, end.people, end.stalls, end.tenant = s.adverse, s.people, s.stalls, s.tenant
	*s = end
}
