// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// What the adversary does without a backup, and with one.
var (
	losses = []Harm{WipeStatus, DropLedger, DropClaimLedger, LoseServer, LoseClaim, HandOn, PowerCycle}
	ageing = []Harm{OldStatus, OldLedger, OldClaimLedger, OldServer, OldClaim}
	tenant = []Deed{CreateClaim, DeleteClaim, ClaimPower}
	// every kind of move that there is.
	every = slices.Concat(losses, ageing, []Harm{RestoreServer, RestoreClaim, OldCluster})
)

// EveryHarm is every kind of move of the adversary.
func EveryHarm() []Harm { return slices.Clone(every) }

// Worlds are all worlds that are explored, the smallest first. Machines without a stamp are the harder case wherever memory is not
// older than the machine.
func Worlds() []World {
	return slices.Concat(claimWorlds(), managerWorlds(), restoreWorlds(), otherWorlds())
}

// claimWorlds: one machine, tenants, and one move of the adversary.
func claimWorlds() []World {
	return []World{
		{
			Name: "pairs", About: "one claim that comes and goes, and two moves of the adversary, of any kind",
			Servers: 1, Claims: 1, Enrolled: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 2, Harms: every, Adverse: 2,
		}, {
			Name: "enroll", About: "a machine that nobody has seen yet, one claim, two losses of memory",
			Servers: 1, Claims: 1, Deeds: tenant, People: 2, Harms: losses, Adverse: 2, Tenant: 1,
		}, {
			Name: "one-claim-two-losses", About: "one claim that comes and goes, two losses of memory",
			Servers: 1, Claims: 1, Enrolled: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Harms: losses, Adverse: 2, Tenant: 1,
		}, {
			Name: "one-claim", About: "one claim that comes and goes, one loss of memory, machines without a stamp",
			Servers: 1, Claims: 1, Enrolled: true, NoStamp: true, Deeds: tenant, People: 3, Harms: losses, Adverse: 1, Tenant: 1,
		}, {
			Name: "one-claim-http", About: "one claim that boots by HTTP, comes and goes, and one loss of memory",
			Servers: 1, Claims: 1, Enrolled: true, Method: v1alpha1.BootHTTP, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Harms: losses, Adverse: 1, Tenant: 1,
		}, {
			Name: "one-claim-media", About: "one claim that boots by virtual media, comes and goes, one loss of memory, machines without a stamp",
			Servers: 1, Claims: 1, Enrolled: true, NoStamp: true, Method: v1alpha1.BootVirtualMedia, Deeds: tenant, People: 3, Harms: losses, Adverse: 1, Tenant: 1,
		}, {
			Name: "two-claims", About: "two claims for one machine, one loss of memory",
			Servers: 1, Claims: 2, Enrolled: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Harms: losses, Adverse: 1, Tenant: 1,
		}, {
			Name: "two-claims-unstamped", About: "the same, machines without a stamp",
			Servers: 1, Claims: 2, Enrolled: true, NoStamp: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Harms: losses, Adverse: 1, Tenant: 1,
		}, {
			Name: "one-claim-aged", About: "one claim whose power is switched, and one older copy of a status, a ledger or an object",
			Servers: 1, Claims: 1, Enrolled: true, Deeds: tenant, People: 3, Harms: ageing, Adverse: 1, Tenant: 1,
		}, {
			Name: "two-claims-aged", About: "two claims, and one older copy of a status, a ledger or an object; ledgers are replaced without breaking the glass",
			Servers: 1, Unguarded: true, Claims: 2, Enrolled: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Harms: ageing, Adverse: 1,
		},
	}
}

// managerWorlds: two managers, of which one stalls in the middle of a pass or reads an old cache.
func managerWorlds() []World {
	return []World{
		{
			Name: "stalls", About: "two claims, one pass or look that stalls anywhere, one loss of memory, machines without a stamp",
			Servers: 1, Claims: 2, Enrolled: true, NoStamp: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Tenant: 1,
			Harms: []Harm{WipeStatus, DropLedger}, Adverse: 1, Stalls: 1, StallEffects: true, StallWrites: true, StallLooks: true,
		}, {
			Name: "media-stalls", About: "two claims that boot by virtual media, one effect that stalls, one loss of memory, machines without a stamp",
			Servers: 1, Claims: 2, Enrolled: true, NoStamp: true, Method: v1alpha1.BootVirtualMedia, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Tenant: 1,
			Harms: []Harm{WipeStatus, DropLedger}, Adverse: 1, Stalls: 1, StallEffects: true,
		}, {
			Name: "stalls-and-loss", About: "one claim, an effect that stalls, and one loss of memory",
			Servers: 1, Claims: 1, Enrolled: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Harms: losses, Adverse: 1,
			Stalls: 1, StallEffects: true,
		}, {
			Name: "lags", About: "two claims, a second manager with an old cache, machines without a stamp",
			Servers: 1, Claims: 2, Enrolled: true, NoStamp: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Stalls: 1, Lag: true,
		}, {
			Name: "lags-and-loss", About: "two claims, a second manager with an old cache, one loss of memory, machines without a stamp",
			Servers: 1, Claims: 2, Enrolled: true, NoStamp: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 2, Harms: losses, Adverse: 1, Stalls: 1, Lag: true,
		}, {
			Name: "two-servers", About: "one claim between two machines, a write that stalls, and one loss of memory",
			Servers: 2, Claims: 1, Enrolled: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 2,
			Harms: []Harm{LoseServer, LoseClaim, DropClaimLedger, DropLedger}, Adverse: 1, Stalls: 1, StallWrites: true,
		}, {
			Name: "two-by-two", About: "two claims and two machines, and one loss of memory",
			Servers: 2, Claims: 2, Enrolled: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3,
			Harms: []Harm{LoseServer, LoseClaim, DropClaimLedger, DropLedger}, Adverse: 1,
		}, {
			Name: "two-servers-aged", About: "one claim between two machines, cordons, and an older claim",
			Servers: 2, Claims: 1, Enrolled: true, Deeds: []Deed{CreateClaim, Cordon}, People: 2, Harms: []Harm{OldClaim, OldClaimLedger}, Adverse: 1,
		},
	}
}

// restoreWorlds: objects that were lost come back, in any order and of any age.
func restoreWorlds() []World {
	back := []Harm{LoseServer, LoseClaim, RestoreServer, RestoreClaim}
	return []World{
		{
			Name: "restore", About: "a booted claim; its server and itself are lost and restored, in any order, of any age",
			Servers: 1, Claims: 1, Running: true, Deeds: []Deed{DeleteClaim, CreateClaim}, People: 1, Harms: back, Adverse: 4, Tenant: 1,
		}, {
			Name: "restore-unstamped", About: "the same, on a machine without a stamp",
			Servers: 1, Claims: 1, Running: true, NoStamp: true, Deeds: []Deed{DeleteClaim}, People: 1, Harms: back, Adverse: 4, Tenant: 1,
		}, {
			Name: "two-servers-restored", About: "one claim between two machines; its server and itself are restored older, and whoever knows that it has none lets it choose",
			Servers: 2, Claims: 1, Enrolled: true, Deeds: []Deed{CreateClaim, ConsentChooseAnew}, People: 2, Harms: []Harm{OldServer, OldClaim}, Adverse: 2,
		}, {
			Name: "snapshot", About: "two claims, and an older snapshot of the whole cluster; the stamps alone tell",
			Servers: 1, Claims: 2, Enrolled: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Harms: []Harm{OldCluster}, Adverse: 1, Tenant: 1,
		}, {
			Name: "snapshot-consent", About: "a machine that a hand switches on, a person who consents that it be powered off, a claim, and an older snapshot of the whole cluster",
			Servers: 1, Claims: 1, Enrolled: true, Deeds: []Deed{CreateClaim, ConsentPowerOff}, People: 3, Harms: []Harm{HandOn, OldCluster}, Adverse: 2,
		}, {
			Name: "snapshot-resumed", About: "a claim on a machine without a stamp, an older snapshot of the whole cluster, and a person who resumes the server, and says of the machine that it is installed",
			Servers: 1, Claims: 1, Enrolled: true, NoStamp: true, Deeds: []Deed{CreateClaim, ConsentResume, ConsentBooted}, People: 3, Harms: []Harm{OldCluster}, Adverse: 1, Tenant: 1,
		}, {
			Name: "snapshot-restarted", About: "a booted claim on a machine without a stamp that is restarted, an older snapshot of the whole cluster, and a person who resumes the server",
			Servers: 1, Claims: 1, Running: true, NoStamp: true, Deeds: []Deed{Restart, ConsentResume}, People: 3, Harms: []Harm{OldCluster}, Adverse: 1, Tenant: 1,
		}, {
			Name: "found-running", About: "machines that are found running for a stranger, whose power is cut and comes back, a claim that wants one, and a person who says that it is free",
			Servers: 1, Claims: 1, Found: true, Deeds: []Deed{CreateClaim, DeleteClaim, ConsentPowerOff}, People: 3, Harms: []Harm{PowerCut, HandOn, WipeStatus, OldStatus}, Adverse: 2,
		}, {
			Name: "found-later", About: "the same, for machines that were known before a stranger switched them on",
			Servers: 1, Claims: 1, Enrolled: true, Found: true, Deeds: []Deed{CreateClaim, DeleteClaim, ConsentPowerOff}, People: 3, Harms: []Harm{HandOn, PowerCut, OldStatus}, Adverse: 3,
		}, {
			Name: "found-stalls", About: "the same, with a pass or a look that stalls, and a cache that lags",
			Servers: 1, Claims: 1, Found: true, Deeds: []Deed{CreateClaim, ConsentPowerOff}, People: 2, Harms: []Harm{PowerCut}, Adverse: 1,
			Stalls: 1, StallEffects: true, StallWrites: true, StallLooks: true, Lag: true,
		}, {
			Name: "found-maintained", About: "the same, under a maintenance that switches the machine on",
			Servers: 1, Claims: 1, Found: true, MaintenancePower: v1alpha1.PowerOn, Deeds: []Deed{CreateClaim, CreateMaintenance, DeleteMaintenance, Approve}, People: 4, Harms: []Harm{PowerCut, HandOn}, Adverse: 2,
		}, {
			Name: "snapshot-unstamped", About: "two claims on a machine without a stamp: the managers are told of the snapshot (--after-restore), and everything is held",
			Servers: 1, Claims: 2, Enrolled: true, NoStamp: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 3, Harms: []Harm{OldCluster}, Adverse: 1, Tenant: 1,
		},
	}
}

// otherWorlds: restarts, maintenance, people with rights, and other policies.
func otherWorlds() []World {
	return []World{
		{
			Name: "restart-older", About: "a booted claim that is restarted, and an older ledger that somebody gives its server, the glass broken",
			Servers: 1, Claims: 1, Running: true, Deeds: []Deed{Restart, ClaimPower}, People: 2, Tenant: 1, Harms: []Harm{OldLedger, WipeStatus}, Adverse: 2,
		}, {
			Name: "restart", About: "a booted claim that is restarted, with a pass that stalls and one loss of memory",
			Servers: 1, Claims: 1, Running: true, Deeds: []Deed{Restart, ClaimPower}, People: 2, Tenant: 1, Harms: losses, Adverse: 1, Stalls: 1, StallEffects: true, StallLooks: true,
		}, {
			Name: "restart-and-loss", About: "a booted claim that is restarted, and one loss of memory, without breaking the glass",
			Servers: 1, Unguarded: true, Claims: 1, Running: true, Deeds: []Deed{Restart, DeleteClaim}, People: 2, Harms: losses, Adverse: 1, Tenant: 1,
		}, {
			Name: "tasks", About: "a booted claim whose machine takes power-offs as tasks that may fail, with a pass or a look that stalls, and a status wiped; no stamps",
			Servers: 1, Claims: 1, Running: true, NoStamp: true, Tasks: true, Deeds: []Deed{ClaimPower, DeleteClaim, CreateClaim}, People: 2, Tenant: 1, Harms: []Harm{WipeStatus}, Adverse: 1,
			Stalls: 1, StallEffects: true, StallLooks: true,
		}, {
			Name: "on-its-way", About: "a claim that comes, is switched and goes, on a machine that tells that it is coming up or going down, and one loss of memory; no stamps",
			Servers: 1, Claims: 1, Enrolled: true, NoStamp: true, Shows: true, Deeds: tenant, People: 3, Tenant: 1, Harms: losses, Adverse: 1,
		}, {
			Name: "on-its-way-stalls", About: "a booted claim that is restarted and switched, on such a machine, with a pass or a look that stalls, and a status wiped",
			Servers: 1, Claims: 1, Running: true, Shows: true, Deeds: []Deed{Restart, ClaimPower, DeleteClaim}, People: 2, Tenant: 1, Harms: []Harm{WipeStatus}, Adverse: 1,
			Stalls: 1, StallEffects: true, StallLooks: true,
		}, {
			Name: "on-its-way-first", About: "a claim that comes and goes on such a machine, with an effect that stalls, and a status wiped",
			Servers: 1, Claims: 1, Enrolled: true, NoStamp: true, Shows: true, Deeds: []Deed{CreateClaim, DeleteClaim}, People: 2, Tenant: 2, Harms: []Harm{WipeStatus}, Adverse: 1, Stalls: 1, StallEffects: true,
		}, {
			Name: "deaf", About: "a booted claim whose machine's BMC refuses to ask it to shut down, or does once, with an effect that stalls, and one loss of memory",
			Servers: 1, Claims: 1, Running: true, Deaf: true, Deeds: []Deed{ClaimPower, DeleteClaim}, People: 2, Tenant: 1, Harms: []Harm{WipeStatus, DropLedger, LoseServer}, Adverse: 1, Stalls: 1, StallEffects: true,
		}, {
			Name: "maintenance", About: "a maintenance that powers off without asking, a claim, and one loss of memory",
			Servers: 1, Claims: 1, Enrolled: true, Policy: v1alpha1.MaintenanceEnforced, MaintenancePower: v1alpha1.PowerOff,
			Deeds: []Deed{CreateClaim, DeleteClaim, CreateMaintenance, DeleteMaintenance}, People: 4, Harms: []Harm{WipeStatus, LoseServer, LoseClaim}, Adverse: 1,
		}, {
			Name: "maintenance-approved", About: "a booted claim, a maintenance that needs its approval, an effect that stalls, and one loss of memory",
			Servers: 1, Claims: 1, Running: true, Policy: v1alpha1.MaintenanceOwnerApproval, MaintenancePower: v1alpha1.PowerOff,
			Deeds: []Deed{DeleteClaim, CreateMaintenance, DeleteMaintenance, Approve}, People: 4, Harms: losses, Adverse: 1, Stalls: 1, StallEffects: true, StallWrites: true,
		}, {
			Name: "people", About: "two claims, people who delete, force, clear, pause and consent, and one loss of memory",
			Servers: 1, Claims: 2, Enrolled: true, People: 3, Harms: losses, Adverse: 1,
			Deeds: []Deed{CreateClaim, DeleteClaim, ClearClaimRef, StripClaim, ForceRelease, DeleteServer, Pause, ConsentPowerOff},
		}, {
			Name: "consent", About: "a machine that a hand switches on, a person who consents that it be powered off, a claim, and an effect that stalls",
			Servers: 1, Claims: 1, Enrolled: true, NoStamp: true, Deeds: []Deed{CreateClaim, DeleteClaim, ConsentPowerOff}, People: 3,
			Harms: []Harm{WipeStatus, DropLedger, HandOn}, Adverse: 1, Tenant: 1, Stalls: 1, StallEffects: true,
		}, {
			Name: "retain", About: "a server that is kept for a person after its release, and one loss of memory",
			Servers: 1, Claims: 1, Enrolled: true, Retain: true, Deeds: []Deed{CreateClaim, DeleteClaim, ClearClaimRef}, People: 4, Harms: losses, Adverse: 1,
		}, {
			Name: "diskless", About: "a claim that boots from the network each time, an effect that stalls, and one loss of memory",
			Servers: 1, Claims: 1, Enrolled: true, Always: true, Deeds: tenant, People: 3, Tenant: 1, Harms: losses, Adverse: 1, Stalls: 1, StallEffects: true,
		},
	}
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
