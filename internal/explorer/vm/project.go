// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"slices"

	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// The projects that the credentials of a Cloud may lead to.
const (
	projectID    = "project-1"
	otherProject = "project-2"
)

// project is the one that the Cloud leads to.
func (c *cloud) project() string {
	if c.rotated {
		return otherProject
	}
	return projectID
}

// projects: somebody gives the Cloud credentials of another project, and those of the first again.
func (x *explorer) projects(s *State, yield step) {
	if s.luck == 0 || !slices.Contains(x.world.Chances, Rotate) {
		return
	}
	next := *s
	next.luck--
	next.cloud.rotated = !s.cloud.rotated
	yield(&next, move{actor: "person", what: "gives the Cloud credentials of " + next.cloud.project()})
}

// plug gives a VM its ports, where networks are looked at.
func (x *explorer) plug(s *State, of who) {
	if x.world.Floating {
		s.cloud.ports |= of.bit()
	}
}

// adopt marks the VM that a person said to be this server's. Nobody's but one that its own server has left (its server bears the name, and is
// no more) can be: that of another that is there has another name.
func (x *explorer) adopt(s *State, e effect, slot int) (made, outcome, search.Breach) {
	if slot < 0 || !s.cloud.there(s.cloud.vms[slot]) {
		return made{}, declined, unbroken
	}
	vm := &s.cloud.vms[slot]
	for other, there := range s.cloud.vms {
		if other != slot && there.exists() && there.of == e.of {
			return made{}, declined, unbroken // Terminal: two VMs would bear the identity
		}
	}
	vm.of, vm.claim = e.of, claimed(e.step.Effect.Virtual.Spec.Claim)
	x.plug(s, e.of)
	return made{vm: uint8(slot) + 1, image: vm.image}, done, unbroken
}
