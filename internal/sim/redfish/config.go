// SPDX-License-Identifier: Apache-2.0

package redfish

import "time"

// Config says how a rack is built. Its zero value is a rack on HTTPS, on a free port, on the wall clock.
type Config struct {
	// HTTPS and HTTP are the addresses to listen on, "host:port" with port 0 for any free one. A shared
	// listener must be on 0.0.0.0 to reach every BMC's address; connections from outside the loopback
	// network are refused all the same. Both empty means HTTPS on "0.0.0.0:0"; one empty, only the other.
	HTTPS, HTTP string

	// OwnListeners gives each BMC listeners of its own instead of a shared one, so that a BMC that is down
	// refuses connections as the kernel does (ECONNREFUSED). A shared listener can only accept and reset.
	// It costs a goroutine and a file descriptor per BMC: for tests, not for fleets. Host parts of HTTPS
	// and HTTP are ignored.
	OwnListeners bool

	// IdleTimeout is how long the rack keeps an idle connection, in real time. Zero: as long as the client
	// does. Fleets that are polled slowly want it: a connection held by both sides in one process is two
	// file descriptors.
	IdleTimeout time.Duration

	// Control is the address of the control endpoint, for instance "127.0.0.1:0". Empty: none.
	Control string

	// Clock is what machines live by. Nil: the wall clock.
	Clock Clock

	// Timing is how long machines take for things. Nil: [DefaultTiming].
	Timing *Timing

	// Netboot is what the network boots for machines that have no program of their own. Nil:
	// [DefaultProgram].
	Netboot *Program

	// StateDir, when set, keeps the CA and the state of machines across restarts: machines are loaded as
	// their BMCs are added, and saved shortly after changes and by [Rack.Close]. BMCs are not kept: they
	// come up as after a restart, with the account of their spec and a new certificate of the same CA.
	StateDir string

	// RequestLog is how many requests are remembered in full. Zero: 50,000.
	RequestLog int

	// Seed makes faults that strike at a Rate repeatable.
	Seed uint64
}

// Timing is how long machines and BMCs take. Zero is at once.
type Timing struct {
	PowerOn  time.Duration // PoweringOn
	PowerOff time.Duration // PoweringOff, forced
	Shutdown time.Duration // PoweringOff, graceful
	POST     time.Duration // from On until a boot device is chosen
	OSBoot   time.Duration // from the boot device chosen until OSRunning
	Pause    time.Duration // Off within a power cycle
	BMCBoot  time.Duration // a BMC that restarts
}

// DefaultTiming is a lively machine, about ten seconds from power-on to a running system.
func DefaultTiming() Timing {
	return Timing{
		PowerOn: time.Second, PowerOff: time.Second, Shutdown: 2 * time.Second,
		POST: 3 * time.Second, OSBoot: 3 * time.Second, Pause: time.Second, BMCBoot: 10 * time.Second,
	}
}

// BMCSpec describes one simulated BMC. Only Name is required.
type BMCSpec struct {
	Name     string
	Address  string // loopback IPv4 address. Empty: the next free one of 127.1.0.0/16
	Username string // empty: "admin"
	Password string // empty: "password"
	UUID     string // empty: derived from Name
	Firmware string // empty: the profile's

	Profile   *Profile // nil: Conforming()
	Behaviour Behaviour

	// Systems are the machines behind the BMC. None: one machine of default make.
	Systems []MachineSpec
}

// MachineSpec describes one machine. Empty fields are derived from the BMC's name and the machine's id,
// so that the same rack has the same machines every time.
type MachineSpec struct {
	ID   string // Redfish Id. Empty: "1", "2", … by position
	Name string

	UUID         string
	NoUUID       bool // a system that has no UUID
	Manufacturer string
	Model        string
	SerialNumber string
	SKU          string
	AssetTag     string // what a person wrote there before
	BIOSVersion  string

	Hardware *Hardware // nil: DefaultHardware

	Power    PowerState // On: its system is up and running. Empty: Off
	Disk     string     // what is installed on its disk. Empty: nothing
	Netboot  *Program   // nil: the rack's
	Restored RestorePolicy
}

// Hardware is what inventory reports.
type Hardware struct {
	Processors []Processor
	MemoryGiB  []float64 // one entry per module
	NICs       []NIC
	Drives     []Drive

	EmptySlots   int // for memory: listed as absent modules
	Accelerators int // listed among processors, without a model
}

// Processor is one socket.
type Processor struct {
	Model   string
	Cores   int
	Threads int
}

// NIC is one Ethernet interface of a machine.
type NIC struct {
	ID        string // empty: its number
	MAC       string // empty: derived
	Twin      bool   // has the MAC of the interface before it
	SpeedMbps int
	LinkDown  bool
}

// Drive is one disk.
type Drive struct {
	ID        string // empty: its number
	Absent    bool   // an empty bay that is listed
	Model     string
	Serial    string // empty: derived
	MediaType string // SSD, HDD
	Protocol  string // NVMe, SATA, SAS
	Bytes     int64
}

// DefaultHardware is a common two-socket server with half a terabyte of memory and two NVMe drives.
func DefaultHardware() Hardware {
	cpu := Processor{Model: "Simulated Processor 6430", Cores: 32, Threads: 64}
	drive := Drive{Model: "SIM NVMe 960", MediaType: "SSD", Protocol: "NVMe", Bytes: 960_197_124_096}
	return Hardware{
		Processors: []Processor{cpu, cpu},
		MemoryGiB:  []float64{64, 64, 64, 64, 64, 64, 64, 64},
		NICs:       []NIC{{SpeedMbps: 25_000}, {SpeedMbps: 25_000, LinkDown: true}},
		Drives:     []Drive{drive, drive},
	}
}

// Then is what a program does when it is done.
type Then string

// What programs do when they are done.
const (
	ThenReboot   Then = "Reboot"   // it installed Image on the disk and restarts the machine
	ThenPowerOff Then = "PowerOff" // it installed Image on the disk and switches the machine off
	ThenRun      Then = "Run"      // it runs live and leaves the disk alone
	ThenNothing  Then = "Nothing"  // nothing answers: firmware falls through to the next boot device
)

// Program is what a machine runs when it boots from the network or from virtual media: an installer or a
// live system.
type Program struct {
	Image    string        // what is installed or run. Empty: the boot URI or media image, else "netboot"
	Duration time.Duration // how long an installer runs
	Then     Then          // empty: ThenReboot
}

// DefaultProgram installs for five seconds and reboots from disk.
func DefaultProgram() Program { return Program{Duration: 5 * time.Second, Then: ThenReboot} }

// RestorePolicy is what a machine does when power comes back after a cut, as Redfish's
// PowerRestorePolicy.
type RestorePolicy string

// The restore policies of Redfish. The zero value is LastState.
const (
	RestoreOff  RestorePolicy = "AlwaysOff"
	RestoreOn   RestorePolicy = "AlwaysOn"
	RestoreLast RestorePolicy = "LastState"
)
