// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
)

// PowerState is a machine's power, in Redfish's words.
type PowerState string

// The power states of Redfish.
const (
	PowerOff   PowerState = "Off"
	PowerOn    PowerState = "On"
	PoweringOn PowerState = "PoweringOn"
	// PoweringOff is a machine on its way down, gracefully or not.
	PoweringOff PowerState = "PoweringOff"
)

// The boot progress of Redfish, as far as a machine goes through it.
const (
	progressNone    = "None"
	progressPOST    = "SystemHardwareInitializationComplete"
	progressBoot    = "OSBootStarted"
	progressRunning = "OSRunning"
	progressSetup   = "SetupEntered"
	progressStart   = "PrimaryProcessorInitializationStarted"
)

// step is what a machine is in the middle of; empty at rest.
type step string

const (
	stepRest     step = ""
	stepPowerOn  step = "power-on"
	stepPOST     step = "post"
	stepOSBoot   step = "os-boot"
	stepProgram  step = "program"
	stepShutdown step = "shutdown"
	stepPowerOff step = "power-off"
	stepPause    step = "pause"
)

// aftermath is what follows once a machine has gone down.
type aftermath string

const (
	stayOff  aftermath = ""
	warmBoot aftermath = "warm-boot" // restart without losing power
	coldBoot aftermath = "cold-boot" // off, a pause, on
)

// machineState is all that changes about a machine; it is what is saved.
type machineState struct {
	Power      PowerState   `json:"power"`
	Step       step         `json:"step,omitempty"`
	After      aftermath    `json:"after,omitempty"`
	Progress   string       `json:"progress"`
	ProgressAt time.Time    `json:"progressAt,omitzero"`
	ResetAt    time.Time    `json:"resetAt,omitzero"`
	Override   bootOverride `json:"override"`
	Disk       string       `json:"disk,omitempty"`
	Running    string       `json:"running,omitempty"` // the system that runs or is being booted
	Program    *Program     `json:"program,omitempty"` // the program that runs, with its image resolved
	Installed  bool         `json:"installed,omitempty"`
	AssetTag   string       `json:"assetTag,omitempty"`
	LED        string       `json:"led"`
	Media      media        `json:"media"`
	NoMains    bool         `json:"noMains,omitempty"`
	BeforeCut  PowerState   `json:"beforeCut,omitempty"`
	Restore    string       `json:"restore"`
}

// Machine is one simulated server.
type Machine struct {
	rack     *Rack
	bmc      *BMC
	id       string
	spec     MachineSpec
	hardware Hardware
	state    machineState
	due      *clock.Appointment // end of the current step
	lag      *clock.Appointment // a boot override on its way
	resetAt  time.Time          // when a reset was last taken
}

// ID returns the machine's Redfish Id.
func (m *Machine) ID() string { return m.id }

// UUID returns the system UUID, empty where it has none.
func (m *Machine) UUID() string { return m.spec.UUID }

// BMC returns the BMC the machine is behind.
func (m *Machine) BMC() *BMC { return m.bmc }

// MachineStatus is a machine as somebody who stands in front of it sees it, whatever its BMC tells.
type MachineStatus struct {
	BMC      string     `json:"bmc"`
	Machine  string     `json:"machine"`
	UUID     string     `json:"uuid,omitempty"`
	Power    PowerState `json:"power"`
	Progress string     `json:"bootProgress"`
	Running  string     `json:"running,omitempty"` // what is booting or running
	Disk     string     `json:"disk,omitempty"`    // what is installed
	AssetTag string     `json:"assetTag,omitempty"`
	LED      string     `json:"led"`
	Media    string     `json:"media,omitempty"`
	Override string     `json:"override,omitempty"` // "Once Pxe"; empty when disabled
	NoMains  bool       `json:"noMains,omitempty"`
}

// Status returns the machine as it is now.
func (m *Machine) Status() MachineStatus {
	defer m.rack.enter()()
	return m.status()
}

func (m *Machine) status() MachineStatus {
	s := &m.state
	status := MachineStatus{
		BMC: m.bmc.spec.Name, Machine: m.id, UUID: m.spec.UUID, Power: s.Power, Progress: s.Progress,
		Running: s.Running, Disk: s.Disk, AssetTag: s.AssetTag, LED: s.LED, Media: s.Media.Image, NoMains: s.NoMains,
	}
	if s.Override.Enabled != overrideDisabled {
		status.Override = s.Override.Enabled + " " + s.Override.Target
	}
	return status
}

// Power returns the machine's true power state.
func (m *Machine) Power() PowerState { return m.Status().Power }

// SetNetboot replaces what this machine finds when it boots from the network.
func (m *Machine) SetNetboot(program Program) {
	defer m.rack.enter()()
	m.spec.Netboot = &program
}

// SetDisk puts an installed system on the machine's disk, or with "" takes it away.
func (m *Machine) SetDisk(system string) {
	defer m.rack.enter()()
	m.state.Disk = system
	m.changed()
}

// PowerOffByTenant switches the machine off at once from within, as its running system may.
func (m *Machine) PowerOffByTenant() {
	defer m.rack.enter()()
	m.becomeOff(m.rack.now(), cause{by: byTenant})
}

// RebootByTenant restarts the machine from within; its power stays on. It does nothing to one that is
// not on.
func (m *Machine) RebootByTenant() {
	defer m.rack.enter()()
	if m.state.Power == PowerOn {
		m.startPOST(m.rack.now(), cause{by: byTenant})
	}
}

// CutPower takes the machine's mains away: it is off at once and stays off. Its BMC stays up; see
// [BMC.CutPower] for the whole chassis.
func (m *Machine) CutPower() {
	defer m.rack.enter()()
	m.cutPower(m.rack.now())
}

// ReturnPower gives the mains back; the machine follows its restore policy.
func (m *Machine) ReturnPower() {
	defer m.rack.enter()()
	m.returnPower(m.rack.now())
}

func (m *Machine) cutPower(at time.Time) {
	if m.state.NoMains {
		return
	}
	m.state.NoMains = true
	m.state.BeforeCut = m.state.Power
	m.becomeOff(at, cause{by: byPowerCut})
	m.changed()
}

func (m *Machine) returnPower(at time.Time) {
	if !m.state.NoMains {
		return
	}
	m.state.NoMains = false
	m.changed()
	was := m.state.BeforeCut == PowerOn || m.state.BeforeCut == PoweringOn
	if policy := RestorePolicy(m.state.Restore); policy == RestoreOn || policy == RestoreLast && was {
		m.powerOn(at, cause{by: byPowerReturn})
	}
}

// changed notes that the machine must be saved and that event streams should hear of it.
func (m *Machine) changed() {
	m.rack.markDirty(m.bmc)
	m.bmc.publish(m)
}
