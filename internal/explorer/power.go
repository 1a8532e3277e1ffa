// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// In worlds that show it (World.Shows) a machine takes its time, and its BMC tells so: one that is switched on is PoweringOn until it comes up,
// and boots only then; one that shuts down is PoweringOff, and may think better of it. In all others a machine comes up at once, and is On
// while it shuts down.

// onItsWay says that a machine is neither up nor Off: it was switched on and has not booted, or is shutting down.
func (m *machine) onItsWay() bool { return m.starting || m.stopping }

// power is what a machine's BMC tells.
func (m *machine) power(w World) provider.PowerState {
	switch {
	case m.starting:
		return provider.PoweringOn
	case m.stopping && w.Shows:
		return provider.PoweringOff
	case m.on:
		return provider.PowerOn
	}
	return provider.PowerOff
}

func (m *machine) switchOff() { m.on, m.starting, m.stopping, m.runs = false, false, false, 0 }

// workload is whose a machine that is On is at the moment: of who runs on it, or of who is about to.
func (x *explorer) workload(s *State, i int) owner {
	m := &s.mach[i]
	switch {
	case !m.starting:
		return m.runs
	case m.armed == 0:
		return m.disk
	}
	return x.holder(s.now.server[i])
}

// stops checks that whoever's workload ends agreed to it, then or now (I1, I9).
func (x *explorer) stops(s *State, e effect) breach {
	ends := x.workload(s, e.server)
	if !s.mach[e.server].on || !x.lives(s, ends) || e.agreed&ends.bit() != 0 {
		return unbroken
	}
	return breach{"I1", "a power-off under the workload of " + ends.String() + ", which did not ask for it"}
}

// switchOn starts a machine.
func (x *explorer) switchOn(s *State, i int) breach {
	m := &s.mach[i]
	if m.on {
		return unbroken
	}
	m.on, m.starting, m.stopping = true, true, false
	s.flight.outlasted = s.flight.kind == effectStalls
	if x.world.Shows {
		return unbroken
	}
	return x.comesUp(s, i)
}

// comesUp boots a machine that was switched on: from the network where that is armed, else from its disk.
func (x *explorer) comesUp(s *State, i int) breach {
	m := &s.mach[i]
	m.starting = false
	if m.armed == 0 {
		m.runs = m.disk
		return unbroken
	}
	return x.networkBoot(s, i)
}

// machines do what they do by themselves.
func (x *explorer) machines(s *State, yield step) {
	for i := range x.world.Servers {
		m := s.mach[i]
		if m.starting {
			next := *s
			broken := x.comesUp(&next, i)
			yield(&next, move{kind: moveComesUp, a: uint8(i)}.breaking(broken))
		}
		if m.stopping {
			next := *s
			next.mach[i].switchOff()
			yield(&next, move{kind: moveStops, a: uint8(i)})
		}
		if m.on && s.tenant > 0 {
			x.unasked(s, i, yield)
		}
	}
}

// unasked is what a machine does without us and without anybody in the data centre: it goes off, begins to shut down, or does not go on with
// that.
func (x *explorer) unasked(s *State, i int, yield step) {
	now := s.mach[i]
	next := *s
	next.tenant--
	if now.stopping && !x.world.Shows {
		return
	}
	if now.stopping {
		next.mach[i].stopping = false
		yield(&next, move{kind: moveStays, a: uint8(i)})
		return
	}
	next.mach[i].switchOff()
	if !now.starting {
		x.outlive(&next)
	}
	yield(&next, move{kind: moveTenantOff, a: uint8(i)})
	if !x.world.Shows || now.starting {
		return
	}
	next = *s
	next.tenant--
	next.mach[i].stopping = true
	x.outlive(&next)
	yield(&next, move{kind: moveTenantStops, a: uint8(i)})
}

// outlive ends a boot override, or the insertion of an image, that waits on the wire: a machine that was started, installed and went off again took longer than the
// one deadline within which that effect can still arrive (docs/explorer.md, assumptions).
func (x *explorer) outlive(s *State) {
	if s.flight.kind != effectStalls || !s.flight.outlasted {
		return
	}
	switch x.serverChoices.list[s.flight.choice].step.Effect.Op {
	case lifecycle.OpSetBootOverride, lifecycle.OpInsertMedia:
		s.flight = flight{}
	}
}
