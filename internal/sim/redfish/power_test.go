// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func TestPowerOnGoesThroughPOSTToTheInstalledSystem(t *testing.T) {
	b := newBench(t, withMachines(redfish.MachineSpec{Disk: "debian"}))
	b.wantPower(redfish.PowerOff)
	b.reset("On", http.StatusNoContent)
	b.wantPower(redfish.PoweringOn)
	b.clock.Advance(timing.PowerOn)
	b.wantPower(redfish.PowerOn)
	b.wantProgress("PrimaryProcessorInitializationStarted")
	b.clock.Advance(timing.POST)
	b.wantProgress("OSBootStarted")
	b.clock.Advance(timing.OSBoot)
	b.wantProgress("OSRunning")

	at := func(d time.Duration) time.Time { return start.Add(d) }
	want := []redfish.Event{
		{At: at(0), Kind: "Reset", To: "On", By: "redfish", Arrived: at(0)},
		{At: at(0), Kind: "Power", From: "Off", To: "PoweringOn", By: "redfish", Arrived: at(0)},
		{At: at(timing.PowerOn), Kind: "Power", From: "PoweringOn", To: "On"},
		{At: at(timing.PowerOn + timing.POST), Kind: "Boot", Source: "Hdd", Detail: "debian"},
		{At: at(bootTime), Kind: "Running", Detail: "debian"},
	}
	if diff := cmp.Diff(want, b.events(), cmpopts.IgnoreUnexported(redfish.Event{})); diff != "" {
		t.Errorf("machine log (-want +got):\n%s", diff)
	}
}

func TestStepsKeepTheirPaceHoweverLateTheyAreSeen(t *testing.T) {
	b := newBench(t, withMachines(redfish.MachineSpec{Disk: "debian"}))
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	b.wantProgress("OSRunning")
	if got := b.events(redfish.EventRunning); len(got) != 1 || !got[0].At.Equal(start.Add(bootTime)) {
		t.Errorf("running events %v, want one at %v", got, start.Add(bootTime))
	}
}

func TestResetTypes(t *testing.T) {
	type step struct {
		after time.Duration
		power redfish.PowerState
	}
	for _, test := range []struct {
		kind  string
		steps []step
		boots int
	}{
		{"ForceOff", []step{{0, "PoweringOff"}, {timing.PowerOff, "Off"}}, 0},
		{"GracefulShutdown", []step{{0, "PoweringOff"}, {timing.PowerOff, "PoweringOff"}, {timing.Shutdown, "Off"}}, 0},
		{"PushPowerButton", []step{{0, "PoweringOff"}, {timing.Shutdown, "Off"}}, 0},
		{"GracefulRestart", []step{{0, "On"}, {timing.Shutdown, "On"}, {timing.POST + timing.OSBoot, "On"}}, 1},
		{"ForceRestart", []step{{0, "On"}, {timing.POST + timing.OSBoot, "On"}}, 1},
		{"PowerCycle", []step{{0, "PoweringOff"}, {timing.PowerOff, "Off"}, {timing.Pause, "PoweringOn"}, {bootTime, "On"}}, 1},
		{"On", []step{{0, "On"}, {time.Hour, "On"}}, 0},
		{"Nmi", []step{{0, "On"}, {time.Hour, "On"}}, 0},
	} {
		t.Run(test.kind, func(t *testing.T) {
			b := newBench(t, running())
			b.reset(test.kind, http.StatusNoContent)
			for _, s := range test.steps {
				b.clock.Advance(s.after)
				b.wantPower(s.power)
			}
			if got := len(b.events(redfish.EventBoot)); got != test.boots {
				t.Errorf("%d boots, want %d", got, test.boots)
			}
		})
	}
}

func TestForceOffEndsAGracefulShutdownThatHangs(t *testing.T) {
	b := newBench(t, running())
	b.reset("GracefulShutdown", http.StatusNoContent)
	b.clock.Advance(timing.Shutdown - time.Second)
	b.reset("ForceOff", http.StatusNoContent)
	b.clock.Advance(timing.PowerOff - time.Millisecond) // the shutdown would be over by now
	b.wantPower(redfish.PoweringOff)
	b.clock.Advance(time.Millisecond)
	b.wantPower(redfish.PowerOff)
	b.clock.Advance(time.Hour)
	b.wantPower(redfish.PowerOff)
}

func TestOnWhileGoingDownIsAConflictAndNotRemembered(t *testing.T) { // B030, B033
	b := newBench(t, running())
	b.reset("ForceOff", http.StatusNoContent)
	if a := b.reset("On", http.StatusConflict); a.Header.Get("Retry-After") == "" {
		t.Error("409 without Retry-After")
	}
	b.clock.Advance(time.Hour)
	b.wantPower(redfish.PowerOff)
}

func TestRestartsOfAMachineThatIsOffAreRefused(t *testing.T) {
	b := newBench(t)
	for _, kind := range []string{"ForceRestart", "GracefulRestart", "PowerCycle", "Nmi"} {
		b.reset(kind, http.StatusConflict)
	}
	b.wantPower(redfish.PowerOff)
	if got := b.events(redfish.EventReset); len(got) != 0 {
		t.Errorf("refused resets are in the machine log: %v", got)
	}
}

func TestResetParametersAreChecked(t *testing.T) {
	b := newBench(t, running())
	b.reset("Explode", http.StatusBadRequest)
	b.do("POST", resetTarget, map[string]any{}, http.StatusBadRequest)
	b.do("POST", resetTarget, map[string]any{"ResetType": 7}, http.StatusBadRequest)
	b.wantPower(redfish.PowerOn)
}

func TestShutdownIsIgnoredWithoutAListeningSystem(t *testing.T) {
	b := newBench(t, withMachines(redfish.MachineSpec{Disk: "debian"}))
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(timing.PowerOn)
	b.reset("GracefulShutdown", http.StatusNoContent) // in POST
	b.clock.Advance(time.Hour)
	b.wantPower(redfish.PowerOn)

	b.bmc.Behave(func(h *redfish.Behaviour) { h.IgnoreShutdown = true })
	b.reset("GracefulShutdown", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	b.wantPower(redfish.PowerOn)
	if got := b.events(redfish.EventIgnored); len(got) != 2 {
		t.Errorf("%d ignored events, want 2: %v", len(got), got)
	}
}

func TestTenantSwitchesItselfOffAndReboots(t *testing.T) {
	b := newBench(t, running())
	b.machine().RebootByTenant()
	b.clock.Advance(timing.POST + timing.OSBoot)
	b.wantProgress("OSRunning")
	b.machine().PowerOffByTenant()
	b.wantPower(redfish.PowerOff)
	b.machine().RebootByTenant()
	b.wantPower(redfish.PowerOff)
	got := b.events(redfish.EventPower, redfish.EventRestart)
	if len(got) != 2 || got[0].By != "tenant" || got[1].By != "tenant" || got[1].To != "Off" {
		t.Errorf("events %v, want a restart and a power-off by the tenant", got)
	}
}

func TestPowerCutFollowsTheRestorePolicy(t *testing.T) {
	for policy, want := range map[redfish.RestorePolicy][2]redfish.PowerState{ // was On, was Off
		redfish.RestoreOn: {"On", "On"}, redfish.RestoreOff: {"Off", "Off"}, redfish.RestoreLast: {"On", "Off"}, "": {"On", "Off"},
	} {
		t.Run("policy "+string(policy), func(t *testing.T) {
			b := newBench(t, withMachines(
				redfish.MachineSpec{Power: redfish.PowerOn, Restored: policy}, redfish.MachineSpec{Restored: policy}))
			b.bmc.CutPower()
			if got := b.bmc.Machine("1").Power(); got != redfish.PowerOff {
				t.Errorf("without mains the machine is %s", got)
			}
			if _, err := b.try("GET", system, nil); err == nil {
				t.Error("the BMC answers without mains")
			}
			b.bmc.ReturnPower()
			b.clock.Advance(timing.BMCBoot)
			got := [2]redfish.PowerState{b.bmc.Machine("1").Power(), b.bmc.Machine("2").Power()}
			if got != want {
				t.Errorf("after the cut %v, want %v", got, want)
			}
			b.get(system)
		})
	}
}

func TestMachineWithoutMainsCannotBeSwitchedOn(t *testing.T) {
	b := newBench(t, running())
	b.machine().CutPower()
	b.reset("On", http.StatusServiceUnavailable)
	b.wantPower(redfish.PowerOff)
	b.machine().ReturnPower()
	b.clock.Advance(timing.PowerOn)
	b.wantPower(redfish.PowerOn)
}

func TestBehavioursOfPower(t *testing.T) {
	t.Run("ignored resets", func(t *testing.T) { // B034
		b := newBench(t, running())
		b.bmc.Behave(func(h *redfish.Behaviour) { h.IgnoreReset = true })
		b.reset("ForceOff", http.StatusNoContent)
		b.clock.Advance(time.Hour)
		b.wantPower(redfish.PowerOn)
	})
	t.Run("hidden transitions", func(t *testing.T) { // B030, B037
		b := newBench(t, running())
		b.bmc.Behave(func(h *redfish.Behaviour) { h.HideTransitions = true })
		b.reset("ForceOff", http.StatusNoContent)
		if got := b.get(system)["PowerState"]; got != "On" {
			t.Errorf("while going down it reads %v, want On", got)
		}
		b.clock.Advance(timing.PowerOff)
		b.wantPower(redfish.PowerOff)
	})
	t.Run("no-op resets refused", func(t *testing.T) { // B033
		b := newBench(t, running())
		b.bmc.Behave(func(h *redfish.Behaviour) { h.RefuseNoopReset = true })
		b.reset("On", http.StatusConflict)
		b.reset("ForceOff", http.StatusNoContent)
		b.clock.Advance(timing.PowerOff)
		b.reset("ForceOff", http.StatusConflict)
	})
	t.Run("blank after a BMC restart", func(t *testing.T) { // B018
		b := newBench(t, running())
		b.bmc.Behave(func(h *redfish.Behaviour) { h.BlankAfterReboot = redfish.Duration(20 * time.Second) })
		b.bmc.Reboot()
		b.clock.Advance(timing.BMCBoot)
		if doc := b.get(system); doc["PowerState"] != "Off" || pick(t, doc, "BootProgress", "LastState") != "None" {
			t.Errorf("a blank BMC tells %v %v", doc["PowerState"], doc["BootProgress"])
		}
		b.clock.Advance(20 * time.Second)
		b.wantPower(redfish.PowerOn)
	})
}
