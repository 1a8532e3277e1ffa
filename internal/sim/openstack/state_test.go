// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

func TestStateIsKeptAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	open := func() *bench {
		return newBench(t, func(c *openstack.Config) { c.StateDir, c.TLS = dir, true })
	}
	b := open()
	port := b.port(with("description", "holdfast:1"))
	id := b.running("web", with("networks", []obj{{"port": port}}), with("tags", []string{"holdfast:1"}))
	b.fip(with("port_id", port))
	building := b.create("building")
	b.do("POST", "/compute/v2.1/os-keypairs", obj{"keypair": obj{"name": "k", "public_key": "ssh-ed25519 AAAA x"}}, http.StatusCreated)
	_, cred := b.cloud.CredentialYAML("holdfast")
	servers, ports, fips, ca := b.cloud.Servers(), b.cloud.Ports(), b.cloud.FloatingIPs(), b.cloud.CAPEM()
	if err := b.cloud.Close(); err != nil {
		t.Fatal(err)
	}

	b = open()
	for name, diff := range map[string]string{
		"servers": cmp.Diff(servers, b.cloud.Servers()), "ports": cmp.Diff(ports, b.cloud.Ports()),
		"floating IPs": cmp.Diff(fips, b.cloud.FloatingIPs()), "CA": cmp.Diff(ca, b.cloud.CAPEM()),
	} {
		if diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	b.wantStatus(id, "ACTIVE")
	b.get("/compute/v2.1/os-keypairs/k")
	if !b.cloud.DeleteCredential(cred) {
		t.Error("the application credential is gone")
	}
	b.clock.Advance(buildTime) // what was under way goes on
	b.wantStatus(building, "ACTIVE")
	if list := b.server(id)["addresses"].(obj)["private"].([]any); len(list) != 2 {
		t.Errorf("addresses %v", list)
	}
	b.do("POST", "/network/v2.0/ports", obj{"port": obj{
		"network_id": b.cloud.NetworkID("private"), "fixed_ips": []obj{{"ip_address": ports[0].Addresses[0]}},
	}}, http.StatusConflict)
	b.do("DELETE", "/compute/v2.1/servers/"+id, nil, http.StatusNoContent)
	b.clock.Advance(timing.Delete)
	if err := b.cloud.Save(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "cloud.json"))
	if err != nil || !contains(string(data), `"deletedServers":[{"ID":"`+id) {
		t.Errorf("%v: %s", err, data)
	}
}

func TestStateThatCannotBeRead(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON": "{", "another inventory": `{"servers": {"a": {"ID": "a", "Flavor": "nonesuch"}}}`, "another network": `{"ports": {"a": {"Network": "nonesuch"}}}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if cloud, err := openstack.Start(openstack.Config{StateDir: dir}); err == nil {
			_ = cloud.Close()
			t.Errorf("%s: started", name)
		}
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	bad := openstack.DefaultInventory()
	bad.Networks = []openstack.Network{{Name: "x", CIDR: "fd00::/64"}}
	for name, config := range map[string]openstack.Config{
		"everybody's address": {Listen: "0.0.0.0:0"}, "no address": {Listen: "nonsense"}, "a bad network": {Inventory: &bad},
		"everybody's control": {Control: "0.0.0.0:0"},
	} {
		if cloud, err := openstack.Start(config); err == nil {
			_ = cloud.Close()
			t.Errorf("%s: started", name)
		}
	}
}

func TestOnTheWallClock(t *testing.T) {
	b := newBench(t, func(c *openstack.Config) {
		c.Clock, c.Timing = clock.Wall(), &openstack.Timing{Spawn: 20 * time.Millisecond}
	})
	id := b.create("web")
	deadline := time.Now().Add(10 * time.Second)
	for {
		if s, _ := b.cloud.Server(id); s.Status == "ACTIVE" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it is not built")
		}
		<-time.After(5 * time.Millisecond)
	}
}
