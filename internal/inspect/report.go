// SPDX-License-Identifier: Apache-2.0

package inspect

// Report is what an inspection found. Its JSON form is for scripts: members are added, never renamed.
type Report struct {
	Endpoint string  `json:"endpoint"`
	Verdict  Verdict `json:"verdict"`
	// Why is the verdict's reason in a line.
	Why     string   `json:"why"`
	BMC     *BMC     `json:"bmc,omitempty"`
	Systems []System `json:"systems,omitempty"`
	// Error is why the inspection could not be finished; nil where it was.
	Error *Error `json:"error,omitempty"`
}

// Verdict is whether Holdfast can run the machines behind a BMC.
type Verdict string

// The verdicts.
const (
	Usable    Verdict = "Usable"    // at least one system can be run
	NotUsable Verdict = "NotUsable" // the BMC told enough to say that none can
	Unknown   Verdict = "Unknown"   // it could not be found out: unreachable, denied, busy, …
)

// Error is a provider's error, as docs/redfish.md explains its reasons.
type Error struct {
	Class   string `json:"class"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// BMC is the management controller.
type BMC struct {
	Vendor   string   `json:"vendor,omitempty"`
	Model    string   `json:"model,omitempty"`
	Firmware string   `json:"firmware,omitempty"`
	UUID     string   `json:"uuid,omitempty"`
	AuthMode string   `json:"authMode,omitempty"` // Session or Basic
	Account  *Account `json:"account,omitempty"`  // in use; nil where the BMC does not tell
	Quirks   []Quirk  `json:"quirks,omitempty"`
	Gaps     []string `json:"gaps,omitempty"`
	// Others are the systems that cannot be reset, by Id: trays and boards, which yield no Server.
	Others []string `json:"others,omitempty"`
}

// Account is the account in use.
type Account struct {
	Role       string   `json:"role"`
	Privileges []string `json:"privileges,omitempty"`
}

// Quirk is a known difference that the BMC shows.
type Quirk struct {
	Name      string `json:"name"`
	Behaviour string `json:"behaviour"`
}

// System is one host behind the BMC.
type System struct {
	ID           string `json:"id"`
	UUID         string `json:"uuid,omitempty"`
	Manufacturer string `json:"manufacturer,omitempty"`
	Model        string `json:"model,omitempty"`
	Serial       string `json:"serial,omitempty"`
	SKU          string `json:"sku,omitempty"`
	BIOS         string `json:"bios,omitempty"`
	Power        string `json:"power,omitempty"`
	Health       string `json:"health,omitempty"`
	BootProgress string `json:"bootProgress,omitempty"`
	Indicator    string `json:"indicator,omitempty"`
	AssetTag     string `json:"assetTag,omitempty"`

	MemoryBytes  int64       `json:"memoryBytes"`
	Processors   []Processor `json:"processors"`
	Accelerators []Processor `json:"accelerators,omitempty"`
	NICs         []NIC       `json:"nics"`
	Drives       []Drive     `json:"drives"`

	ResetTypes  []string `json:"resetTypes"`  // in the system's own words
	BootTargets []string `json:"bootTargets"` // likewise
	Boot        Boot     `json:"boot"`
	Media       []Slot   `json:"media"` // slots for CD and DVD images

	Usable    bool      `json:"usable"`
	Abilities []Ability `json:"abilities"`
	Gaps      []string  `json:"gaps,omitempty"`
	Error     *Error    `json:"error,omitempty"` // why this system could not be read
}

// Boot is the boot source override as it stands.
type Boot struct {
	Target  string `json:"target,omitempty"`
	Enabled string `json:"enabled,omitempty"`
	Mode    string `json:"mode,omitempty"`
	HTTPURI string `json:"httpURI,omitempty"`
}

// Processor is one populated socket.
type Processor struct {
	ID      string `json:"id"`
	Model   string `json:"model,omitempty"`
	Cores   int    `json:"cores,omitempty"`
	Threads int    `json:"threads,omitempty"`
}

// NIC is one network interface.
type NIC struct {
	Name      string `json:"name"`
	MAC       string `json:"mac"`
	LinkUp    *bool  `json:"linkUp,omitempty"`
	SpeedMbps int    `json:"speedMbps,omitempty"`
}

// Drive is one physical drive.
type Drive struct {
	Name          string `json:"name"`
	Model         string `json:"model,omitempty"`
	Serial        string `json:"serial,omitempty"`
	MediaType     string `json:"mediaType,omitempty"`
	Protocol      string `json:"protocol,omitempty"`
	CapacityBytes int64  `json:"capacityBytes"`
}

// Slot is one slot for virtual media.
type Slot struct {
	Slot     string `json:"slot"`
	Image    string `json:"image,omitempty"`
	Inserted bool   `json:"inserted"`
}

// Ability is one thing Holdfast does to machines, and whether it can do it to this one.
type Ability struct {
	Name string `json:"name"`
	Can  Can    `json:"can"`
	Why  string `json:"why"`
}

// Can is whether something can be done.
type Can string

// The answers.
const (
	Yes    Can = "yes"
	No     Can = "no"
	Untold Can = "untold" // the system does not say; it is tried
)
