// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"bytes"
	"strings"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// What is counted decides whether the tour can fail at all: every request that could harm a tenant must count.
func TestWhatCountsAsAWrite(t *testing.T) {
	const system = "/redfish/v1/Systems/1"
	var f figures
	for _, r := range []sim.Request{
		{Method: "GET", Path: system},
		{Method: "POST", Path: "/redfish/v1/SessionService/Sessions"},
		{Method: "DELETE", Path: "/redfish/v1/SessionService/Sessions/4"},
		{Method: "PATCH", Path: system, Body: `{"AssetTag":"x"}`},
		{Method: "POST", Path: system + "/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia"},
		{BMC: "u02", Method: "POST", Path: system + "/Actions/ComputerSystem.Reset", Body: `{"ResetType":"ForceOff"}`},
		{BMC: "u01", Method: "POST", Path: system + "/Actions/ComputerSystem.Reset", Body: `{"ResetType":"On"}`},
	} {
		f.count(r)
	}
	if f.writes != 4 || f.logins != 1 || f.resets() != "u01 On, u02 ForceOff" {
		t.Errorf("writes %d, logins %d, power calls %q", f.writes, f.logins, f.resets())
	}
}

func TestWhatCountsAsAWriteToTheCloud(t *testing.T) {
	var f figures
	for _, r := range []openstack.Request{
		{Service: "identity", Method: "POST", Route: "/identity/v3/auth/tokens"},
		{Service: "compute", Method: "GET", Route: "/compute/v2.1/servers/detail"},
		{Service: "compute", Method: "POST", Route: "/compute/v2.1/servers"},
		{Service: "compute", Method: "POST", Route: "/compute/v2.1/servers"},
		{Service: "compute", Method: "POST", Route: "/compute/v2.1/servers/{server}/action rebuild"},
		{Service: "compute", Method: "DELETE", Route: "/compute/v2.1/servers/{server}"},
		{Service: "network", Method: "PUT", Path: "/network/v2.0/unheard-of"},
		{Service: "network", Method: "PUT", Path: "/network/v2.0/ports/4/tags", Route: "/network/v2.0/{kind}/{id}/tags"},
	} {
		f.countCloud(r)
	}
	const want = "1 DELETE servers/{server}, 2 POST servers, 1 POST servers/{server}/action rebuild, 1 PUT /network/v2.0/unheard-of, 1 PUT ports/{id}/tags"
	if got := f.cloudCalls(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := new(figures).cloudCalls(); got != "none" {
		t.Errorf("%q, want none", got)
	}
}

func TestWritesAreToldByObject(t *testing.T) {
	event := func(resource, subresource string) auditv1.Event {
		return auditv1.Event{Verb: "patch", ObjectRef: &auditv1.ObjectReference{Resource: resource, Subresource: subresource}}
	}
	f := figures{api: []auditv1.Event{event("servers", ""), event("servers", "status"), event("servers", "")}}
	if got, want := f.objects(), "3 (2 servers, 1 servers/status)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := new(figures).objects(); got != "0" {
		t.Errorf("%q, want 0", got)
	}
}

func TestACheckThatDiffersFails(t *testing.T) {
	var out bytes.Buffer
	guide := &tour{out: &out}
	if err := guide.checked("power calls", "u01 ForceOff", "none"); err == nil {
		t.Error("passed")
	}
	if err := guide.checked("power calls", "none", "none"); err != nil {
		t.Error(err)
	}
	if got := out.String(); strings.Count(got, "checked") != 1 {
		t.Errorf("only what passed is told as checked:\n%s", got)
	}
}
