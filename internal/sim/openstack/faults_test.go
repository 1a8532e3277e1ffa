// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

func (b *bench) inject(f openstack.Fault) {
	b.t.Helper()
	if _, err := b.cloud.Inject(f); err != nil {
		b.t.Fatal(err)
	}
}

// A create whose answer is lost was done (B187, B189, B201).
func TestALostReply(t *testing.T) {
	b := newBench(t)
	b.inject(openstack.Fault{Kind: openstack.FaultDropReply, Method: "POST", Path: "/servers$", Count: 1})
	if a, err := b.try("POST", servers, b.newServer("web")); err == nil {
		t.Fatalf("an answer came: %s", a.Raw)
	}
	if got := b.rows(servers, "servers", "name"); len(got) != 1 {
		t.Errorf("servers %v", got)
	}
	b.create("another") // the fault is used up

	b.inject(openstack.Fault{Kind: openstack.FaultDrop, Method: "POST", Path: "/floatingips$", Count: 1})
	if a, err := b.try("POST", fips, obj{"floatingip": obj{"floating_network_id": b.cloud.NetworkID("public")}}); err == nil {
		t.Fatalf("an answer came: %s", a.Raw)
	}
	if got := b.cloud.FloatingIPs(); len(got) != 0 {
		t.Errorf("dropped before acting, and yet: %v", got)
	}
}

func TestFaultsAnswerInTheWordsOfTheService(t *testing.T) {
	for path, member := range map[string]string{servers: "overLimit", ports: "NeutronError", tokens: "error"} {
		b := newBench(t)
		b.inject(openstack.Fault{Kind: openstack.FaultStatus, Status: http.StatusTooManyRequests, RetryAfter: "7", Count: 2})
		for range 2 { // B210, B212
			a := b.do("GET", path, nil, http.StatusTooManyRequests)
			if a.Header.Get("Retry-After") != "7" || a.Body[member] == nil {
				t.Errorf("%s: %v %s", path, a.Header, a.Raw)
			}
		}
		if a, err := b.try("GET", path, nil); err != nil || a.Status == http.StatusTooManyRequests {
			t.Errorf("%s: status %d, %v", path, a.Status, err)
		}
	}
}

func TestFaultsOfAnswers(t *testing.T) {
	b := newBench(t)
	b.create("web")
	for name, c := range map[string]struct {
		fault openstack.Fault
		check func(answer) bool
	}{
		"truncated":    {openstack.Fault{Kind: openstack.FaultTruncate}, func(a answer) bool { return a.Status == 200 && !json.Valid(a.Raw) }},
		"garbage":      {openstack.Fault{Kind: openstack.FaultGarbage}, func(a answer) bool { return a.Status == 502 && strings.Contains(string(a.Raw), "<html>") }},
		"unauthorized": {openstack.Fault{Kind: openstack.FaultUnauthorized}, func(a answer) bool { return a.Status == 401 }},
		"after":        {openstack.Fault{Kind: openstack.FaultStatusAfter, Status: 504}, func(a answer) bool { return a.Status == 504 }},
		"no rows":      {openstack.Fault{Kind: openstack.FaultEmptyList}, func(a answer) bool { return a.Status == 200 && len(a.Body["servers"].([]any)) == 0 }},
		"late":         {openstack.Fault{Kind: openstack.FaultDelay, Delay: clock.Duration(time.Millisecond)}, func(a answer) bool { return a.Status == 200 }},
	} {
		c.fault.Count, c.fault.Path = 1, "^/compute/v2.1/servers/detail[?]limit=1000$"
		b.inject(c.fault)
		b.get(detail) // another target
		a, err := b.try("GET", detail+"?limit=1000", nil)
		if err != nil || !c.check(a) {
			t.Errorf("%s: %v, status %d: %s", name, err, a.Status, a.Raw)
		}
		if rows := b.rows(detail+"?limit=1000", "servers", "id"); len(rows) != 1 {
			t.Errorf("%s: afterwards: %v", name, rows)
		}
	}
}

// A service that accepts and never answers keeps a client only as long as the client has patience (B176).
func TestAHangEndsWithTheClientsPatience(t *testing.T) {
	for _, kind := range []openstack.FaultKind{openstack.FaultHang, openstack.FaultHangReply} {
		b := newBench(t)
		b.inject(openstack.Fault{Kind: kind, Method: "DELETE", Count: 1})
		id := b.running("web")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		req, err := http.NewRequestWithContext(ctx, http.MethodDelete, b.base()+servers+"/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Auth-Token", b.token)
		resp, err := b.client.Do(req)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			_ = resp.Body.Close()
			t.Errorf("%s: %v", kind, err)
		}
		deleting := b.server(id)["OS-EXT-STS:task_state"] == "deleting"
		if deleting != (kind == openstack.FaultHangReply) {
			t.Errorf("%s: deleting is %v", kind, deleting)
		}
	}
}

func TestRevokeEndsTheToken(t *testing.T) {
	b := newBench(t)
	b.inject(openstack.Fault{Kind: openstack.FaultRevoke, Count: 1})
	b.do("GET", servers, nil, http.StatusUnauthorized)
	b.do("GET", servers, nil, http.StatusUnauthorized)
	b.login()
	b.get(servers)
}

func TestFaultsAreChecked(t *testing.T) {
	b := newBench(t)
	for _, f := range []openstack.Fault{{Kind: "nonesuch"}, {Kind: openstack.FaultDrop, Path: "("}, {Kind: openstack.FaultDrop, Method: "("}, {Kind: openstack.FaultStatus, Status: 99}} {
		if _, err := b.cloud.Inject(f); err == nil {
			t.Errorf("%+v was taken", f)
		}
	}
	for _, m := range []openstack.Mishap{{Kind: "nonesuch"}, {Kind: openstack.MishapSpawn, Server: "("}} {
		if _, err := b.cloud.Befall(m); err == nil {
			t.Errorf("%+v was taken", m)
		}
	}
	b.inject(openstack.Fault{Kind: openstack.FaultStatus, Skip: 1})
	b.get(servers)
	b.do("GET", servers, nil, http.StatusInternalServerError)
	armed := b.cloud.Faults()
	if len(armed) != 1 || armed[0].Struck != 1 || !b.cloud.ClearFault(armed[0].ID) || b.cloud.ClearFault(armed[0].ID) {
		t.Errorf("armed %+v", armed)
	}
}

func TestRateStrikesAShareAndRepeats(t *testing.T) {
	struck := func() string {
		b := newBench(t, func(c *openstack.Config) { c.Seed = 7 })
		b.inject(openstack.Fault{Kind: openstack.FaultStatus, Rate: 0.5})
		var pattern strings.Builder
		for range 40 {
			a, err := b.try("GET", servers, nil)
			if err != nil {
				t.Fatal(err)
			}
			pattern.WriteString(map[bool]string{true: ".", false: "x"}[a.Status == 200])
		}
		return pattern.String()
	}
	first := struck()
	if n := strings.Count(first, "x"); n < 10 || n > 30 {
		t.Errorf("%d of 40 were struck", n)
	}
	if second := struck(); second != first {
		t.Errorf("%s, then %s", first, second)
	}
}

func TestTheRequestLogKeepsNoSecrets(t *testing.T) {
	b := newBench(t)
	id := b.create("web", with("user_data", "c2VjcmV0cw=="), with("adminPass", "hunter2"))
	b.act(id, "os-stop", nil, http.StatusConflict)
	log, err := b.cloud.Requests(openstack.RequestFilter{Method: "POST"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range log {
		if strings.Contains(r.Body, "c2VjcmV0cw") || strings.Contains(r.Body, "hunter2") || strings.Contains(r.Body, `"secret"`) {
			t.Errorf("%+v", r)
		}
	}
	want := map[string]int{"compute POST /compute/v2.1/servers": 1, "compute POST /compute/v2.1/servers/{server}/action os-stop": 1, "identity POST /identity/v3/auth/tokens": 1}
	got := map[string]int{}
	for _, total := range b.cloud.Totals() {
		got[total.Service+" "+total.Method+" "+total.Route] = total.Count
	}
	for key, count := range want {
		if got[key] != count {
			t.Errorf("%s: %d, want %d of %v", key, got[key], count, got)
		}
	}
	if _, err := b.cloud.Requests(openstack.RequestFilter{Path: "("}); err == nil {
		t.Error("a bad filter was taken")
	}
}
