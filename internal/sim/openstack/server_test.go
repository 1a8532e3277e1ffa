// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

func TestAServerIsBuiltStepByStep(t *testing.T) {
	b := newBench(t)
	port := b.port(with("description", "holdfast:1"))
	id := b.create("web", with("networks", []obj{{"port": port}}), with("tags", []string{"holdfast:1", "b"}), with("metadata", obj{"k": "v"}),
		with("user_data", "aGk="), with("config_drive", true))

	s := b.server(id)
	if s["status"] != "BUILD" || s["OS-SRV-USG:launched_at"] != nil || s["hostId"] != "" {
		t.Errorf("just asked for: %v", s)
	}
	if p := b.getPort(port); p["device_id"] != "" {
		t.Errorf("the port has a device before there is a host: %v", p)
	}

	b.clock.Advance(timing.Schedule)
	if p := b.getPort(port); p["device_id"] != id || p["device_owner"] != "compute:nova" || p["status"] != "ACTIVE" {
		t.Errorf("the port on its host: %v", p)
	}
	if s := b.server(id); s["status"] != "BUILD" || s["OS-EXT-STS:task_state"] != "spawning" || s["hostId"] == "" {
		t.Errorf("scheduled: %v", s)
	}

	b.clock.Advance(timing.Spawn)
	s = b.server(id)
	if s["status"] != "ACTIVE" || s["OS-SRV-USG:launched_at"] != "2026-03-01T12:00:11.000000" || s["OS-EXT-STS:power_state"] != 1.0 {
		t.Errorf("built: %v", s)
	}
	if diff := cmp.Diff([]any{"b", "holdfast:1"}, s["tags"]); diff != "" {
		t.Errorf("tags: %s", diff)
	}
	if s["config_drive"] != "True" || pick(t, s, "metadata", "k") != "v" {
		t.Errorf("%v", s)
	}
	addresses := pick(t, s, "addresses", "private").([]any)
	if got := addresses[0].(obj)["addr"]; got != b.cloud.Ports()[0].Addresses[0] {
		t.Errorf("address %v", got)
	}
	view, found := b.cloud.Server(id)
	if !found || view.UserData != "aGk=" || view.Launched != start.Add(buildTime) {
		t.Errorf("view %+v", view)
	}
}

func TestADeletedServerGoesAndGivesThePortBack(t *testing.T) {
	b := newBench(t)
	port := b.port()
	id := b.running("web", with("networks", []obj{{"port": port}, {"uuid": b.cloud.NetworkID("backend")}}))
	if got := len(b.cloud.Ports()); got != 2 {
		t.Fatalf("%d ports", got)
	}
	for range 2 {
		b.do("DELETE", servers+"/"+id, nil, http.StatusNoContent)
	}
	if s := b.server(id); s["status"] != "ACTIVE" || s["OS-EXT-STS:task_state"] != "deleting" {
		t.Errorf("being deleted: %v", s)
	}
	b.act(id, "os-stop", nil, http.StatusConflict)
	b.clock.Advance(timing.Delete)
	b.do("GET", servers+"/"+id, nil, http.StatusNotFound)
	b.do("DELETE", servers+"/"+id, nil, http.StatusNotFound)
	if got := b.rows(ports, "ports", "id"); !cmp.Equal(got, []string{port}) {
		t.Errorf("ports %v, want the one that Nova did not make", got)
	}
	if p := b.getPort(port); p["device_id"] != "" || p["status"] != "DOWN" {
		t.Errorf("port %v", p)
	}
}

func TestAServerThatNeverLaunched(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*bench)
		edit    func(*bench) func(obj)
		fault   string
	}{
		"a flavor that no host can take": {
			edit:  func(b *bench) func(obj) { return with("flavorRef", b.cloud.FlavorID("m1.huge")) },
			fault: "No valid host was found. ",
		},
		"an image that cannot be built": {
			edit:  func(b *bench) func(obj) { return with("imageRef", b.cloud.ImageID("broken")) },
			fault: "aborted",
		},
		"a mishap with a message": {
			arrange: func(b *bench) {
				b.befall(openstack.Mishap{Kind: openstack.MishapSpawn, Message: "the disk is full", Count: 1})
			},
			fault: "the disk is full",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if c.arrange != nil {
				c.arrange(b)
			}
			edit := with("description", nil)
			if c.edit != nil {
				edit = c.edit(b)
			}
			port := b.port()
			id := b.create("web", with("networks", []obj{{"port": port}}), edit)
			b.clock.Advance(buildTime)
			s := b.server(id)
			if s["status"] != "ERROR" || s["OS-SRV-USG:launched_at"] != nil || s["hostId"] != "" {
				t.Errorf("%v", s)
			}
			if got := pick(t, s, "fault", "message").(string); !contains(got, c.fault) {
				t.Errorf("fault %q", got)
			}
			if p := b.getPort(port); p["device_id"] != "" {
				t.Errorf("the port was not given back: %v", p)
			}
			b.act(id, "rebuild", obj{"imageRef": b.cloud.ImageID("debian-13")}, http.StatusConflict)
			b.act(id, "os-start", nil, http.StatusConflict)
			b.do("POST", servers+"/"+id+"/metadata", obj{"metadata": obj{"a": "b"}}, http.StatusConflict)
			b.do("DELETE", servers+"/"+id, nil, http.StatusNoContent)
			b.clock.Advance(timing.Delete)
			b.do("GET", servers+"/"+id, nil, http.StatusNotFound)
		})
	}
}

// Two servers that are given one port while neither has it: the second fails, and takes the port from the first. A
// port that a server has is refused at once. Seen on a real cloud (B189).
func TestAPortForTwoServers(t *testing.T) {
	b := newBench(t)
	port := b.port()
	first := b.create("first", with("networks", []obj{{"port": port}}))
	b.clock.Advance(timing.Schedule / 2)
	second := b.create("second", with("networks", []obj{{"port": port}}))
	b.clock.Advance(timing.Schedule / 2)
	row := b.get(detail + "?name=first")["servers"].([]any)[0].(obj)
	if len(row["addresses"].(obj)) != 1 {
		t.Errorf("the first has it: %v", row)
	}
	b.clock.Advance(timing.Schedule / 2)
	b.wantStatus(second, "ERROR")
	row = b.get(detail + "?name=first")["servers"].([]any)[0].(obj)
	if len(row["addresses"].(obj)) != 0 {
		t.Errorf("the first has lost it: %v", row)
	}
	b.clock.Advance(timing.Spawn)
	b.wantStatus(first, "ACTIVE")
	if p := b.getPort(port); p["device_id"] != "" {
		t.Errorf("port %v", p)
	}
	if s := b.server(first); len(s["addresses"].(obj)) != 0 {
		t.Errorf("addresses %v", s["addresses"])
	}

	taken := b.port()
	b.running("third", with("networks", []obj{{"port": taken}}))
	b.do("POST", servers, b.newServer("fourth", with("networks", []obj{{"port": taken}})), http.StatusConflict)
}

// A listing tells why a server failed on its host, and not of one that no host took: a GET by id does. Seen on a real
// cloud.
func TestFaultsInListings(t *testing.T) {
	b := newBench(t)
	unplaced := b.create("unplaced", with("flavorRef", b.cloud.FlavorID("m1.huge")))
	b.create("broken", with("imageRef", b.cloud.ImageID("broken")))
	b.clock.Advance(buildTime)
	for _, row := range b.get(detail)["servers"].([]any) {
		s := row.(obj)
		if told := s["fault"] != nil; s["status"] != "ERROR" || told != (s["name"] == "broken") {
			t.Errorf("%v", s)
		}
	}
	if b.server(unplaced)["fault"] == nil {
		t.Error("a GET does not tell it either")
	}
}

func TestPower(t *testing.T) {
	b := newBench(t)
	id := b.running("web")
	b.act(id, "os-start", nil, http.StatusConflict)
	b.act(id, "os-stop", nil, http.StatusAccepted)
	b.act(id, "os-stop", nil, http.StatusConflict)
	b.clock.Advance(timing.PowerOff)
	b.wantStatus(id, "SHUTOFF")
	b.act(id, "reboot", obj{"type": "SOFT"}, http.StatusConflict)
	b.act(id, "os-start", nil, http.StatusAccepted)
	b.clock.Advance(timing.PowerOn)
	b.wantStatus(id, "ACTIVE")
	b.act(id, "reboot", obj{"type": "HARD"}, http.StatusAccepted)
	b.wantStatus(id, "HARD_REBOOT")
	b.clock.Advance(timing.Reboot)
	b.wantStatus(id, "ACTIVE")
	b.act(id, "reboot", obj{"type": "NOW"}, http.StatusBadRequest)
	b.act(id, "os-nonesuch", nil, http.StatusBadRequest)

	if err := b.cloud.StopGuest(id); err != nil {
		t.Fatal(err)
	}
	b.wantStatus(id, "SHUTOFF")
}

func TestRebuild(t *testing.T) {
	b := newBench(t)
	id := b.running("web")
	other := b.cloud.ImageID("debian-13")
	a := b.act(id, "rebuild", obj{"imageRef": other}, http.StatusAccepted)
	if pick(t, a.Body, "server", "status") != "REBUILD" || pick(t, a.Body, "server", "image", "id") != other {
		t.Errorf("%s", a.Raw)
	}
	b.act(id, "rebuild", obj{"imageRef": other}, http.StatusConflict)
	b.clock.Advance(timing.Rebuild)
	if s := b.server(id); s["status"] != "ACTIVE" || s["OS-SRV-USG:launched_at"] != "2026-03-01T12:00:31.000000" {
		t.Errorf("a rebuild moves launched_at: %v", s)
	}

	// one that fails shows the image that it failed on, and was launched all the same
	b.act(id, "rebuild", obj{"imageRef": b.cloud.ImageID("broken")}, http.StatusAccepted)
	b.clock.Advance(timing.Rebuild)
	s := b.server(id)
	if s["status"] != "ERROR" || pick(t, s, "image", "id") != b.cloud.ImageID("broken") || s["OS-SRV-USG:launched_at"] == nil || s["fault"] == nil {
		t.Errorf("%v", s)
	}
	b.act(id, "rebuild", obj{"imageRef": other}, http.StatusAccepted)
	b.clock.Advance(timing.Rebuild)
	b.wantStatus(id, "ACTIVE")

	// one of a stopped server leaves it stopped
	b.act(id, "os-stop", nil, http.StatusAccepted)
	b.clock.Advance(timing.PowerOff)
	b.act(id, "rebuild", obj{"imageRef": other}, http.StatusAccepted)
	b.clock.Advance(timing.Rebuild)
	b.wantStatus(id, "SHUTOFF")
}

// A server in ERROR that comes back was never gone (B202).
func TestErrorAndBack(t *testing.T) {
	b := newBench(t)
	id := b.running("web")
	if err := b.cloud.FailServer(id, ""); err != nil {
		t.Fatal(err)
	}
	if s := b.server(id); s["status"] != "ERROR" || s["fault"] != nil || s["OS-SRV-USG:launched_at"] == nil {
		t.Errorf("%v", s)
	}
	if err := b.cloud.HealServer(id); err != nil {
		t.Fatal(err)
	}
	b.wantStatus(id, "ACTIVE")
}

func TestADeleteThatFails(t *testing.T) {
	b := newBench(t)
	id := b.running("web")
	b.befall(openstack.Mishap{Kind: openstack.MishapDelete, Server: "^web$", Count: 1})
	b.do("DELETE", servers+"/"+id, nil, http.StatusNoContent)
	b.clock.Advance(timing.Delete)
	b.wantStatus(id, "ERROR")
	b.do("DELETE", servers+"/"+id, nil, http.StatusNoContent)
	b.clock.Advance(timing.Delete)
	b.do("GET", servers+"/"+id, nil, http.StatusNotFound)
}

func TestEventsTellWhatWasDone(t *testing.T) {
	b := newBench(t)
	id := b.running("web", with("tags", []string{"holdfast:1"}))
	b.act(id, "rebuild", obj{"imageRef": b.cloud.ImageID("debian-13")}, http.StatusAccepted)
	b.clock.Advance(timing.Rebuild)
	b.do("DELETE", servers+"/"+id, nil, http.StatusNoContent)
	b.clock.Advance(time.Minute)
	var kinds []openstack.EventKind
	for _, e := range b.cloud.Events(openstack.EventFilter{ID: id}) {
		kinds = append(kinds, e.Kind)
		if !cmp.Equal(e.Tags, []string{"holdfast:1"}) || e.Name != "web" {
			t.Errorf("%+v", e)
		}
	}
	want := []openstack.EventKind{
		openstack.EventServerCreated, openstack.EventServerLaunched, openstack.EventServerAction, openstack.EventServerRebuilt,
		openstack.EventServerDelete, openstack.EventServerGone,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

// A judge knows a workload by what its server boots, and asks what was wanted when the request came.
func TestEventsTellWhatAServerBootsAndWhenItsRequestCame(t *testing.T) {
	b := newBench(t)
	userData := base64.StdEncoding.EncodeToString([]byte("#cloud-config\n"))
	id := b.running("web", with("user_data", userData))
	events := b.cloud.Events(openstack.EventFilter{ID: id})
	if e := events[0]; e.Kind != openstack.EventServerCreated || e.UserData != userData || !e.Arrived.Equal(start) {
		t.Errorf("created: %+v", e)
	}
	if e := events[1]; e.Kind != openstack.EventServerLaunched || e.UserData != "" || !e.Arrived.IsZero() {
		t.Errorf("launched: %+v", e)
	}
}
