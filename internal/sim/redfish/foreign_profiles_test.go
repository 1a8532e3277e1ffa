// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func TestRedfishtoolDrivesEveryProfile(t *testing.T) {
	tool, err := exec.LookPath("redfishtool")
	if err != nil {
		t.Skip("redfishtool is not installed")
	}
	eachVendor(t, func(t *testing.T, v *vendor) {
		endpoint, err := url.Parse(v.bmc.Endpoint())
		if err != nil {
			t.Fatal(err)
		}
		run := func(args ...string) string {
			t.Helper()
			args = append([]string{"-r", endpoint.Host, "-u", "admin", "-p", "password", "-A", "Basic", "-S", "Always", "-n"}, args...)
			out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("redfishtool %v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		if out := run("Systems", "-I", v.host().ID(), "get"); !strings.Contains(out, `"`+v.host().ID()+`"`) {
			t.Errorf("Systems get: %s", out)
		}
		run("Managers", "-1", "get")
		if !v.profile.BootAtSettings { // it knows no pending settings
			run("Systems", "-I", v.host().ID(), "setBootOverride", "Once", "Pxe")
			v.want("override", "Once Pxe", v.host().Status().Override)
		}
		run("Systems", "-I", v.host().ID(), "reset", "On")
		v.want("power", redfish.PoweringOn, v.host().Power())
	})
}

// sushyProfileScript drives what Ironic would. Its arguments: endpoint, CA, system, and what is to be left out.
const sushyProfileScript = `
import sys, sushy
from sushy import auth
url, ca, path, without = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4].split(',')
root = sushy.Sushy(url, verify=ca, auth=auth.SessionOrBasicAuth(username='admin', password='password'))
assert path in root.get_system_collection().members_identities
system = root.get_system(path)
assert system.power_state == sushy.PowerState.OFF, system.power_state
assert sushy.ResetType.ON in system.get_allowed_reset_system_values()
assert root.get_manager(system.managers[0].path).firmware_version
if 'media' not in without:
    slots = [v for m in system.managers for v in m.virtual_media.get_members()]
    slot = [v for v in slots if sushy.VirtualMediaType.CD in (v.media_types or [sushy.VirtualMediaType.CD])][0]
    slot.insert_media('http://images.example/a.iso')
    slot.refresh(force=True)
    assert slot.inserted and slot.image == 'http://images.example/a.iso', slot.image
    slot.eject_media()
    slot.refresh(force=True)
    assert not slot.inserted
if 'nics' not in without:
    assert len(system.ethernet_interfaces.get_members()) > 0
if 'boot' not in without:
    mode = None if 'mode' in without else sushy.BootSourceOverrideMode.UEFI
    system.set_system_boot_options(sushy.BootSource.PXE, enabled=sushy.BootSourceOverrideEnabled.ONCE, mode=mode)
system.reset_system(sushy.ResetType.ON)
system.refresh(force=True)
assert system.power_state == sushy.PowerState.POWERING_ON, system.power_state
print('ok')
`

func TestSushyDrivesEveryProfile(t *testing.T) {
	python := pythonWithSushy(t)
	eachVendor(t, func(t *testing.T, v *vendor) {
		without := []string{"-"}
		if len(v.profile.Media.Slots) == 0 || !v.profile.Media.AtManager {
			without = append(without, "media")
		}
		if slices.Contains(v.profile.Without, "EthernetInterfaces") {
			without = append(without, "nics")
		}
		if v.profile.BootAtSettings { // this version knows no pending settings
			without = append(without, "boot")
		}
		if len(v.profile.BootModes) == 0 {
			without = append(without, "mode")
		}
		ca := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(ca, v.rack.CAPEM(), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), python, "-c", sushyProfileScript, v.bmc.Endpoint(), ca, v.path(), strings.Join(without, ","))
		cmd.Env = append(os.Environ(), "REQUESTS_CA_BUNDLE="+ca, "CURL_CA_BUNDLE=", "NO_PROXY=*") // the environment's would go before the argument
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "ok") {
			t.Fatalf("%v\n%s", err, out)
		}
		if slices.Contains(without, "boot") {
			return
		}
		if got := v.host().Status().Override; got != "Once Pxe" {
			t.Errorf("override %q", got)
		}
	})
}
