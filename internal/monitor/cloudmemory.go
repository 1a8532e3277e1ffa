// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// memory is what the listings of one cloud said last. Each look makes a new one from the one before it and changes nothing that was
// handed out.
type memory struct {
	project string    // that all of it is about
	at      time.Time // when the last look began: changes are asked for from there on
	fullAt  time.Time // when the last full listing began
	// instances of this cluster, by id.
	instances map[string]provider.InstanceFacts
	// doubts are what a listing missed and the cloud said when asked by id.
	doubts map[string]doubt
	// faults are what the cloud told of errored VMs whose listing tells nothing, by id of the VM.
	faults map[string]fault
}

// doubt is what a cloud said of a VM that its listings miss.
type doubt struct {
	at    time.Time
	gone  bool // 404: it is no more (P10)
	facts provider.InstanceFacts
}

// after is the memory after a listing: of everything where full, else of what changed. Rows that say DELETED bear no tags: they take the
// VM of their id away, and nothing else.
func (m *memory) after(rows []provider.InstanceFacts, full bool, at time.Time) *memory {
	learned := &memory{at: at, fullAt: at, instances: map[string]provider.InstanceFacts{}, doubts: map[string]doubt{}, faults: map[string]fault{}}
	if m != nil {
		maps.Copy(learned.doubts, m.doubts)
		maps.Copy(learned.faults, m.faults)
	}
	if m != nil && !full {
		learned.fullAt = m.fullAt
		maps.Copy(learned.instances, m.instances)
	}
	for _, row := range rows {
		delete(learned.doubts, row.ID)
		if row.Deleted {
			delete(learned.instances, row.ID)
			continue
		}
		learned.instances[row.ID] = row
	}
	return learned
}

// about is the memory where it is one of that project, nil otherwise: what another project has says nothing of this one.
func (m *memory) about(project string) *memory {
	if m == nil || m.project != project {
		return nil
	}
	return m
}

// since says from when on instances are listed. The zero time lists everything: where there is nothing to build upon, where that
// is old, and while an intent is open, since a picture that bears its id must be of now and not of a while ago (R4).
func (c CloudCadence) since(m *memory, v *cloudVisit) time.Time {
	full := c.Full
	if v.hurried {
		full = c.FullFast
	}
	if m == nil || !v.began.Before(m.fullAt.Add(full)) || slices.ContainsFunc(v.servers, hasIntent) {
		return time.Time{}
	}
	return m.at.Add(-c.Overlap)
}

func hasIntent(server *v1alpha1.Server) bool { return openIntent(server).ID != "" }

// keepDoubts drops doubts about VMs that no server names any more.
func (m *memory) keepDoubts(servers []*v1alpha1.Server) {
	named := make(map[string]bool, len(servers))
	for _, server := range servers {
		named[providerID(server)] = true
	}
	maps.DeleteFunc(m.doubts, func(id string, _ doubt) bool { return !named[id] })
}

// providerID is the id of the VM that a server's ledger names; "" for none. It is a plain text: a ledger that is unreadable elsewhere
// still names it.
func providerID(server *v1alpha1.Server) string { return server.Annotations[ledger.KeyProviderID] }

func identityOf(server *v1alpha1.Server) string { return server.Annotations[ledger.KeyIdentity] }

// unlisted are the ids of VMs that ledgers name and that no listing shows, those that were asked for longest ago first: what is to be
// asked for by id. An answer is good for the slow pace; with an intent open it is asked anew (R4). Servers that are being deleted come
// last: what takes their VMs away makes sure of it by itself.
func (m *memory) unlisted(servers []*v1alpha1.Server, now time.Time, slow time.Duration) []string {
	type missing struct {
		id      string
		leaving int
		at      time.Time
	}
	var found []missing
	for _, server := range servers {
		id := providerID(server)
		if _, listed := m.instances[id]; id == "" || listed {
			continue
		}
		answer, asked := m.doubts[id]
		if asked && now.Before(answer.at.Add(slow)) && !hasIntent(server) {
			continue
		}
		one := missing{id: id, at: answer.at}
		if !server.DeletionTimestamp.IsZero() {
			one.leaving = 1
		}
		found = append(found, one)
	}
	slices.SortFunc(found, func(a, b missing) int {
		return cmp.Or(cmp.Compare(a.leaving, b.leaving), a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	ids := make([]string, 0, len(found))
	for _, one := range found {
		ids = append(ids, one.id)
	}
	return slices.Compact(ids)
}

// sight is what a look tells of one server.
type sight struct {
	// unknown: the ledger names a VM that is neither listed nor was it asked for: there is no picture to make.
	unknown bool
	// id of the VM; "" where none is known.
	id       string
	gone     bool // a GET by id said 404
	instance *provider.InstanceFacts
	others   []string // ids of other VMs that bear the identity, sorted
	ports    []provider.PortFacts
	floating *provider.FloatingIPFacts
}

// gathered is all that one look found, by the identity it belongs to.
type gathered struct {
	memory    *memory
	instances map[string][]provider.InstanceFacts
	ports     map[string][]provider.PortFacts
	floating  map[string][]provider.FloatingIPFacts
}

// sight finds a server's VM: the one that its ledger names, else the eldest that bears its identity and our mark (P11).
func (g *gathered) sight(server *v1alpha1.Server) sight {
	identity := identityOf(server)
	seen := sight{id: providerID(server)}
	bearing := g.instances[identity]
	if identity == "" {
		bearing = nil
	} else {
		seen.ports = g.ports[identity]
		seen.floating = firstFloating(g.floating[identity], seen.ports)
	}
	if seen.id == "" && len(bearing) > 0 {
		seen.id = slices.MinFunc(bearing, elder).ID
	}
	if seen.id != "" {
		g.find(&seen, hasIntent(server))
	}
	for _, one := range bearing {
		if one.ID != seen.id {
			seen.others = append(seen.others, one.ID)
		}
	}
	slices.Sort(seen.others)
	return seen
}

// find looks the VM up among what was listed and what was asked for. An earlier answer is none while an intent is open (R4).
func (g *gathered) find(seen *sight, intent bool) {
	if facts, listed := g.memory.instances[seen.id]; listed {
		seen.instance = &facts
		return
	}
	answer, asked := g.memory.doubts[seen.id]
	switch {
	case !asked, intent && answer.at.Before(g.memory.at):
		seen.unknown = true
	case answer.gone:
		seen.gone = true
	default:
		seen.instance = &answer.facts
	}
}

func elder(a, b provider.InstanceFacts) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// firstFloating prefers the floating IP that is on one of the server's ports; there is one, but for what a lost reply leaves behind.
func firstFloating(bearing []provider.FloatingIPFacts, ports []provider.PortFacts) *provider.FloatingIPFacts {
	if len(bearing) == 0 {
		return nil
	}
	used := func(f provider.FloatingIPFacts) int {
		if slices.ContainsFunc(ports, func(p provider.PortFacts) bool { return p.ID == f.PortID }) {
			return 0
		}
		return 1
	}
	first := slices.MinFunc(bearing, func(a, b provider.FloatingIPFacts) int {
		return cmp.Or(cmp.Compare(used(a), used(b)), cmp.Compare(a.ID, b.ID))
	})
	return &first
}
