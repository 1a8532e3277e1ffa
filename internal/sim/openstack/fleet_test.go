// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// Many clients at once: each server is made once, with a port, a floating IP and an address of its own, while others
// list, break and repair. Run with -race this shows that answers share nothing that changes.
func TestManyClientsAtOnce(t *testing.T) {
	b := newBench(t)
	b.cloud.Behave(func(h *openstack.Behaviour) { h.PageSize = 10 })
	const clients, each = 8, 12
	var wait sync.WaitGroup
	for client := range clients {
		wait.Go(func() {
			for i := range each {
				name := fmt.Sprintf("web-%d-%d", client, i)
				p, err := b.try("POST", ports, obj{"port": obj{"network_id": b.cloud.NetworkID("private"), "description": name}})
				if err != nil || p.Status != http.StatusCreated {
					t.Errorf("port: %v %s", err, p.Raw)
					return
				}
				port := p.Body["port"].(obj)["id"].(string)
				calls := []struct {
					method, path string
					body         any
				}{
					{"PUT", ports + "/" + port + "/tags", obj{"tags": []string{name}}},
					{"POST", servers, b.newServer(name, with("networks", []obj{{"port": port}}), with("tags", []string{name}))},
					{"POST", fips, obj{"floatingip": obj{"floating_network_id": b.cloud.NetworkID("public"), "port_id": port}}},
					{"GET", detail + "?tags=" + name, nil},
					{"GET", detail, nil},
					{"GET", ports + "?description=" + name, nil},
					{"GET", fips, nil},
				}
				for _, call := range calls {
					if a, err := b.try(call.method, call.path, call.body); err != nil || a.Status >= 300 {
						t.Errorf("%s %s: %v %s", call.method, call.path, err, a.Raw)
					}
				}
				b.clock.Advance(time.Second)
			}
		})
	}
	wait.Wait()
	b.clock.Advance(buildTime)
	addresses := map[string]bool{}
	for _, p := range b.cloud.Ports() {
		addresses[p.Addresses[0]] = true
		if p.Device == "" {
			t.Errorf("port without a server: %+v", p)
		}
	}
	for _, f := range b.cloud.FloatingIPs() {
		addresses[f.Address] = true
	}
	for _, s := range b.cloud.Servers() {
		if s.Status != "ACTIVE" || len(s.Ports) != 1 {
			t.Errorf("%+v", s)
		}
	}
	if got, want := len(b.cloud.Servers()), clients*each; got != want || len(addresses) != 2*want {
		t.Errorf("%d servers, %d addresses, want %d and %d", got, len(addresses), want, 2*want)
	}
}

// Whatever happens to servers, ports and floating IPs, a listing tells of each server what a GET by id tells.
func TestListingsAndGetsAgree(t *testing.T) {
	b := newBench(t)
	random := rand.New(rand.NewPCG(1, 1))
	agree := func(after string) {
		t.Helper()
		for path, single := range map[string]string{ports: "port", fips: "floatingip"} {
			for _, row := range b.get(path)[single+"s"].([]any) {
				if diff := cmp.Diff(b.get(path + "/" + row.(obj)["id"].(string))[single], row); diff != "" {
					t.Fatalf("after %s: GET (-), listing (+): %s", after, diff)
				}
			}
		}
		for _, row := range b.get(detail)["servers"].([]any) {
			if diff := cmp.Diff(b.server(row.(obj)["id"].(string)), row); diff != "" {
				t.Fatalf("after %s: GET (-), listing (+): %s", after, diff)
			}
		}
	}
	for i := range 4 {
		b.running(fmt.Sprintf("web-%d", i), with("networks", []obj{{"port": b.port()}, {"uuid": b.cloud.NetworkID("private")}}))
		b.fip()
	}
	agree("creation")
	for range 150 {
		all, nics, addresses := b.cloud.Servers(), b.cloud.Ports(), b.cloud.FloatingIPs()
		s, p, f := all[random.IntN(len(all))], nics[random.IntN(len(nics))], addresses[random.IntN(len(addresses))]
		path := servers + "/" + s.ID
		moves := []struct {
			name string
			do   func() error
		}{
			{"a floating IP given", func() error {
				_, err := b.try("PUT", fips+"/"+f.ID, obj{"floatingip": obj{"port_id": p.ID}})
				return err
			}},
			{"a floating IP taken", func() error { return b.cloud.MoveFloatingIP(f.ID, "") }},
			{"a floating IP moved", func() error { _ = b.cloud.MoveFloatingIP(f.ID, p.ID); return nil }}, // refused where the port has one
			{"another address", func() error {
				_, err := b.try("PUT", ports+"/"+p.ID, obj{"port": obj{"fixed_ips": []obj{{}}}})
				return err
			}},
			{"other groups", func() error { return b.cloud.ChangePort(p.ID) }},
			{"another device", func() error { _, err := b.try("PUT", ports+"/"+p.ID, obj{"port": obj{"device_id": ""}}); return err }},
			{"an attached port", func() error { _, err := b.cloud.AttachPort(s.ID, "private"); return err }},
			{"a detached port", func() error { _, err := b.try("DELETE", path+"/os-interface/"+p.ID, nil); return err }},
			{"a port used twice", func() error {
				_, err := b.try("POST", servers, b.newServer("two", with("networks", []obj{{"port": p.ID}})))
				return err
			}},
			{"a tag", func() error { _, err := b.try("PUT", path+"/tags/a", nil); return err }},
			{"metadata", func() error { _, err := b.try("POST", path+"/metadata", obj{"metadata": obj{"a": "b"}}); return err }},
			{"a stop", func() error { _, err := b.try("POST", path+"/action", obj{"os-stop": nil}); return err }},
			{"a failure", func() error { return b.cloud.FailServer(s.ID, "hot") }},
			{"a rebuild", func() error {
				_, err := b.try("POST", path+"/action", obj{"rebuild": obj{"imageRef": b.cloud.ImageID("debian-13")}})
				return err
			}},
			{"time", func() error { b.clock.Advance(time.Second); return nil }},
		}
		move := moves[random.IntN(len(moves))]
		if err := move.do(); err != nil {
			t.Fatalf("%s: %v", move.name, err)
		}
		agree(move.name)
	}
}

// A thousand servers are one page, and cheap enough to be listed at every tick of a monitor.
func TestAThousandServers(t *testing.T) {
	b := newBench(t)
	const n = 1000
	begun := time.Now()
	for i := range n {
		b.create(fmt.Sprintf("web-%d", i), with("tags", []string{"owner"}))
	}
	b.clock.Advance(buildTime)
	built := time.Since(begun)

	b.version = "2.52"
	begun = time.Now()
	page := b.get(detail + "?tags=owner")
	listed := time.Since(begun)
	rows := page["servers"].([]any)
	if len(rows) != n || page["servers_links"] == nil {
		t.Fatalf("%d rows, next page %v", len(rows), page["servers_links"])
	}
	begun = time.Now()
	if rows := b.get(ports + "?fields=id")["ports"].([]any); len(rows) != n {
		t.Fatalf("%d ports", len(rows))
	}
	t.Logf("%d servers: made in %v, listed in %v, their ports in %v", n, built.Round(time.Millisecond), listed.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond))
	if before := requests(b, detail); before != 1 {
		t.Errorf("%d requests for a page of a thousand", before)
	}
}

// requests counts those made to a route.
func requests(b *bench, route string) int {
	for _, total := range b.cloud.Totals() {
		if total.Route == route {
			return total.Count
		}
	}
	return 0
}
