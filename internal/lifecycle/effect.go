// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "github.com/holdfast-dev/holdfast/internal/provider"

// Op is one acting call of a provider.
type Op string

const (
	OpPowerOn           Op = "PowerOn"
	OpShutDown          Op = "ShutDown"
	OpForceOff          Op = "ForceOff"
	OpConfirmOff        Op = "ConfirmOff" // changes nothing
	OpConfirmOn         Op = "ConfirmOn"  // changes nothing
	OpSetBootOverride   Op = "SetBootOverride"
	OpClearBootOverride Op = "ClearBootOverride"
	OpInsertMedia       Op = "InsertMedia"
	OpEjectMedia        Op = "EjectMedia"
	OpWriteAssetTag     Op = "WriteAssetTag"
	OpSetIndicator      Op = "SetIndicator"

	// At a cloud.
	OpCreateInstance    Op = "CreateInstance"
	OpDeleteFailed      Op = "DeleteFailed" // a VM that never launched
	OpDismantle         Op = "Dismantle"    // VM, ports and floating IP
	OpRebuild           Op = "Rebuild"
	OpStart             Op = "Start"
	OpStop              Op = "Stop"
	OpConfirmStopped    Op = "ConfirmStopped" // changes nothing
	OpStampInstance     Op = "StampInstance"
	OpUpdatePorts       Op = "UpdatePorts"
	OpAttachFloatingIP  Op = "AttachFloatingIP"
	OpReleaseFloatingIP Op = "ReleaseFloatingIP"
)

// Effect is one call to a provider, with the state it relies on.
type Effect struct {
	Op     Op
	System provider.SystemRef
	Expect provider.Expect
	// Intent is the id of the written intent this carries out; "" for effects that destroy nothing (P6).
	Intent string
	// Override of OpSetBootOverride.
	Override provider.BootOverride
	// Image of OpInsertMedia and OpEjectMedia: its URL.
	Image string
	// AssetTag of OpWriteAssetTag; "" clears.
	AssetTag string
	// Indicator of OpSetIndicator.
	Indicator provider.IndicatorLED
	// Virtual is what an effect at a cloud needs; nil for effects at a BMC.
	Virtual *VirtualEffect
}

// VirtualEffect is the part of an Effect that concerns a cloud.
type VirtualEffect struct {
	Instance provider.InstanceRef
	Expect   provider.InstanceExpect
	// Spec of OpCreateInstance, without user data: that is read and put in directly before the call. Its Ports are OpUpdatePorts' too.
	Spec provider.InstanceSpec
	// Image of OpRebuild.
	Image provider.Selector
	// Network of OpAttachFloatingIP.
	Network provider.Selector
	// Claim and OldOwner of OpStampInstance.
	Claim, OldOwner string
}

// Destructive says that the effect can end a workload: it needs a written intent, or the object's deletion (P6, I7).
func (o Op) Destructive() bool {
	switch o {
	case OpShutDown, OpForceOff, OpDeleteFailed, OpDismantle, OpRebuild, OpStop:
		return true
	}
	return false
}

// Confirms says that the effect is a look: it changes nothing.
func (o Op) Confirms() bool { return o == OpConfirmOff || o == OpConfirmOn || o == OpConfirmStopped }
