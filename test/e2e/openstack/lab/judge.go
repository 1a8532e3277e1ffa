// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"fmt"
	"slices"
	"strings"
)

// The marks by which everything that Holdfast makes in a cloud is known. They are written out here and not taken from the code under
// test: they are a contract with what an earlier release made.
const (
	identityTag = "holdfast:"
	ownerTag    = "holdfast-owner:"
)

// Expected is what should be in a project, and nothing beside it.
type Expected struct {
	// Owner is the id of the cluster that made it.
	Owner string
	// Servers of that cluster.
	Servers []ExpectedServer
	// Others are ids of what people made, of any kind: it must be there, and nobody's mark on it.
	Others []string
}

// ExpectedServer is one server with what belongs to it.
type ExpectedServer struct {
	Identity string
	// ID of the server; "" for any.
	ID string
	// Status in Nova's words.
	Status string
	// Image is the id of its image; "" for any.
	Image string
	// Unlaunched says that no host ever took it.
	Unlaunched bool
	// Ports of ours that it has. Of one that never launched they are its, and plugged into nothing.
	Ports int
	// FloatingIPs that lead to its ports.
	FloatingIPs int
}

// Differences are what a listing has too much, too little or otherwise, one line each; none is a pass.
func (e Expected) Differences(l Listing) []string {
	j := &judgement{owner: e.Owner, explained: map[string]bool{}}
	for _, id := range e.Others {
		j.explained[id] = true
		j.other(id, l)
	}
	for _, wanted := range e.Servers {
		j.server(wanted, l)
	}
	j.unexplained(l)
	return j.found
}

type judgement struct {
	owner     string
	explained map[string]bool // ids
	found     []string
}

func (j *judgement) differ(format string, values ...any) {
	j.found = append(j.found, fmt.Sprintf(format, values...))
}

func (j *judgement) server(wanted ExpectedServer, l Listing) {
	var servers []Server
	for _, s := range l.Servers {
		if slices.Contains(s.Tags, identityTag+wanted.Identity) {
			servers = append(servers, s)
			j.explained[s.ID] = true
		}
	}
	if len(servers) != 1 {
		j.differ("%d servers have the identity %s, not 1", len(servers), wanted.Identity)
		return
	}
	s := servers[0]
	if wanted.ID != "" && s.ID != wanted.ID {
		j.differ("server %s is another than the one that was there, %s", s.ID, wanted.ID)
	}
	if (s.Launched == "") != wanted.Unlaunched {
		j.differ("server %s was launched at %q", s.ID, s.Launched)
	}
	if s.Status != wanted.Status {
		j.differ("server %s is %s, not %s", s.ID, s.Status, wanted.Status)
	}
	if wanted.Image != "" && s.Image.ID != wanted.Image {
		j.differ("server %s runs the image %s, not %s", s.ID, s.Image.ID, wanted.Image)
	}
	if !slices.Contains(s.Tags, ownerTag+j.owner) {
		j.differ("server %s has not its owner's tag: %v", s.ID, s.Tags)
	}
	for _, value := range []string{wanted.Identity, j.owner} {
		if !slices.ContainsFunc(values(s.Metadata), func(v string) bool { return v == value }) {
			j.differ("server %s has not %q in its metadata: %v", s.ID, value, s.Metadata)
		}
	}
	j.ports(s, wanted, l)
}

func values(m map[string]string) []string {
	var all []string
	for _, value := range m {
		all = append(all, value)
	}
	return all
}

func (j *judgement) ports(s Server, wanted ExpectedServer, l Listing) {
	ports := map[string]bool{}
	for _, p := range l.Ports {
		if !marked(wanted.Identity, p.Description) {
			continue
		}
		j.explained[p.ID], ports[p.ID] = true, true
		if device := wanted.device(s); p.Device != device {
			j.differ("port %s of %s is at the device %q, not at %q", p.ID, wanted.Identity, p.Device, device)
		}
		j.tags("port", p.ID, wanted.Identity, p.Tags)
	}
	if len(ports) != wanted.Ports {
		j.differ("%d ports have the identity %s, not %d", len(ports), wanted.Identity, wanted.Ports)
	}
	addresses := 0
	for _, f := range l.FloatingIPs {
		if !marked(wanted.Identity, f.Description) {
			continue
		}
		addresses++
		j.explained[f.ID] = true
		if !ports[f.Port] {
			j.differ("floating IP %s of %s leads to port %q, which is none of its", f.ID, wanted.Identity, f.Port)
		}
		j.tags("floating IP", f.ID, wanted.Identity, f.Tags)
	}
	if addresses != wanted.FloatingIPs {
		j.differ("%d floating IPs have the identity %s, not %d", addresses, wanted.Identity, wanted.FloatingIPs)
	}
}

// device is what the ports of a server are plugged into.
func (e ExpectedServer) device(s Server) string {
	if e.Unlaunched {
		return ""
	}
	return s.ID
}

// marked says that a description names the identity, and no other that only begins like it.
func marked(identity, description string) bool {
	return slices.Contains(strings.Fields(description), identityTag+identity) || description == identity
}

func (j *judgement) tags(kind, id, identity string, tags []string) {
	for _, tag := range []string{identityTag + identity, ownerTag + j.owner} {
		if !slices.Contains(tags, tag) {
			j.differ("%s %s has not the tag %s: %v", kind, id, tag, tags)
		}
	}
}

func (j *judgement) other(id string, l Listing) {
	for _, thing := range l.things() {
		if thing.id != id {
			continue
		}
		if thing.isOurs() {
			j.differ("the %s %s, which is a person's, was marked as Holdfast's: %q %v", thing.kind, id, thing.description, thing.tags)
		}
		return
	}
	j.differ("%s, which is a person's, is gone", id)
}

func (j *judgement) unexplained(l Listing) {
	for _, thing := range l.things() {
		if !j.explained[thing.id] {
			j.differ("the %s %s should not be there: %q %v", thing.kind, thing.id, thing.description, thing.tags)
		}
	}
}

// thing is what servers, ports and floating IPs have in common.
type thing struct {
	kind, id, description string
	tags                  []string
}

func (t thing) isOurs() bool {
	return strings.Contains(t.description, "holdfast") || slices.ContainsFunc(t.tags, func(tag string) bool { return strings.HasPrefix(tag, "holdfast") })
}

func (l Listing) things() []thing {
	var all []thing
	for _, s := range l.Servers {
		all = append(all, thing{"server", s.ID, s.Name, s.Tags})
	}
	for _, p := range l.Ports {
		all = append(all, thing{"port", p.ID, p.Description, p.Tags})
	}
	for _, f := range l.FloatingIPs {
		all = append(all, thing{"floating IP", f.ID, f.Description, f.Tags})
	}
	return all
}
