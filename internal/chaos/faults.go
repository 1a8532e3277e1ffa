// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"time"
)

// Fault is one kind of thing that goes wrong.
type Fault struct {
	// Name of the fault, in plans and reports.
	Name string
	// On is what it strikes.
	On Target
	// Weight is how often it is chosen among the others, of which there are the more the more servers there are; Every, in its place, gives
	// a rhythm to what strikes all servers at once.
	Weight int
	Every  time.Duration
	// Recovers slows that rhythm for fleets of more than fifty servers: after it everything is held until a person has been at each of them, and
	// a larger fleet that is struck anew before it runs again shows nothing.
	Recovers bool
	// Least and Most bound how long it lasts until it is taken back.
	Least, Most time.Duration
	// StampedOnly keeps it from campaigns whose machines keep no stamps: there the promise has its one limit.
	StampedOnly bool

	do deed
}

// deed does a fault. What it returns takes it back; nil where nothing is to be taken back. Whatever changes what tenants ask for, or what
// people consent to, is the deed's to put on the record.
type deed func(ctx context.Context, c *campaign, step Step) (undo func(context.Context) error, err error)

// errNothing is returned by deeds that find nobody to strike at the moment.
var errNothing = errors.New("nobody to strike")

const (
	second = time.Second
	soon   = 500 * time.Millisecond
)

// Faults are all there are. To add one, add a line and a deed.
func Faults() []Fault {
	return []Fault{
		// Kubernetes' memory: what is reported, and what is remembered.
		{Name: "wipe-status", On: OnSeat, Weight: 8, do: wipeStatus},
		{Name: "wipe-status-of-machine", On: OnMachine, Weight: 4, do: wipeStatus},
		{Name: "older-status", On: OnSeat, Weight: 8, do: olderStatus},
		{Name: "drop-ledger", On: OnSeat, Weight: 4, do: dropLedger},
		{Name: "drop-ledger-of-machine", On: OnMachine, Weight: 2, do: dropLedger},
		{Name: "age-ledger", On: OnSeat, Weight: 4, do: ageLedger},
		// Objects that are lost, and come back.
		{Name: "lose-server", On: OnSeat, Weight: 5, Least: soon, Most: 8 * second, do: loseServer},
		{Name: "lose-claim", On: OnSeat, Weight: 4, Least: soon, Most: 8 * second, do: loseClaim},
		{Name: "lose-everything", On: OnSeat, Weight: 4, Least: soon, Most: 6 * second, do: loseEverything},
		{Name: "move", On: OnSeat, Weight: 4, do: move},
		// Processes.
		{Name: "kill-manager", On: OnManager, Every: 20 * second, Most: 2 * second, do: killManager},
		{Name: "restart-manager", On: OnManager, Every: 60 * second, Most: second, do: restartManager},
		{Name: "freeze-manager", On: OnManager, Every: 35 * second, Least: leaseDuration + second, Most: leaseDuration + 2*second, do: freezeManager},
		{Name: "freeze-etcd", Every: 60 * second, Least: soon, Most: 3 * second, do: freezeEtcd},
		{Name: "freeze-api-server", Every: 60 * second, Least: soon, Most: 3 * second, do: freezeAPIServer},
		{Name: snapshotFault, Every: 15 * second, do: takeSnapshot},
		{Name: "restore-snapshot", Every: 100 * second, Recovers: true, StampedOnly: true, do: restoreSnapshot},
		{Name: "restore-snapshot-held", Every: 170 * second, Recovers: true, do: restoreSnapshotHeld},
		// The ways to machines and cloud.
		{Name: "bad-replies", On: OnMachine, Weight: 8, Least: second, Most: 6 * second, do: badReplies},
		{Name: "cut-bmc", On: OnMachine, Weight: 5, Least: second, Most: 6 * second, do: cutBMC},
		{Name: "reboot-bmc", On: OnMachine, Weight: 2, do: rebootBMC},
		{Name: "bad-cloud-replies", Every: 12 * second, Least: second, Most: 5 * second, do: badCloudReplies},
		{Name: "hide-vm", On: OnSeat, Weight: 3, Least: second, Most: 5 * second, do: hideVM},
		{Name: "vm-mishap", Every: 20 * second, Least: second, Most: 10 * second, do: vmMishap},
		{Name: "rotate-bmc-password", On: OnMachine, Weight: 3, Most: 3 * second, do: rotateBMCPassword},
		{Name: "rotate-cloud-password", Every: 60 * second, Most: 2 * second, do: rotateCloudPassword},
		// Machines.
		{Name: "tenant-switches-off", On: OnSeat, Weight: 6, do: tenantSwitchesOff},
		{Name: "power-cut", On: OnMachine, Weight: 4, Least: soon, Most: 6 * second, do: powerCut},
		{Name: "maintenance", On: OnMachine, Weight: 3, Least: 3 * second, Most: 10 * second, do: maintenance},
	}
}

func faultNamed(name string) (Fault, bool) {
	for _, f := range Faults() {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}
