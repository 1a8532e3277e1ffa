// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

const (
	system = "/redfish/v1/Systems/1"
	reset  = system + "/Actions/ComputerSystem.Reset"
	ours   = "tenants/web#1"
)

// bench is a rack with one BMC, on a clock that stands still, a client that speaks to it, and who watches.
type bench struct {
	t     *testing.T
	clock *redfish.ManualClock
	rack  *redfish.Rack
	bmc   *redfish.BMC
	watch *watch.Rack
	seen  []judge.Event
}

func newBench(t *testing.T, machine redfish.MachineSpec) *bench {
	t.Helper()
	b := &bench{t: t, clock: redfish.NewManualClock(start)}
	timing := redfish.Timing{PowerOn: time.Second, PowerOff: time.Second, Shutdown: time.Second, POST: time.Second, OSBoot: time.Second}
	var err error
	if b.rack, err = redfish.NewRack(redfish.Config{Clock: b.clock, Timing: &timing, HTTP: "0.0.0.0:0"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.rack.Close(); err != nil {
			t.Error(err)
		}
	})
	profile := redfish.Conforming()
	if b.bmc, err = b.rack.AddBMC(redfish.BMCSpec{Name: "node", Profile: &profile, Systems: []redfish.MachineSpec{machine}}); err != nil {
		t.Fatal(err)
	}
	b.watch = watch.NewRack(b.rack)
	return b
}

// do asks something of the BMC.
func (b *bench) do(method, path string, body map[string]any) {
	b.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.bmc.PlainEndpoint()+path, bytes.NewReader(encoded))
	if err != nil {
		b.t.Fatal(err)
	}
	req.SetBasicAuth("admin", "password")
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.rack.Client().Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= 300 {
		b.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
}

func (b *bench) reset(kind string) {
	b.t.Helper()
	b.do(http.MethodPost, reset, map[string]any{"ResetType": kind})
}

func (b *bench) override(enabled, target, uri string) {
	b.t.Helper()
	boot := map[string]any{"BootSourceOverrideEnabled": enabled, "BootSourceOverrideTarget": target}
	if uri != "" {
		boot["HttpBootUri"] = uri
	}
	b.do(http.MethodPatch, system, map[string]any{"Boot": boot})
}

func (b *bench) media(action string, body map[string]any) {
	b.t.Helper()
	b.do(http.MethodPost, system+"/VirtualMedia/CD/Actions/VirtualMedia."+action, body)
}

// told are the kinds and tenants of what is new.
func (b *bench) told() string {
	b.t.Helper()
	b.clock.Advance(time.Minute)
	events, err := b.watch.Drain()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.watch.Compare(); err != nil {
		b.t.Error(err)
	}
	b.seen = append(b.seen, events...)
	var words []string
	for _, e := range events {
		word := string(e.Kind)
		if e.Tenant != "" {
			word += "=" + e.Tenant
		}
		if e.Machine != "node/1" {
			b.t.Errorf("of %q: %v", e.Machine, e)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (b *bench) want(want string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.told()); diff != "" {
		b.t.Errorf("told (-want +got):\n%s", diff)
	}
}

// rules are those that a judge finds broken.
func (b *bench) rules(asked ...judge.Event) string {
	var rules []string
	for _, v := range judge.Judge(append(slices.Clone(b.seen), asked...)).Violations {
		rules = append(rules, v.Rule)
	}
	return strings.Join(rules, " ")
}

func TestABootOverHTTPIsTheTenantsWhoseImageItIs(t *testing.T) {
	b := newBench(t, redfish.MachineSpec{})
	b.override("Once", "UefiHttp", watch.ImageURL(ours))
	b.reset("On")
	b.want("Armed=tenants/web#1 PoweredOn WentOn NetworkBoot=tenants/web#1 Installed=tenants/web#1 Began=tenants/web#1")
	b.reset("GracefulShutdown")
	b.want("PoweredOff WentOff")
	b.reset("On")
	b.want("PoweredOn WentOn Began=tenants/web#1")
	asked := judge.Event{At: start, Kind: judge.Asked, Tenant: ours}
	off := judge.Event{At: start, Kind: judge.AskedOff, Tenant: ours}
	if got := b.rules(asked); got != "I1" {
		t.Errorf("the power-off that nobody asked for breaks %q", got)
	}
	if got := b.rules(asked, off); got != "" {
		t.Errorf("the power-off that was asked for breaks %q", got)
	}
	for _, row := range []struct{ kind, want string }{
		{"ForceRestart", "Reset Began=tenants/web#1"}, {"PushPowerButton", "PoweredOff WentOff"}, {"PushPowerButton", "PoweredOn WentOn Began=tenants/web#1"},
		{"ForceOff", "PoweredOff WentOff"},
	} {
		if !slices.Contains(redfish.Conforming().ResetTypes, row.kind) {
			t.Fatalf("no reset type %s", row.kind)
		}
		b.reset(row.kind)
		b.want(row.want)
	}
}

func TestABootFromAVirtualDriveIsTheTenantsWhoseImageIsInIt(t *testing.T) {
	b := newBench(t, redfish.MachineSpec{})
	b.media("InsertMedia", map[string]any{"Image": watch.ImageURL(ours)})
	b.override("Once", "Cd", "")
	b.reset("On")
	b.want("MediaInserted=tenants/web#1 Armed=tenants/web#1 PoweredOn WentOn NetworkBoot=tenants/web#1 Installed=tenants/web#1 Began=tenants/web#1")
	b.media("EjectMedia", map[string]any{})
	b.override("Disabled", "None", "")
	b.want("MediaEjected=tenants/web#1")
}

// Firmware with an override that lasts comes back to the network after the installer, which then starts the disk: that is no second
// installation. After the next power-on it is one.
func TestAnOverrideThatLastsInstallsOnceAPowerOn(t *testing.T) {
	b := newBench(t, redfish.MachineSpec{})
	b.override("Continuous", "UefiHttp", watch.ImageURL(ours))
	b.reset("On")
	b.want("Armed=tenants/web#1 PoweredOn WentOn NetworkBoot=tenants/web#1 Installed=tenants/web#1 Began=tenants/web#1")
	b.bmc.Machine("1").PowerOffByTenant()
	b.reset("On")
	b.want("WentOff PoweredOn WentOn NetworkBoot=tenants/web#1 Installed=tenants/web#1 Began=tenants/web#1")
	if got := b.rules(); got != "I10" {
		t.Errorf("the second installation breaks %q", got)
	}
}

func TestWhatRanBeforeIsToldFirst(t *testing.T) {
	const stranger = "stranger/node#1"
	b := newBench(t, redfish.MachineSpec{Power: redfish.PowerOn, Disk: watch.ImageURL(stranger)})
	b.want("Ran=" + stranger)
	b.bmc.CutPower()
	b.bmc.ReturnPower()
	b.want("WentOff WentOn Began=" + stranger)
	b.reset("ForceOff")
	b.want("PoweredOff WentOff")
	if got := b.rules(); got != "I1" {
		t.Errorf("the power-off of a stranger's machine breaks %q", got)
	}
}

func TestWhatNamesNobodyIsAStrangers(t *testing.T) {
	b := newBench(t, redfish.MachineSpec{})
	b.override("Once", "Pxe", "")
	b.reset("On")
	b.want("Armed PoweredOn WentOn NetworkBoot Installed Began")
	b.reset("ForceOff")
	b.want("PoweredOff WentOff")
	if got := b.rules(); got != "I1" {
		t.Errorf("the power-off of what nobody knows breaks %q", got)
	}
}

// What a delayed request does is judged by when it came.
func TestEffectsTellWhenTheirRequestCame(t *testing.T) {
	b := newBench(t, redfish.MachineSpec{})
	b.bmc.Behave(func(behaviour *redfish.Behaviour) {
		behaviour.AsyncMedia, behaviour.TaskDuration = true, redfish.Duration(20*time.Second)
	})
	b.media("InsertMedia", map[string]any{"Image": watch.ImageURL(ours)})
	b.want("MediaInserted=tenants/web#1")
	if e := b.seen[0]; !e.Arrived.Equal(start) || !e.At.Equal(start.Add(20*time.Second)) {
		t.Errorf("arrived and done: %v", e)
	}
}

func TestAChangeBehindTheLogIsFound(t *testing.T) {
	b := newBench(t, redfish.MachineSpec{})
	b.bmc.Machine("1").SetDisk("something else")
	if err := b.watch.Compare(); err == nil || !strings.Contains(err.Error(), "node/1") {
		t.Errorf("a disk that changed by itself: %v", err)
	}
}

func TestMarksNameTheTenantOnly(t *testing.T) {
	for _, tenant := range []string{ours, "stranger/node-7#1", "server/vm#12"} {
		if got := fmt.Sprint(watch.ImageURL(tenant)); strings.Contains(got, "#") || !strings.HasSuffix(got, ".iso") {
			t.Errorf("address of %s: %s", tenant, got)
		}
	}
}
