// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// What the adversary does.
var (
	loss      = []Harm{WipeStatus, DropLedger, LoseServer, RestoreServer}
	classLoss = []Harm{WipeStatus, DropLedger, LoseServer, RestoreServer, DropClaimLedger, LoseClaim, RestoreClaim}
	aged      = []Harm{OldStatus, OldLedger, RestoreServer, LoseServer}
	every     = []Harm{WipeStatus, OldStatus, DropLedger, OldLedger, LoseServer, RestoreServer, OldCluster}
	classAll  = []Harm{WipeStatus, OldStatus, DropLedger, OldLedger, LoseServer, RestoreServer, DropClaimLedger, OldClaimLedger, LoseClaim, RestoreClaim, OldCluster}
	fate      = []Chance{Fails, Errors, Recover, Vanish, Hide}
)

// EveryHarm is every kind of move of the adversary that there is in a world.
func (w World) EveryHarm() []Harm {
	if w.Class {
		return slices.Clone(classAll)
	}
	return slices.Clone(every)
}

// Worlds are all worlds, in the order in which they are explored.
func Worlds() []World {
	return slices.Concat(ownWorlds(), classWorlds(), otherWorlds())
}

// ownWorlds: VMs that a person wrote.
func ownWorlds() []World {
	return []World{
		{Name: "vm", About: "a VM that a person wrote comes and goes, is made to retry, and one loss of memory",
			Deeds: []Deed{Create, Delete, Retry}, People: 2, Harms: loss, Adverse: 1, Chances: []Chance{Fails, Recover, Hide}, Luck: 2},
		{Name: "vm-fate", About: "whatever may befall a VM, and one loss of memory", Deeds: []Deed{Delete}, People: 1, Harms: loss, Adverse: 1, Chances: fate, Luck: 3},
		{Name: "vm-two-losses", About: "two losses of memory", Harms: loss, Adverse: 2, Chances: fate, Luck: 1},
		{Name: "vm-aged", About: "older copies of a status, a ledger or an object; ledgers are replaced without breaking the glass", Unguarded: true, Deeds: []Deed{Delete}, People: 1, Harms: aged, Adverse: 2, Chances: []Chance{Fails, Errors, Recover, Vanish}, Luck: 1},
		{Name: "vm-rebuild", About: "a running VM whose image is edited, and one older copy or loss of memory", Running: true, Rebuilds: true,
			Deeds: []Deed{EditImage, TogglePower}, People: 2, Harms: append(slices.Clone(aged), loss...), Adverse: 1, Chances: []Chance{Errors, Recover, Vanish}, Luck: 1},
		{Name: "vm-stalls", About: "passes that stall before their effect, record or write, or whose reply is lost, and a status wiped", Deeds: []Deed{Delete}, People: 1,
			Harms: []Harm{WipeStatus}, Adverse: 1, Chances: []Chance{Fails, Recover, Hide}, Luck: 2, Stalls: 2, StallWrites: true},
		{Name: "vm-stalls-and-loss", About: "a pass that stalls, and one loss of memory", Deeds: []Deed{Delete}, People: 1, Harms: []Harm{WipeStatus, DropLedger}, Adverse: 1,
			Chances: []Chance{Fails, Recover, Hide}, Luck: 1, Stalls: 1, StallWrites: true},
		{Name: "vm-looks", About: "a running VM whose image and power are edited, a pass or a look that stalls, and one status wiped or older", Running: true, Rebuilds: true, Deeds: []Deed{EditImage, TogglePower, Delete}, People: 2,
			Harms: []Harm{WipeStatus, OldStatus}, Adverse: 1, Chances: []Chance{Errors, Recover, Vanish}, Luck: 1, Stalls: 1, StallLooks: true},
		{Name: "vm-lags", About: "a second manager whose cache lags, and a status wiped", Deeds: []Deed{Delete, TogglePower}, People: 2, Harms: []Harm{WipeStatus}, Adverse: 1, Chances: []Chance{Fails, Recover, Vanish}, Luck: 1, Stalls: 1, Lag: true},
		{Name: "vm-rebuild-stalls", About: "a running VM whose image is edited, a pass that stalls, and one loss of memory", Running: true, Rebuilds: true, Deeds: []Deed{EditImage, TogglePower}, People: 2,
			Harms: []Harm{WipeStatus, DropLedger}, Adverse: 1, Chances: []Chance{Errors, Recover}, Luck: 1, Stalls: 1, StallWrites: true, Lag: true},
		{Name: "vm-snapshot", About: "an older snapshot of the whole cluster", Rebuilds: true, Deeds: []Deed{Delete, EditImage}, People: 2, Harms: []Harm{OldCluster}, Adverse: 1, Chances: []Chance{Fails, Vanish}, Luck: 1},
		{Name: "vm-snapshot-told", About: "the same, told to the managers (--after-restore), and a person who resumes the server", Told: true, Rebuilds: true,
			Deeds: []Deed{Delete, EditImage, Resume}, People: 3, Harms: []Harm{OldCluster}, Adverse: 1, Chances: []Chance{Fails, Vanish}, Luck: 1},
	}
}

// classWorlds: VMs that are made for a claim.
func classWorlds() []World {
	return []World{
		{Name: "class", About: "a claim with a class comes and goes, and one loss of memory", Class: true, Deeds: []Deed{Create, Delete}, People: 2,
			Harms: classLoss, Adverse: 1, Chances: []Chance{Fails, Vanish}, Luck: 1},
		{Name: "class-people", About: "people delete a claim's server, clear its claimRef, and edit power, and one loss of memory", Class: true, Running: true, Deeds: []Deed{Delete, DeleteServer, ClearClaimRef, TogglePower}, People: 2,
			Harms: classLoss, Adverse: 1},
		{Name: "class-restore", About: "claim and server lost and restored in any order, from any age", Class: true, Deeds: []Deed{DeleteServer}, People: 1,
			Harms: []Harm{LoseServer, RestoreServer, LoseClaim, RestoreClaim, OldLedger, OldClaimLedger}, Adverse: 3},
		{Name: "class-retain", About: "a class that retains its VMs, and one loss of memory", Class: true, Retain: true, Running: true, Deeds: []Deed{Delete, Force, ClearClaimRef, DeleteServer}, People: 3,
			Harms: []Harm{WipeStatus, DropLedger, LoseClaim, RestoreClaim, OldStatus}, Adverse: 1, Chances: []Chance{Errors, Vanish}, Luck: 1},
		{Name: "class-rebuild", About: "a claim's image is edited, with and without its owner's consent", Class: true, Running: true, Rebuilds: true, Deeds: []Deed{EditImage, Approve, Delete}, People: 3,
			Harms: []Harm{WipeStatus, DropLedger, LoseClaim}, Adverse: 1, Chances: []Chance{Errors, Recover}, Luck: 1},
		{Name: "class-stalls", About: "a claim with a class, a pass that stalls, a second manager whose cache lags, and a status wiped", Class: true, Deeds: []Deed{Delete, TogglePower}, People: 1, Harms: []Harm{WipeStatus}, Adverse: 1, Chances: []Chance{Fails}, Luck: 1,
			Stalls: 1, StallWrites: true, Lag: true},
		{Name: "class-snapshot-restarted", About: "a claim's running VM is restarted, an older snapshot of the whole cluster of which the managers are told, and a person who resumes the server", Class: true, Running: true, Told: true,
			Deeds: []Deed{Restart, Resume, Delete}, People: 3, Harms: []Harm{OldCluster}, Adverse: 1, Chances: []Chance{Errors, Vanish}, Luck: 1},
	}
}

// otherWorlds: maintenances, restarts, networks, projects, and VMs that were there before.
func otherWorlds() []World {
	return []World{
		{Name: "vm-pairs", About: "two moves of the adversary, of any kind", Deeds: []Deed{Create, Delete}, People: 2, Harms: every, Adverse: 2, Chances: []Chance{Fails, Vanish}, Luck: 1},
		{Name: "class-pairs", About: "a running VM of a claim, and two moves of the adversary, of any kind", Class: true, Running: true, Deeds: []Deed{Delete, TogglePower}, People: 1, Harms: classAll, Adverse: 2, Chances: []Chance{Errors, Vanish}, Luck: 1},
		{Name: "vm-maintenance", About: "a running VM, a maintenance that stops it, and one loss of memory", Running: true, Rebuilds: true,
			Policy: v1alpha1.MaintenanceEnforced, MaintenancePower: v1alpha1.PowerOff,
			Deeds: []Deed{CreateMaintenance, DeleteMaintenance, TogglePower, EditImage, Delete}, People: 3, Harms: every, Adverse: 1},
		{Name: "class-maintenance", About: "a claim's running VM, a maintenance that needs its approval, and one loss of memory", Class: true, Running: true, Rebuilds: true,
			Policy: v1alpha1.MaintenanceOwnerApproval, MaintenancePower: v1alpha1.PowerOff,
			Deeds: []Deed{CreateMaintenance, ApproveMaintenance, DeleteMaintenance, Restart, Delete}, People: 4, Harms: []Harm{WipeStatus, LoseClaim}, Adverse: 1},
		{Name: "class-maintenance-stalls", About: "the same, with a pass that stalls, and a status wiped", Class: true, Running: true,
			Policy: v1alpha1.MaintenanceOwnerApproval, MaintenancePower: v1alpha1.PowerOff,
			Deeds: []Deed{CreateMaintenance, ApproveMaintenance, DeleteMaintenance, Delete}, People: 3, Harms: []Harm{WipeStatus}, Adverse: 1, Stalls: 1},
		{Name: "class-restart", About: "a claim's running VM is restarted, with a pass that stalls and one loss of memory, without breaking the glass", Class: true, Running: true, Unguarded: true,
			Deeds: []Deed{Restart, TogglePower, Delete}, People: 2, Harms: classLoss, Adverse: 1, Chances: []Chance{Errors, Recover}, Luck: 1, Stalls: 1},
		{Name: "class-restart-rebuild", About: "a claim's running VM is restarted and its image edited, with a pass that stalls and a status wiped", Class: true, Running: true, Rebuilds: true,
			Deeds: []Deed{Restart, EditImage, Approve}, People: 3, Harms: []Harm{WipeStatus}, Adverse: 1, Stalls: 1},
		{Name: "class-restart-kept", About: "a claim that keeps the power of its running VM restarts it, a maintenance comes and goes, with a pass that stalls and one status wiped or older",
			Class: true, Running: true, Keep: true, Policy: v1alpha1.MaintenanceEnforced, MaintenancePower: v1alpha1.PowerKeep,
			Deeds: []Deed{Restart, CreateMaintenance, DeleteMaintenance}, People: 3, Harms: []Harm{WipeStatus, OldStatus}, Adverse: 1, Chances: []Chance{Errors, Recover}, Luck: 1, Stalls: 1},
		{Name: "vm-network", About: "ports and floating IPs that come, go, are given and taken, and one loss of memory", Floating: true,
			Deeds: []Deed{EditFloating, Delete}, People: 2, Harms: loss, Adverse: 1, Chances: []Chance{TakeFloating, GiveFloating, Vanish, Linger}, Luck: 2},
		{Name: "vm-network-stalls", About: "the same, with a pass that stalls, and any one move of the adversary", Floating: true,
			Deeds: []Deed{EditFloating, Delete}, People: 2, Harms: every, Adverse: 1, Chances: []Chance{TakeFloating, Vanish, Linger}, Luck: 1, Stalls: 1, StallWrites: true, Lag: true},
		{Name: "vm-project", About: "the Cloud leads to another project and back, with a pass that stalls and one status wiped or older",
			Deeds: []Deed{Delete}, People: 1, Harms: []Harm{WipeStatus, OldStatus}, Adverse: 1, Chances: []Chance{Rotate, Fails, Vanish}, Luck: 3, Stalls: 1},
		{Name: "vm-taken", About: "a running VM that another cluster takes over, a pass that stalls, and one move of the adversary", Running: true, Rebuilds: true,
			Deeds: []Deed{TogglePower, EditImage, Delete}, People: 2, Harms: every, Adverse: 1, Chances: []Chance{TakenOver, Errors}, Luck: 1, Stalls: 1},
		{Name: "vm-adopt", About: "a server that is lost and made anew, to which a person says which VM is its", Running: true,
			Deeds: []Deed{Create, Adopt, Delete}, People: 3, Harms: every, Adverse: 1, Chances: []Chance{Errors, Vanish}, Luck: 1, Stalls: 1},
	}
}
