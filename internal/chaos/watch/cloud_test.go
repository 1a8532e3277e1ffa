// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

type object = map[string]any

// tower is a cloud on a clock that stands still, a client that speaks to it, and who watches.
type tower struct {
	t     *testing.T
	clock *clock.Manual
	cloud *openstack.Cloud
	watch *watch.Cloud
	token string
	seen  []judge.Event
}

func newTower(t *testing.T) *tower {
	t.Helper()
	timing := openstack.Timing{Spawn: time.Second, Rebuild: time.Second, PowerOn: time.Second, PowerOff: time.Second, Reboot: time.Second, Delete: time.Second}
	w := &tower{t: t, clock: clock.NewManual(start)}
	var err error
	if w.cloud, err = openstack.Start(openstack.Config{Clock: w.clock, Timing: &timing}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	w.watch = watch.NewCloud(w.cloud)
	user := openstack.DefaultInventory().Users[0]
	domain := object{"id": "default"}
	login := object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{"user": object{"name": user.Name, "password": user.Password, "domain": domain}}},
		"scope":    object{"project": object{"name": user.Project, "domain": domain}},
	}}
	w.token = w.send(http.MethodPost, w.cloud.AuthURL()+"/auth/tokens", login, nil).Get("X-Subject-Token")
	return w
}

func (w *tower) send(method, url string, body, into any) http.Header {
	w.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, url, bytes.NewReader(encoded))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Auth-Token", w.token)
	req.Header.Set("OpenStack-API-Version", "compute 2.52")
	resp, err := w.cloud.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		w.t.Fatalf("%s %s: %s", method, url, resp.Status)
	}
	if into != nil {
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			w.t.Fatal(err)
		}
	}
	return resp.Header
}

func (w *tower) compute(method, path string, body, into any) {
	w.t.Helper()
	w.send(method, strings.TrimSuffix(w.cloud.AuthURL(), "/identity/v3")+"/compute/v2.1"+path, body, into)
}

// create makes a VM for ours, and waits until it runs.
func (w *tower) create(name string) (id string) {
	w.t.Helper()
	var made struct{ Server struct{ ID string } }
	w.compute(http.MethodPost, "/servers", object{"server": object{
		"name": name, "flavorRef": w.cloud.FlavorID("m1.small"), "imageRef": w.cloud.ImageID("debian-12"),
		"networks": []object{{"uuid": w.cloud.NetworkID("private")}}, "tags": []string{"other", "holdfast:I"},
		"user_data": base64.StdEncoding.EncodeToString([]byte(watch.UserData(ours))),
	}}, &made)
	w.clock.Advance(time.Minute)
	return made.Server.ID
}

func (w *tower) act(id string, body object) {
	w.t.Helper()
	w.compute(http.MethodPost, "/servers/"+id+"/action", body, nil)
	w.clock.Advance(time.Minute)
}

// want compares kind, tenant, identity and detail of what is new about a VM.
func (w *tower) want(id string, want ...string) {
	w.t.Helper()
	events, err := w.watch.Drain()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.watch.Compare(); err != nil {
		w.t.Error(err)
	}
	w.seen = append(w.seen, events...)
	var got []string
	for _, e := range events {
		if e.Machine == id {
			got = append(got, strings.Join(strings.Fields(fmt.Sprintln(e.Kind, e.Tenant, e.Identity, e.Detail)), " "))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("told (-want +got):\n%s", diff)
	}
}

func (w *tower) rules(asked ...judge.Event) string {
	var rules []string
	for _, v := range judge.Judge(append(slices.Clone(w.seen), asked...)).Violations {
		rules = append(rules, v.Rule)
	}
	return strings.Join(rules, " ")
}

func TestAVMIsTheTenantsWhomItsUserDataName(t *testing.T) {
	w := newTower(t)
	id := w.create("web")
	w.want(id, "CreatedVM tenants/web#1 I", "LaunchedVM I")
	w.act(id, object{"os-stop": nil})
	w.act(id, object{"os-start": nil})
	w.act(id, object{"reboot": object{"type": "SOFT"}})
	w.act(id, object{"rebuild": object{"imageRef": w.cloud.ImageID("debian-13")}})
	w.want(id, "PoweredOff I", "WentOff I", "PoweredOn I", "WentOn I", "Reset I", "WentOn I", "RebuiltVM I", "Installed I")
	w.compute(http.MethodDelete, "/servers/"+id, nil, nil)
	w.clock.Advance(time.Minute)
	w.want(id, "DeletedVM I", "GoneVM I")
	if got := w.rules(); got != strings.Repeat("I1 ", 3)+"I2" {
		t.Errorf("what nobody asked for breaks %q", got)
	}
	if got := w.rules(judge.Event{At: start, Kind: judge.GaveUp, Tenant: ours}); got != "" {
		t.Errorf("what was given up breaks %q", got)
	}
}

func TestWhatOtherPeopleDoToAVMIsToldAsTheirs(t *testing.T) {
	w := newTower(t)
	id := w.create("web")
	if err := w.cloud.StopGuest(id); err != nil {
		t.Fatal(err)
	}
	if err := w.cloud.RemoveServer(id); err != nil {
		t.Fatal(err)
	}
	w.want(id, "CreatedVM tenants/web#1 I", "LaunchedVM I", "WentOff I hand", "GoneVM I hand")
	if got := w.rules(judge.Event{At: start.Add(time.Hour), Kind: judge.Settled}); got != "" {
		t.Errorf("what a person did breaks %q", got)
	}
	twin := w.create("web")
	w.want(twin, "CreatedVM tenants/web#1 I", "LaunchedVM I")
	if got := w.rules(); got != "I2" {
		t.Errorf("a VM made anew breaks %q", got)
	}
}

func TestPortsAreOfTheIdentityInTheirDescription(t *testing.T) {
	w := newTower(t)
	user := openstack.DefaultInventory().Users[0]
	id, err := w.cloud.AddPort(user.Project, "private", "port", "holdfast:I")
	if err != nil {
		t.Fatal(err)
	}
	w.want(id, "PortMade I hand")
	asked := []judge.Event{{At: start.Add(time.Hour), Kind: judge.Settled}}
	if got := w.rules(asked...); got != "I3" {
		t.Errorf("a port of nobody breaks %q", got)
	}
	if err := w.cloud.RemovePort(id); err != nil {
		t.Fatal(err)
	}
	w.want(id, "PortGone I hand")
	if got := w.rules(asked...); got != "" {
		t.Errorf("a port that went breaks %q", got)
	}
}
