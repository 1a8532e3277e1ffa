// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"
)

// The contracts with a cloud. A VM is known by its identity: tag holdfast:<identity> at the provider, and by its id once there is one.
// Whatever is about to be adopted, changed or deleted MUST be re-checked for its exact identity and owner on our side: listings filter
// loosely, and some clouds not at all.

// Tags and metadata by which a cloud's resources are known as ours.
const (
	TagIdentity = "holdfast:"       // + identity
	TagOwner    = "holdfast-owner:" // + id of the owning cluster
	// Metadata of VMs, beside the tags.
	MetadataIdentity = "holdfast-identity"
	MetadataOwner    = "holdfast-owner"
	MetadataClaim    = "holdfast-claim" // the identity of the claim it serves; absent for none
)

// InstanceRef names one VM of ours.
type InstanceRef struct {
	Identity string // of the Server
	Owner    string // id of the cluster that may act
	Name     string // of the Server, and of the VM
	ID       string // of the VM; "" where none is known yet
	// Project that everything of the server is in, by id: a call over a connection to another one is a Mismatch, since nothing follows
	// from what is not found there. "" where it is not known: not relied on.
	Project string
}

// Selector names one resource of a cloud: exactly one of its fields is set. A name or a set of tags that nothing or several things
// bear is Terminal, with the candidates in the message.
type Selector struct {
	ID   string
	Name string
	Tags []string
}

// PortSpec is one port that a VM is to have.
type PortSpec struct {
	Network Selector
	FixedIP string
	// SecurityGroups and AddressPairs: nil leaves them alone, empty means none.
	SecurityGroups []Selector
	AddressPairs   []AddressPair
}

// AddressPair is an address that a port may send from. An empty MAC is the port's own.
type AddressPair struct{ IP, MAC string }

// InstanceSpec is what a VM is made of.
type InstanceSpec struct {
	Flavor           Selector // ID or Name
	Image            Selector
	KeyName          string
	Ports            []PortSpec // one at least
	AvailabilityZone string
	ServerGroup      string // id or name
	Serial           bool   // Create is Busy while another VM of ServerGroup is being made, or has no host yet
	ConfigDrive      bool
	// Claim is the identity of the claim that the VM is made for; "" for none. Kept in its metadata.
	Claim string
	// UserData as the VM gets it, before base64. Filled in by the reconciler directly before the call: it is in no decision.
	UserData []byte
	// Adopt is the id of a VM that a person has said to be this server's; "" for none.
	Adopt string
}

// InstanceExpect is the state that an acting call relies on. Zero fields are not relied on. The call re-reads the VM by its id on its
// own connection and answers Mismatch where a named field is not as expected. Identity and owner are always relied on.
type InstanceExpect struct {
	// Power, as far as Nova's state tells it (PowerOf).
	Power PowerState
	// NeverLaunched relies on: Nova has no launched_at, and the VM is neither ACTIVE nor was it ever.
	NeverLaunched bool
	// ImageID the VM is built from.
	ImageID string
	// Claim in the VM's metadata; nil: not relied on.
	Claim *string
}

// Instances makes and unmakes VMs. See the package documentation for what every call must keep. Work goes on at the cloud after a call
// returned; completion arrives as a fact.
type Instances interface {
	// Create makes the VM of ref, with its ports, once: it resolves what spec names, finds or makes the ports (by identity in their
	// description, and index), then finds the VM by identity and adopts it, else creates it. Outcome.Made tells what there is now; of a
	// VM that was found, nothing about security groups: UpdatePorts tells that. A VM that was found is Unchanged.
	//   - A port of ours that is plugged in already while no VM of the identity is found: Busy; a VM exists, or is being made. So it is
	//     while a creation of another process, or one of unknown outcome, may still be carried out; Error.After says how long.
	//   - Two VMs of the identity: Terminal(ReasonDuplicateVM), naming both.
	//   - A VM of our owner and ref.Name under another identity, unless spec.Adopt is its id: Terminal(ReasonFoundExisting), naming it. One of
	//     our owner under another name and identity is not adopted: Terminal(ReasonRefused).
	//   - Quota, a missing or ambiguous resource, a refused request: Terminal, before anything was made where that can be known.
	//   - A lost reply is Transient: the next Create finds what was made.
	Create(ctx context.Context, ref InstanceRef, spec InstanceSpec) (Outcome, error)
	// DeleteFailed deletes the VM ref.ID that failed and never launched, so that it can be made again; its ports stay. Whatever expect says,
	// the VM must be in ERROR without a trace of a launch. nil only once a GET by id answered 404; Busy while the VM is going.
	DeleteFailed(ctx context.Context, ref InstanceRef, expect InstanceExpect) error
	// Dismantle takes everything of ref away, in order: floating IP, VM, ports, found by identity as well as by id. nil only once each
	// was seen gone by id (or was never there); Busy while something is going. What the cloud already lost is no error, what somebody
	// else attached is left alone. A VM of that id that bears no mark any more, or another owner's, is a Mismatch; another server's is
	// left alone.
	Dismantle(ctx context.Context, ref InstanceRef) error
	// Rebuild makes the VM's disk anew from image. expect.ImageID MUST be set: a VM that already runs the resolved image is Unchanged.
	// Outcome.Made.ImageID is what image resolved to.
	Rebuild(ctx context.Context, ref InstanceRef, image Selector, expect InstanceExpect) (Outcome, error)
	// StartInstance switches the VM on; Unchanged where it runs.
	StartInstance(ctx context.Context, ref InstanceRef, expect InstanceExpect) (Outcome, error)
	// StopInstance switches the VM off, by its operating system where the cloud can.
	StopInstance(ctx context.Context, ref InstanceRef, expect InstanceExpect) (Outcome, error)
	// ConfirmStopped changes nothing: nil when the cloud says now that the VM is off, Mismatch otherwise.
	ConfirmStopped(ctx context.Context, ref InstanceRef, expect InstanceExpect) error
	// StampInstance writes owner and claim into the VM's tags and metadata ("" removes the claim). expect.Claim MUST be set. oldOwner is
	// the owner that a take-over replaces; "" where ref.Owner is on the VM already.
	StampInstance(ctx context.Context, ref InstanceRef, claim, oldOwner string, expect InstanceExpect) (Outcome, error)
}

// Ports changes the ports of VMs.
type Ports interface {
	// UpdatePorts resolves the security groups of ports and writes, port by port, only the fields that differ: groups and address pairs.
	// Unchanged where none does. A port that is not there is a Mismatch. Outcome.Made.SecurityGroups is what they resolved to.
	UpdatePorts(ctx context.Context, ref InstanceRef, ports []PortSpec) (Outcome, error)
}

// FloatingIPs gives floating IPs to VMs.
type FloatingIPs interface {
	// AttachFloatingIP finds or allocates the floating IP of ref on network, and associates it with the VM's first port. One that is not
	// ours is never taken; a port that somebody else gave one is Busy. One of ours on another network gives way. Outcome.Made.FloatingIP
	// is its id.
	AttachFloatingIP(ctx context.Context, ref InstanceRef, network Selector) (Outcome, error)
	// ReleaseFloatingIP releases the floating IP of ref. nil only once it was seen gone by id.
	ReleaseFloatingIP(ctx context.Context, ref InstanceRef) error
}

// CloudActor is all that the reconciler may do at a cloud.
type CloudActor interface {
	Instances
	Ports
	FloatingIPs
}

// Made is what an acting call at a cloud leaves behind, as far as the call tells: what is to be remembered.
type Made struct {
	InstanceID string
	ImageID    string
	// SecurityGroups of each port, by id, in the order of InstanceSpec.Ports; nil for a port whose groups are left alone.
	SecurityGroups [][]string
	FloatingIP     string // id
}

// CloudObserver looks at a cloud. It never changes anything. Used by the monitor only (P7).
type CloudObserver interface {
	// Cloud tells what the cloud is. An older compute API than 2.52 is Terminal(ReasonCloudTooOld).
	Cloud(ctx context.Context) (CloudFacts, error)
	// Project is the id of the project that all answers of this observer are about. It asks nothing beyond the login.
	Project(ctx context.Context) (string, error)
	// ListInstances lists the VMs of owner: all of them for the zero time, else those that changed since then, deleted ones included.
	// A listing may skip rows (a cell that is down): a VM that is not in it is asked for by id.
	ListInstances(ctx context.Context, owner string, since time.Time) ([]InstanceFacts, error)
	// ListPorts lists the ports of owner, by its tag.
	ListPorts(ctx context.Context, owner string) ([]PortFacts, error)
	// ListFloatingIPs lists the floating IPs of owner, by its tag.
	ListFloatingIPs(ctx context.Context, owner string) ([]FloatingIPFacts, error)
	// Instance asks for one VM by id: NotFound where the cloud says 404, and only then.
	Instance(ctx context.Context, id string) (InstanceFacts, error)
	// Port asks for one port by id: NotFound where the cloud says 404, and only then.
	Port(ctx context.Context, id string) (PortFacts, error)
	// FloatingIP asks for one floating IP by id: NotFound where the cloud says 404, and only then.
	FloatingIP(ctx context.Context, id string) (FloatingIPFacts, error)
}

// CloudFacts is what a look at a cloud tells about itself.
type CloudFacts struct {
	ProjectID           string
	Project             string
	ComputeMicroversion string // highest offered
	Instances           QuotaUse
	Cores               QuotaUse
	MemoryMiB           QuotaUse
}

// QuotaUse is how much of a quota is used; a Limit of -1 is none.
type QuotaUse struct{ Used, Limit int }

// InstanceFacts is one picture of a VM.
type InstanceFacts struct {
	ID         string
	Name       string
	Identity   string // by its tags, by its metadata where those are gone; "" for none, and of deleted rows
	Owner      string // likewise
	Claim      string // by its metadata
	State      string // as Nova tells it: ACTIVE, BUILD, ERROR, SHUTOFF, REBUILD, DELETED, …
	TaskState  string
	Deleted    bool // a row of a listing of changes that says DELETED
	Errored    bool
	Fault      string // one line
	LaunchedAt time.Time
	CreatedAt  time.Time
	Power      PowerState
	ImageID    string
	Flavor     string // name
	HostID     string // the same for VMs on one host; not the host's name
	VCPUs      int
	MemoryMiB  int
	Addresses  []string // sorted
}

// PortFacts is one picture of a port of ours.
type PortFacts struct {
	ID             string
	Identity       string
	Owner          string
	Index          int // of InstanceSpec.Ports
	NetworkID      string
	DeviceID       string
	FixedIPs       []string      // sorted
	SecurityGroups []string      // ids, sorted
	AddressPairs   []AddressPair // sorted; the port's own MAC is "", a single address has no prefix length
}

// FloatingIPFacts is one picture of a floating IP of ours.
type FloatingIPFacts struct {
	ID       string
	Identity string
	Owner    string
	Address  string
	PortID   string
}
