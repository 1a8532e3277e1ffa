// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

func withControl(c *openstack.Config) { c.Control = "127.0.0.1:0" }

// control calls the control endpoint and decodes its answer into out, where given.
func (b *bench) control(method, path, body string, want int, out any) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.cloud.ControlURL()+path, strings.NewReader(body))
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

func TestControlScriptsFaultsAndMishaps(t *testing.T) {
	b := newBench(t, withControl)
	var armed struct{ ID string }
	b.control("POST", "/faults", `{"kind": "status", "status": 503, "path": "servers", "delay": "1ms", "retryAfter": "2"}`, 200, &armed)
	b.do("GET", servers, nil, http.StatusServiceUnavailable)
	var faults []openstack.Fault
	b.control("GET", "/faults", "", 200, &faults)
	if len(faults) != 1 || faults[0].Struck != 1 || faults[0].Delay != clock.Duration(time.Millisecond) {
		t.Errorf("%+v", faults)
	}
	b.control("DELETE", "/faults/"+armed.ID, "", 200, nil)
	b.control("DELETE", "/faults/"+armed.ID, "", 400, nil)
	b.control("POST", "/faults", `{"kind": "status", "pth": "x"}`, 400, nil)
	b.control("POST", "/faults", `{"kind": "status"}`, 200, nil)
	b.control("DELETE", "/faults", "", 200, nil)
	b.get(servers)

	b.control("POST", "/mishaps", `{"kind": "spawn", "server": "web", "message": "full"}`, 200, &armed)
	id := b.create("web")
	b.clock.Advance(buildTime)
	b.wantStatus(id, "ERROR")
	b.control("DELETE", "/mishaps", "", 200, nil)
	var mishaps []openstack.Mishap
	b.control("GET", "/mishaps", "", 200, &mishaps)
	if len(mishaps) != 0 {
		t.Errorf("%+v", mishaps)
	}
}

func TestControlPullsLevers(t *testing.T) {
	b := newBench(t, withControl)
	id := b.running("web")
	b.control("POST", "/servers/web/do", `{"do": "fail", "message": "hot"}`, 200, nil)
	b.wantStatus(id, "ERROR")
	b.control("POST", "/servers/"+id+"/do", `{"do": "heal"}`, 200, nil)
	b.control("POST", "/servers/web/do", `{"do": "stop-guest"}`, 200, nil)
	b.wantStatus(id, "SHUTOFF")
	b.control("POST", "/servers/web/do", `{"do": "dance"}`, 400, nil)
	b.control("POST", "/servers/nonesuch/do", `{"do": "fail"}`, 400, nil)

	var port struct{ ID string }
	b.control("POST", "/servers/web/ports", `{"network": "backend"}`, 200, &port)
	if p := b.getPort(port.ID); p["device_id"] != id {
		t.Errorf("%v", p)
	}
	b.control("POST", "/servers/web/ports", `{"network": "nonesuch"}`, 400, nil)
	b.control("DELETE", "/servers/web/ports/"+port.ID, "", 200, nil)
	b.control("DELETE", "/servers/web/ports/"+port.ID, "", 400, nil)
	b.control("DELETE", "/ports/nonesuch", "", 400, nil)
	b.control("POST", "/floatingips/"+b.fip()+"/port", `{"port": "nonesuch"}`, 400, nil)

	b.control("POST", "/cell", `{"down": ["`+id+`"]}`, 200, nil)
	b.do("GET", servers+"/"+id, nil, http.StatusInternalServerError)
	b.control("POST", "/cell", `{}`, 200, nil)
	b.control("POST", "/servers/web/do", `{"do": "remove"}`, 200, nil)
	b.do("GET", servers+"/"+id, nil, http.StatusNotFound)

	var events []openstack.Event
	b.control("GET", "/events?id="+id, "", 200, &events)
	if e := events[len(events)-1]; e.Kind != openstack.EventServerGone || e.By != "hand" {
		t.Errorf("%+v", e)
	}
	var requests []openstack.Request
	b.control("GET", "/requests?service=compute&method=POST&path=servers", "", 200, &requests)
	if len(requests) != 1 {
		t.Errorf("%+v", requests)
	}
	b.control("GET", "/requests?after=x", "", 400, nil)
	b.control("GET", "/events?after=x", "", 400, nil)
	var totals []openstack.Total
	b.control("GET", "/totals", "", 200, &totals)
	if len(totals) == 0 {
		t.Error("no totals")
	}
}

func TestControlChangesWhatIsNamed(t *testing.T) {
	b := newBench(t, withControl)
	b.control("PATCH", "/behaviour", `{"maxMicroversion": "2.38"}`, 200, nil)
	b.control("PATCH", "/behaviour", `{"tokenLife": "90s"}`, 200, nil)
	b.control("PATCH", "/behaviour", `{"nonesuch": 1}`, 400, nil)
	if got := b.cloud.Behaviour(); got.MaxMicroversion != "2.38" || got.TokenLife.Std() != 90*time.Second {
		t.Errorf("%+v", got)
	}
	b.control("PATCH", "/quotas", `{"instances": 0}`, 200, nil)
	if q := b.cloud.Quotas(); q.Instances != 0 || q.Ports == 0 {
		t.Errorf("%+v", q)
	}
	b.at("2.1").do("POST", servers, b.newServer("web"), http.StatusForbidden)
	b.control("DELETE", "/tokens", "", 200, nil)
	b.do("GET", servers, nil, http.StatusUnauthorized)
	b.control("POST", "/password", `{"user": "demo", "password": "other"}`, 200, nil)
	b.control("POST", "/password", `{"user": "nobody", "password": "other"}`, 400, nil)
	b.do("POST", tokens, passwordLogin("demo", "secret", "demo"), http.StatusUnauthorized)
}
