// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func (b *bench) requests(filter redfish.RequestFilter) []redfish.Request {
	b.t.Helper()
	found, err := b.rack.Requests(filter)
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

func TestRequestLogTellsWhatWasAskedAndAnswered(t *testing.T) {
	b := newBench(t)
	b.get(system + "/")
	b.reset("On", http.StatusNoContent)
	b.do("GET", "/redfish/v1/Nowhere", nil, http.StatusNotFound)
	want := []redfish.Request{
		{Seq: 1, At: start, BMC: "rack1-u07", Method: "GET", Path: system, Route: "/redfish/v1/Systems/{system}", Status: 200},
		{Seq: 2, At: start, BMC: "rack1-u07", Method: "POST", Path: resetTarget, Route: "/redfish/v1/Systems/{system}/Actions/ComputerSystem.Reset",
			Body: `{"ResetType":"On"}`, Status: 204},
		{Seq: 3, At: start, BMC: "rack1-u07", Method: "GET", Path: "/redfish/v1/Nowhere", Status: 404},
	}
	if diff := cmp.Diff(want, b.requests(redfish.RequestFilter{})); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if got := b.requests(redfish.RequestFilter{BMC: "rack1-u07", Method: "GET", Path: "Systems", After: 0}); len(got) != 1 || got[0].Seq != 1 {
		t.Errorf("filtered: %v", got)
	}
	if got := b.requests(redfish.RequestFilter{After: 2}); len(got) != 1 || got[0].Seq != 3 {
		t.Errorf("after 2: %v", got)
	}
	if _, err := b.rack.Requests(redfish.RequestFilter{Path: "("}); err == nil {
		t.Error("a broken filter was taken")
	}
	reset := b.rack.MachineLog(redfish.EventFilter{Kinds: []redfish.EventKind{redfish.EventReset}})
	if len(reset) != 1 || reset[0].Request != 2 {
		t.Errorf("the machine log names request %v", reset)
	}
}

func TestRequestLogIsBoundedAndTotalsAreNot(t *testing.T) {
	b := newBench(t, func(c *redfish.Config, _ *redfish.BMCSpec) { c.RequestLog = 3 })
	for range 5 {
		b.get(system)
	}
	b.do("PATCH", system, map[string]any{"AssetTag": "x"}, http.StatusOK)
	var seqs []uint64
	for _, r := range b.requests(redfish.RequestFilter{}) {
		seqs = append(seqs, r.Seq)
	}
	if fmt.Sprint(seqs) != "[4 5 6]" {
		t.Errorf("remembered %v", seqs)
	}
	route := "/redfish/v1/Systems/{system}"
	want := []redfish.Total{{BMC: "rack1-u07", Method: "GET", Route: route, Count: 5}, {BMC: "rack1-u07", Method: "PATCH", Route: route, Count: 1}}
	if diff := cmp.Diff(want, b.rack.Totals()); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
}

func TestForgottenRequestLeavesItsSuccessorAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *redfish.Config, _ *redfish.BMCSpec) { c.RequestLog = 1 })
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultStatus, Method: "PATCH", Delay: late})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = b.try("PATCH", system, map[string]any{"AssetTag": "x"})
	}()
	b.eventually("the slow request has arrived", func() bool { return len(b.requests(redfish.RequestFilter{Method: "PATCH"})) == 1 })
	b.get(system)
	<-done
	if got := b.requests(redfish.RequestFilter{}); len(got) != 1 || got[0].Method != "GET" || got[0].Status != 200 || got[0].Fault != "" {
		t.Errorf("remembered %+v", got)
	}
	if got := b.rack.Totals(); len(got) != 2 {
		t.Errorf("totals %v, want both requests", got)
	}
}

func TestSecretsNeverReachTheRequestLog(t *testing.T) {
	const canary = "canary-5e1f"
	b := newBench(t)
	secret := map[string]any{"UserName": "admin", "Password": canary}
	b.do("POST", sessions, secret, http.StatusUnauthorized)
	b.do("POST", sessions, canary, http.StatusBadRequest)
	b.do("POST", sessions, []any{secret}, http.StatusBadRequest)
	b.do("PATCH", "/redfish/v1/AccountService/Accounts/1", map[string]any{"Password": canary, "Oem": map[string]any{"oldPassword": canary}}, http.StatusNoContent)
	b.bmc.SetCredentials("admin", "password")
	b.do("POST", system+"/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia",
		map[string]any{"Image": "http://x/a.iso", "UserName": "u", "Password": canary}, http.StatusNoContent)
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultDrop, Method: "POST"})
	if _, err := b.try("POST", sessions, secret); err == nil {
		t.Error("the fault did not strike")
	}
	found := fmt.Sprintf("%+v %+v", b.requests(redfish.RequestFilter{}), b.rack.MachineLog(redfish.EventFilter{}))
	if strings.Contains(found, canary) {
		t.Errorf("the password is in the logs: %s", found)
	}
	if !strings.Contains(found, `"UserName":"admin"`) {
		t.Error("the user's name is not in the log")
	}
}

func TestMachineLogFilters(t *testing.T) {
	b := newBench(t, withMachines(redfish.MachineSpec{Power: redfish.PowerOn}, redfish.MachineSpec{Power: redfish.PowerOn}))
	b.bmc.Machine("1").PowerOffByTenant()
	b.bmc.Machine("2").PowerOffByTenant()
	all := b.rack.MachineLog(redfish.EventFilter{})
	if len(all) != 2 {
		t.Fatalf("events %v", all)
	}
	for name, filter := range map[string]redfish.EventFilter{
		"by machine": {Machine: "2"}, "by UUID": {UUID: b.bmc.Machine("2").UUID()}, "by sequence": {After: all[0].Seq},
	} {
		if diff := cmp.Diff(all[1:], b.rack.MachineLog(filter), cmpopts.IgnoreUnexported(redfish.Event{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, filter := range map[string]redfish.EventFilter{"BMC": {BMC: "other"}, "kind": {Kinds: []redfish.EventKind{redfish.EventBoot}}} {
		if got := b.rack.MachineLog(filter); len(got) != 0 {
			t.Errorf("by another %s: %v", name, got)
		}
	}
}

// A judge asks what was wanted when the request came, however late it has its effect.
func TestMachineLogTellsWhenTheRequestCame(t *testing.T) {
	b := newBench(t, func(_ *redfish.Config, spec *redfish.BMCSpec) {
		spec.Behaviour = redfish.Behaviour{AsyncReset: true, TaskDuration: redfish.Duration(time.Minute)}
	})
	b.clock.Advance(time.Second)
	b.reset("On", http.StatusAccepted)
	b.clock.Advance(time.Minute)
	power := b.events(redfish.EventPower)
	if len(power) != 1 || !power[0].Arrived.Equal(start.Add(time.Second)) || !power[0].At.Equal(start.Add(time.Second+time.Minute)) {
		t.Errorf("the power-on arrived and was done: %+v", power)
	}
	b.clock.Advance(bootTime)
	b.machine().PowerOffByTenant()
	if power = b.events(redfish.EventPower); !power[len(power)-1].Arrived.IsZero() {
		t.Errorf("a power-off that no request asked for: %+v", power[len(power)-1])
	}
}
