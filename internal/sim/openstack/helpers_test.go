// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// timing is as easy to add up as it can be.
var timing = openstack.Timing{
	Schedule: time.Second, Spawn: 10 * time.Second, Rebuild: 20 * time.Second, PowerOn: 2 * time.Second, PowerOff: 3 * time.Second,
	Reboot: 5 * time.Second, Delete: 4 * time.Second,
}

var buildTime = timing.Schedule + timing.Spawn

// bench is a cloud on a clock that stands still, and a client that is logged in.
type bench struct {
	t       *testing.T
	clock   *clock.Manual
	cloud   *openstack.Cloud
	client  *http.Client
	token   string
	version string // microversion
	header  http.Header
}

func newBench(t *testing.T, edit ...func(*openstack.Config)) *bench {
	t.Helper()
	c := clock.NewManual(start)
	config := openstack.Config{Clock: c, Timing: &timing}
	for _, e := range edit {
		e(&config)
	}
	cloud, err := openstack.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, clock: c, cloud: cloud, client: cloud.Client(), version: "2.52", header: http.Header{}}
	t.Cleanup(func() {
		b.client.CloseIdleConnections()
		if err := cloud.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	b.login()
	return b
}

func withInventory(edit func(*openstack.Inventory)) func(*openstack.Config) {
	return func(c *openstack.Config) {
		inventory := openstack.DefaultInventory()
		edit(&inventory)
		c.Inventory = &inventory
	}
}

// passwordLogin is what is posted to get a token.
func passwordLogin(user, password, project string) obj {
	return obj{"auth": obj{
		"identity": obj{"methods": []string{"password"}, "password": obj{"user": obj{"name": user, "password": password, "domain": obj{"name": "Default"}}}},
		"scope":    obj{"project": obj{"name": project, "domain": obj{"name": "Default"}}},
	}}
}

type obj = map[string]any

// login gets a token of the user demo.
func (b *bench) login() {
	b.t.Helper()
	b.token = ""
	a := b.do("POST", "/identity/v3/auth/tokens", passwordLogin("demo", "secret", "demo"), http.StatusCreated)
	b.token = a.Header.Get("X-Subject-Token")
}

type answer struct {
	Status int
	Header http.Header
	Raw    []byte
	Body   obj
}

// base is the root of all services.
func (b *bench) base() string { return b.cloud.AuthURL()[:len(b.cloud.AuthURL())-len("/identity/v3")] }

// try sends a request with the bench's token, microversion and headers.
func (b *bench) try(method, path string, body any) (answer, error) {
	b.t.Helper()
	var payload io.Reader
	if text, isText := body.(string); isText {
		payload = bytes.NewReader([]byte(text))
	} else if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base()+path, payload)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", b.token)
	if b.version != "" {
		req.Header.Set("OpenStack-API-Version", "compute "+b.version)
	}
	for key, values := range b.header {
		req.Header[key] = values
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{Status: resp.StatusCode, Header: resp.Header, Raw: raw}
	_ = json.Unmarshal(raw, &a.Body)
	return a, nil
}

// do is try for requests that must be answered with one of the statuses.
func (b *bench) do(method, path string, body any, want ...int) answer {
	b.t.Helper()
	a, err := b.try(method, path, body)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	if !slices.Contains(want, a.Status) {
		b.t.Fatalf("%s %s: status %d, want %v\n%s", method, path, a.Status, want, a.Raw)
	}
	return a
}

func (b *bench) get(path string) obj {
	b.t.Helper()
	return b.do("GET", path, nil, http.StatusOK).Body
}

// at is the bench speaking another microversion.
func (b *bench) at(version string) *bench {
	other := *b
	other.version = version
	return &other
}

const (
	servers = "/compute/v2.1/servers"
	ports   = "/network/v2.0/ports"
	fips    = "/network/v2.0/floatingips"
)

// newServer is the body of a request for a server, with a port of its own on "private".
func (b *bench) newServer(name string, edit ...func(obj)) obj {
	server := obj{
		"name": name, "flavorRef": b.cloud.FlavorID("m1.small"), "imageRef": b.cloud.ImageID("debian-12"),
		"networks": []obj{{"uuid": b.cloud.NetworkID("private")}},
	}
	for _, e := range edit {
		e(server)
	}
	return obj{"server": server}
}

func with(key string, value any) func(obj) { return func(server obj) { server[key] = value } }

// create asks for a server and returns its id.
func (b *bench) create(name string, edit ...func(obj)) string {
	b.t.Helper()
	return pick(b.t, b.do("POST", servers, b.newServer(name, edit...), http.StatusAccepted).Body, "server", "id").(string)
}

// running makes a server and waits until it is ACTIVE.
func (b *bench) running(name string, edit ...func(obj)) string {
	b.t.Helper()
	id := b.create(name, edit...)
	b.clock.Advance(buildTime)
	b.wantStatus(id, "ACTIVE")
	return id
}

func (b *bench) server(id string) obj {
	b.t.Helper()
	return pick(b.t, b.get(servers+"/"+id), "server").(obj)
}

func (b *bench) wantStatus(id, want string) {
	b.t.Helper()
	if got := b.server(id); got["status"] != want {
		b.t.Fatalf("the server is %v (%v, %v), want %v", got["status"], got["OS-EXT-STS:task_state"], got["fault"], want)
	}
}

// act posts an action.
func (b *bench) act(id, action string, body any, want int) answer {
	b.t.Helper()
	return b.do("POST", servers+"/"+id+"/action", obj{action: body}, want)
}

// port makes a port on "private" and returns its id.
func (b *bench) port(edit ...func(obj)) string {
	b.t.Helper()
	port := obj{"network_id": b.cloud.NetworkID("private")}
	for _, e := range edit {
		e(port)
	}
	return pick(b.t, b.do("POST", ports, obj{"port": port}, http.StatusCreated).Body, "port", "id").(string)
}

func (b *bench) getPort(id string) obj {
	b.t.Helper()
	return pick(b.t, b.get(ports+"/"+id), "port").(obj)
}

// rows are the values of one member in a listing.
func (b *bench) rows(path, collection, member string) []string {
	b.t.Helper()
	found := []string{}
	for _, row := range b.get(path)[collection].([]any) {
		found = append(found, row.(obj)[member].(string))
	}
	return found
}

func pick(t *testing.T, doc obj, path ...string) any {
	t.Helper()
	var value any = doc
	for _, key := range path {
		m, isObject := value.(obj)
		if !isObject {
			t.Fatalf("no %v in %v", path, doc)
		}
		value = m[key]
	}
	return value
}

func contains(text, part string) bool { return bytes.Contains([]byte(text), []byte(part)) }

func (b *bench) befall(m openstack.Mishap) {
	b.t.Helper()
	if _, err := b.cloud.Befall(m); err != nil {
		b.t.Fatal(err)
	}
}
