// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/conformance"
	"github.com/holdfast-dev/holdfast/internal/provider/redfish"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// TestConformance runs the suite of all metal providers over the simulator, in the shapes a BMC comes in.
func TestConformance(t *testing.T) {
	for _, shape := range []struct {
		name      string
		profile   func(*sim.Profile)
		behaviour sim.Behaviour
	}{
		{name: "sessions"},
		{name: "basic authentication only (B166)", profile: func(p *sim.Profile) { p.NoSessionService = true }},
		{name: "reset types by ActionInfo, collections in pages (B027, B137)", profile: func(p *sim.Profile) { p.ActionInfo, p.PageSize = true, 1 }},
		{name: "no ETags", profile: func(p *sim.Profile) { p.NoETags = true }},
		{name: "If-Match demanded", behaviour: sim.Behaviour{RequireIfMatch: true}},
		{name: "transitions hidden, resets that change nothing refused (B030, B033)", behaviour: sim.Behaviour{HideTransitions: true, RefuseNoopReset: true}},
		{name: "ejected media shown for a while (B113)", behaviour: sim.Behaviour{EjectLag: sim.Duration(20 * time.Second)}},
		{name: "media as tasks", behaviour: sim.Behaviour{AsyncMedia: true, TaskDuration: sim.Duration(3 * time.Second)}},
		{name: "resets as tasks (B144)", behaviour: sim.Behaviour{AsyncReset: true, TaskDuration: sim.Duration(time.Millisecond)}},
	} {
		t.Run(shape.name, func(t *testing.T) {
			conformance.Run(t, func(t testing.TB, start conformance.Start) conformance.Machine {
				profile := sim.Conforming()
				if shape.profile != nil {
					shape.profile(&profile)
				}
				return newMachine(t, start, sim.BMCSpec{Profile: &profile, Behaviour: shape.behaviour})
			})
		})
	}
}

const password = "canary-password"

var timing = sim.Timing{
	PowerOn: time.Second, PowerOff: 2 * time.Second, Shutdown: 10 * time.Second, POST: 20 * time.Second,
	OSBoot: 30 * time.Second, Pause: 5 * time.Second, BMCBoot: time.Minute,
}

// machine is a simulated machine with its own rack, clock and pool.
type machine struct {
	*sim.Machine
	rack  *sim.Rack
	clock *sim.ManualClock
	bmc   *redfish.BMC
	model sim.Profile
}

func newMachine(t testing.TB, start conformance.Start, spec sim.BMCSpec) *machine {
	t.Helper()
	clock := sim.NewManualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	rack, err := sim.NewRack(sim.Config{Clock: clock, Timing: &timing, OwnListeners: true})
	if err != nil {
		t.Fatal(err)
	}
	spec.Name, spec.Username, spec.Password = "bmc-1", "operator", password
	spec.Systems = []sim.MachineSpec{{Power: sim.PowerState(start.Power), AssetTag: start.AssetTag, Disk: "linux"}}
	device, err := rack.AddBMC(spec)
	if err != nil {
		t.Fatal(err)
	}
	pool := redfish.NewPool(redfish.Options{Clock: clock.Now})
	bmc, err := pool.BMC("bmc-1", redfish.Endpoint{URL: device.Endpoint(), TLS: redfish.TLSConfig{CABundle: rack.CAPEM()}},
		redfish.Credentials{Username: "operator", Password: password, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = device.SetReach(sim.ReachUp)
		device.ClearFaults()
		if err := pool.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Errorf("close: %v", err)
		}
		if err := rack.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	m := &machine{Machine: device.Machines()[0], rack: rack, clock: clock, bmc: bmc, model: sim.Conforming()}
	if spec.Profile != nil {
		m.model = *spec.Profile
	}
	return m
}

func (m *machine) Observer() provider.Observer { return m.bmc.Observer() }
func (m *machine) Actor() provider.Actor       { return m.bmc.Actor() }
func (m *machine) Ref() provider.SystemRef     { return provider.SystemRef{UUID: m.UUID(), ID: m.ID()} }
func (m *machine) Power() provider.PowerState  { return provider.PowerState(m.Machine.Power()) }
func (m *machine) AssetTag() string            { return m.Status().AssetTag }
func (m *machine) Settle()                     { m.clock.Advance(10 * time.Minute) }
func (m *machine) SwitchOff()                  { m.PowerOffByTenant(); m.Settle() }
func (m *machine) RefusedLogins() int          { return m.BMC().AuthStats().Failures }
func (m *machine) Secrets() []string           { return []string{password} }
func (m *machine) Indicator() provider.IndicatorLED {
	return provider.IndicatorLED(m.Status().LED)
}

func (m *machine) Lacks(feature conformance.Feature) bool {
	switch feature {
	case conformance.MediaDrive:
		return len(m.model.Media.Slots) == 0
	case conformance.HTTPBoot:
		return !slices.Contains(m.model.BootTargets, "UefiHttp") || slices.Contains(m.model.Without, "HttpBootUri")
	}
	return false
}

func (m *machine) Media() string { return m.Status().Media }

func (m *machine) Booted() []string {
	var out []string
	for _, e := range m.rack.MachineLog(sim.EventFilter{Kinds: []sim.EventKind{sim.EventBoot}}) {
		out = append(out, e.Detail)
	}
	return out
}

func (m *machine) Override() provider.BootOverride {
	enabled, target, _ := strings.Cut(m.Status().Override, " ")
	return provider.BootOverride{Enabled: provider.BootEnabled(enabled), Target: provider.BootTarget(target)}
}

func (m *machine) Writes() int {
	requests, err := m.rack.Requests(sim.RequestFilter{BMC: "bmc-1"})
	if err != nil {
		panic(err)
	}
	n := 0
	for _, r := range requests {
		asking := r.Status == http.StatusPreconditionRequired || r.Status == http.StatusPreconditionFailed
		if r.Method != http.MethodGet && !strings.Contains(r.Path, "/Sessions") && !asking {
			n++
		}
	}
	return n
}

func (m *machine) Break(trouble conformance.Trouble) {
	device := m.BMC()
	switch trouble {
	case conformance.Unreachable:
		m.must(device.SetReach(sim.ReachRefused))
	case conformance.Silent:
		m.must(device.SetReach(sim.ReachSilent))
	case conformance.LosesReply:
		m.inject(sim.Fault{Kind: sim.FaultDropReply, Method: "POST|PATCH", Path: "Systems|Managers"})
	case conformance.Fails:
		m.inject(sim.Fault{Kind: sim.FaultStatus, Status: http.StatusInternalServerError})
	case conformance.Busy:
		m.inject(sim.Fault{Kind: sim.FaultStatus, Status: http.StatusServiceUnavailable, RetryAfter: int(conformance.RetryAfter / time.Second)})
	case conformance.WrongCredentials:
		device.SetCredentials("operator", "another")
		device.EndSessions()
	case conformance.CutsAnswers:
		m.inject(sim.Fault{Kind: sim.FaultTruncate, Method: "GET"})
	case conformance.AltersTags:
		device.Behave(func(b *sim.Behaviour) { b.AssetTag, b.AssetTagLength = sim.AssetTagTruncated, 8 })
	case conformance.FailsTasks:
		device.Behave(func(b *sim.Behaviour) { b.TaskFails = true })
	case conformance.IgnoresResets:
		device.Behave(func(b *sim.Behaviour) { b.IgnoreReset = true })
	}
}

func (m *machine) Repair() {
	m.must(m.BMC().SetReach(sim.ReachUp))
	m.BMC().ClearFaults()
}

func (m *machine) inject(f sim.Fault) {
	_, err := m.BMC().Inject(f)
	m.must(err)
}

func (m *machine) must(err error) {
	if err != nil {
		panic(err)
	}
}
