// SPDX-License-Identifier: Apache-2.0

package provider

// PowerState is the power of a machine as its provider tells it.
type PowerState string

const (
	PowerUnknown PowerState = "Unknown" // not told, or told in a word nobody knows; never a reason to act (B028)
	PowerOn      PowerState = "On"
	PowerOff     PowerState = "Off"
	PoweringOn   PowerState = "PoweringOn"
	PoweringOff  PowerState = "PoweringOff"
)

// BootTarget is what a machine is to boot from next.
type BootTarget string

const (
	BootNone BootTarget = "None"
	BootPXE  BootTarget = "Pxe"
	BootHTTP BootTarget = "UefiHttp"
	BootCD   BootTarget = "Cd"
	BootDisk BootTarget = "Hdd"
)

// BootEnabled says how long an override lasts.
type BootEnabled string

const (
	BootDisabled   BootEnabled = "Disabled"
	BootOnce       BootEnabled = "Once"
	BootContinuous BootEnabled = "Continuous"
)

// BootProgress is how far the machine has come, no finer than can be trusted across vendors. "" where it is not told.
type BootProgress string

const (
	BootProgressNone      BootProgress = "None"
	BootProgressBooting   BootProgress = "Booting"
	BootProgressOSRunning BootProgress = "OSRunning"
)

// IndicatorLED is the state of the identification light.
type IndicatorLED string

const (
	IndicatorLit      IndicatorLED = "Lit"
	IndicatorBlinking IndicatorLED = "Blinking"
	IndicatorOff      IndicatorLED = "Off"
)

// SystemRef names one system behind a BMC: by UUID (compared without regard to case), else by Redfish Id.
// Both empty: the only system there is; several are then ReasonAmbiguousSystem (B154).
type SystemRef struct {
	UUID string
	ID   string
}

// BootOverride is the boot source override as it stands.
type BootOverride struct {
	Target  BootTarget // as told; targets outside the constants are passed through
	Enabled BootEnabled
	Mode    string // "UEFI", "Legacy" or "" where not told
	HTTPURI string
}

// Armed says that the next boot takes the override.
func (b BootOverride) Armed() bool {
	return (b.Enabled == BootOnce || b.Enabled == BootContinuous) && b.Target != "" && b.Target != BootNone
}

// BMCFacts is what a look at a BMC tells about itself and what is behind it.
type BMCFacts struct {
	Vendor   string
	Model    string
	Firmware string
	UUID     string // of the service, else of its manager
	Systems  []SystemSummary
	Gaps     []string // what could not be read, by name
	AuthMode string   // Session or Basic
	Quirks   []string // names of the quirks detected
}

// SystemSummary identifies one system behind a BMC.
type SystemSummary struct {
	ID       string // Redfish Id
	UUID     string // lower case, "" where it has none
	Serial   string
	CanReset bool // a system without a reset action is no host and yields no Server
}

// SystemFacts is one picture of a system.
type SystemFacts struct {
	ID           string
	UUID         string // lower case
	Serial       string // as the inventory tells it, but of every look; "" where it is not told
	Power        PowerState
	Health       string       // OK, Warning, Critical or ""
	Indicator    IndicatorLED // "" where there is none
	Boot         BootOverride
	BootProgress BootProgress
	AssetTag     string
	StampSupport bool      // false where a quirk says that the asset tag cannot keep a stamp
	Hardware     *Hardware // nil where this look did not read the inventory
	// Capabilities is nil where this look did not read the inventory. For people, never decided from.
	Capabilities *Capabilities
	// Media are the slots that take a CD or DVD image, in the BMC's order. nil where this look did not read them (only DepthMedia
	// does), empty where there are none.
	Media []MediaSlot
	Gaps  []string
	// NotModified is true where the BMC said that nothing changed since the last look: all other fields are then empty.
	NotModified bool
	// ETag of the picture, to be handed back for a conditional look. "" where the BMC sends none.
	ETag string
}

// Capabilities is what a system says it can be asked for. Empty lists mean that it does not say.
type Capabilities struct {
	ResetTypes  []string     // in the system's own words and order
	BootTargets []string     // likewise, as its own document tells them
	Armable     []BootTarget // of the targets Holdfast has a use for, those it can arm; all of them where no targets are told
	TargetsTold bool         // boot targets are told, by the system or by its pending settings
	Stamp       bool         // an asset tag can be written
	Indicator   bool         // there is an identification light
	Media       bool         // there is a drive for virtual media
	HTTPBoot    bool         // it takes a URI to boot from over HTTP
}

// Hardware is the inventory of a system.
type Hardware struct {
	Manufacturer string
	Model        string
	Serial       string
	SKU          string
	BIOSVersion  string
	Processors   []Processor // populated CPUs only, sorted by ID
	Accelerators []Processor // GPUs, FPGAs and other processors that are no CPUs
	MemoryBytes  int64       // 0 where not told
	NICs         []NIC       // sorted by MAC
	Drives       []Drive     // each physical drive once, sorted by name
}

// Processor is one populated socket.
type Processor struct {
	ID      string
	Model   string
	Cores   int // 0 where not told
	Threads int
}

// NIC is one network interface of the system. MAC is lower case, colon-separated.
type NIC struct {
	Name      string
	MAC       string
	LinkUp    *bool // nil where not told
	SpeedMbps int
}

// Drive is one physical drive.
type Drive struct {
	Name          string
	Model         string
	Serial        string
	MediaType     string // SSD, HDD or ""
	Protocol      string // NVMe, SATA, SAS or ""
	CapacityBytes int64
}
