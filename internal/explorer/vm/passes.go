// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

// manager is which of the two managers makes a pass: one reads an up-to-date cache, the other lags.
type manager uint8

const (
	leader manager = iota
	laggard
)

// move is one step of a path, for people.
type move struct {
	actor, what string
	broken      search.Breach
}

func (m move) breaking(b search.Breach) move {
	m.broken = b
	return m
}

// step receives a successor. The state may be changed and kept by nobody.
type step func(next *State, m move)

// Moves implements search.Game.
func (x *explorer) Moves(s *State, yield func(*State, search.Breach)) {
	x.successors(s, func(next *State, m move) { yield(next, m.broken) })
}

// successors are all steps that can be taken from a state, always in the same order.
func (x *explorer) successors(s *State, receive step) {
	yield := func(next *State, m move) {
		outrun(s, next)
		receive(next, m)
	}
	x.passes(s, leader, yield)
	x.resume(s, yield)
	x.lags(s, yield)
	x.monitor(s, yield)
	x.befall(s, yield)
	x.peoples(s, yield)
	x.harms(s, yield)
}

func (s *State) cacheOf(m manager) objects {
	if m == laggard {
		return s.lag
	}
	return s.now
}

// readBack puts what a manager wrote itself into its own cache.
func (s *State) readBack(m manager, slot int, written id) {
	*s.now.slot(slot) = written
	if m == laggard {
		*s.lag.slot(slot) = written
	}
}

func (x *explorer) passes(s *State, m manager, yield step) {
	for slot := range maxServers {
		x.passServer(s, m, slot, yield)
	}
	if x.world.Class {
		x.passClaim(s, m, yield)
	}
	x.passMaintenance(s, m, yield)
}

// passServer is one pass over a server, as the reconciler makes it.
func (x *explorer) passServer(s *State, m manager, slot int, yield step) {
	q := question{slot: uint8(slot), epoch: s.epoch, seen: s.cacheOf(m)}
	if q.seen.server[slot] == absent {
		return
	}
	chosen := x.server(q, s)
	if x.choices.list[chosen].step.Live && x.brain.Live {
		first := chosen
		q.live, q.seen = true, s.now
		if q.seen.server[slot] == absent {
			return
		}
		if chosen = x.server(q, s); x.choices.list[chosen].step.Kind == lifecycle.StepAct && !x.sameEffect(first, chosen) {
			return
		}
	}
	c := &x.choices.list[chosen]
	f := flight{slot: uint8(slot), choice: chosen, target: q.seen.server[slot], given: ^s.alive &^ x.present(s), live: q.live}
	mv := move{actor: m.name(), what: nameOfSlot(slot) + ": " + stepWords(c.step)}
	switch c.step.Kind {
	case lifecycle.StepPatch:
		f.kind = serverWrites
		x.put(s, m, mv, f, yield)
	case lifecycle.StepAct:
		f.kind, f.asked = effectStalls, x.asks(s, slot, c)
		x.act(s, m, mv, f, yield)
	}
}

// sameEffect remembers Step.SameEffect.
func (x *explorer) sameEffect(a, b int32) bool {
	key := [2]int32{a, b}
	same, known := x.same[key]
	if !known {
		same = x.choices.list[a].step.SameEffect(x.choices.list[b].step)
		x.same[key] = same
	}
	return same
}

func (x *explorer) passClaim(s *State, m manager, yield step) {
	q := question{slot: claimSlot, epoch: s.epoch, seen: s.cacheOf(m)}
	if q.seen.claim == absent {
		return
	}
	chosen := x.claim(q)
	if x.choices.list[chosen].step.Live && x.brain.Live {
		q.live, q.seen = true, s.now
		if q.seen.claim == absent {
			return
		}
		chosen = x.claim(q)
	}
	c := &x.choices.list[chosen]
	switch c.step.Kind {
	case lifecycle.StepPatch, lifecycle.StepCreate, lifecycle.StepDelete:
	default:
		return
	}
	f := flight{kind: claimWrites, slot: claimSlot, choice: chosen, target: q.seen.claim, live: q.live}
	if c.onServer >= 0 {
		f.slot, f.target = uint8(c.onServer), q.seen.server[c.onServer]
	}
	x.put(s, m, move{actor: m.name(), what: claimName + ": " + stepWords(c.step)}, f, yield)
}

// put writes: at once, or after a stall in which everybody else goes on. Whether a claim may go was decided by then.
func (x *explorer) put(s *State, m manager, mv move, f flight, yield step) {
	broken := x.goes(s, f)
	next := *s
	if failed, written := x.land(&next, m, f); written {
		yield(&next, mv.breaking(or(broken, failed)))
	}
	if x.world.StallWrites && s.stalls > 0 && s.flight.kind == noFlight {
		next = *s
		next.stalls--
		next.flight = f
		next.flight.live = false
		mv = mv.breaking(broken)
		mv.what += " — and stalls before it writes"
		yield(&next, mv)
	}
}

// land is the compare-and-swap of a write.
func (x *explorer) land(s *State, m manager, f flight) (broken search.Breach, written bool) {
	c := &x.choices.list[f.choice]
	if c.step.Kind == lifecycle.StepCreate {
		return unbroken, x.makeServer(s, m, c)
	}
	slot := int(f.slot)
	if !s.stands(m, f) || c.write.Refused {
		return unbroken, false
	}
	s.readBack(m, slot, c.write.Next)
	s.outlast(slot, c.step.Patch)
	if slot < maxServers {
		broken = or(broken, x.recorded(s, f.target, c.write.Next))
	}
	return broken, true
}

// outlast notes that a patch records a stop of ours, while a pass about that server stalls before its effect.
func (s *State) outlast(slot int, p *lifecycle.Patch) {
	if p != nil && p.Ledger[ledger.KeyOffAt] != "" && s.flight.kind == effectStalls && int(s.flight.slot) == slot {
		s.flight.outlasted = true
	}
}

// goes checks a write by which a claim goes.
func (x *explorer) goes(s *State, f flight) search.Breach {
	c := &x.choices.list[f.choice]
	if f.slot != claimSlot || c.step.Kind != lifecycle.StepPatch || c.write.Refused || c.write.Next != absent {
		return unbroken
	}
	return x.leaves(s, f.target)
}

// makeServer is the creation of a server for a claim: a name that is taken is a race lost.
func (x *explorer) makeServer(s *State, m manager, c *choice) bool {
	free := -1
	for slot, server := range s.now.server {
		if server == absent && free < 0 {
			free = slot
		}
	}
	if free < 0 || s.suid == maxUIDs || x.slotNamed(s.now, c.create.Name) >= 0 {
		return false
	}
	s.suid++
	object := c.create.DeepCopy()
	object.UID = serverUID(s.suid)
	s.readBack(m, free, x.servers.Intern(object))
	return true
}

// stands says that the object is still at the resourceVersion that a write was decided from: that of a live view is the last.
func (s *State) stands(m manager, f flight) bool {
	return *s.now.slot(int(f.slot)) == f.target && (m == leader || f.live || s.outrun&(1<<f.slot) == 0)
}

// act asks the cloud and records: in one go, or stalling before the effect or before the record. A record that is never written is
// also the lost reply.
func (x *explorer) act(s *State, m manager, mv move, f flight, yield step) {
	op := x.choices.list[f.choice].step.Effect.Op
	if op == lifecycle.OpDismantle {
		for _, comes := range x.extents(s) {
			x.actAsFar(s, m, mv, f, comes, yield)
		}
		return
	}
	x.actAsFar(s, m, mv, f, whole, yield)
}

func (x *explorer) actAsFar(s *State, m manager, mv move, f flight, comes extent, yield step) {
	f.comes = comes
	next := *s
	if comes != whole {
		next.luck--
		mv.what += extentNames[comes]
	}
	if broken, acted := x.perform(&next, m, f); acted {
		yield(&next, mv.breaking(broken))
	}
	if s.stalls == 0 || s.flight.kind != noFlight || comes != whole {
		return
	}
	f.live = false
	before := *s
	before.stalls--
	before.flight = f
	yield(&before, move{actor: mv.actor, what: mv.what + " — and stalls before its effect"})
	after := *s
	after.stalls--
	told, out, broken := x.call(&after, f)
	if out == done && x.choices.list[f.choice].step.Record != nil {
		f.kind, f.made = recordStalls, told
		after.flight = f
		yield(&after, move{actor: mv.actor, what: mv.what + " — and stalls before its record", broken: broken})
	}
}

// unresumed says that a server has a memory from before a snapshot that the managers were told of.
func unresumed(server *v1alpha1.Server) bool {
	if server == nil || server.Annotations[ledger.KeyIdentity] == "" {
		return false
	}
	return server.Annotations[ledger.KeyRestoreEpoch] != restored
}

func (x *explorer) call(s *State, f flight) (made, outcome, search.Breach) {
	c := &x.choices.list[f.choice]
	if s.epoch && unresumed(x.servers.Get(f.target)) {
		return made{}, declined, search.Breach{Invariant: "I1", How: "an effect on a server that nobody has resumed since the snapshot"}
	}
	return x.reach(s, effect{choice: c, of: x.whoIs(c.step.Effect), asked: f.asked || x.asks(s, int(f.slot), c), given: f.given, comes: f.comes})
}

// perform makes the call and what follows it. acted is false where the cloud declined.
func (x *explorer) perform(s *State, m manager, f flight) (broken search.Breach, acted bool) {
	told, out, broken := x.call(s, f)
	switch out {
	case declined:
		return broken, broken != unbroken
	case begun:
		return broken, true
	}
	f.made = told
	return or(broken, x.record(s, m, f)), true
}

// recordOf is what a record depends on.
type recordOf struct {
	choice int32
	made   made
}

// record writes what the effect made, where the object still stands as it was decided about.
func (x *explorer) record(s *State, m manager, f flight) search.Breach {
	c := &x.choices.list[f.choice]
	if c.step.Record == nil || !s.stands(m, f) {
		return unbroken
	}
	key := recordOf{f.choice, f.made}
	w, known := x.records[key]
	if !known {
		w = apiserver.Write{Next: f.target}
		if p := virtual.Recorded(x.servers.Get(f.target), c.step, toldOf(f.made)); p != nil {
			w = x.writeServer(f.target, p)
		}
		x.records[key] = w
	}
	if w.Refused {
		return unbroken
	}
	s.readBack(m, int(f.slot), w.Next)
	s.outlast(int(f.slot), c.step.Record)
	return x.recorded(s, f.target, w.Next)
}

// resume goes on with the pass that stalls.
func (x *explorer) resume(s *State, yield step) {
	f := s.flight
	mv := move{actor: "manager that stalled"}
	next := *s
	next.flight = flight{}
	switch f.kind {
	case noFlight:
	case effectStalls:
		mv.what = "asks the cloud: " + stepWords(x.choices.list[f.choice].step)
		if broken, acted := x.perform(&next, leader, f); acted {
			yield(&next, mv.breaking(broken))
		}
		next = *s
		next.flight = flight{}
		yield(&next, move{actor: mv.actor, what: "crashes before its effect"})
	case recordStalls:
		yield(&next, move{actor: mv.actor, what: "crashes; nothing is recorded"})
		mv.what = "records what it did"
		broken := x.record(&next, leader, f)
		yield(&next, mv.breaking(broken))
	default:
		mv.what = "writes: " + stepWords(x.choices.list[f.choice].step)
		if broken, written := x.land(&next, leader, f); written {
			yield(&next, mv.breaking(broken))
		}
	}
}

// lags starts and ends the lag of the other manager's cache: it stops altogether, and each object of it may catch up by itself.
func (x *explorer) lags(s *State, yield step) {
	if !x.world.Lag {
		return
	}
	if !s.lagging {
		if s.stalls > 0 {
			next := *s
			next.stalls--
			next.lagging, next.lag = true, s.now
			yield(&next, move{actor: "second manager", what: "its cache stops"})
		}
		return
	}
	for i := range slotCount {
		next := *s
		*next.lag.slot(i) = *next.now.slot(i)
		next.outrun &^= 1 << i
		if next == *s {
			continue
		}
		if next.lag == next.now && next.outrun == 0 {
			next.lagging = false
		}
		yield(&next, move{actor: "second manager", what: "its cache catches up on one object"})
	}
	x.passes(s, laggard, yield)
}
