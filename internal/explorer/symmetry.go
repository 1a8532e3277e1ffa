// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// In worlds with two claims that are alike, what happens to one and the other is what happens to the other and the one: of two states
// that differ only in their names, one is visited. Servers are not alike: which of two is chosen goes by their names.

// symmetry exchanges the two claims of a world.
type symmetry struct {
	x       *explorer
	text    *strings.Replacer
	servers map[id]id
	claims  map[id]id
	choices [2]map[int32]int32 // of servers, and of claims
}

// newSymmetry is that of a world; nil where it has none.
func newSymmetry(x *explorer) *symmetry {
	if x.world.Claims != 2 {
		return nil
	}
	pairs := []string{claimName(0), claimName(1), claimName(1), claimName(0)}
	for i := range x.world.Servers {
		for n := uint8(1); n <= maxUIDs; n++ {
			one, other := stampOf(i, 0, n), stampOf(i, 1, n)
			pairs = append(pairs, one, other, other, one)
		}
	}
	return &symmetry{
		x: x, text: strings.NewReplacer(pairs...), servers: map[id]id{}, claims: map[id]id{}, choices: [2]map[int32]int32{{}, {}},
	}
}

func stampOf(server, claim int, n uint8) string {
	return ledger.Stamp(serverIdentity(server), cluster, string(claimUID(claim, n)))
}

// canonical is a state, or the same with the claims exchanged: always the same one of the two.
func (y *symmetry) canonical(s *State) {
	other := y.exchanged(s)
	if one, two := s.order(), other.order(); slices.Compare(two[:], one[:]) > 0 {
		*s = other
	}
}

// exchanged is the state with the claims exchanged.
func (y *symmetry) exchanged(s *State) State {
	out := *s
	out.now, out.lag, out.old = y.objects(s.now), y.objects(s.lag), y.objects(s.old)
	for i := range y.x.world.Servers {
		out.mach[i] = y.machine(s.mach[i])
	}
	out.flight = y.flight(s.flight)
	out.look.of, out.look.basis = y.machine(s.look.of), y.server(s.look.basis)
	out.outrun = exchangeBits(s.outrun, maxServers, maxServers+1)
	out.uids[0], out.uids[1] = s.uids[1], s.uids[0]
	out.alive = exchangeOwners(s.alive)
	return out
}

func (y *symmetry) objects(o objects) objects {
	for i := range o.server {
		o.server[i] = y.server(o.server[i])
	}
	o.claim[0], o.claim[1] = y.claim(o.claim[1]), y.claim(o.claim[0])
	return o
}

func (y *symmetry) server(s id) id { return exchange(&y.x.servers, y.servers, y.text, s) }
func (y *symmetry) claim(c id) id  { return exchange(&y.x.claims, y.claims, y.text, c) }

// exchange is the content with the names of the claims exchanged.
func exchange[T apiserver.Object[T]](contents *apiserver.Contents[T], known map[id]id, text *strings.Replacer, content id) id {
	if content == absent || content == overtaken {
		return content
	}
	other, ok := known[content]
	if !ok {
		other = contents.Rewritten(content, text.Replace)
		known[content], known[other] = other, content
	}
	return other
}

func (y *symmetry) machine(m machine) machine {
	m.runs, m.disk, m.imaged = m.runs.exchanged(), m.disk.exchanged(), exchangeOwners(m.imaged)
	if m.media != 0 {
		m.media = 3 - m.media
	}
	m.tag = tagNumbers[y.text.Replace(tagOf(m.tag))]
	return m
}

func (y *symmetry) flight(f flight) flight {
	if f.kind == noFlight {
		return f
	}
	f.agreed, f.given, f.armFor = exchangeOwners(f.agreed), exchangeOwners(f.given), f.armFor.exchanged()
	f.record = y.server(f.record)
	switch slot := int(f.slot); {
	case slot < maxServers:
		f.target = y.server(f.target)
	case slot < maxServers+maxClaims:
		f.target = y.claim(f.target)
		f.slot = uint8(2*maxServers + 1 - slot)
	}
	switch f.kind {
	case claimWrites:
		f.server = 1 - f.server
		f.choice = y.choice(1, f.choice)
	case maintainWrites:
		f.choice = y.maintenanceChoice(f.choice)
	default:
		f.choice = y.choice(0, f.choice)
	}
	return f
}

// choice is the decision on the same view with the claims exchanged.
func (y *symmetry) choice(kind int, made int32) int32 {
	if other, known := y.choices[kind][made]; known {
		return other
	}
	var other int32
	if kind == 0 {
		q := y.question(y.x.serverChoices.list[made].question)
		other = y.x.serverChoices.recall(q, func() choice { return y.x.decideServer(q) })
	} else {
		q := y.question(y.x.claimChoices.list[made].question)
		q.which = 1 - q.which
		other = y.x.claim(q)
	}
	y.choices[kind][made], y.choices[kind][other] = other, made
	return other
}

func (y *symmetry) maintenanceChoice(made int32) int32 {
	return y.x.maintenance(y.question(y.x.maintenanceChoices.list[made].question))
}

func (y *symmetry) question(q question) question {
	q.seen = y.objects(q.seen)
	return q
}

// exchanged is the owner that an owner is when the claims are exchanged.
func (o owner) exchanged() owner {
	switch {
	case o == 0 || o == stranger:
		return o
	case o <= maxUIDs:
		return o + maxUIDs
	}
	return o - maxUIDs
}

// exchangeOwners exchanges the bits of the owners of the first and the second claim.
func exchangeOwners(bits owners) owners {
	const first = owners(1)<<maxUIDs - 1
	return bits&^(first|first<<maxUIDs) | bits&first<<maxUIDs | bits>>maxUIDs&first
}

func exchangeBits(bits uint8, one, two int) uint8 {
	a, b := bits>>one&1, bits>>two&1
	return bits&^(1<<one|1<<two) | a<<two | b<<one
}

// order is all of a state that an exchange changes, in numbers: the claim that was made more often comes first.
func (s *State) order() [52]int32 {
	var out [52]int32
	n := 0
	add := func(values ...int32) { n += copy(out[n:], values) }
	add(int32(s.uids[0]), int32(s.uids[1]), int32(s.alive), int32(s.outrun))
	for _, o := range []*objects{&s.now, &s.lag, &s.old} {
		add(int32(o.claim[0]), int32(o.claim[1]))
		for _, server := range o.server {
			add(int32(server))
		}
	}
	for i := range s.mach {
		add(s.mach[i].order()...)
	}
	add(s.look.of.order()...)
	add(int32(s.look.basis))
	f := s.flight
	add(int32(f.server), int32(f.slot), f.choice, int32(f.target), int32(f.agreed), int32(f.given), int32(f.armFor), int32(f.record))
	return out
}

func (m *machine) order() []int32 {
	return []int32{int32(m.runs), int32(m.disk), int32(m.imaged), int32(m.media), int32(m.tag)}
}
