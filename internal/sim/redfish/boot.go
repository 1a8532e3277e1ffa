// SPDX-License-Identifier: Apache-2.0

package redfish

import "time"

// The values of BootSourceOverrideEnabled and the targets the simulator treats apart.
const (
	overrideDisabled   = "Disabled"
	overrideOnce       = "Once"
	overrideContinuous = "Continuous"

	targetNone     = "None"
	targetPXE      = "Pxe"
	targetUEFIHTTP = "UefiHttp"
	targetCD       = "Cd"
	targetUSBCD    = "UsbCd"
	targetUEFICD   = "UefiCd"
	targetCDDVD    = "CD/DVD"
	targetUEFIUSB  = "UefiUsbCd"
	targetUEFIDisk = "UefiHdd"
	targetDisk     = "Hdd"
	targetSetup    = "BiosSetup"
)

// bootOverride is Redfish's one-time or lasting choice of boot source.
type bootOverride struct {
	Enabled string `json:"enabled"`
	Target  string `json:"target"`
	Mode    string `json:"mode"`
	URI     string `json:"uri,omitempty"`
}

// media is what is in a machine's slots of virtual media.
type media struct {
	Image     string    `json:"image,omitempty"`
	Inserted  bool      `json:"inserted,omitempty"`
	ShownTill time.Time `json:"shownTill,omitzero"` // ejected, but still shown (Behaviour.EjectLag)
	ShownAs   string    `json:"shownAs,omitempty"`
	Slot      string    `json:"slot,omitempty"` // where it is
}

// chooseBootDevice is the end of POST: a Once override is used up, whatever comes of it, and where the
// chosen source has nothing to offer the firmware falls through to the disk, as firmware does.
func (m *Machine) chooseBootDevice(at time.Time) {
	m.setProgress(at, progressPOST)
	used := m.state.Override
	if used.Enabled == overrideOnce {
		m.state.Override = bootOverride{Enabled: overrideDisabled, Target: targetNone, Mode: used.Mode}
	}
	if used.Enabled == overrideDisabled || used.Enabled == "" {
		used.Target = targetDisk
	}
	switch used.Target {
	case targetPXE, targetUEFIHTTP:
		program := m.netboot()
		if program.Image == "" {
			program.Image = orElse(used.URI, "netboot")
		}
		if m.startProgram(at, used, program) {
			return
		}
	case targetCD, targetUSBCD, targetUEFICD, targetCDDVD, targetUEFIUSB:
		if m.hasBootableCD() && m.startProgram(at, used, m.mediaProgram()) {
			return
		}
	case targetSetup:
		m.record(Event{At: at, Kind: EventBoot, Source: targetSetup, Override: used.Enabled})
		m.setProgress(at, progressSetup)
		m.begin(stepRest, at, 0)
		return
	}
	m.bootDisk(at, used)
}

func (m *Machine) bootDisk(at time.Time, used bootOverride) {
	if used.Target != targetDisk && used.Target != targetUEFIDisk && used.Target != targetNone {
		m.record(Event{At: at, Kind: EventBootFailed, Source: used.Target, Override: used.Enabled, Detail: used.URI})
	}
	if m.state.Disk == "" {
		m.record(Event{At: at, Kind: EventBootFailed, Source: targetDisk, Detail: "nothing installed"})
		m.begin(stepRest, at, 0)
		return
	}
	m.state.Running = m.state.Disk
	m.record(Event{At: at, Kind: EventBoot, Source: targetDisk, Detail: m.state.Disk})
	m.setProgress(at, progressBoot)
	m.begin(stepOSBoot, at, m.bmc.timing().OSBoot)
}

// startProgram boots a program from network or media, unless there is none. An installer that has done
// its work since power-on hands over to the disk, as boot services do: a Continuous override would
// install for ever otherwise.
func (m *Machine) startProgram(at time.Time, used bootOverride, program Program) bool {
	if program.Then == ThenNothing {
		return false
	}
	m.record(Event{At: at, Kind: EventBoot, Source: used.Target, Override: used.Enabled, Detail: program.Image})
	if m.state.Installed && program.Then != ThenRun {
		m.bootDisk(at, bootOverride{Target: targetDisk})
		return true
	}
	m.state.Program = &program
	m.state.Running = program.Image
	m.setProgress(at, progressBoot)
	if program.Then == ThenRun {
		m.begin(stepOSBoot, at, m.bmc.timing().OSBoot)
	} else {
		m.begin(stepProgram, at, program.Duration)
	}
	return true
}

// finishProgram is the end of an installer.
func (m *Machine) finishProgram(at time.Time) {
	program := m.state.Program
	m.state.Disk = program.Image
	m.state.Installed = true
	m.record(Event{At: at, Kind: EventInstall, Detail: program.Image})
	if program.Then == ThenPowerOff {
		m.becomeOff(at, cause{by: byProgram})
		return
	}
	m.startPOST(at, cause{by: byProgram})
}

func (m *Machine) netboot() Program {
	if m.spec.Netboot != nil {
		return *m.spec.Netboot
	}
	return m.rack.netboot
}

// mediaProgram is the program of the inserted image: it does what the network's would.
func (m *Machine) mediaProgram() Program {
	program := m.netboot()
	program.Image = m.state.Media.Image
	if program.Then == ThenNothing {
		program.Then = ThenReboot
	}
	return program
}

// setOverride takes a new override, now or after the BMC's lag.
func (m *Machine) setOverride(at time.Time, next bootOverride, why cause) {
	m.rack.cancel(m.lag)
	apply := func(at time.Time) {
		m.lag = nil
		from := m.state.Override
		m.state.Override = next
		m.record(Event{At: at, Kind: EventOverride, From: from.String(), To: next.String(), cause: why})
		m.changed()
	}
	if lag := m.bmc.behaviour.OverrideLag.Std(); lag > 0 {
		m.lag = m.rack.schedule(at.Add(lag), apply)
		return
	}
	apply(at)
}

// String is the override as the machine log shows it.
func (o bootOverride) String() string {
	if o.Enabled == overrideDisabled || o.Enabled == "" {
		return overrideDisabled
	}
	return o.Enabled + " " + o.Target + " " + o.Mode + suffix(o.URI)
}

func suffix(uri string) string {
	if uri == "" {
		return ""
	}
	return " " + uri
}

func orElse(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
