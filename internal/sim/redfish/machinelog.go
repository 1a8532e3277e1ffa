// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"slices"
	"time"
)

// EventKind is what kind of thing happened to a machine or BMC.
type EventKind string

// The kinds of events.
const (
	EventReset      EventKind = "Reset"      // a reset action was accepted; To is the reset type
	EventPower      EventKind = "Power"      // power went From → To
	EventRestart    EventKind = "Restart"    // a warm restart, power stays on
	EventBoot       EventKind = "Boot"       // Source was booted; Detail is the image or system
	EventBootFailed EventKind = "BootFailed" // Source had nothing to boot
	EventRunning    EventKind = "Running"    // the operating system in Detail is up
	EventInstall    EventKind = "Install"    // Detail was written over the disk
	EventOverride   EventKind = "Override"   // the boot override went From → To
	EventMedia      EventKind = "Media"      // virtual media went From → To
	EventAssetTag   EventKind = "AssetTag"   // the asset tag went From → To
	EventLED        EventKind = "LED"        // the indicator went From → To
	EventIgnored    EventKind = "Ignored"    // an accepted request without effect, told in Detail
	EventBMC        EventKind = "BMC"        // the BMC itself: Detail is down, up, rebooting, …
)

// Causes of events that no request caused directly.
const (
	byRequest     = "redfish"
	byTenant      = "tenant"
	byProgram     = "program"
	byPowerCut    = "power-cut"
	byPowerReturn = "power-return"
	byHand        = "hand"
)

// cause says who made something happen; the zero value is the machine itself, going on.
type cause struct {
	by      string
	request uint64
	arrived time.Time
}

// Event is one entry of the machine log.
type Event struct {
	Seq      uint64    `json:"seq"`
	At       time.Time `json:"at"`
	BMC      string    `json:"bmc"`
	Machine  string    `json:"machine,omitempty"`
	UUID     string    `json:"uuid,omitempty"`
	Kind     EventKind `json:"kind"`
	From     string    `json:"from,omitempty"`
	To       string    `json:"to,omitempty"`
	Source   string    `json:"source,omitempty"`   // boot source, as BootSourceOverrideTarget
	Override string    `json:"override,omitempty"` // how the source was chosen: Once, Continuous, or empty
	Detail   string    `json:"detail,omitempty"`
	// By is who caused it: redfish, tenant, program, power-cut, power-return, hand; empty for the machine
	// going on with what was begun. Request is the Seq of the request, where there was one, and Arrived when that came:
	// faults, lags and tasks put off what it does.
	By      string    `json:"by,omitempty"`
	Request uint64    `json:"request,omitempty"`
	Arrived time.Time `json:"arrived,omitzero"`

	cause cause
}

// EventFilter selects events; zero fields select all.
type EventFilter struct {
	BMC     string
	Machine string
	UUID    string
	Kinds   []EventKind
	After   uint64 // only events with a greater Seq
}

// matches but for After, which is where the looking begins.
func (f EventFilter) matches(e *Event) bool {
	return (f.BMC == "" || f.BMC == e.BMC) && (f.Machine == "" || f.Machine == e.Machine) &&
		(f.UUID == "" || f.UUID == e.UUID) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind))
}

// MachineLog returns what happened to machines and BMCs since the rack was made, oldest first. Nothing is
// ever dropped from it.
func (r *Rack) MachineLog(filter EventFilter) []Event {
	defer r.enter()()
	var events []Event
	for _, e := range r.events[min(filter.After, uint64(len(r.events))):] {
		if filter.matches(&e) {
			events = append(events, e)
		}
	}
	return events
}

// record appends to the machine log.
func (m *Machine) record(e Event) {
	e.Machine, e.UUID = m.id, m.spec.UUID
	m.bmc.record(e)
}

func (b *BMC) record(e Event) {
	e.BMC = b.spec.Name
	e.By, e.Request, e.Arrived = e.cause.by, e.cause.request, e.cause.arrived
	e.cause = cause{}
	e.Seq = uint64(len(b.rack.events)) + 1
	b.rack.events = append(b.rack.events, e)
}
