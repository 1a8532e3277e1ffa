// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

func TestAPortLosesItsTagsAtCreation(t *testing.T) {
	b := newBench(t)
	id := b.port(with("tags", []string{"a"}), with("description", "holdfast:1"), with("name", "p"))
	if p := b.getPort(id); len(p["tags"].([]any)) != 0 || p["description"] != "holdfast:1" {
		t.Errorf("%v", p)
	}
	b.do("PUT", ports+"/"+id+"/tags", obj{"tags": []string{"b", "a", "b"}}, http.StatusOK)
	b.do("PUT", ports+"/"+id+"/tags/c", nil, http.StatusCreated)
	if diff := cmp.Diff([]any{"a", "b", "c"}, b.getPort(id)["tags"]); diff != "" {
		t.Error(diff)
	}
	b.do("GET", ports+"/"+id+"/tags/c", nil, http.StatusNoContent)
	b.do("DELETE", ports+"/"+id+"/tags/c", nil, http.StatusNoContent)
	b.do("DELETE", ports+"/"+id+"/tags/c", nil, http.StatusNotFound)
	b.do("PUT", ports+"/nope/tags", obj{"tags": []string{}}, http.StatusNotFound)
	b.do("PUT", ports+"/"+id+"/tags", obj{}, http.StatusBadRequest)
}

func TestPortsAreFoundByWhatTheyBear(t *testing.T) {
	b := newBench(t)
	one := b.port(with("description", "holdfast:1"), with("name", "one"))
	two := b.port(with("description", "holdfast:2"), with("name", "two"), with("fixed_ips", []obj{{"ip_address": "10.20.5.5"}}))
	b.do("PUT", ports+"/"+one+"/tags", obj{"tags": []string{"mine", "red"}}, http.StatusOK)
	b.do("PUT", ports+"/"+two+"/tags", obj{"tags": []string{"mine", "blue"}}, http.StatusOK)
	for query, want := range map[string][]string{
		"description=holdfast:1":                     {one},
		"description=holdfast":                       {},
		"tags=mine":                                  {one, two},
		"tags=mine,red":                              {one},
		"tags-any=red,blue":                          {one, two},
		"not-tags=mine,red":                          {two},
		"not-tags-any=red,blue":                      {},
		"name=one&name=two":                          {one, two},
		"fixed_ips=ip_address%3D10.20.5.5":           {two},
		"network_id=nope":                            {},
		"device_id=":                                 {one, two},
		"nonesuch=1":                                 {one, two},
		"status=DOWN&admin_state_up=True":            {one, two},
		"id=" + two + "&fields=id":                   {two},
		"project_id=nope":                            {},
		"security_groups=nope":                       {},
		"device_owner=compute:nova&tags=mine":        {},
		"mac_address=" + macOf(b, one) + "&limit=10": {one},
	} {
		slices.Sort(want)
		if diff := cmp.Diff(want, b.rows(ports+"?"+query, "ports", "id")); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	if got := b.get(ports + "?id=" + two + "&fields=id&fields=name")["ports"].([]any)[0]; !cmp.Equal(got, any(obj{"id": two, "name": "two"})) {
		t.Errorf("fields: %v", got)
	}
}

func macOf(b *bench, id string) string { return b.getPort(id)["mac_address"].(string) }

func TestPages(t *testing.T) {
	b := newBench(t)
	var all []string
	for range 5 {
		all = append(all, b.port())
	}
	slices.Sort(all)
	var got []string
	path := ports + "?limit=2&tags-any="
	for path != "" {
		page := b.get(path)
		for _, row := range page["ports"].([]any) {
			got = append(got, row.(obj)["id"].(string))
		}
		path = ""
		if links, more := page["ports_links"].([]any); more {
			path = links[0].(obj)["href"].(string)[len(b.base()):]
		}
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Error(diff)
	}
	b.do("GET", ports+"?marker=nope", nil, http.StatusBadRequest)
}

func TestWhatAPortRefuses(t *testing.T) {
	b := newBench(t)
	used := b.port(with("fixed_ips", []obj{{"ip_address": "10.20.7.7"}}))
	private, backend := b.cloud.NetworkID("private"), b.cloud.NetworkID("backend")
	for name, c := range map[string]struct {
		method string
		port   obj
		status int
		kind   string
	}{
		"address in use":             {"POST", obj{"network_id": private, "fixed_ips": []obj{{"ip_address": "10.20.7.7"}}}, 409, "IpAddressAlreadyAllocated"},
		"address elsewhere":          {"POST", obj{"network_id": private, "fixed_ips": []obj{{"ip_address": "9.9.9.9"}}}, 400, "InvalidIpForNetwork"},
		"no address":                 {"POST", obj{"network_id": private, "fixed_ips": []obj{{"ip_address": "x"}}}, 400, "HTTPBadRequest"},
		"no network":                 {"POST", obj{"network_id": "nope"}, 404, "NetworkNotFound"},
		"nothing":                    {"POST", obj{}, 400, "HTTPBadRequest"},
		"unknown member":             {"POST", obj{"network_id": private, "bogus": 1}, 400, "HTTPBadRequest"},
		"unknown group":              {"PUT", obj{"security_groups": []string{"nope"}}, 404, "SecurityGroupNotFound"},
		"bad pair":                   {"PUT", obj{"allowed_address_pairs": []obj{{"ip_address": "x"}}}, 400, "HTTPBadRequest"},
		"twice the same pair":        {"PUT", obj{"allowed_address_pairs": []obj{{"ip_address": "10.0.0.1"}, {"ip_address": "10.0.0.1"}}}, 400, "DuplicateAddressPairInRequest"},
		"security off with group":    {"PUT", obj{"port_security_enabled": false}, 409, "PortSecurityPortHasSecurityGroup"},
		"the host":                   {"PUT", obj{"binding:host_id": "h"}, 403, "PolicyNotAuthorized"},
		"tags":                       {"PUT", obj{"tags": []string{"a"}}, 400, "HTTPBadRequest"},
		"address on a shared one":    {"POST", obj{"network_id": backend, "fixed_ips": []obj{{"ip_address": "10.30.1.1"}}}, 403, "PolicyNotAuthorized"},
		"pairs on a shared one":      {"POST", obj{"network_id": backend, "allowed_address_pairs": []obj{{"ip_address": "10.30.1.1"}}}, 403, "PolicyNotAuthorized"},
		"on a network not reachable": {"POST", obj{"network_id": "00000000-0000-4000-8000-000000000000"}, 404, "NetworkNotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			b := *b
			b.t = t
			path := ports
			if c.method == "PUT" {
				path += "/" + used
			}
			a := b.do(c.method, path, obj{"port": c.port}, c.status)
			if got := pick(t, a.Body, "NeutronError", "type"); got != c.kind {
				t.Errorf("%v, want %v: %s", got, c.kind, a.Raw)
			}
		})
	}
	b.do("POST", ports, "garbage", http.StatusBadRequest)
	b.do("GET", ports+"/nope", nil, http.StatusNotFound)
}

func TestAPortIsChangedFieldByField(t *testing.T) {
	b := newBench(t)
	group := pick(t, b.do("POST", "/network/v2.0/security-groups", obj{"security_group": obj{"name": "web"}}, 201).Body, "security_group", "id").(string)
	id := b.port(with("fixed_ips", []obj{{"ip_address": "10.20.8.8"}}))
	before := b.getPort(id)
	a := b.do("PUT", ports+"/"+id, obj{"port": obj{"security_groups": []string{group}, "allowed_address_pairs": []obj{{"ip_address": "10.9.0.0/24"}}}}, 200)
	after := pick(t, a.Body, "port").(obj)
	if after["revision_number"].(float64) <= before["revision_number"].(float64) || after["mac_address"] != before["mac_address"] ||
		!cmp.Equal(after["fixed_ips"], before["fixed_ips"]) || !cmp.Equal(after["security_groups"], []any{group}) {
		t.Errorf("before %v\nafter %v", before, after)
	}
	pair := after["allowed_address_pairs"].([]any)[0].(obj)
	if pair["mac_address"] != after["mac_address"] {
		t.Errorf("pair %v", pair)
	}
	b.do("DELETE", "/network/v2.0/security-groups/"+group, nil, http.StatusConflict)

	b.header.Set("If-Match", "revision_number=1")
	stale := b.do("PUT", ports+"/"+id, obj{"port": obj{"name": "x"}}, http.StatusPreconditionFailed)
	if pick(t, stale.Body, "NeutronError", "type") != "RevisionNumberConstraintFailed" {
		t.Errorf("%s", stale.Raw)
	}
	b.do("DELETE", ports+"/"+id, nil, http.StatusPreconditionFailed)
	b.header.Set("If-Match", fmt.Sprintf("revision_number=%v", after["revision_number"]))
	b.do("PUT", ports+"/"+id, obj{"port": obj{"name": "x"}}, http.StatusOK)
	b.header.Del("If-Match")

	b.do("PUT", ports+"/"+id, obj{"port": obj{"fixed_ips": []obj{{"ip_address": "10.20.8.9"}}}}, http.StatusOK)
	b.port(with("fixed_ips", []obj{{"ip_address": "10.20.8.8"}})) // the old address is free
	b.do("PUT", ports+"/"+id, obj{"port": obj{"fixed_ips": []obj{{"ip_address": "10.20.8.8"}}}}, http.StatusConflict)
	b.do("DELETE", ports+"/"+id, nil, http.StatusNoContent)
	b.do("DELETE", ports+"/"+id, nil, http.StatusNotFound)
	b.port(with("fixed_ips", []obj{{"ip_address": "10.20.8.9"}}))
}

func TestNeutronQuotas(t *testing.T) {
	b := newBench(t)
	b.cloud.SetQuotas(func(q *openstack.Quotas) { q.Ports, q.FloatingIPs = 1, 0 })
	b.port()
	a := b.do("POST", ports, obj{"port": obj{"network_id": b.cloud.NetworkID("private")}}, http.StatusConflict)
	if pick(t, a.Body, "NeutronError", "type") != "OverQuota" {
		t.Errorf("%s", a.Raw)
	}
	b.do("POST", fips, obj{"floatingip": obj{"floating_network_id": b.cloud.NetworkID("public")}}, http.StatusConflict)
	b.do("POST", servers, b.newServer("web"), http.StatusForbidden) // Nova would have to make a port
}

func TestANetworkRunsOutOfAddresses(t *testing.T) {
	b := newBench(t, withInventory(func(in *openstack.Inventory) {
		in.Networks = append(in.Networks, openstack.Network{Name: "tiny", CIDR: "10.40.0.0/30", Project: "demo"})
	}))
	tiny := with("network_id", b.cloud.NetworkID("tiny"))
	last := b.port(tiny)
	if got := b.cloud.Ports()[0].Addresses; !cmp.Equal(got, []string{"10.40.0.2"}) {
		t.Errorf("addresses %v", got)
	}
	a := b.do("POST", ports, obj{"port": obj{"network_id": b.cloud.NetworkID("tiny")}}, http.StatusConflict)
	if pick(t, a.Body, "NeutronError", "type") != "IpAddressGenerationFailure" {
		t.Errorf("%s", a.Raw)
	}
	b.do("DELETE", ports+"/"+last, nil, http.StatusNoContent)
	b.port(tiny)
}

func TestNetworksAreFoundByNameTagAndKind(t *testing.T) {
	b := newBench(t)
	for query, want := range map[string][]string{
		"": {"backend", "private", "public"}, "name=private": {"private"}, "router:external=True": {"public"}, "router:external=false": {"backend", "private"},
		"tags=tier:private": {"private"}, "shared=true": {"backend"}, "id=" + b.cloud.NetworkID("public"): {"public"},
	} {
		got := b.rows("/network/v2.0/networks?"+query, "networks", "name")
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	if got := b.rows("/network/v2.0/subnets?network_id="+b.cloud.NetworkID("private"), "subnets", "cidr"); !cmp.Equal(got, []string{"10.20.0.0/16"}) {
		t.Errorf("subnets %v", got)
	}
}
