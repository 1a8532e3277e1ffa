// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// manager is which of the two managers makes a pass: one reads an up-to-date cache, the other lags.
type manager uint8

const (
	leader manager = iota
	laggard
)

func (s *State) cacheOf(m manager) objects {
	if m == laggard {
		return s.lag
	}
	return s.now
}

// readBack puts what a manager wrote itself into its own cache.
func (s *State) readBack(m manager, update func(*objects)) {
	update(&s.now)
	if m == laggard {
		update(&s.lag)
	}
}

func (s *State) ask(m manager, which int, late bool) question {
	return question{which: uint8(which), era: s.era, late: late, epoch: s.epoch, seen: s.cacheOf(m)}
}

// passes are all passes that a manager could make now.
func (x *explorer) passes(s *State, m manager, yield step) {
	for _, late := range []bool{false, true} {
		for i := range x.world.Servers {
			x.passServer(s, m, i, late, yield)
		}
	}
	for c := range x.world.Claims {
		x.passClaim(s, m, c, yield)
	}
	x.passMaintenance(s, m, yield)
}

// passServer is one pass over a server, as the reconciler makes it.
func (x *explorer) passServer(s *State, m manager, i int, late bool, yield step) {
	q := s.ask(m, i, late)
	if q.seen.server[i] == absent {
		return
	}
	chosen := x.server(q, s)
	if x.serverChoices.list[chosen].step.Live && x.brain.LiveServers {
		first := chosen
		q.live, q.seen = true, s.now
		if q.seen.server[i] == absent {
			return
		}
		chosen = x.server(q, s)
		if x.serverChoices.list[chosen].step.Kind == lifecycle.StepAct && !x.sameEffect(first, chosen) {
			return
		}
	}
	c := &x.serverChoices.list[chosen]
	mv := move{kind: moveServer, by: m, a: uint8(i), late: late, choice: chosen}
	basis := q.seen.server[i]
	switch c.step.Kind {
	case lifecycle.StepPatch:
		x.put(s, mv, flight{kind: serverWrites, server: uint8(i), slot: uint8(i), choice: chosen, target: basis, given: ^s.alive &^ x.present(s), live: q.live}, yield)
	case lifecycle.StepAct:
		x.act(s, mv, flight{
			kind: effectStalls, server: uint8(i), slot: uint8(i), choice: chosen, target: basis, agreed: x.agreed(s, i), given: ^s.alive &^ x.present(s), armFor: x.holder(basis), live: q.live,
		}, yield)
	}
}

// sameEffect remembers Step.SameEffect.
func (x *explorer) sameEffect(a, b int32) bool {
	key := [2]int32{a, b}
	same, known := x.same[key]
	if !known {
		same = x.serverChoices.list[a].step.SameEffect(x.serverChoices.list[b].step)
		x.same[key] = same
	}
	return same
}

func (x *explorer) passClaim(s *State, m manager, c int, yield step) {
	q := s.ask(m, c, false)
	if q.seen.claim[c] == absent {
		return
	}
	chosen := x.claim(q)
	if x.claimChoices.list[chosen].step.Live && x.brain.LiveClaims {
		q.live, q.seen = true, s.now
		if q.seen.claim[c] == absent {
			return
		}
		chosen = x.claim(q)
	}
	made := &x.claimChoices.list[chosen]
	if made.step.Kind != lifecycle.StepPatch {
		return
	}
	f := flight{kind: claimWrites, server: uint8(c), slot: uint8(maxServers + c), choice: chosen, target: q.seen.claim[c], live: q.live}
	if made.onServer >= 0 {
		f.slot, f.target = uint8(made.onServer), q.seen.server[made.onServer]
	}
	x.put(s, move{kind: moveClaim, by: m, a: uint8(c), choice: chosen}, f, yield)
}

func (x *explorer) passMaintenance(s *State, m manager, yield step) {
	q := s.ask(m, 0, false)
	if q.seen.maintenance == absent {
		return
	}
	chosen := x.maintenance(q)
	if x.maintenanceChoices.list[chosen].step.Live && x.brain.LiveClaims {
		q.live, q.seen = true, s.now
		if q.seen.maintenance == absent {
			return
		}
		chosen = x.maintenance(q)
	}
	made := &x.maintenanceChoices.list[chosen]
	if made.step.Kind != lifecycle.StepPatch {
		return
	}
	f := flight{kind: maintainWrites, slot: maxServers + maxClaims, choice: chosen, target: q.seen.maintenance, live: q.live}
	if made.onServer >= 0 {
		f.slot, f.target = uint8(made.onServer), q.seen.server[made.onServer]
	}
	x.put(s, move{kind: moveMaintenance, by: m, choice: chosen}, f, yield)
}

// put writes a patch: at once, or after a stall in which everybody else goes on. Whether an object may go was decided by then.
func (x *explorer) put(s *State, mv move, f flight, yield step) {
	goes := x.goBreaks(s, f)
	next := *s
	next.expire(mv.late)
	if broken, written := x.land(&next, mv.by, f); written {
		yield(&next, mv.breaking(goes.or(broken)))
	}
	if x.world.StallWrites && s.stalls > 0 && s.flight.kind == noFlight {
		next = *s
		next.stalls--
		next.flight = f
		next.flight.live = false
		mv.stalls = true
		yield(&next, mv.breaking(goes))
	}
}

// goBreaks checks a write by which an object goes: a claim that a server still has (I8), a server that a maintenance has (I4).
func (x *explorer) goBreaks(s *State, f flight) breach {
	w := x.choiceOf(f).write
	if w.Refused || w.Next != absent {
		return unbroken
	}
	switch {
	case f.kind == claimWrites && f.slot >= maxServers:
		return x.leaveBreaks(s, f.target)
	case f.kind == serverWrites && x.servers.Get(f.target).Spec.MaintenanceRef != nil:
		return breach{"I4", serverName(int(f.slot)) + " goes while it is in maintenance"}
	}
	return unbroken
}

// act asks the machine and records: in one go, or stalling before the effect or before the record. A record that is never written is
// also the lost reply.
func (x *explorer) act(s *State, mv move, f flight, yield step) {
	for nth, ends := range x.endings(s, f) {
		from := *s
		if nth > 0 {
			from.tenant--
		}
		f.ends = ends
		x.actEnding(&from, mv, f, yield)
	}
}

// actEnding is act where it is known what becomes of the effect.
func (x *explorer) actEnding(s *State, mv move, f flight, yield step) {
	next := *s
	next.expire(mv.late)
	if broken, acted := x.perform(&next, mv.by, f, recordAtOnce); acted {
		yield(&next, mv.breaking(broken))
	}
	if !x.world.StallEffects || s.stalls == 0 || s.flight.kind != noFlight {
		return
	}
	mv.stalls = true
	f.live = false
	before := *s
	before.stalls--
	before.flight = f
	yield(&before, mv)
	after := *s
	after.stalls--
	after.expire(mv.late)
	mv.acted = true
	if broken, acted := x.perform(&after, mv.by, f, recordLater); acted {
		yield(&after, mv.breaking(broken))
	}
}

type recording bool

const (
	recordAtOnce recording = true
	recordLater  recording = false
)

// perform makes the call and what follows it. acted is false where the machine refused because it was not as expected.
func (x *explorer) perform(s *State, m manager, f flight, when recording) (broken breach, acted bool) {
	c := &x.serverChoices.list[f.choice]
	out, broken := x.reach(s, effect{choice: c, server: int(f.server), agreed: f.agreed | x.agreed(s, int(f.server)), armFor: f.armFor, ends: f.ends})
	if out == mismatch {
		return broken, false
	}
	after, records := c.write.Next, c.step.Record != nil
	switch {
	case out == cannot:
		after = c.refused.Next
	case out == vain:
		after = c.tried.Next
		records = after != f.target
	case x.tasked(c):
		after = x.taskRecord(f.target, c, s.mach[f.server].task)
		records = after != f.target
	}
	if out != cannot && records && when == recordLater {
		f.kind, f.record = recordStalls, after
		s.flight = f
		return broken, true
	}
	if s.stands(m, f) {
		s.readBack(m, func(o *objects) { o.server[f.server] = after })
		broken = broken.or(x.recorded(s, f, after))
	}
	return broken, true
}

// land is the compare-and-swap of a patch.
func (x *explorer) land(s *State, m manager, f flight) (broken breach, written bool) {
	c := x.choiceOf(f)
	slot := int(f.slot)
	if !s.stands(m, f) || c.write.Refused {
		return unbroken, false
	}
	if slot < maxServers {
		broken = x.bindBreaks(s, slot, f.target, c.write.Next).or(x.recorded(s, f, c.write.Next))
	}
	s.readBack(m, func(o *objects) { *o.slot(slot) = c.write.Next })
	if slot < maxServers && f.kind == claimWrites {
		x.revive(s, x.holder(c.write.Next))
	}
	return broken, true
}

func (x *explorer) choiceOf(f flight) *choice {
	switch f.kind {
	case claimWrites:
		return &x.claimChoices.list[f.choice]
	case maintainWrites:
		return &x.maintenanceChoices.list[f.choice]
	}
	return &x.serverChoices.list[f.choice]
}

// stands says that the object is still at the resourceVersion that a write was decided from: that of a live view is the last.
func (s *State) stands(m manager, f flight) bool {
	return *s.now.slot(int(f.slot)) == f.target && (m == leader || f.live || s.outrun&(1<<f.slot) == 0)
}

// resume goes on with the pass that stalls.
func (x *explorer) resume(s *State, yield step) {
	f := s.flight
	mv := move{kind: moveResume, a: f.server, choice: f.choice}
	next := *s
	next.flight = flight{}
	switch f.kind {
	case noFlight:
	case effectStalls:
		if broken, acted := x.perform(&next, leader, f, recordAtOnce); acted {
			yield(&next, mv.breaking(broken))
		}
	case recordStalls:
		crashed := mv
		crashed.kind = moveCrash
		yield(&next, crashed)
		if next.now.server[f.server] == f.target {
			next.now.server[f.server] = f.record
			yield(&next, mv.breaking(x.recorded(&next, f, next.now.server[f.server])))
		}
	default:
		if broken, written := x.land(&next, leader, f); written {
			yield(&next, mv.breaking(broken))
		}
	}
}

// expire ends an effect that waits on the wire: its deadline passes long before everything else's does.
func (s *State) expire(late bool) {
	if late && s.flight.kind == effectStalls {
		s.flight = flight{}
	}
}

// lagging starts and ends the lag of the other manager's cache: it stops altogether, and each object of it may catch up by itself.
func (x *explorer) lags(s *State, yield step) {
	if !x.world.Lag {
		return
	}
	if !s.lagging {
		if s.stalls > 0 {
			next := *s
			next.stalls--
			next.lagging, next.lag = true, s.now
			yield(&next, move{kind: moveLag})
		}
		return
	}
	x.catchUp(s, yield)
	x.passes(s, laggard, yield)
}

// catchUp lets one object of the lagging cache catch up, to what it is now.
func (x *explorer) catchUp(s *State, yield step) {
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
		yield(&next, move{kind: moveCatchUp, a: uint8(i)})
	}
}
