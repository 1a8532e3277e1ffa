// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// World says what there is, who may do what, and how often. Each budget bounds how often a kind of move is made on one path; within
// them every order of every move is explored.
type World struct {
	Name string
	// About says in a line what the world is for.
	About string
	// Class: VMs are made for a claim, by a class; else a person writes the Server.
	Class bool
	// Retain keeps the VM of a claim for a person.
	Retain bool
	// Running worlds start with a VM that runs, remembered.
	Running bool
	// Rebuilds lets an edited image rebuild.
	Rebuilds bool
	// Floating: VMs are to have a floating IP, and their network is looked at.
	Floating bool
	// Policy and MaintenancePower of the maintenance that people may make.
	Policy           v1alpha1.MaintenancePolicy
	MaintenancePower v1alpha1.Power
	// Unguarded ledgers can be replaced without breaking the glass: the cluster lacks the policy that Holdfast is installed with.
	Unguarded bool
	// Keep lets the claim keep the power of its VM, which nobody but a restart then switches off.
	Keep bool
	// Told lets the managers be told of a snapshot of the whole cluster (--after-restore).
	Told bool
	// Deeds that people do, at most People of them on a path.
	Deeds  []Deed
	People int
	// Harms that the adversary does, at most Adverse of them on a path.
	Harms   []Harm
	Adverse int
	// Chances are what may befall a VM at its cloud, at most Luck of them on a path.
	Chances []Chance
	Luck    int
	// Stalls is how many passes may stall, or caches begin to lag, on a path; the others say which besides effects: writes, the monitor between
	// its look and its write, the cache of a second manager.
	Stalls                       int
	StallWrites, StallLooks, Lag bool
}

// Deed is what people do.
type Deed uint8

// What people do.
const (
	Create Deed = iota // the Server, or the claim, as it stands in Git
	Delete             // it
	DeleteServer
	TogglePower
	EditImage
	Approve // a rebuild, as the claim's owner
	Retry
	ClearClaimRef
	Force // the claim out of its release
	Restart
	EditFloating // asks for a floating IP, or does not any more
	Adopt        // a VM that is there, for the server
	CreateMaintenance
	DeleteMaintenance
	ApproveMaintenance // as the claim's owner
	Resume             // the server, after a snapshot
)

var deedNames = map[Deed]string{
	Create: "creates it from Git", Delete: "deletes it", DeleteServer: "deletes the server", TogglePower: "edits power", EditImage: "edits the image",
	Approve: "approves the rebuild", Retry: "says to retry", ClearClaimRef: "clears claimRef", Force: "forces the release",
	Restart: "asks for a restart", EditFloating: "edits the floating IP", Adopt: "says which VM it is", CreateMaintenance: "makes a maintenance",
	DeleteMaintenance: "deletes the maintenance", ApproveMaintenance: "approves the maintenance", Resume: "says resume",
}

// Harm is what the adversary does.
type Harm uint8

// What the adversary does. What is older comes out of a backup that was taken once, at any moment.
const (
	WipeStatus Harm = iota
	OldStatus
	DropLedger
	OldLedger
	LoseServer
	RestoreServer // from the backup, with a new UID, over nothing
	DropClaimLedger
	OldClaimLedger
	LoseClaim
	RestoreClaim
	OldCluster // everything is as it was when the backup was taken; UIDs as well
)

var harmNames = map[Harm]string{
	WipeStatus: "wipes the status of server", OldStatus: "puts an older status on server", DropLedger: "drops the ledger of server", OldLedger: "puts an older ledger on server",
	LoseServer: "loses server", RestoreServer: "restores server", DropClaimLedger: "drops the ledger of the claim", OldClaimLedger: "puts an older ledger on the claim",
	LoseClaim: "loses the claim", RestoreClaim: "restores the claim", OldCluster: "restores an older snapshot of the cluster",
}

// Chance is what befalls a VM.
type Chance uint8

// What befalls VMs.
const (
	Fails        Chance = iota // while it is made
	Errors                     // after it was launched
	Recover                    // by an admin's hand: also one that was never launched is launched then
	Vanish                     // somebody deletes it
	Hide                       // its cell goes down: listings miss it
	Rotate                     // the Cloud leads to another project, or back
	GiveFloating               // somebody gives its port a floating IP of their own
	TakeFloating               // somebody releases its floating IP
	TakenOver                  // by another cluster, which stamps it
	Linger                     // what is to go goes slowly: a deletion comes only so far
)

var chanceNames = map[Chance]string{Fails: "fails before it launches", Errors: "errors", Recover: "is repaired", Vanish: "is deleted by somebody", Hide: "is missing from listings",
	Rotate: "leads to another project", GiveFloating: "gets somebody's floating IP", TakeFloating: "loses its floating IP", Linger: "goes slowly", TakenOver: "is taken over by another cluster"}

// Start implements search.Game.
func (x *explorer) Start() State {
	w := x.world
	s := State{adverse: uint8(w.Adverse), people: uint8(w.People), stalls: uint8(w.Stalls), luck: uint8(w.Luck), budget: attempts}
	if w.Class {
		s.cuid, s.alive = 1, ofClaim(1).bit()
		s.now.claim = x.claims.Intern(x.newClaim(1))
	} else {
		s.suid, s.alive = 1, ofObject(1).bit()
		s.now.server[0] = x.servers.Intern(x.newServer(1))
	}
	if w.Running {
		s = x.calmly(s)
		s.adverse, s.people, s.stalls, s.luck = uint8(w.Adverse), uint8(w.People), uint8(w.Stalls), uint8(w.Luck)
	}
	return s
}

// calmly is where everything comes to rest when nobody interferes.
func (x *explorer) calmly(s State) State {
	end, _ := x.settle(s)
	return end
}

// newClaim is a claim as it stands in Git, made the n-th time.
func (x *explorer) newClaim(n uint8) *v1alpha1.ServerClaim {
	c := &v1alpha1.ServerClaim{}
	c.Namespace, c.Name, c.UID = namespace, claimName, claimUID(n)
	c.Spec.ClassName, c.Spec.Power = className, v1alpha1.PowerOn
	if x.world.Keep {
		c.Spec.Power = v1alpha1.PowerKeep
	}
	return c
}

// newServer is a Server of its own as it stands in Git, made the n-th time.
func (x *explorer) newServer(n uint8) *v1alpha1.Server {
	o := &v1alpha1.Server{}
	o.Name, o.UID = serverName, serverUID(n)
	template := x.template()
	o.Spec.OpenStack = &template
	return o
}

// template is what VMs are made of.
func (x *explorer) template() v1alpha1.OpenStackServer {
	o := v1alpha1.OpenStackServer{
		CloudRef: v1alpha1.LocalObjectReference{Name: cloudName}, Flavor: v1alpha1.FlavorSelector{Name: "small"}, Image: imageOf(1),
		Networks: []v1alpha1.NetworkAttachment{{Network: v1alpha1.ResourceSelector{Name: "private"}}},
	}
	if x.world.Floating {
		o.FloatingIP = floatingIP()
	}
	if x.world.Rebuilds {
		o.RebuildPolicy = v1alpha1.RebuildOnImageChange
	}
	return o
}

// WorldNamed finds a world.
func WorldNamed(name string) (World, bool) {
	for _, w := range Worlds() {
		if w.Name == name {
			return w, true
		}
	}
	return World{}, false
}

// Explore visits every state of a world within its budgets, shortest paths first, and reports what breaks.
func Explore(w World, b Brain, o search.Options) search.Result {
	return search.Explore(w.Name, newExplorer(w, b), o)
}

// Planned is the world as a plan has it.
func (w World) Planned() search.World {
	return search.World{Name: w.Name, Explore: func(o search.Options) search.Result { return Explore(w, Production(), o) }}
}
