// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func TestMachinesSurviveARestartOfTheSimulator(t *testing.T) {
	dir := t.TempDir()
	inDir := func(c *redfish.Config, _ *redfish.BMCSpec) { c.StateDir = filepath.Join(dir, "rack") }
	program := redfish.Program{Image: "debian", Duration: time.Minute}
	machines := withMachines(redfish.MachineSpec{}, redfish.MachineSpec{Power: redfish.PowerOn, Disk: "old"}, redfish.MachineSpec{Power: redfish.PowerOn, Disk: "old"})

	b := newBench(t, inDir, machines, withNetboot(program))
	b.setBoot(pxeOnce)
	b.do("PATCH", system, map[string]any{"AssetTag": "hf1:x", "IndicatorLED": "Lit"}, http.StatusOK)
	b.do("POST", system+"/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": "http://x/a.iso"}, http.StatusNoContent)
	b.reset("On", http.StatusNoContent)
	b.clock.Advance(timing.PowerOn + timing.POST + time.Second) // installing
	b.bmc.Machine("3").PowerOffByTenant()
	var before []redfish.MachineStatus
	for _, m := range b.bmc.Machines() {
		before = append(before, m.Status())
	}
	ca := b.rack.CAPEM()
	if err := b.rack.Close(); err != nil {
		t.Fatal(err)
	}

	b = newBench(t, inDir, machines, withNetboot(program))
	var after []redfish.MachineStatus
	for _, m := range b.bmc.Machines() {
		after = append(after, m.Status())
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("status after the restart (-before +after):\n%s", diff)
	}
	if !bytes.Equal(ca, b.rack.CAPEM()) {
		t.Error("the CA is another")
	}
	b.get(system)
	if before[1].Power != redfish.PowerOn || before[2].Power != redfish.PowerOff {
		t.Errorf("powers %v and %v", before[1].Power, before[2].Power)
	}
	b.clock.Advance(time.Hour)
	b.wantBooted("Install debian", "Boot Hdd debian", "Running debian")
}

func TestChangesAreSavedWithoutBeingAsked(t *testing.T) {
	dir := t.TempDir()
	b := newBench(t, func(c *redfish.Config, _ *redfish.BMCSpec) { c.StateDir = dir })
	b.machine().SetDisk("debian")
	b.eventually("the state is on disk", func() bool {
		data, err := os.ReadFile(filepath.Join(dir, "bmc-rack1-u07.json"))
		return err == nil && strings.Contains(string(data), "debian")
	})
}

func TestUnreadableStateIsAnErrorNotAnEmptyMachine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bmc-a.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	rack := newRack(t, redfish.Config{StateDir: dir})
	if _, err := rack.AddBMC(redfish.BMCSpec{Name: "a"}); err == nil {
		t.Error("a BMC was made over an unreadable state")
	}
}

func TestUnreadableCAIsAnError(t *testing.T) {
	dir := t.TempDir()
	for _, data := range []string{"", "rubbish", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"} {
		if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if rack, err := redfish.NewRack(redfish.Config{StateDir: dir}); err == nil {
			_ = rack.Close()
			t.Errorf("a CA was read from %q", data)
		}
	}
}

func TestStateThatCannotBeWrittenIsToldBySave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	b := newBench(t, func(c *redfish.Config, _ *redfish.BMCSpec) { c.StateDir = dir })
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	b.machine().SetDisk("debian")
	if err := b.rack.Save(); err == nil {
		t.Error("no error")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.rack.Save(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bmc-rack1-u07.json")); err != nil {
		t.Errorf("what could not be saved was forgotten: %v", err)
	}
}
