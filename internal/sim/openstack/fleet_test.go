// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

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
