// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// The same calls are made to the simulator and, once, to a real cloud (Zed), whose answers are kept as shapes: status,
// the members and what kind of value each has. The simulator's must be the same. To record anew:
//
//	go test ./internal/sim/openstack -run TestShapes -record http://127.0.0.1:25000/v3 -record-as test,PASSWORD,test \
//	    -record-names osci.tiny,osci.huge,osci-image-a,osci-image-b
var (
	recordFrom  = flag.String("record", "", "auth_url of a real cloud to record shapes from")
	recordAs    = flag.String("record-as", "", "user,password,project of -record, in domain Default")
	recordNames = flag.String("record-names", "", "of -record: flavor, flavor that no host can take, image, another image")
)

const shapesFile = "testdata/shapes.json"

// shape is an answer without its values.
type shape struct {
	Status int `json:"status"`
	// Members are paths to members and the kinds of their values, "null" where it was null in all of them.
	Members map[string]string `json:"members,omitempty"`
}

func TestShapes(t *testing.T) {
	if *recordFrom != "" {
		record(t)
	}
	data, err := os.ReadFile(shapesFile)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]shape
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	cloud, err := openstack.Start(openstack.Config{Timing: &openstack.Timing{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cloud.Close() })
	got := survey(t, &site{t: t, client: cloud.Client(), names: [4]string{"m1.small", "m1.huge", "debian-12", "debian-13"}}, cloud.AuthURL(), "demo", "secret", "demo")
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Fatalf("the recordings are of other calls: %s", diff)
	}
	for name, w := range want {
		g := got[name]
		for path, kind := range g.Members { // null says nothing about the kind
			if kind == "null" && w.Members[path] != "" || w.Members[path] == "null" {
				g.Members[path] = w.Members[path]
			}
		}
		if diff := cmp.Diff(w, g, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: real (-), simulated (+): %s", name, diff)
		}
	}
}

// record writes what a real cloud answers.
func record(t *testing.T) {
	t.Helper()
	as, names := strings.Split(*recordAs, ","), strings.Split(*recordNames, ",")
	if len(as) != 3 || len(names) != 4 {
		t.Fatal("-record needs -record-as and -record-names")
	}
	shapes := survey(t, &site{t: t, client: http.DefaultClient, names: [4]string(names)}, *recordFrom, as[0], as[1], as[2])
	data, err := json.MarshalIndent(shapes, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(shapesFile, append(data, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// site is a cloud, simulated or real, as it is seen over the wire.
type site struct {
	t        testing.TB
	client   *http.Client
	names    [4]string // flavor, flavor that no host can take, image, another image
	token    string
	services map[string]string // by type
	shapes   map[string]shape
}

// call makes a request, keeps the shape of the answer unless it has no name, and returns its body.
func (s *site) call(name, method, service, path, version string, body any) obj {
	s.t.Helper()
	var payload strings.Builder
	if body != nil {
		if err := json.NewEncoder(&payload).Encode(body); err != nil {
			s.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.services[service]+path, strings.NewReader(payload.String()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", s.token)
	req.Header.Set("Content-Type", "application/json")
	if version != "" {
		req.Header.Set("OpenStack-API-Version", "compute "+version)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if t := resp.Header.Get("X-Subject-Token"); t != "" {
		s.token = t
	}
	var doc any
	_ = json.NewDecoder(resp.Body).Decode(&doc) // some are not JSON
	if name != "" {
		members := map[string]string{}
		outline("", doc, members)
		s.shapes[name] = shape{Status: resp.StatusCode, Members: members}
	}
	answered, _ := doc.(obj)
	return answered
}

// outline notes the members of a document. Rows of a listing are taken together; lists of texts, which may be empty, are
// just lists; and properties that a user gave an image are left out.
func outline(path string, value any, into map[string]string) {
	kind := "null"
	switch v := value.(type) {
	case obj:
		kind = "object"
		for key, member := range v {
			if !strings.HasPrefix(key, "owner_specified.") {
				outline(path+"/"+key, member, into)
			}
		}
	case []any:
		kind = "list"
		for _, row := range v {
			if _, isObject := row.(obj); isObject {
				outline(path+"[]", row, into)
			}
		}
	case string:
		kind = "string"
	case float64:
		kind = "number"
	case bool:
		kind = "boolean"
	}
	if path != "" && (kind != "null" || into[path] == "") {
		into[path] = kind
	}
}

// find is the id of what has a name in a listing.
func (s *site) find(service, path, collection, name string) string {
	s.t.Helper()
	for _, row := range s.call("", "GET", service, path, "", nil)[collection].([]any) {
		if row.(obj)["name"] == name {
			return row.(obj)["id"].(string)
		}
	}
	s.t.Fatalf("no %s %q", collection, name)
	return ""
}

// await waits until a server has a status, or, with an empty one, is gone.
func (s *site) await(id, status string) {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		doc, _ := s.call("", "GET", "compute", "/servers/"+id, "2.52", nil)["server"].(obj)
		if doc["status"] == status && doc["OS-EXT-STS:task_state"] == nil || doc == nil && status == "" {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("server %s is %v, want %s", id, doc["status"], status)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// survey makes all the calls and returns the shapes of the answers.
func survey(t *testing.T, s *site, authURL, user, password, project string) map[string]shape {
	t.Helper()
	s.shapes, s.services = map[string]shape{}, map[string]string{"identity": authURL}
	token := s.call("token", "POST", "identity", "/auth/tokens", "", passwordLogin(user, password, project))["token"].(obj)
	for _, entry := range token["catalog"].([]any) {
		for _, e := range entry.(obj)["endpoints"].([]any) {
			if e.(obj)["interface"] == "public" {
				s.services[entry.(obj)["type"].(string)] = e.(obj)["url"].(string)
			}
		}
	}
	s.services["image"] += "/v2"
	s.services["network"] += "/v2.0"
	delete(s.shapes["token"].Members, "/token/catalog[]/name") // a cloud has services that are not simulated
	s.surveyOffer()
	s.surveyMistakes()
	port, fip := s.surveyNetwork()
	s.surveyServer(port, fip)
	s.surveyKeys()
	return s.shapes
}

func (s *site) surveyOffer() {
	flavor, image := s.find("compute", "/flavors", "flavors", s.names[0]), s.find("image", "/images", "images", s.names[2])
	for _, version := range []string{"2.1", "2.52", "2.93"} {
		s.call("flavors "+version, "GET", "compute", "/flavors", version, nil)
		s.call("flavors in detail "+version, "GET", "compute", "/flavors/detail", version, nil)
		s.call("flavor "+version, "GET", "compute", "/flavors/"+flavor, version, nil)
	}
	s.call("zones", "GET", "compute", "/os-availability-zone", "2.52", nil)
	s.call("limits", "GET", "compute", "/limits", "2.93", nil)
	s.call("compute version", "GET", "compute", "/", "", nil)
	s.call("images", "GET", "image", "/images", "", nil)
	s.call("images by pages", "GET", "image", "/images?limit=1", "", nil)
	s.call("image", "GET", "image", "/images/"+image, "", nil)
	s.call("networks", "GET", "network", "/networks", "", nil)
	s.call("subnets", "GET", "network", "/subnets", "", nil)
	s.call("routers", "GET", "network", "/routers", "", nil)
	s.call("security groups", "GET", "network", "/security-groups?name=default", "", nil)
}

// surveyMistakes asks for what there is not.
func (s *site) surveyMistakes() {
	const nobody = "00000000-0000-4000-8000-000000000000"
	s.call("no flavor", "GET", "compute", "/flavors/"+nobody, "2.52", nil)
	s.call("no server", "GET", "compute", "/servers/"+nobody, "2.52", nil)
	s.call("no such microversion", "GET", "compute", "/servers", "2.999", nil)
	s.call("no marker", "GET", "compute", "/servers?marker="+nobody, "2.52", nil)
	s.call("no port", "GET", "network", "/ports/"+nobody, "", nil)
	s.call("no floating IP", "GET", "network", "/floatingips/"+nobody, "", nil)
	s.call("no network", "GET", "network", "/networks/"+nobody, "", nil)
	s.call("no image", "GET", "image", "/images/"+nobody, "", nil)
	s.call("no tags", "PUT", "network", "/ports/"+nobody+"/tags", "", obj{"tags": []string{"a"}})
	s.call("a bad filter", "GET", "compute", "/servers?nonesuch=1", "2.93", nil)
	s.call("a filter that is ignored", "GET", "compute", "/servers?nonesuch=1", "2.52", nil)
	s.call("no host of the operator's", "GET", "compute", "/os-services", "2.52", nil)
	good := s.token
	s.token = "nonesuch"
	for _, service := range []string{"compute", "network"} {
		s.call("a bad token for "+service, "GET", service, map[string]string{"compute": "/servers", "network": "/ports"}[service], "", nil)
	}
	s.token = good
}

func (s *site) surveyNetwork() (port, fip string) {
	private, public := s.find("network", "/networks", "networks", "private"), s.find("network", "/networks", "networks", "public")
	made := s.call("a new port", "POST", "network", "/ports", "", obj{"port": obj{
		"network_id": private, "name": "shapes", "description": "shapes", "tags": []string{"a"}, "allowed_address_pairs": []obj{{"ip_address": "10.9.0.0/24"}},
	}})["port"].(obj)
	port = made["id"].(string)
	s.call("tags of a port", "PUT", "network", "/ports/"+port+"/tags", "", obj{"tags": []string{"a", "b"}})
	s.call("a tag of a port", "PUT", "network", "/ports/"+port+"/tags/c", "", nil)
	s.call("a changed port", "PUT", "network", "/ports/"+port, "", obj{"port": obj{"description": "shapes"}})
	s.call("an address in use", "POST", "network", "/ports", "", obj{"port": obj{"network_id": private, "fixed_ips": []any{
		obj{"ip_address": made["fixed_ips"].([]any)[0].(obj)["ip_address"]},
	}}})
	s.call("an odd member", "PUT", "network", "/ports/"+port, "", obj{"port": obj{"colour": "red"}})
	s.call("a floating IP with tags", "POST", "network", "/floatingips", "", obj{"floatingip": obj{"floating_network_id": public, "tags": []string{"a"}}})
	fip = s.call("a new floating IP", "POST", "network", "/floatingips", "", obj{"floatingip": obj{"floating_network_id": public}})["floatingip"].(obj)["id"].(string)
	return port, fip
}

func (s *site) surveyServer(port, fip string) {
	flavor, huge := s.find("compute", "/flavors", "flavors", s.names[0]), s.find("compute", "/flavors", "flavors", s.names[1])
	image, other := s.find("image", "/images", "images", s.names[2]), s.find("image", "/images", "images", s.names[3])
	body := func(flavor string, network any) obj {
		return obj{"server": obj{"name": "shapes", "flavorRef": flavor, "imageRef": image, "networks": network, "tags": []string{"shapes"}, "metadata": obj{"k": "v"}}}
	}
	id := s.call("a new server", "POST", "compute", "/servers", "2.52", body(flavor, []obj{{"port": port}}))["server"].(obj)["id"].(string)
	s.call("tags too early", "POST", "compute", "/servers", "2.51", body(flavor, []obj{{"port": port}}))
	s.await(id, "ACTIVE")
	s.call("a port in use", "POST", "compute", "/servers", "2.52", body(flavor, []obj{{"port": port}}))
	s.call("a port with a device", "GET", "network", "/ports/"+port, "", nil)
	s.call("a floating IP of a port", "PUT", "network", "/floatingips/"+fip, "", obj{"floatingip": obj{"port_id": port}})
	for _, version := range []string{"2.1", "2.26", "2.52", "2.73", "2.93"} {
		s.call("server "+version, "GET", "compute", "/servers/"+id, version, nil)
		s.call("servers in detail "+version, "GET", "compute", "/servers/detail?name=shapes", version, nil)
	}
	s.call("servers", "GET", "compute", "/servers?tags=shapes", "2.52", nil)
	s.call("servers by pages", "GET", "compute", "/servers?tags=shapes&limit=1", "2.52", nil)
	s.call("interfaces", "GET", "compute", "/servers/"+id+"/os-interface", "2.52", nil)
	s.call("metadata", "POST", "compute", "/servers/"+id+"/metadata", "2.52", obj{"metadata": obj{"l": "w"}})
	s.call("tags", "PUT", "compute", "/servers/"+id+"/tags", "2.52", obj{"tags": []string{"shapes", "b"}})
	s.call("a start of one that runs", "POST", "compute", "/servers/"+id+"/action", "2.52", obj{"os-start": nil})
	s.call("no such action", "POST", "compute", "/servers/"+id+"/action", "2.52", obj{"os-nonesuch": nil})
	s.call("a stop", "POST", "compute", "/servers/"+id+"/action", "2.52", obj{"os-stop": nil})
	s.await(id, "SHUTOFF")
	for _, version := range []string{"2.52", "2.93"} {
		s.call("a rebuild "+version, "POST", "compute", "/servers/"+id+"/action", version, obj{"rebuild": obj{"imageRef": other}})
		s.await(id, "SHUTOFF")
	}
	failed := s.call("", "POST", "compute", "/servers", "2.52", body(huge, []obj{{"uuid": s.find("network", "/networks", "networks", "private")}}))["server"].(obj)["id"].(string)
	s.await(failed, "ERROR")
	s.call("a server that failed", "GET", "compute", "/servers/"+failed, "2.52", nil)
	s.call("a rebuild of one that never ran", "POST", "compute", "/servers/"+failed+"/action", "2.52", obj{"rebuild": obj{"imageRef": other}})
	s.call("metadata of one that failed", "POST", "compute", "/servers/"+failed+"/metadata", "2.52", obj{"metadata": obj{"l": "w"}})
	since := time.Now().Add(-2 * time.Second).UTC().Format(time.RFC3339)
	for _, gone := range []string{id, failed} {
		s.call("a delete", "DELETE", "compute", "/servers/"+gone, "2.52", nil)
		s.await(gone, "")
	}
	s.call("deleted servers", "GET", "compute", "/servers/detail?name=shapes&changes-since="+since, "2.52", nil)
	s.call("a port given back", "GET", "network", "/ports/"+port, "", nil)
	s.call("a port that goes", "DELETE", "network", "/ports/"+port, "", nil)
	s.call("a floating IP of no port", "GET", "network", "/floatingips/"+fip, "", nil)
	s.call("a floating IP that goes", "DELETE", "network", "/floatingips/"+fip, "", nil)
}

func (s *site) surveyKeys() {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKnSZhXzJkz3lqVqXGQPzO4aVnLr4XnCqkMz0fYxv9aB shapes"
	for _, version := range []string{"2.1", "2.52"} {
		s.call("a new key "+version, "POST", "compute", "/os-keypairs", version, obj{"keypair": obj{"name": "shapes", "public_key": key}})
		s.call("keys "+version, "GET", "compute", "/os-keypairs", version, nil)
		s.call("key "+version, "GET", "compute", "/os-keypairs/shapes", version, nil)
		s.call("a key that goes "+version, "DELETE", "compute", "/os-keypairs/shapes", version, nil)
	}
	for version, group := range map[string]obj{"2.52": {"name": "shapes", "policies": []string{"soft-anti-affinity"}}, "2.93": {"name": "shapes", "policy": "soft-anti-affinity"}} {
		id := s.call("a new server group "+version, "POST", "compute", "/os-server-groups", version, obj{"server_group": group})["server_group"].(obj)["id"].(string)
		s.call("server groups "+version, "GET", "compute", "/os-server-groups", version, nil)
		s.call("a server group that goes "+version, "DELETE", "compute", fmt.Sprintf("/os-server-groups/%s", id), version, nil)
	}
}
