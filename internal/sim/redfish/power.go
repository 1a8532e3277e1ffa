// SPDX-License-Identifier: Apache-2.0

package redfish

import "time"

// begin puts the machine into a step that ends after d, and forgets the step it was in.
func (m *Machine) begin(s step, at time.Time, d time.Duration) {
	m.rack.cancel(m.due)
	m.state.Step = s
	m.due = nil
	if s != stepRest {
		m.due = m.rack.schedule(at.Add(d), m.finishStep)
	}
	m.changed()
}

// finishStep is called when the current step is over.
func (m *Machine) finishStep(at time.Time) {
	m.due = nil
	switch m.state.Step {
	case stepPowerOn:
		m.setPower(at, PowerOn, cause{})
		m.startPOST(at, cause{})
	case stepPOST:
		m.chooseBootDevice(at)
	case stepOSBoot:
		m.setProgress(at, progressRunning)
		m.record(Event{At: at, Kind: EventRunning, Detail: m.state.Running})
		m.begin(stepRest, at, 0)
	case stepProgram:
		m.finishProgram(at)
	case stepShutdown:
		if m.state.After == warmBoot {
			m.startPOST(at, cause{})
			return
		}
		m.becomeOff(at, cause{})
	case stepPowerOff:
		after := m.state.After
		m.becomeOff(at, cause{})
		if after == coldBoot {
			m.begin(stepPause, at, m.bmc.timing().Pause)
		}
	case stepPause:
		m.powerOn(at, cause{})
	case stepRest: // has no end
	}
}

func (m *Machine) setPower(at time.Time, to PowerState, why cause) {
	from := m.state.Power
	if from == to {
		return
	}
	m.state.Power = to
	m.record(Event{At: at, Kind: EventPower, From: string(from), To: string(to), cause: why})
	m.changed()
}

func (m *Machine) setProgress(at time.Time, progress string) {
	m.state.Progress = progress
	m.state.ProgressAt = at
	m.changed()
}

// powerOn switches an idle machine on. Without mains nothing happens.
func (m *Machine) powerOn(at time.Time, why cause) {
	if m.state.Power != PowerOff || m.state.NoMains {
		return
	}
	m.state.ResetAt = at
	m.state.Installed = false
	m.setPower(at, PoweringOn, why)
	m.begin(stepPowerOn, at, m.bmc.timing().PowerOn)
}

// startPOST begins firmware initialisation, at power-on and on every warm restart.
func (m *Machine) startPOST(at time.Time, why cause) {
	if why.by != "" {
		m.record(Event{At: at, Kind: EventRestart, cause: why})
	}
	m.state.ResetAt = at
	m.state.After = stayOff
	m.state.Running, m.state.Program = "", nil
	m.setPower(at, PowerOn, cause{})
	m.setProgress(at, progressStart)
	m.begin(stepPOST, at, m.bmc.timing().POST)
}

// becomeOff is the moment at which the machine has no power any more.
func (m *Machine) becomeOff(at time.Time, why cause) {
	if m.state.Power == PowerOff && m.state.Step == stepRest {
		return
	}
	m.state.After = stayOff
	m.state.Running, m.state.Program = "", nil
	m.setProgress(at, progressNone)
	m.setPower(at, PowerOff, why)
	m.begin(stepRest, at, 0)
}

// forceOff takes the power away without asking the system.
func (m *Machine) forceOff(at time.Time, after aftermath, why cause) {
	if m.state.Power == PowerOff && m.state.Step == stepRest {
		return
	}
	if m.state.Power == PowerOff { // in the pause of a power cycle
		m.begin(stepRest, at, 0)
		return
	}
	m.state.After = after
	m.setPower(at, PoweringOff, why)
	m.begin(stepPowerOff, at, m.bmc.timing().PowerOff)
}

// shutDown asks the running system to end. Without one that listens nothing happens.
func (m *Machine) shutDown(at time.Time, after aftermath, why cause) {
	if m.state.Progress != progressRunning || m.state.Step != stepRest || m.bmc.behaviour.IgnoreShutdown {
		m.record(Event{At: at, Kind: EventIgnored, Detail: "shutdown", cause: why})
		return
	}
	m.state.After = after
	if after == stayOff {
		m.setPower(at, PoweringOff, why)
	} else {
		m.record(Event{At: at, Kind: EventRestart, cause: why})
	}
	m.begin(stepShutdown, at, m.bmc.timing().Shutdown)
}
