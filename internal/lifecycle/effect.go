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
	OpSetBootOverride   Op = "SetBootOverride"
	OpClearBootOverride Op = "ClearBootOverride"
	OpInsertMedia       Op = "InsertMedia"
	OpEjectMedia        Op = "EjectMedia"
	OpWriteAssetTag     Op = "WriteAssetTag"
	OpSetIndicator      Op = "SetIndicator"
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
}

// Destructive says that the effect can end a workload: it needs a written intent (P6, I7).
func (o Op) Destructive() bool { return o == OpShutDown || o == OpForceOff }
