// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"slices"

	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// outcome of an effect at the cloud.
type outcome uint8

const (
	done     outcome = iota
	declined         // Mismatch, Busy or Terminal: nothing was done
	begun            // Busy: something was done, and is not at its end
)

// effect is a call as it reaches the cloud.
type effect struct {
	*choice
	of    who
	asked bool
	given uint8
	comes extent
}

// reach is the acting side of the contract (internal/provider, virtual.go), with what is checked of each effect.
func (x *explorer) reach(s *State, e effect) (made, outcome, search.Breach) {
	if broken := x.announced(e); broken != unbroken {
		return made{}, declined, broken
	}
	if !e.allowed {
		return made{}, declined, search.Breach{Invariant: "I4", How: "an effect in maintenance that the maintenance did not ask for"}
	}
	if project := e.step.Effect.Virtual.Instance.Project; x.brain.Project && project != "" && project != s.cloud.project() {
		return made{}, declined, unbroken // Mismatch: the connection is to another project
	}
	switch e.step.Effect.Op {
	case lifecycle.OpCreateInstance:
		return x.create(s, e)
	case lifecycle.OpDeleteFailed:
		return x.deleteFailed(s, e)
	case lifecycle.OpDismantle:
		return x.dismantle(s, e)
	case lifecycle.OpAttachFloatingIP:
		return x.attach(s, e.of)
	case lifecycle.OpReleaseFloatingIP:
		return made{}, done, x.release(s, e)
	}
	slot := slotOf(e.step.Effect.Virtual.Instance.ID)
	if slot < 0 || !s.cloud.there(s.cloud.vms[slot]) || x.anothers(s.cloud.vms[slot], e) {
		return made{}, declined, unbroken
	}
	if s.cloud.vms[slot].foreign {
		return made{}, declined, search.Breach{Invariant: "I1", How: "an effect on a VM that another cluster has taken over"}
	}
	return x.change(s, &s.cloud.vms[slot], e)
}

// anothers says that a call finds that a VM is another server's.
func (x *explorer) anothers(vm instance, e effect) bool {
	return x.brain.Own && (vm.of != e.of || vm.foreign)
}

// change is an effect on one VM that is there.
func (x *explorer) change(s *State, vm *instance, e effect) (made, outcome, search.Breach) {
	if e.rests {
		s.arrived(x.choices.list, e)
	}
	v := e.step.Effect.Virtual
	switch e.step.Effect.Op {
	case lifecycle.OpStart:
		switch {
		case v.Expect.Power == provider.PowerOn && vm.is == active:
			return made{}, done, unbroken // unchanged
		case v.Expect.Power == provider.PowerOn, vm.is != stopped:
			return made{}, declined, unbroken
		}
		vm.is = active
		x.undone(s, e.of)
	case lifecycle.OpStop:
		if vm.is != active {
			return made{}, declined, unbroken
		}
		vm.is = stopped
		if restarts(e.choice) {
			s.restarted++
		}
		if s.restarted > s.restarts {
			return made{}, done, search.Breach{Invariant: "I1", How: "a VM is restarted more often than its tenant asked for"}
		}
		return made{}, done, x.ends(s, e, "stopped")
	case lifecycle.OpConfirmStopped:
		if vm.is != stopped {
			return made{}, declined, unbroken
		}
	case lifecycle.OpStampInstance:
		if x.brain.Expect && claimed(*v.Expect.Claim) != vm.claim {
			return made{}, declined, unbroken
		}
		vm.claim = claimed(v.Claim)
	case lifecycle.OpRebuild:
		return x.rebuild(s, vm, e)
	}
	return made{}, done, unbroken
}

func (x *explorer) rebuild(s *State, vm *instance, e effect) (made, outcome, search.Breach) {
	v := e.step.Effect.Virtual
	target := imageNamed(v.Image.Name)
	switch {
	case vm.image == target:
		return made{image: target}, done, unbroken // it runs the image already: unchanged
	case x.brain.Expect && imageID(vm.image) != v.Expect.ImageID, vm.is == building, vm.is == rebuilding:
		return made{}, declined, unbroken
	}
	vm.image, vm.is = target, rebuilding
	return made{image: target}, done, x.ends(s, e, "rebuilt")
}

// create finds what an earlier call made, or makes it. A listing misses what is hidden; the ports tell that it is there.
func (x *explorer) create(s *State, e effect) (made, outcome, search.Breach) {
	if adopt := e.step.Effect.Virtual.Spec.Adopt; adopt != "" {
		return x.adopt(s, e, slotOf(adopt))
	}
	free := -1
	for slot, vm := range s.cloud.vms {
		switch {
		case vm.is == unmade && free < 0:
			free = slot
		case !s.cloud.there(vm):
		case vm.of == e.of && vm.foreign:
			return made{}, declined, unbroken // Mismatch: it bears another owner's stamp
		case vm.of == e.of && s.cloud.hidden:
			if x.brain.Ports {
				return made{}, declined, unbroken // Busy: a port of ours is plugged in
			}
		case vm.of == e.of && x.brain.Find:
			return made{vm: uint8(slot) + 1, image: vm.image}, done, unbroken
		case vm.of != e.of && !s.cloud.hidden && !x.world.Class:
			return made{}, declined, unbroken // FoundExisting: it bears the name of this Server
		}
	}
	if free < 0 {
		return made{}, declined, unbroken
	}
	image := imageNamed(e.step.Effect.Virtual.Spec.Image.Name)
	s.cloud.vms[free] = instance{is: building, image: image, of: e.of, claim: claimed(e.step.Effect.Virtual.Spec.Claim), elsewhere: s.cloud.rotated}
	x.plug(s, e.of)
	return made{vm: uint8(free) + 1, image: image}, done, x.doubles(s, e)
}

func (x *explorer) deleteFailed(s *State, e effect) (made, outcome, search.Breach) {
	slot := slotOf(e.step.Effect.Virtual.Instance.ID)
	if slot < 0 || !s.cloud.there(s.cloud.vms[slot]) || x.anothers(s.cloud.vms[slot], e) {
		return made{}, declined, unbroken // gone already: nothing changes
	}
	vm := &s.cloud.vms[slot]
	if vm.launched() {
		if x.brain.Expect && e.step.Effect.Virtual.Expect.NeverLaunched {
			return made{}, declined, unbroken
		}
		return made{}, declined, search.Breach{Invariant: "I2", How: "a VM that was launched is deleted to be made again"}
	}
	vm.is = vanished
	s.deletions++
	if s.deletions > s.budget {
		return made{}, done, search.Breach{Invariant: "I2", How: "more VMs are deleted to be made again than the budget allows"}
	}
	return made{}, done, unbroken
}

// outlive ends the making of a VM that waits on the wire. Dismantling takes the ports away that it would use; and a VM that was launched
// and deleted by somebody took longer than the one deadline within which it can still arrive (docs/explorer-virtual.md, assumptions).
func (x *explorer) outlive(s *State, of who) {
	if s.flight.kind != effectStalls {
		return
	}
	if e := x.choices.list[s.flight.choice].step.Effect; e.Op == lifecycle.OpCreateInstance && x.whoIs(e) == of {
		s.flight = flight{}
	}
}

// arrived ends a stop of the same VM that waits on the wire, where a stop of ours was recorded since it was decided: what is done now
// rested for as long as that can still arrive.
func (s *State) arrived(choices []choice, rested effect) {
	if s.flight.kind != effectStalls || !s.flight.outlasted {
		return
	}
	if e := choices[s.flight.choice].step.Effect; e.Op == lifecycle.OpStop && e.Virtual.Instance.ID == rested.step.Effect.Virtual.Instance.ID {
		s.flight = flight{}
	}
}

// befall is what may happen to VMs without anybody of ours.
func (x *explorer) befall(s *State, yield step) {
	for slot, vm := range s.cloud.vms {
		become := func(is condition, what string, costs uint8) {
			if s.luck < costs {
				return
			}
			next := *s
			next.luck -= costs
			next.cloud.vms[slot].is = is
			switch is {
			case vanished:
				x.outlive(&next, vm.of)
			case active:
				x.undone(&next, vm.of)
			}
			yield(&next, move{actor: "cloud", what: vmID(slot) + " " + what})
		}
		switch vm.is {
		case building:
			become(active, "is launched", 0)
		case rebuilding:
			become(active, "is rebuilt", 0)
		}
		for _, chance := range x.world.Chances {
			if is := chance.of(vm.is); is != vm.is {
				become(is, chanceNames[chance], 1)
			}
		}
	}
	x.takings(s, yield)
	x.cells(s, yield)
	x.projects(s, yield)
	x.networks(s, yield)
}

// of is what a chance makes of a VM; the same where it does not befall such a VM.
func (c Chance) of(is condition) condition {
	switch {
	case c == Fails && is == building:
		return broken
	case c == Errors && (is == active || is == stopped || is == rebuilding):
		return errored
	case c == Recover && (is == broken || is == errored):
		return active
	case c == Vanish && is != unmade && is != vanished:
		return vanished
	}
	return is
}

// takings: another cluster takes a VM over.
func (x *explorer) takings(s *State, yield step) {
	if s.luck == 0 || !slices.Contains(x.world.Chances, TakenOver) {
		return
	}
	for slot, vm := range s.cloud.vms {
		if vm.exists() && !vm.foreign {
			next := *s
			next.luck--
			next.cloud.vms[slot].foreign = true
			yield(&next, move{actor: "cloud", what: vmID(slot) + " " + chanceNames[TakenOver]})
		}
	}
}

// cells go down, and come back.
func (x *explorer) cells(s *State, yield step) {
	next := *s
	next.cloud.hidden = !s.cloud.hidden
	if s.cloud.hidden {
		yield(&next, move{actor: "cloud", what: "listings are whole again"})
		return
	}
	for _, chance := range x.world.Chances {
		if chance == Hide && s.luck > 0 {
			next.luck--
			yield(&next, move{actor: "cloud", what: "listings miss VMs: a cell is down"})
		}
	}
}
