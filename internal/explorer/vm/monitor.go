// SPDX-License-Identifier: Apache-2.0

package vm

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// look is what a picture depends on.
type look struct {
	seen  id
	cloud cloud
}

// monitor looks: it reads the intent, lists, asks by its id for what it knows and no listing shows, and writes by resourceVersion.
func (x *explorer) monitor(s *State, yield step) {
	for slot, server := range s.now.server {
		if server == absent {
			continue
		}
		next := *s
		if next.now.server[slot] = x.picture(server, s.cloud); next.now.server[slot] != server {
			yield(&next, move{actor: "monitor", what: "looks at the cloud for " + nameOfSlot(slot)})
		}
		if x.world.StallLooks && s.stalls > 0 && !s.late.open {
			next = *s
			next.stalls--
			next.late = lateLook{open: true, slot: uint8(slot), of: s.cloud, basis: server}
			yield(&next, move{actor: "monitor", what: "looks at the cloud for " + nameOfSlot(slot) + " — and stalls before it writes"})
		}
	}
	if late := s.late; late.open { // what was written since ended it
		next := *s
		next.late = lateLook{}
		next.now.server[late.slot] = x.picture(late.basis, late.of)
		yield(&next, move{actor: "monitor", what: "writes what it saw for " + nameOfSlot(int(late.slot))})
	}
}

// picture is the server with what is seen of its VM.
func (x *explorer) picture(server id, c cloud) id {
	key := look{server, c}
	if known, ok := x.looks[key]; ok {
		return known
	}
	object := x.servers.Get(server).DeepCopy()
	object.Status.Observed = x.observe(object, c)
	taken := x.servers.Intern(object)
	x.looks[key] = taken
	return taken
}

func (x *explorer) observe(object *v1alpha1.Server, c cloud) *v1alpha1.ServerObserved {
	led, err := ledger.ParseServer(object.Annotations)
	if err != nil {
		return object.Status.Observed
	}
	o := &v1alpha1.ServerObserved{Reachable: true, PowerState: v1alpha1.ObservedUnknown, ProjectID: c.project()}
	x.observeNetwork(o, c, identities[led.Identity])
	if led.Intent != nil {
		o.Intent = led.Intent.ID
	}
	known := slotOf(led.ProviderID)
	var listed []int
	for slot, vm := range c.vms {
		if c.there(vm) && !c.hidden && vm.of != 0 && vm.of == identities[led.Identity] && slot != known {
			listed = append(listed, slot)
		}
	}
	switch {
	case known >= 0 && c.hidden && !x.brain.ByID:
		o.Instance = &v1alpha1.ObservedInstance{ID: vmID(known)}
	case known >= 0:
		o.Instance, o.PowerState = seenVM(known, c.vms[known], c.there(c.vms[known]))
	case len(listed) > 0:
		o.Instance, o.PowerState = seenVM(listed[0], c.vms[listed[0]], true)
		listed = listed[1:]
	}
	for _, other := range listed {
		o.Instance.Others = append(o.Instance.Others, vmID(other))
	}
	return o
}

// states are Nova's words.
var states = map[condition]string{building: "BUILD", broken: "ERROR", active: "ACTIVE", stopped: "SHUTOFF", errored: "ERROR", rebuilding: "REBUILD"}

func seenVM(slot int, vm instance, there bool) (*v1alpha1.ObservedInstance, v1alpha1.ObservedPower) {
	out := &v1alpha1.ObservedInstance{ID: vmID(slot), Exists: there}
	if !there {
		return out, v1alpha1.ObservedUnknown
	}
	out.State, out.Owner, out.ImageID = states[vm.is], cluster, imageID(vm.image)
	if vm.foreign {
		out.Owner = otherCluster
	}
	for identity, of := range identities {
		if of == vm.of {
			out.Identity = identity
		}
	}
	if vm.claim != 0 {
		out.Claim = string(claimUID(uint8(vm.claim)))
	}
	out.Errored = vm.is == broken || vm.is == errored
	if vm.launched() {
		t := metav1.NewTime(now)
		out.LaunchedAt = &t
	}
	switch vm.is {
	case active, rebuilding:
		return out, v1alpha1.ObservedOn
	case stopped:
		return out, v1alpha1.ObservedOff
	}
	return out, v1alpha1.ObservedUnknown
}
