// SPDX-License-Identifier: Apache-2.0

package judge

import "time"

// InFlight is how long an effect may still arrive after what asked for it was taken back: what is on the wire cannot be recalled, and
// Holdfast bounds it by the deadline of effects. Campaigns run managers with a deadline of a second or two; the rest is for two busy
// cores. It is the only tolerance there is, and it applies to withdrawals alone: nothing may be done before it was asked for.
const InFlight = 3 * time.Second

// Event is what is known, without Holdfast, to have happened.
type Event struct {
	// At is when it happened. Of asks: just before the request was sent.
	At time.Time `json:"at"`
	// Acked, of asks, is when the API server acknowledged it; zero: at once. Withdrawals count from here.
	Acked time.Time `json:"acked,omitzero"`
	// Arrived, of effects, is when the request that caused it reached the provider; zero: as it happened.
	Arrived time.Time `json:"arrived,omitzero"`
	// Since, of a snapshot that is restored, is when it was taken.
	Since time.Time `json:"since,omitzero"`
	Kind  Kind      `json:"kind"`
	// Machine is the simulator's name of a machine, or the id of a VM, port or floating IP.
	Machine string `json:"machine,omitempty"`
	// Tenant is whose workload it is about, as its tenant names it: namespace/name#n for the n-th claim of that name. Empty: unknown.
	Tenant string `json:"tenant,omitempty"`
	// Identity is what a VM, port or floating IP is stamped with.
	Identity string `json:"identity,omitempty"`
	// Detail is for people, but where a kind says what it means.
	Detail string `json:"detail,omitempty"`
}

// Kind is what kind of thing happened.
type Kind string

// What tenants ask for.
const (
	// Asked is a tenant that wants a machine. Again, after it gave up: it was brought back, and wants what still runs for it.
	Asked Kind = "Asked"
	// GaveUp is a tenant, or a person in its place, that gives its machine up: it asked for its claim to be deleted.
	GaveUp Kind = "GaveUp"
	// AskedOff and AskedOn say what power a tenant wants. One that never said wants On.
	AskedOff Kind = "AskedOff"
	AskedOn  Kind = "AskedOn"
	// AskedRestart is one restart that a tenant wants; it is owed until the machine is next switched on by an effect.
	AskedRestart Kind = "AskedRestart"
	// AskedRebuild is a tenant's consent that its VM be written over once.
	AskedRebuild Kind = "AskedRebuild"
)

// What people consent to. Each names a Machine, or a Tenant for whatever machine that has; one that names neither is a fault of the record, and
// reported as such: it would be an amnesty for all.
const (
	// ConsentedOff lets a machine be powered off, whoever it runs for, until it is next switched on by an effect.
	ConsentedOff Kind = "ConsentedOff"
	// ConsentedBoot lets the installer of Tenant run on Machine over whatever is there, once, until that tenant gives up. It names both.
	ConsentedBoot Kind = "ConsentedBoot"
	// MaintenanceBegan lets a machine be powered off until MaintenanceEnded.
	MaintenanceBegan Kind = "MaintenanceBegan"
	MaintenanceEnded Kind = "MaintenanceEnded"
	// Abandoned is a machine that Holdfast was told to forget: what is left there is a person's to clear away.
	Abandoned Kind = "Abandoned"
)

// What happens to machines, as the simulators tell it.
const (
	// Ran is a machine that was running when the record began; Tenant is whose workload.
	Ran Kind = "Ran"
	// PoweredOn is a power-on that was accepted.
	PoweredOn Kind = "PoweredOn"
	// PoweredOff is a power-off that was accepted, graceful or not, whatever came of it.
	PoweredOff Kind = "PoweredOff"
	// Reset is a restart that was accepted.
	Reset Kind = "Reset"
	// Armed is a boot override to anything but the disk. Tenant is whose image its URI names, where it has one.
	Armed Kind = "Armed"
	// Disarmed is an override taken back or used up.
	Disarmed Kind = "Disarmed"
	// MediaInserted and MediaEjected are about the image of Tenant in a virtual drive.
	MediaInserted Kind = "MediaInserted"
	MediaEjected  Kind = "MediaEjected"
	// NetworkBoot is an installer of Tenant that starts to run, from the network or a virtual drive.
	NetworkBoot Kind = "NetworkBoot"
	// Installed is what that installer wrote over the disk.
	Installed Kind = "Installed"
	// Began is the system of Tenant that is up.
	Began Kind = "Began"
	// WentOn and WentOff are changes of power; Detail is who caused it, empty for the machine going on with what was asked.
	WentOn  Kind = "WentOn"
	WentOff Kind = "WentOff"
)

// What happens to VMs, as the simulators tell it. Stops are PoweredOff, reboots Reset, starts PoweredOn.
const (
	CreatedVM  Kind = "CreatedVM"
	LaunchedVM Kind = "LaunchedVM"
	// DeletedVM is a delete that was accepted.
	DeletedVM Kind = "DeletedVM"
	// GoneVM is a VM that is no more; Detail is who caused it, empty for the cloud carrying out what was asked.
	GoneVM Kind = "GoneVM"
	// RebuiltVM is a rebuild that was accepted.
	RebuiltVM Kind = "RebuiltVM"
	PortMade  Kind = "PortMade"
	PortGone  Kind = "PortGone"
	// AddressMade and AddressGone are floating IPs.
	AddressMade Kind = "AddressMade"
	AddressGone Kind = "AddressGone"
)

// What the campaign says of itself.
const (
	// Forgot is memory that was taken away: a ledger dropped or replaced, an object restored older than it was. It tells two things apart, as
	// excused, and excuses nothing else. Of a Machine: an image that stays in its drive, which is known by memory alone
	// (docs/decisions/0070). Of a Tenant, whose claim had its ledger dropped or replaced and does not tell any more that it has a machine: that it gets another
	// one; with its Machine too, that the VM stays, of which a restored cluster has the claim and not the Server. A claim that was restored excuses nothing: it waits for a person (docs/decisions/0152). One that names neither is a fault of the record.
	Forgot Kind = "Forgot"
	// RestoredSnapshot is the memory of all as it was at Since. What came to be later is in nobody's memory, and is told apart as excused where it
	// is left behind: an image put into a drive, a VM, a port, a floating IP. So is a second machine of a tenant that had none at Since. A restore
	// takes seconds: it is noted when it begins and again before anything can be remembered anew.
	RestoredSnapshot Kind = "RestoredSnapshot"
	// Remembered is a Tenant whose claim is seen to name the machine that the tenant has: nothing of its own is excused any more.
	Remembered Kind = "Remembered"
	// Settled is when faults have stopped and all has come to rest: what must be true at the end is checked here.
	Settled Kind = "Settled"
)

// arrived is when an effect reached its provider.
func (e Event) arrived() time.Time {
	if e.Arrived.IsZero() {
		return e.At
	}
	return e.Arrived
}

// over is from when on a withdrawal leaves nothing on the wire.
func (e Event) over() time.Time {
	if e.Acked.After(e.At) {
		return e.Acked.Add(InFlight)
	}
	return e.At.Add(InFlight)
}
