// SPDX-License-Identifier: Apache-2.0

package redfish

import "slices"

// Profile is the nature of a BMC model: what never changes while it runs. Vendors' peculiarities are
// profiles made from [Conforming], in the last resort by Rewrite; [Profiles] lists them.
type Profile struct {
	Vendor         string // ServiceRoot.Vendor; empty: not told
	Product        string // ServiceRoot.Product; empty: not told
	RedfishVersion string
	Firmware       string // of the manager
	ManagerModel   string // empty: Product
	Manufacturer   string // of machines
	Model          string

	// Machine is what machines have whose spec leaves it open; only Hardware, SerialNumber, SKU and
	// AssetTag are taken. Firmware likes placeholders there.
	Machine MachineSpec

	// SystemID, ManagerID and ChassisID are the Ids of the first machine, its manager and its chassis.
	// Empty: "1", "BMC" and the machine's. Further machines are numbered.
	SystemID, ManagerID, ChassisID string
	// Trays are systems besides the machines that nobody can start or boot, such as boards of accelerators.
	Trays []string
	// UUIDs is where UUIDs come from that nobody gave.
	UUIDs UUIDMaking

	// ResetTypes are the reset types a system takes; ActionInfo tells them in a linked resource instead of
	// inline, ActionInfoToo in both.
	ResetTypes    []string
	ActionInfo    bool
	ActionInfoToo bool

	// BootTargets and BootModes are what the override takes. Without UefiHttp among the targets there is
	// no HttpBootUri, without modes no BootSourceOverrideMode. BootMode is the mode at first; empty: UEFI.
	BootTargets []string
	BootModes   []string
	BootMode    string
	// BootEnabled are the values of BootSourceOverrideEnabled it takes.
	BootEnabled []string
	// Settings is the Id of the resource under the system that holds settings which wait for a reset.
	// Empty: none. BootAtSettings keeps the boot override there alone: the system tells neither targets
	// nor override, and refuses to be written (B092, B103, B128).
	Settings       string
	BootAtSettings bool

	// Media is where virtual media hangs and how it is inserted.
	Media MediaNature
	// Drives is where drives are listed.
	Drives DriveListing

	// Without are members the ComputerSystem and its Boot object do not have; they cannot be written.
	Without []string

	// NoSessionService is a BMC that knows basic authentication only; NoBasicAuth one that wants sessions.
	NoSessionService bool
	NoBasicAuth      bool
	// SessionLimit is how many sessions it keeps; SessionIdleSeconds after how long an unused one ends.
	SessionLimit       int
	SessionIdleSeconds int
	// LockoutAfter is how many failed logins in a row lock the account, for LockoutSeconds. Zero: never.
	LockoutAfter   int
	LockoutSeconds int

	// AssetTagMax is how many bytes an asset tag may have.
	AssetTagMax int
	// LitIsNormal: IndicatorLED reads Lit at rest and Blinking when it identifies, and is written so.
	LitIsNormal bool
	// PageSize is how many members a collection shows on a page. Zero: all.
	PageSize int
	// NoETags is a BMC without entity tags; WeakETags one whose tags are weak; HeaderETags one that sends
	// them as a header only.
	NoETags     bool
	WeakETags   bool
	HeaderETags bool
	// NoEventService is a BMC without EventService and its event stream.
	NoEventService bool

	// Ailments are the faults BMCs of this model are known for, at rest until [BMC.Suffer].
	Ailments []Ailment

	// Rewrite, when set, has the last word on every document before it is tagged and sent: path is the
	// resource's, doc may be changed in place. It runs under the rack's lock and must not call the rack.
	Rewrite func(path string, doc map[string]any)
}

// UUIDMaking is where a model takes the UUIDs from that it tells.
type UUIDMaking string

// Where UUIDs come from.
const (
	UUIDOwn       UUIDMaking = ""           // systems and BMC have their own
	UUIDShared    UUIDMaking = "shared"     // the first system and the BMC have the same
	UUIDOfMAC     UUIDMaking = "mac"        // zeros and a MAC address
	UUIDSharedMAC UUIDMaking = "shared-mac" // zeros and the BMC's MAC address, for both
)

// DriveListing is where a model lists drives.
type DriveListing string

// Where drives are listed.
const (
	DrivesInStorage DriveListing = ""          // under Storage
	DrivesInChassis DriveListing = "chassis"   // under the chassis, linked from Storage
	DrivesSimple    DriveListing = "simple"    // as devices of SimpleStorage; linked Storage is hollow
	DrivesNowhere   DriveListing = "not-there" // linked Storage answers 404
)

// Conforming is a BMC that does what DMTF's schemas say.
func Conforming() Profile {
	return Profile{
		Vendor: "Holdfast", Product: "Simulated BMC", RedfishVersion: "1.20.0", Firmware: "1.0.0",
		Manufacturer: "Simulated", Model: "SIM-2U",
		ResetTypes: []string{
			"On", "ForceOn", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "PowerCycle", "Nmi", "PushPowerButton",
		},
		BootTargets:  []string{"None", "Pxe", "Cd", "Hdd", "UefiHttp", "BiosSetup"},
		BootModes:    []string{"UEFI", "Legacy"},
		BootEnabled:  []string{"Disabled", "Once", "Continuous"},
		Media:        MediaNature{AtSystem: true, AtManager: true, Slots: []MediaSlot{{ID: "CD", Types: []string{"CD", "DVD"}}}},
		SessionLimit: 16, SessionIdleSeconds: 1800,
		AssetTagMax: 63,
	}
}

func (p *Profile) hasTarget(target string) bool { return slices.Contains(p.BootTargets, target) }

// lacks reports whether systems do not have that member.
func (p *Profile) lacks(member string) bool { return slices.Contains(p.Without, member) }

// hasBootURI reports whether a URI to boot from can be given.
func (p *Profile) hasBootURI() bool { return p.hasTarget(targetUEFIHTTP) && !p.lacks("HttpBootUri") }

// prune takes out of a system document what the model does not have.
func (p *Profile) prune(doc obj) {
	boot, _ := doc["Boot"].(obj)
	for _, member := range p.Without {
		delete(doc, member)
		delete(boot, member)
	}
}
