// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// fip makes a floating IP and returns its id.
func (b *bench) fip(edit ...func(obj)) string {
	b.t.Helper()
	f := obj{"floating_network_id": b.cloud.NetworkID("public")}
	for _, e := range edit {
		e(f)
	}
	return pick(b.t, b.do("POST", fips, obj{"floatingip": f}, http.StatusCreated).Body, "floatingip", "id").(string)
}

func (b *bench) getFIP(id string) obj {
	b.t.Helper()
	return pick(b.t, b.get(fips+"/"+id), "floatingip").(obj)
}

func TestAFloatingIPComesAndGoes(t *testing.T) {
	b := newBench(t)
	port := b.port()
	id := b.running("web", with("networks", []obj{{"port": port}}))
	f := b.fip(with("description", "holdfast:1"))
	if got := b.getFIP(f); got["status"] != "DOWN" || got["port_id"] != nil || got["description"] != "holdfast:1" {
		t.Errorf("%v", got)
	}
	b.do("PUT", fips+"/"+f, obj{"floatingip": obj{"port_id": port}}, http.StatusOK)
	got := b.getFIP(f)
	if got["status"] != "ACTIVE" || got["port_id"] != port || pick(t, got, "port_details", "device_id") != id {
		t.Errorf("%v", got)
	}
	if list := pick(t, b.server(id), "addresses", "private").([]any); len(list) != 2 || list[1].(obj)["OS-EXT-IPS:type"] != "floating" {
		t.Errorf("addresses %v", list)
	}
	b.do("PUT", fips+"/"+f, obj{"floatingip": obj{"description": "x"}}, http.StatusOK)
	if got := b.getFIP(f); got["port_id"] != port {
		t.Errorf("a change that does not name the port took it away: %v", got)
	}
	if rows := b.rows(fips+"?description=x", "floatingips", "id"); !cmp.Equal(rows, []string{f}) {
		t.Errorf("rows %v", rows)
	}

	// it stays with a port whose server is gone, and is nobody's when the port goes
	b.do("DELETE", servers+"/"+id, nil, http.StatusNoContent)
	b.clock.Advance(timing.Delete)
	if got := b.getFIP(f); got["status"] != "ACTIVE" || got["port_id"] != port {
		t.Errorf("%v", got)
	}
	b.do("DELETE", ports+"/"+port, nil, http.StatusNoContent)
	if got := b.getFIP(f); got["status"] != "DOWN" || got["port_id"] != nil {
		t.Errorf("%v", got)
	}
	b.do("DELETE", fips+"/"+f, nil, http.StatusNoContent)
	b.do("DELETE", fips+"/"+f, nil, http.StatusNotFound)
}

// A port has one floating IP; a floating IP is moved from one port to another without a word (B200).
func TestFloatingIPsAreTakenAndMoved(t *testing.T) {
	b := newBench(t)
	one, two := b.port(), b.port()
	f := b.fip(with("port_id", one))
	a := b.do("POST", fips, obj{"floatingip": obj{"floating_network_id": b.cloud.NetworkID("public"), "port_id": one}}, http.StatusConflict)
	if pick(t, a.Body, "NeutronError", "type") != "FloatingIPPortAlreadyAssociated" {
		t.Errorf("%s", a.Raw)
	}
	if n := len(b.cloud.FloatingIPs()); n != 1 {
		t.Errorf("%d floating IPs: what was refused was made", n)
	}
	b.do("PUT", fips+"/"+f, obj{"floatingip": obj{"port_id": two}}, http.StatusOK)
	if err := b.cloud.MoveFloatingIP(f, one); err != nil {
		t.Fatal(err)
	}
	if got := b.getFIP(f)["port_id"]; got != one {
		t.Errorf("port %v", got)
	}
	last := b.cloud.Events(openstack.EventFilter{ID: f})
	if e := last[len(last)-1]; e.By != "hand" || e.Detail != one {
		t.Errorf("%+v", e)
	}
	b.do("PUT", fips+"/"+f, obj{"floatingip": obj{"port_id": nil}}, http.StatusOK)
	if got := b.getFIP(f)["port_id"]; got != nil {
		t.Errorf("port %v", got)
	}
}

func TestWhatAFloatingIPRefuses(t *testing.T) {
	b := newBench(t)
	public := b.cloud.NetworkID("public")
	for name, c := range map[string]struct {
		body   obj
		status int
		kind   string
	}{
		"tags":            {obj{"floating_network_id": public, "tags": []string{"a"}}, 400, "HTTPBadRequest"},
		"an inner one":    {obj{"floating_network_id": b.cloud.NetworkID("private")}, 400, "BadRequest"},
		"no network":      {obj{"floating_network_id": "nope"}, 404, "NetworkNotFound"},
		"none named":      {obj{}, 400, "HTTPBadRequest"},
		"a wish":          {obj{"floating_network_id": public, "floating_ip_address": "172.24.3.3"}, 403, "PolicyNotAuthorized"},
		"no such port":    {obj{"floating_network_id": public, "port_id": "nope"}, 404, "PortNotFound"},
		"an odd member":   {obj{"floating_network_id": public, "colour": "red"}, 400, "HTTPBadRequest"},
		"a port outside":  {obj{"floating_network_id": public, "port_id": b.port(with("network_id", public))}, 404, "ExternalGatewayForFloatingIPNotFound"},
		"without address": {obj{"floating_network_id": public, "port_id": b.port(with("fixed_ips", []obj{}))}, 400, "BadRequest"},
	} {
		a := b.do("POST", fips, obj{"floatingip": c.body}, c.status)
		if got := pick(t, a.Body, "NeutronError", "type"); got != c.kind {
			t.Errorf("%s: %v, want %v: %s", name, got, c.kind, a.Raw)
		}
	}
	if left := b.cloud.FloatingIPs(); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}
