// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func withControl(c *redfish.Config, _ *redfish.BMCSpec) { c.Control = "127.0.0.1:0" }

// control calls the control endpoint and decodes its answer into out, where given.
func (b *bench) control(method, path, body string, want int, out any) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.rack.ControlURL()+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if resp.StatusCode != want {
		b.t.Fatalf("%s %s: status %d, want %d: %s", method, path, resp.StatusCode, want, raw)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			b.t.Fatalf("%s %s: %v: %s", method, path, err, raw)
		}
	}
}

func TestControlScriptsFaults(t *testing.T) {
	b := newBench(t, withControl)
	var out struct{ IDs []string }
	b.control("POST", "/bmcs/*/faults", `{"kind": "status", "status": 503, "path": "Systems", "delay": "1ms"}`, 200, &out)
	if len(out.IDs) != 1 {
		t.Fatalf("ids %v", out.IDs)
	}
	b.do("GET", system, nil, http.StatusServiceUnavailable)
	var armed []redfish.Fault
	b.control("GET", "/bmcs/rack1-u07/faults", "", 200, &armed)
	if len(armed) != 1 || armed[0].Struck != 1 || armed[0].ID != out.IDs[0] || armed[0].Delay != redfish.Duration(time.Millisecond) {
		t.Errorf("armed %+v", armed)
	}
	b.control("DELETE", "/bmcs/rack1-u07/faults/"+out.IDs[0], "", 200, nil)
	b.control("DELETE", "/bmcs/rack1-u07/faults/"+out.IDs[0], "", 404, nil)
	b.get(system)
	b.control("POST", "/bmcs/rack1-u07/faults", `{"kind": "status"}`, 200, nil)
	b.control("DELETE", "/bmcs/rack1-u07/faults", "", 200, nil)
	b.get(system)
}

func TestControlChangesBehaviourByWhatIsNamed(t *testing.T) {
	b := newBench(t, withControl)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.IgnoreShutdown = true })
	b.control("PATCH", "/bmcs/*/behaviour", `{"overrideLag": "90s", "timing": {"POST": "2s"}}`, 200, nil)
	var got redfish.Behaviour
	b.control("GET", "/bmcs/rack1-u07/behaviour", "", 200, &got)
	if !got.IgnoreShutdown || got.OverrideLag != redfish.Duration(90*time.Second) || got.Timing == nil || got.Timing.POST != 2*time.Second {
		t.Errorf("behaviour %+v", got)
	}
	b.control("PATCH", "/bmcs/*/behaviour", `{"timing": null}`, 200, nil)
	if b.bmc.Behaviour().Timing != nil {
		t.Error("null did not take the timing away")
	}
}

func TestControlPullsTheLevers(t *testing.T) {
	b := newBench(t, withControl, running())
	post := func(path, body string) { t.Helper(); b.control("POST", "/bmcs/rack1-u07"+path, body, 200, nil) }
	post("/reach", `{"reach": "refused"}`)
	if b.bmc.Reach() != redfish.ReachRefused {
		t.Error("still up")
	}
	post("/reach", `{"reach": "up"}`)
	post("/credentials", `{"username": "admin", "password": "next"}`)
	b.do("GET", system, nil, http.StatusUnauthorized)
	post("/credentials", `{"username": "admin", "password": "password"}`)
	b.logIn()
	b.control("DELETE", "/bmcs/rack1-u07/sessions", "", 200, nil)
	b.do("GET", system, nil, http.StatusUnauthorized)
	post("/certificate", `{"certificate": "expired"}`)
	if _, err := b.try("GET", system, nil); err == nil {
		t.Error("an expired certificate was taken")
	}
	post("/machines/1/tenant", `{"do": "reboot"}`)
	post("/machines/1/tenant", `{"do": "power-off"}`)
	if got := b.machine().Power(); got != redfish.PowerOff {
		t.Errorf("the tenant's machine is %s", got)
	}
	b.control("PUT", "/bmcs/*/machines/1/netboot", `{"image": "img", "duration": "3s", "then": "Run"}`, 200, nil)
	post("/mains", `{"mains": "cut"}`)
	post("/mains", `{"mains": "return"}`)
	post("/reboot", "")
	if b.bmc.Reach() != redfish.ReachRefused {
		t.Error("a restarting BMC is up")
	}
}

func TestControlTellsTheLogs(t *testing.T) {
	b := newBench(t, withControl)
	b.reset("On", http.StatusNoContent)
	var requests []redfish.Request
	b.control("GET", "/requests?bmc=rack1-u07&method=POST&path=Reset&after=0", "", 200, &requests)
	var events []redfish.Event
	b.control("GET", "/machinelog?bmc=rack1-u07&machine=1&after=1", "", 200, &events)
	var totals []redfish.Total
	b.control("GET", "/totals", "", 200, &totals)
	var bmcs []redfish.BMCStatus
	b.control("GET", "/bmcs", "", 200, &bmcs)
	var one redfish.BMCStatus
	b.control("GET", "/bmcs/rack1-u07", "", 200, &one)
	if len(requests) != 1 || len(events) != 1 || len(totals) != 1 || len(bmcs) != 1 {
		t.Errorf("%d requests, %d events, %d totals, %d BMCs; want one of each", len(requests), len(events), len(totals), len(bmcs))
	}
	if one.Endpoint != b.bmc.Endpoint() || len(one.Machines) != 1 || one.Machines[0].Power != redfish.PoweringOn {
		t.Errorf("BMC reads %+v", one)
	}
	req, err := http.Get(b.rack.ControlURL() + "/ca")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = req.Body.Close() }()
	http.DefaultClient.CloseIdleConnections()
	if pem, err := io.ReadAll(req.Body); err != nil || !bytes.Equal(pem, b.rack.CAPEM()) {
		t.Errorf("CA: %q %v", pem, err)
	}
}

func TestControlRefusesWhatItDoesNotUnderstand(t *testing.T) {
	b := newBench(t, withControl)
	for _, bad := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/bmcs/nobody", "", 404},
		{"POST", "/bmcs/nobody/reboot", "", 404},
		{"POST", "/bmcs/nobody/faults", `{"kind": "drop"}`, 404},
		{"PATCH", "/bmcs/nobody/behaviour", `{}`, 404},
		{"POST", "/bmcs/*/machines/9/tenant", `{"do": "reboot"}`, 404},
		{"POST", "/bmcs/*/machines/1/tenant", `{"do": "dance"}`, 400},
		{"POST", "/bmcs/*/faults", `{"kind": "meteor"}`, 400},
		{"POST", "/bmcs/*/faults", `{"kind": "drop", "count ": 1}`, 400},
		{"POST", "/bmcs/*/faults", `{"kind": "drop", "delay": "long"}`, 400},
		{"PATCH", "/bmcs/*/behaviour", `{"ignoreShutdowns": true}`, 400},
		{"POST", "/bmcs/*/reach", `{"reach": "sideways"}`, 400},
		{"POST", "/bmcs/*/mains", `{"mains": "maybe"}`, 400},
		{"POST", "/bmcs/*/certificate", `{"certificate": "forged"}`, 400},
		{"GET", "/requests?path=(", "", 400},
		{"GET", "/machinelog?after=x", "", 400},
		{"GET", "/requests?after=x", "", 400},
	} {
		b.control(bad.method, bad.path, bad.body, bad.want, nil)
	}
}

func TestControlStaysOnLoopback(t *testing.T) {
	rack, err := redfish.NewRack(redfish.Config{Control: "0.0.0.0:0"})
	if err == nil {
		_ = rack.Close()
		t.Error("the control endpoint listens to everybody")
	}
}
