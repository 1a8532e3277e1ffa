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

func withNetboot(program redfish.Program) func(*redfish.Config, *redfish.BMCSpec) {
	return func(config *redfish.Config, _ *redfish.BMCSpec) { config.Netboot = &program }
}

func (b *bench) setBoot(boot map[string]any) {
	b.t.Helper()
	b.do("PATCH", system, map[string]any{"Boot": boot}, http.StatusOK)
}

func (b *bench) boot() map[string]any {
	b.t.Helper()
	return b.get(system)["Boot"].(map[string]any)
}

var pxeOnce = map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe", "BootSourceOverrideMode": "UEFI"}

// booted is the story of boots and installs, told shortly.
func (b *bench) booted() []string {
	var story []string
	for _, e := range b.events(redfish.EventBoot, redfish.EventInstall, redfish.EventBootFailed, redfish.EventRunning) {
		line := string(e.Kind)
		for _, word := range []string{e.Source, e.Override, e.Detail} {
			if word != "" {
				line += " " + word
			}
		}
		story = append(story, line)
	}
	return story
}

func (b *bench) wantBooted(want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.booted(), cmpopts.EquateEmpty()); diff != "" {
		b.t.Errorf("boots (-want +got):\n%s", diff)
	}
}

func TestNetworkBootOnceInstallsAndRestartsFromDisk(t *testing.T) {
	b := newBench(t, withNetboot(redfish.Program{Image: "debian-12", Duration: time.Minute}))
	b.setBoot(pxeOnce)
	if got := b.boot()["BootSourceOverrideEnabled"]; got != "Once" {
		t.Fatalf("override reads %v right after the PATCH", got)
	}
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(timing.PowerOn + timing.POST)
	if boot := b.boot(); boot["BootSourceOverrideEnabled"] != "Disabled" || boot["BootSourceOverrideTarget"] != "None" || boot["BootSourceOverrideMode"] != "UEFI" {
		t.Errorf("a used Once override reads %v", boot)
	}
	b.clock.Advance(time.Hour)
	b.wantProgress("OSRunning")
	b.wantBooted("Boot Pxe Once debian-12", "Install debian-12", "Boot Hdd debian-12", "Running debian-12")

	b.reset("ForceRestart", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	b.wantBooted("Boot Pxe Once debian-12", "Install debian-12", "Boot Hdd debian-12", "Running debian-12",
		"Boot Hdd debian-12", "Running debian-12")
}

func TestProgramsEndAsTheySay(t *testing.T) {
	for then, want := range map[redfish.Then]struct {
		power redfish.PowerState
		disk  string
		story []string
	}{
		redfish.ThenPowerOff: {"Off", "img", []string{"Boot Pxe Once img", "Install img"}},
		redfish.ThenRun:      {"On", "old", []string{"Boot Pxe Once img", "Running img"}},
		redfish.ThenNothing:  {"On", "old", []string{"BootFailed Pxe Once", "Boot Hdd old", "Running old"}},
	} {
		t.Run(string(then), func(t *testing.T) {
			b := newBench(t, withNetboot(redfish.Program{Image: "img", Then: then}), withMachines(redfish.MachineSpec{Disk: "old"}))
			b.setBoot(pxeOnce)
			b.reset("On", http.StatusNoContent)
			b.clock.Advance(time.Hour)
			b.wantPower(want.power)
			b.wantBooted(want.story...)
			if got := b.machine().Status().Disk; got != want.disk {
				t.Errorf("disk holds %q, want %q", got, want.disk)
			}
		})
	}
}

func TestContinuousNetworkBootInstallsOnceForEachPowerOn(t *testing.T) { // B104
	b := newBench(t, withNetboot(redfish.Program{Image: "img"}))
	b.setBoot(map[string]any{"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "Pxe"})
	once := []string{"Boot Pxe Continuous img", "Install img", "Boot Pxe Continuous img", "Boot Hdd img", "Running img"}
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	b.wantBooted(once...)
	b.reset("PowerCycle", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	b.wantBooted(append(once, once...)...)
}

func TestPowerLossDuringInstallLeavesTheOldDiskAndAUsedOverride(t *testing.T) {
	b := newBench(t, withNetboot(redfish.Program{Image: "img", Duration: time.Minute}), withMachines(redfish.MachineSpec{Disk: "old"}))
	b.setBoot(pxeOnce)
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(timing.PowerOn + timing.POST + time.Second)
	b.reset("ForceOff", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	b.wantBooted("Boot Pxe Once img")
	if got := b.machine().Status(); got.Disk != "old" || got.Override != "" {
		t.Errorf("status %+v", got)
	}
}

func TestMachineWithNothingToBootStaysInFirmware(t *testing.T) {
	b := newBench(t)
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	b.wantPower(redfish.PowerOn)
	b.wantProgress("SystemHardwareInitializationComplete")
	b.wantBooted("BootFailed Hdd nothing installed")
}

func TestHTTPBootUsesTheURIGiven(t *testing.T) {
	b := newBench(t, withNetboot(redfish.Program{}))
	uri := "http://images.example/debian-12.efi"
	b.setBoot(map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiHttp", "HttpBootUri": uri})
	if got := b.boot()["HttpBootUri"]; got != uri {
		t.Errorf("HttpBootUri reads %v", got)
	}
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(time.Hour)
	b.wantBooted("Boot UefiHttp Once "+uri, "Install "+uri, "Boot Hdd "+uri, "Running "+uri)
}

func TestOverrideThatLagsIsNeitherShownNorUsedBefore(t *testing.T) { // B097
	b := newBench(t, withNetboot(redfish.Program{Image: "img"}), withMachines(redfish.MachineSpec{Disk: "old"}))
	b.bmc.Behave(func(h *redfish.Behaviour) { h.OverrideLag = redfish.Duration(time.Minute) })
	b.setBoot(pxeOnce)
	if got := b.boot()["BootSourceOverrideEnabled"]; got != "Disabled" {
		t.Errorf("override reads %v before its time", got)
	}
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(bootTime)
	b.wantBooted("Boot Hdd old", "Running old")
	b.clock.Advance(time.Minute)
	if got := b.boot()["BootSourceOverrideEnabled"]; got != "Once" {
		t.Errorf("override reads %v after the lag", got)
	}
}

func TestVirtualMediaBootsWhatIsInserted(t *testing.T) {
	for _, owner := range []string{system, "/redfish/v1/Managers/BMC"} {
		t.Run(owner, func(t *testing.T) {
			b := newBench(t)
			slot := owner + "/VirtualMedia/CD"
			image := map[string]any{"Image": "http://images.example/installer.iso"}
			b.do("POST", slot+"/Actions/VirtualMedia.InsertMedia", image, http.StatusNoContent)
			b.do("POST", slot+"/Actions/VirtualMedia.InsertMedia", image, http.StatusConflict)
			if doc := b.get(slot); doc["Inserted"] != true || doc["Image"] != image["Image"] || doc["ImageName"] != "installer.iso" {
				t.Errorf("slot reads %v", doc)
			}
			b.setBoot(map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd"})
			b.reset("On", http.StatusNoContent)
			b.clock.Advance(time.Hour)
			if got := b.booted()[0]; got != "Boot Cd Once http://images.example/installer.iso" {
				t.Errorf("booted %q", got)
			}
			b.do("POST", slot+"/Actions/VirtualMedia.EjectMedia", map[string]any{}, http.StatusNoContent)
			if doc := b.get(slot); doc["Inserted"] != false || doc["Image"] != nil {
				t.Errorf("ejected slot reads %v", doc)
			}
		})
	}
}

func TestEjectedMediaIsShownForAWhile(t *testing.T) { // B113
	b := newBench(t)
	slot := system + "/VirtualMedia/CD"
	b.do("POST", slot+"/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": "http://x/a.iso"}, http.StatusNoContent)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.EjectLag = redfish.Duration(10 * time.Second) })
	b.do("POST", slot+"/Actions/VirtualMedia.EjectMedia", nil, http.StatusNoContent)
	if doc := b.get(slot); doc["Inserted"] != true {
		t.Errorf("right after the eject it reads %v", doc)
	}
	if got := b.machine().Status().Media; got != "" {
		t.Errorf("the drive holds %q", got)
	}
	b.clock.Advance(10 * time.Second)
	if doc := b.get(slot); doc["Inserted"] != false || doc["Image"] != nil {
		t.Errorf("after the lag it reads %v", doc)
	}
}
