// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// outcome is what a machine made of an effect.
type outcome uint8

const (
	done outcome = iota
	mismatch
	cannot // refused for good: class Terminal
	vain   // asked, and nothing will come of it
)

// effect is one that reaches a machine, with what stood when it was decided.
type effect struct {
	choice *choice
	server int
	agreed owners // who that agreed to a power-off then
	armFor owner  // who a network boot is armed for
	ends   ending
}

// reach carries an effect out, after the machine has checked what the effect relies on, and tells what it broke.
func (x *explorer) reach(s *State, e effect) (outcome, breach) {
	m := &s.mach[e.server]
	call := e.choice.step.Effect
	if x.brain.Expect && !x.asExpected(*m, call.Expect) {
		return mismatch, unbroken
	}
	if broken := m.mustNot(e.choice); broken != unbroken {
		return done, broken
	}
	m.asked = m.asked || call.Op == lifecycle.OpShutDown
	switch {
	case e.ends == inVain:
		return vain, unbroken
	case x.tasked(e.choice) && m.begins(e.ends) == taskFails:
		return done, unbroken
	}
	switch call.Op {
	case lifecycle.OpPowerOn:
		return done, x.switchOn(s, e.server)
	case lifecycle.OpShutDown:
		broken := x.stops(s, e)
		m.stopping = m.on
		return done, broken
	case lifecycle.OpForceOff:
		broken := x.stops(s, e)
		m.switchOff()
		return done, broken
	case lifecycle.OpConfirmOff, lifecycle.OpConfirmOn:
		if want := confirmed[call.Op]; m.power(x.world) != want {
			return mismatch, unbroken
		}
	case lifecycle.OpSetBootOverride:
		return done, x.arm(s, e)
	case lifecycle.OpClearBootOverride:
		m.armed = 0
	case lifecycle.OpInsertMedia, lifecycle.OpEjectMedia:
		return done, x.changeMedia(s, e)
	case lifecycle.OpWriteAssetTag:
		if x.world.NoStamp {
			return cannot, unbroken
		}
		number, ok := tagNumbers[call.AssetTag]
		if !ok {
			panic("a stamp of nobody: " + call.AssetTag)
		}
		m.tag = number
	}
	return done, unbroken
}

// confirmed is what the looks that change nothing confirm.
var confirmed = map[lifecycle.Op]provider.PowerState{lifecycle.OpConfirmOff: provider.PowerOff, lifecycle.OpConfirmOn: provider.PowerOn}

// mustNot checks what an effect needs, whatever it does.
func (m *machine) mustNot(c *choice) breach {
	call := c.step.Effect
	switch {
	case !c.allowed:
		return breach{"I4", "an effect in maintenance that the maintenance did not ask for"}
	case call.Op.Destructive() && (c.intent == nil || call.Intent == "" || c.intent.ID != call.Intent):
		return breach{"I7", "a power-off without a written intent"}
	case call.Op == lifecycle.OpForceOff && call.Expect.Power == provider.PowerOn && c.intent.Asked.IsZero():
		return breach{"I7", "a cut of power by an intent that does not tell that the machine was asked to shut down"}
	case call.Op == lifecycle.OpForceOff && m.onItsWay() && c.question.now().Sub(c.intent.At) < lifecycle.DefaultSettings(cluster).GracePeriod:
		return breach{"I7", "a cut of power of a machine on its way, before the grace period is over"}
	case call.Op == lifecycle.OpForceOff && m.on && !m.asked && !m.onItsWay():
		return breach{"I7", "a cut of power of a machine that was never asked to shut down"}
	}
	return unbroken
}

func (x *explorer) asExpected(m machine, e provider.Expect) bool {
	if e.Power != "" && e.Power != m.power(x.world) {
		return false
	}
	if e.AssetTag != nil && *e.AssetTag != tagOf(m.tag) {
		return false
	}
	return e.Boot == nil || (e.Boot.Armed == (m.armed != 0) && (!e.Boot.Armed || e.Boot.Target == x.world.target()))
}

// arm checks that no other claim's running machine is set to boot something else.
func (x *explorer) arm(s *State, e effect) breach {
	m := &s.mach[e.server]
	broken := unbroken
	if has := x.workload(s, e.server); m.on && x.lives(s, has) && has != e.armFor {
		broken = breach{"I1", "a boot override under the workload of " + has.String()}
	}
	m.armed = 1
	if e.choice.step.Effect.Override.Enabled == provider.BootContinuous {
		m.armed = 2
	}
	return broken
}

// changeMedia puts an image into the drive, or takes it out.
func (x *explorer) changeMedia(s *State, e effect) breach {
	broken := x.mediaBreaks(s, e)
	m, image := &s.mach[e.server], mediaOf(e.choice.step.Effect.Image)
	switch {
	case e.choice.step.Effect.Op == lifecycle.OpInsertMedia:
		m.media = image
	case m.media == image:
		m.media = 0
	}
	return broken
}

// mediaBreaks checks that nobody's drive is changed under a running machine but by the one who has it (I1).
func (x *explorer) mediaBreaks(s *State, e effect) breach {
	if has := x.workload(s, e.server); s.mach[e.server].on && x.lives(s, has) && has != e.armFor {
		return breach{"I1", "a change of media under the workload of " + has.String()}
	}
	return unbroken
}

// driveBreaks checks a boot from the virtual drive: the image in it is what is installed, whoever has the server.
func (x *explorer) driveBreaks(m machine, o owner) breach {
	switch {
	case x.world.Method != v1alpha1.BootVirtualMedia:
		return unbroken
	case m.media == 0:
		return breach{"I10", "a boot for " + o.String() + " from an empty drive, which counts as its one boot"}
	case int(m.media-1) != (int(o)-1)/maxUIDs:
		return breach{"I1", "a boot for " + o.String() + " from the image of " + claimName(int(m.media)-1)}
	}
	return unbroken
}

// networkBoot installs for whoever has the server over whatever is on the disk: a boot service looks up whose the machine is when it
// asks. Where nobody has it, it is offered nothing.
func (x *explorer) networkBoot(s *State, i int) breach {
	m := &s.mach[i]
	if m.armed == 1 {
		m.armed = 0
	}
	o, lost := x.holder(s.now.server[i]), m.disk
	if o == 0 {
		return unbroken
	}
	broken := x.driveBreaks(*m, o)
	switch {
	case broken != unbroken:
	case lost != o && lost != 0 && s.alive&lost.bit() != 0:
		broken = breach{"I1", "a network boot for " + o.String() + " over the disk of " + lost.String()}
	case m.imaged&o.bit()&s.alive != 0 && !x.world.Always:
		broken = breach{"I10", "a second network boot for " + o.String()}
	default:
		for j := range s.mach {
			if j != i && s.mach[j].imaged&o.bit() != 0 {
				broken = breach{"I8", o.String() + " gets a second machine"}
			}
		}
	}
	m.disk, m.runs, m.asked = o, o, false
	m.imaged |= o.bit()
	return broken
}

// agreed are the bits of all owners that agree, as the API server has it now, that their workload on a machine be stopped: their
// claim was deleted, or asks for it, or a maintenance in force does, or a person consented.
func (x *explorer) agreed(s *State, i int) owners {
	bits := ^s.alive &^ stranger.bit() &^ x.present(s)
	server := x.servers.Get(s.now.server[i])
	if server == nil {
		return bits
	}
	if ref := server.Spec.MaintenanceRef; ref != nil && s.now.maintenance != absent &&
		x.maintenances.Get(s.now.maintenance).Spec.Power == v1alpha1.PowerOff {
		return ^owners(0)
	}
	if given := server.Annotations[v1alpha1.AnnotationPowerOff]; given != "" && (!s.snapshot || given == x.lookedAt(s, i)) {
		bits |= s.mach[i].runs.bit() // a consent is to end what runs now; one that a snapshot brought back is about what ran then
	}
	for c := range x.world.Claims {
		known := x.claims.Get(s.now.claim[c])
		if known == nil {
			continue
		}
		restart := eraOf(known.Spec.RestartedAt)
		if known.Spec.Power == v1alpha1.PowerOff || restart > int(s.mach[i].era) {
			bits |= x.ownerOfClaim(s.now.claim[c]).bit()
		}
	}
	return bits
}
