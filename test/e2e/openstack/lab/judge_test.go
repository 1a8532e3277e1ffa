// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"slices"
	"strings"
	"testing"
)

// there is a project as it should be: one server of ours with a port and a floating IP, and a port of a person's.
func there() Listing {
	tags := []string{"holdfast:one", "holdfast-owner:here"}
	return Listing{
		Servers: []Server{{ID: "vm", Name: "web", Status: "ACTIVE", Launched: "today", Tags: tags, Metadata: map[string]string{"a": "one", "b": "here"}}},
		Ports: []Port{
			{ID: "nic", Device: "vm", Description: "holdfast:one", Tags: tags},
			{ID: "theirs"},
		},
		FloatingIPs: []FloatingIP{{ID: "fip", Port: "nic", Description: "holdfast:one", Tags: tags}},
	}
}

// I3: one listing that is as expected, and each way in which another is not: the judge sees it.
func TestDifferences(t *testing.T) {
	expected := Expected{
		Owner:   "here",
		Servers: []ExpectedServer{{Identity: "one", ID: "vm", Status: "ACTIVE", Ports: 1, FloatingIPs: 1}},
		Others:  []string{"theirs"},
	}
	for name, c := range map[string]struct {
		change func(*Listing)
		says   string // "" for nothing
	}{
		"as it should be":              {func(*Listing) {}, ""},
		"no server":                    {func(l *Listing) { l.Servers = nil }, "0 servers have the identity one"},
		"two servers":                  {func(l *Listing) { l.Servers = append(l.Servers, Server{ID: "vm2", Tags: l.Servers[0].Tags}) }, "2 servers"},
		"another server":               {func(l *Listing) { l.Servers[0].ID, l.Ports[0].Device = "new", "new" }, "another than the one that was there"},
		"another's server":             {func(l *Listing) { l.Servers = append(l.Servers, Server{ID: "vm2"}) }, "server vm2 should not be there"},
		"a server in error":            {func(l *Listing) { l.Servers[0].Status = "ERROR" }, "is ERROR, not ACTIVE"},
		"a server that never launched": {func(l *Listing) { l.Servers[0].Launched = "" }, "was launched at"},
		"a server without owner":       {func(l *Listing) { l.Servers[0].Tags = l.Servers[0].Tags[:1] }, "has not its owner's tag"},
		"a server without metadata":    {func(l *Listing) { l.Servers[0].Metadata = nil }, "in its metadata"},
		"no port":                      {func(l *Listing) { l.Ports = l.Ports[1:] }, "0 ports have the identity one"},
		"two ports": {func(l *Listing) {
			l.Ports = append(l.Ports, Port{ID: "port2", Device: "vm", Description: "holdfast:one", Tags: l.Ports[0].Tags})
		}, "2 ports"},
		"a port of another device": {func(l *Listing) { l.Ports[0].Device = "" }, "not at \"vm\""},
		"a port without tags":      {func(l *Listing) { l.Ports[0].Tags = nil }, "nic has not the tag"},
		"an identity that begins so": {func(l *Listing) {
			l.Ports[0].Description = "holdfast:one-more"
		}, "the port nic should not be there"},
		"no floating IP":          {func(l *Listing) { l.FloatingIPs = nil }, "0 floating IPs"},
		"a floating IP elsewhere": {func(l *Listing) { l.FloatingIPs[0].Port = "theirs" }, "which is none of its"},
		"a floating IP too many":  {func(l *Listing) { l.FloatingIPs = append(l.FloatingIPs, FloatingIP{ID: "fip2"}) }, "floating IP fip2 should not be there"},
		"a person's is gone":      {func(l *Listing) { l.Ports = l.Ports[:1] }, "theirs, which is a person's, is gone"},
		"a person's was marked":   {func(l *Listing) { l.Ports[1].Tags = []string{"holdfast-owner:here"} }, "was marked as Holdfast's"},
	} {
		t.Run(name, func(t *testing.T) {
			listing := there()
			listing.Servers[0].Tags = slices.Clone(listing.Servers[0].Tags)
			c.change(&listing)
			found := strings.Join(expected.Differences(listing), "\n")
			if (found == "") != (c.says == "") || !strings.Contains(found, c.says) {
				t.Errorf("found %q, not %q", found, c.says)
			}
		})
	}
}

func TestListingsAreReadable(t *testing.T) {
	text := there().String()
	for _, want := range []string{"server", "ACTIVE", "vm", "device vm", "port nic", "holdfast:one"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := (Listing{}).String(); !strings.Contains(text, "no server") {
		t.Errorf("of nothing: %q", text)
	}
}
