// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// Rack watches the machines of a simulated rack.
type Rack struct {
	rack     *redfish.Rack
	last     entry
	machines map[string]*metal
	begun    []judge.Event // what ran before anybody watched: without a time, so before all else
}

// metal is what the log has told of a machine.
type metal struct {
	on    bool
	disk  string
	drive string
}

// NewRack watches a rack from now on. Make it when the machines are there and before anybody does anything to them.
func NewRack(rack *redfish.Rack) *Rack {
	w := &Rack{rack: rack, machines: map[string]*metal{}}
	for _, e := range rack.MachineLog(redfish.EventFilter{}) {
		w.last = entry(e.Seq)
	}
	for _, bmc := range rack.BMCs() {
		for _, m := range bmc.Machines() {
			s := m.Status()
			w.machines[MachineID(s.BMC, s.Machine)] = &metal{on: s.Power == redfish.PowerOn, disk: s.Disk, drive: s.Media}
			if s.Power == redfish.PowerOn {
				w.begun = append(w.begun, judge.Event{
					Kind: judge.Ran, Machine: MachineID(s.BMC, s.Machine), Tenant: tenantOfImage(s.Running), Detail: s.Running,
				})
			}
		}
	}
	return w
}

// Drain returns what happened since the last time, oldest first. It fails when the log has a gap: then nothing can be judged.
func (w *Rack) Drain() ([]judge.Event, error) {
	events := w.begun
	w.begun = nil
	log := w.rack.MachineLog(redfish.EventFilter{After: uint64(w.last)})
	for i := range log {
		if err := w.last.follow(log[i].Seq); err != nil {
			return events, fmt.Errorf("machine log: %w", err)
		}
		if log[i].Machine != "" {
			events = append(events, w.translate(&log[i], log[i+1:])...)
		}
	}
	return events, nil
}

// translate makes events of an entry of the log. It is told what comes next.
func (w *Rack) translate(e *redfish.Event, next []redfish.Event) []judge.Event {
	id := MachineID(e.BMC, e.Machine)
	m := w.machines[id]
	if m == nil { // it came later
		m = &metal{}
		w.machines[id] = m
	}
	told := judge.Event{At: e.At, Arrived: e.Arrived, Machine: id, Detail: e.By}
	translator := map[redfish.EventKind]func(*redfish.Event, judge.Event) []judge.Event{
		redfish.EventReset: m.reset, redfish.EventPower: m.power, redfish.EventOverride: m.override, redfish.EventMedia: m.media,
		redfish.EventInstall: m.install, redfish.EventRunning: running,
	}[e.Kind]
	switch {
	case e.Kind == redfish.EventBoot && !handsOver(e, next):
		return booted(e, told)
	case translator != nil:
		return translator(e, told)
	}
	return nil
}

// reset is by what was asked, not by what came of it.
func (m *metal) reset(e *redfish.Event, told judge.Event) []judge.Event {
	told.Detail = e.To
	switch e.To {
	case "On", "ForceOn":
		told.Kind = judge.PoweredOn
	case "ForceOff", "GracefulShutdown":
		told.Kind = judge.PoweredOff
	case "PushPowerButton":
		told.Kind = judge.PoweredOn
		if m.on {
			told.Kind = judge.PoweredOff
		}
	default: // restarts, and what would crash a system
		told.Kind = judge.Reset
	}
	return []judge.Event{told}
}

// power tells when a machine leaves Off and when it is Off again; what is between is on.
func (m *metal) power(e *redfish.Event, told judge.Event) []judge.Event {
	off := e.To == string(redfish.PowerOff)
	if off == !m.on {
		return nil
	}
	m.on = !off
	told.Kind = judge.WentOn
	if off {
		told.Kind = judge.WentOff
	}
	return []judge.Event{told}
}

// override reads how the log shows an override: when, what, mode and perhaps a URI. One for a virtual drive is for what is in it.
func (m *metal) override(e *redfish.Event, told judge.Event) []judge.Event {
	told.Kind, told.Detail = judge.Disarmed, e.To
	words := strings.Fields(e.To)
	if len(words) > 1 && !slices.Contains([]string{"None", "Hdd", "UefiHdd", "BiosSetup"}, words[1]) {
		told.Kind = judge.Armed
		told.Tenant = tenantOfImage(words[len(words)-1])
		if told.Tenant == "" && fromDrive(words[1]) {
			told.Tenant = tenantOfImage(m.drive)
		}
	}
	return []judge.Event{told}
}

func fromDrive(target string) bool { return strings.Contains(strings.ToLower(target), "cd") }

func (m *metal) media(e *redfish.Event, told judge.Event) []judge.Event {
	m.drive = e.To
	var events []judge.Event
	for _, change := range []struct {
		kind  judge.Kind
		image string
	}{{judge.MediaEjected, e.From}, {judge.MediaInserted, e.To}} {
		if change.image != "" {
			told.Kind, told.Tenant, told.Detail = change.kind, tenantOfImage(change.image), change.image
			events = append(events, told)
		}
	}
	return events
}

// booted tells of a program from network or drive; what is on the disk is told when it is up.
func booted(e *redfish.Event, told judge.Event) []judge.Event {
	if e.Source == "Hdd" || e.Source == "BiosSetup" {
		return nil
	}
	told.Kind, told.Tenant, told.Detail = judge.NetworkBoot, tenantOfImage(e.Detail), e.Detail
	return []judge.Event{told}
}

// handsOver says that a program, having done its work since power-on, boots the disk instead of doing it again: the log tells both, one
// after the other.
func handsOver(e *redfish.Event, next []redfish.Event) bool {
	return len(next) > 0 && next[0].BMC == e.BMC && next[0].Machine == e.Machine && next[0].At.Equal(e.At) &&
		next[0].Kind == redfish.EventBoot && next[0].Source == "Hdd"
}

func (m *metal) install(e *redfish.Event, told judge.Event) []judge.Event {
	m.disk = e.Detail
	told.Kind, told.Tenant, told.Detail = judge.Installed, tenantOfImage(e.Detail), e.Detail
	return []judge.Event{told}
}

func running(e *redfish.Event, told judge.Event) []judge.Event {
	told.Kind, told.Tenant, told.Detail = judge.Began, tenantOfImage(e.Detail), e.Detail
	return []judge.Event{told}
}

// Compare fails where what the log told until the last Drain is not what is there: it lost something, or somebody changed a machine
// behind its back.
func (w *Rack) Compare() error {
	for _, bmc := range w.rack.BMCs() {
		for _, machine := range bmc.Machines() {
			s := machine.Status()
			m := w.machines[MachineID(s.BMC, s.Machine)]
			if m == nil {
				m = &metal{}
			}
			if s.Disk != m.disk || s.Media != m.drive {
				return fmt.Errorf("machine %s has %q on its disk and %q in its drive; its log told of %q and %q",
					MachineID(s.BMC, s.Machine), s.Disk, s.Media, m.disk, m.drive)
			}
		}
	}
	return nil
}
