// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// Clients that others wrote read the same documents another way. They come from Debian packages
// (redfishtool, python3-sushy); where those are not installed the tests are skipped.

func TestRedfishtoolDrivesTheSimulator(t *testing.T) {
	tool, err := exec.LookPath("redfishtool")
	if err != nil {
		t.Skip("redfishtool is not installed")
	}
	b := newBench(t, withMachines(redfish.MachineSpec{Disk: "debian", SerialNumber: "SN42"}))
	endpoint, err := url.Parse(b.bmc.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	run := func(auth string, args ...string) string {
		t.Helper()
		args = append([]string{"-r", endpoint.Host, "-u", "admin", "-p", "password", "-A", auth, "-S", "Always", "-n"}, args...)
		out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("redfishtool %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, auth := range []string{"Basic", "Session"} {
		if out := run(auth, "Systems", "-1", "get"); !strings.Contains(out, `"SN42"`) {
			t.Errorf("%s: Systems get: %s", auth, out)
		}
	}
	if got := b.bmc.AuthStats(); got.Logins == 0 || got.Sessions != 0 || got.Failures != 0 {
		t.Errorf("auth stats %+v, want sessions opened and closed", got)
	}
	for _, args := range [][]string{
		{"Systems", "-1", "Processors"}, {"Systems", "-1", "EthernetInterfaces"}, {"Chassis", "-1", "get"}, {"Managers", "-1", "get"},
		{"AccountService", "Accounts"}, {"SessionService", "get"}, {"root"}, {"odata"},
	} {
		run("Basic", args...)
	}
	run("Basic", "Systems", "-1", "setBootOverride", "Once", "Pxe")
	if got := b.machine().Status().Override; got != "Once Pxe" {
		t.Errorf("override %q", got)
	}
	run("Basic", "Systems", "-1", "setAssetTag", "shelf 3")
	if got := b.machine().Status().AssetTag; got != "shelf 3" {
		t.Errorf("asset tag %q", got)
	}
	run("Basic", "Systems", "-1", "setIndicatorLed", "Lit")
	if got := b.machine().Status().LED; got != "Lit" {
		t.Errorf("LED %q", got)
	}
	run("Basic", "Systems", "-1", "reset", "On")
	b.wantPower(redfish.PoweringOn)
}

const sushyScript = `
import sys, sushy
from sushy import auth
root = sushy.Sushy(sys.argv[1], verify=sys.argv[2], auth=auth.SessionOrBasicAuth(username='admin', password='password'))
system = root.get_system('/redfish/v1/Systems/1')
assert system.power_state == sushy.PowerState.OFF, system.power_state
assert system.serial_number == 'SN42', system.serial_number
assert system.memory_summary.size_gib == 512, system.memory_summary
assert system.processors.summary.count == 128, system.processors.summary
assert len(system.ethernet_interfaces.get_members()) == 2
assert [d.capacity_bytes for s in system.storage.get_members() for d in s.drives] == [960197124096] * 2
assert sushy.BootSource.PXE in system.get_allowed_system_boot_source_values()
assert sushy.ResetType.ON in system.get_allowed_reset_system_values()
manager = system.managers[0]
assert manager.firmware_version == '1.0.0'
cd = [v for v in manager.virtual_media.get_members() if sushy.VirtualMediaType.CD in v.media_types][0]
cd.insert_media('http://images.example/a.iso')
cd.refresh()
assert cd.inserted and cd.image == 'http://images.example/a.iso'
cd.eject_media()
cd.refresh()
assert not cd.inserted
system.set_system_boot_options(sushy.BootSource.PXE, enabled=sushy.BootSourceOverrideEnabled.ONCE, mode=sushy.BootSourceOverrideMode.UEFI)
if sys.argv[3] == 'LED': # its LED call knows no ETags
    system.set_indicator_led(sushy.IndicatorLED.LIT)
system.reset_system(sushy.ResetType.ON)
system.refresh(force=True)
assert system.power_state == sushy.PowerState.POWERING_ON, system.power_state
assert system.boot.target == sushy.BootSource.PXE, system.boot
try:
    system.reset_system(sushy.ResetType.SUSPEND)
    raise SystemExit('a reset type it does not have was taken')
except (sushy.exceptions.InvalidParameterValueError, sushy.exceptions.BadRequestError):
    pass
try:
    root.get_system('/redfish/v1/Systems/2')
    raise SystemExit('a system that is not there was found')
except sushy.exceptions.ResourceNotFoundError:
    pass
print('ok')
`

// pythonWithSushy finds the Python that has Debian's sushy, which need not be the first on the PATH.
func pythonWithSushy(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import sushy").Run() == nil {
			return python
		}
	}
	t.Skip("python3-sushy is not installed")
	return ""
}

func TestSushyDrivesTheSimulator(t *testing.T) {
	python := pythonWithSushy(t)
	for mode, behave := range map[string]func(*redfish.Behaviour){
		"LED": func(*redfish.Behaviour) {}, "If-Match demanded": func(h *redfish.Behaviour) { h.RequireIfMatch = true },
	} {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, withMachines(redfish.MachineSpec{Disk: "debian", SerialNumber: "SN42"}))
			b.bmc.Behave(behave)
			ca := filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(ca, b.rack.CAPEM(), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), python, "-c", sushyScript, b.bmc.Endpoint(), ca, mode)
			cmd.Env = append(os.Environ(), "REQUESTS_CA_BUNDLE="+ca, "CURL_CA_BUNDLE=", "NO_PROXY=*") // the environment's would go before the argument
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "ok") {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := b.bmc.AuthStats(); got.Logins != 1 || got.Failures != 0 {
				t.Errorf("auth stats %+v, want one login", got)
			}
			for _, r := range b.requests(redfish.RequestFilter{}) {
				if r.Status >= http.StatusInternalServerError {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}
