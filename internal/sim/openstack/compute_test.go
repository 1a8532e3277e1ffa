// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

func TestWhatANewServerIsRefusedFor(t *testing.T) {
	b := newBench(t)
	b.cloud.AddImage(openstack.Image{Name: "large", MinDisk: 1000})
	b.cloud.AddImage(openstack.Image{Name: "hungry", MinRAM: 1 << 16})
	metadata := obj{}
	for i := range 129 {
		metadata[strings.Repeat("k", i+1)] = "v"
	}
	const nobody = "00000000-0000-4000-8000-000000000000"
	for name, c := range map[string]struct {
		edit   func(obj)
		status int
		says   string
	}{
		"no flavor":           {with("flavorRef", nobody), 400, "Flavor " + nobody + " could not be found."},
		"no image":            {with("imageRef", nobody), 400, "Can not find requested image"},
		"a disk too small":    {with("imageRef", b.cloud.ImageID("large")), 400, "Flavor's disk is smaller"},
		"too little memory":   {with("imageRef", b.cloud.ImageID("hungry")), 400, "Flavor's memory is too small"},
		"no network":          {with("networks", []obj{{"uuid": nobody}}), 400, "Network " + nobody + " could not be found."},
		"no port":             {with("networks", []obj{{"port": nobody}}), 400, "Port id " + nobody + " could not be found."},
		"several networks":    {with("networks", "auto"), 409, "Multiple possible networks found"},
		"no networks at all":  {func(s obj) { delete(s, "networks") }, 400, "'networks' is a required property"},
		"no name":             {func(s obj) { delete(s, "name") }, 400, "'name' is a required property"},
		"no key":              {with("key_name", "nope"), 400, "Invalid key_name provided."},
		"no group":            {with("security_groups", []obj{{"name": "nope"}}), 400, "Unable to find security_group with name or id 'nope'"},
		"no zone":             {with("availability_zone", "nope"), 400, "The requested availability zone is not available"},
		"a zone that is down": {with("availability_zone", "az-down"), 400, "The requested availability zone is not available"}, // B209
		"large user data":     {with("user_data", strings.Repeat("a", 65536)), 400, "too long"},                                // B213
		"a bad tag":           {with("tags", []string{"a,b"}), 400, "does not match '^[^,/]*$'"},
		"a long tag":          {with("tags", []string{strings.Repeat("a", 61)}), 400, "too long"},
		"much metadata":       {with("metadata", metadata), 403, "Maximum number of metadata items exceeds 128"},
		"a volume":            {with("block_device_mapping_v2", []obj{}), 400, "Additional properties are not allowed"},
		"two at once":         {with("max_count", 2), 400, "one server at a time"},
	} {
		a := b.do("POST", servers, b.newServer("web", c.edit), c.status)
		if !contains(string(a.Raw), c.says) {
			t.Errorf("%s: %s", name, a.Raw)
		}
	}
	b.do("POST", servers, "garbage", http.StatusBadRequest)
	hinted := b.newServer("web")
	hinted["os:scheduler_hints"] = obj{"group": nobody}
	b.do("POST", servers, hinted, http.StatusBadRequest)
	if left := len(b.cloud.Servers()) + len(b.cloud.Ports()); left != 0 {
		t.Errorf("%d things were made", left)
	}
	b.create("just fits", with("user_data", strings.Repeat("a", 65535)), with("networks", "none"))
}

func TestNovaQuotas(t *testing.T) {
	for name, set := range map[string]func(*openstack.Quotas){
		"instances": func(q *openstack.Quotas) { q.Instances = 1 }, "cores": func(q *openstack.Quotas) { q.Cores = 1 }, "ram": func(q *openstack.Quotas) { q.RAM = 2048 },
	} {
		b := newBench(t)
		b.cloud.SetQuotas(set)
		b.create("first")
		a := b.do("POST", servers, b.newServer("second"), http.StatusForbidden)
		if !contains(string(a.Raw), "Quota exceeded for "+name) {
			t.Errorf("%s: %s", name, a.Raw)
		}
		limits := pick(t, b.get("/compute/v2.1/limits"), "limits", "absolute").(obj)
		if limits["totalInstancesUsed"] != 1.0 || limits["totalRAMUsed"] != 2048.0 {
			t.Errorf("%s: %v", name, limits)
		}
	}
}

func TestMetadataAndTagsOfAServer(t *testing.T) {
	b := newBench(t)
	id := b.running("web", with("metadata", obj{"k": "v"}), with("tags", []string{"a"}))
	path := servers + "/" + id
	b.do("POST", path+"/metadata", obj{"metadata": obj{"l": "w"}}, http.StatusOK)
	b.do("PUT", path+"/metadata/m", obj{"meta": obj{"m": "x"}}, http.StatusOK)
	b.do("PUT", path+"/metadata/m", obj{"meta": obj{"n": "x"}}, http.StatusBadRequest)
	b.do("DELETE", path+"/metadata/l", nil, http.StatusNoContent)
	b.do("DELETE", path+"/metadata/l", nil, http.StatusNotFound)
	b.do("GET", path+"/metadata/l", nil, http.StatusNotFound)
	if diff := cmp.Diff(any(obj{"k": "v", "m": "x"}), b.get(path + "/metadata")["metadata"]); diff != "" {
		t.Error(diff)
	}
	b.do("PUT", path+"/metadata", obj{"metadata": obj{"only": "this"}}, http.StatusOK)
	if diff := cmp.Diff(any(obj{"only": "this"}), b.server(id)["metadata"]); diff != "" {
		t.Error(diff)
	}
	b.do("PUT", path+"/tags/b", nil, http.StatusCreated)
	b.do("PUT", path+"/tags/b", nil, http.StatusNoContent)
	b.do("PUT", path+"/tags", obj{"tags": []string{"x/y"}}, http.StatusBadRequest)
	b.do("DELETE", path+"/tags/a", nil, http.StatusNoContent)
	b.do("GET", path+"/tags/a", nil, http.StatusNotFound)
	if diff := cmp.Diff([]any{"b"}, b.server(id)["tags"]); diff != "" {
		t.Error(diff)
	}
	b.do("DELETE", path+"/tags", nil, http.StatusNoContent)
	renamed := b.do("PUT", path, obj{"server": obj{"name": "db"}}, http.StatusOK)
	if pick(t, renamed.Body, "server", "name") != "db" {
		t.Errorf("%s", renamed.Raw)
	}
	// in ERROR neither can be written, as on a real cloud
	if err := b.cloud.FailServer(id, "hot"); err != nil {
		t.Fatal(err)
	}
	b.do("PUT", path+"/tags", obj{"tags": []string{"a"}}, http.StatusConflict)
	b.do("PUT", path+"/metadata/m", obj{"meta": obj{"m": "x"}}, http.StatusConflict)
}

func TestInterfacesComeAndGo(t *testing.T) {
	b := newBench(t)
	given := b.port()
	id := b.running("web", with("networks", []obj{{"port": given}}))
	path := servers + "/" + id + "/os-interface"
	made := pick(t, b.do("POST", path, obj{"interfaceAttachment": obj{"net_id": b.cloud.NetworkID("backend")}}, http.StatusOK).Body, "interfaceAttachment", "port_id").(string)
	if got := b.rows(path, "interfaceAttachments", "port_id"); !cmp.Equal(got, []string{given, made}) {
		t.Errorf("interfaces %v", got)
	}
	b.get(path + "/" + made)
	b.do("POST", path, obj{"interfaceAttachment": obj{"port_id": given}}, http.StatusConflict)
	b.do("POST", path, obj{"interfaceAttachment": obj{}}, http.StatusBadRequest)
	for _, port := range []string{made, given, given} { // a port that it does not have is accepted too
		b.do("DELETE", path+"/"+port, nil, http.StatusAccepted)
	}
	b.do("GET", ports+"/"+made, nil, http.StatusNotFound)
	if p := b.getPort(given); p["device_id"] != "" || p["status"] != "DOWN" {
		t.Errorf("%v", p)
	}
	b.do("POST", path, obj{"interfaceAttachment": obj{"port_id": given}}, http.StatusOK)

	// somebody else takes it, gives another, deletes that
	if err := b.cloud.DetachPort(id, given); err != nil {
		t.Fatal(err)
	}
	foreign, err := b.cloud.AttachPort(id, "backend")
	if err != nil {
		t.Fatal(err)
	}
	if got := b.rows(path, "interfaceAttachments", "port_id"); !cmp.Equal(got, []string{foreign}) {
		t.Errorf("interfaces %v", got)
	}
	if err := b.cloud.RemovePort(foreign); err != nil {
		t.Fatal(err)
	}
	if got := b.server(id)["addresses"].(obj); len(got) != 0 {
		t.Errorf("addresses %v", got)
	}
	stray, err := b.cloud.AddPort("demo", "private", "reserved", "somebody's")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cloud.ChangePort(stray); err != nil {
		t.Fatal(err)
	}
	if p := b.getPort(stray); len(p["security_groups"].([]any)) != 0 || p["description"] != "somebody's" {
		t.Errorf("%v", p)
	}
}

func TestServerGroupsAndKeys(t *testing.T) {
	b := newBench(t)
	groups := "/compute/v2.1/os-server-groups"
	made := pick(t, b.do("POST", groups, obj{"server_group": obj{"name": "g", "policies": []string{"anti-affinity"}}}, http.StatusOK).Body, "server_group", "id").(string)
	b.do("POST", groups, obj{"server_group": obj{"name": "g", "policies": []string{"nearby"}}}, http.StatusBadRequest)
	body := b.newServer("web")
	body["os:scheduler_hints"] = obj{"group": made}
	id := pick(t, b.do("POST", servers, body, http.StatusAccepted).Body, "server", "id").(string)
	if diff := cmp.Diff([]any{id}, pick(t, b.get(groups+"/"+made), "server_group", "members")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{made}, b.at("2.71").server(id)["server_groups"]); diff != "" {
		t.Error(diff)
	}
	b.do("DELETE", groups+"/"+made, nil, http.StatusNoContent)
	b.do("GET", groups+"/"+made, nil, http.StatusNotFound)

	keys := "/compute/v2.1/os-keypairs"
	const blob = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKnSZhXzJkz3lqVqXGQPzO4aVnLr4XnCqkMz0fYxv9aB osci"
	key := pick(t, b.do("POST", keys, obj{"keypair": obj{"name": "k", "public_key": blob}}, http.StatusCreated).Body, "keypair").(obj)
	if key["fingerprint"] != "ee:25:71:2d:e3:0a:41:55:f1:4a:42:2b:d7:8a:fe:e1" { // as Nova computed it
		t.Errorf("%v", key)
	}
	b.do("POST", keys, obj{"keypair": obj{"name": "k", "public_key": blob}}, http.StatusConflict)
	b.do("POST", keys, obj{"keypair": obj{"name": "l"}}, http.StatusBadRequest)
	if got := b.server(b.create("keyed", with("key_name", "k")))["key_name"]; got != "k" {
		t.Errorf("key %v", got)
	}
	b.do("DELETE", keys+"/k", nil, http.StatusNoContent)
	b.do("GET", keys+"/k", nil, http.StatusNotFound)
}

func TestFaultsFindActionsByName(t *testing.T) {
	b := newBench(t)
	id := b.running("web")
	b.inject(openstack.Fault{Kind: openstack.FaultStatus, Status: 503, Path: "/action rebuild$"})
	b.act(id, "os-stop", nil, http.StatusAccepted)
	b.clock.Advance(timing.PowerOff)
	b.act(id, "rebuild", obj{"imageRef": b.cloud.ImageID("debian-13")}, http.StatusServiceUnavailable)
	b.wantStatus(id, "SHUTOFF")
}
