// SPDX-License-Identifier: Apache-2.0

package redfish

// Profile is the nature of a BMC model: what never changes while it runs. Vendors' peculiarities are
// profiles made from [Conforming], in the last resort by Rewrite.
type Profile struct {
	Vendor         string // ServiceRoot.Vendor
	Product        string // ServiceRoot.Product
	RedfishVersion string
	Firmware       string // of the manager
	Manufacturer   string // of machines
	Model          string

	// ResetTypes are the reset types a system takes; ActionInfo tells them in a linked resource instead of
	// inline.
	ResetTypes []string
	ActionInfo bool

	// BootTargets and BootModes are what the override takes. Without UefiHttp among the targets there is
	// no HttpBootUri.
	BootTargets []string
	BootModes   []string
	// BootEnabled are the values of BootSourceOverrideEnabled it takes.
	BootEnabled []string

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
	// PageSize is how many members a collection shows on a page. Zero: all.
	PageSize int
	// NoETags is a BMC without entity tags.
	NoETags bool
	// NoEventService is a BMC without EventService and its event stream.
	NoEventService bool

	// Rewrite, when set, has the last word on every document before it is tagged and sent: path is the
	// resource's, doc may be changed in place. It runs under the rack's lock and must not call the rack.
	Rewrite func(path string, doc map[string]any)
}

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
		SessionLimit: 16, SessionIdleSeconds: 1800,
		AssetTagMax: 63,
	}
}

func (p *Profile) hasTarget(target string) bool {
	for _, t := range p.BootTargets {
		if t == target {
			return true
		}
	}
	return false
}
