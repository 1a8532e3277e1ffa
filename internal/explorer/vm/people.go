// SPDX-License-Identifier: Apache-2.0

package vm

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// peoples are what people do.
func (x *explorer) peoples(s *State, yield step) {
	if s.people == 0 {
		return
	}
	for _, deed := range x.world.Deeds {
		next := *s
		next.people--
		if x.does(&next, deed) {
			yield(&next, move{actor: "person", what: deedNames[deed]})
		}
	}
}

// first is the slot of the first server there is; -1 for none.
func (s *State) first() int {
	for slot, server := range s.now.server {
		if server != absent {
			return slot
		}
	}
	return -1
}

// does lets a person do a deed; false where there is nothing to do it to.
func (x *explorer) does(s *State, deed Deed) bool {
	slot := s.first()
	switch deed {
	case Create:
		return x.createFromGit(s)
	case Delete:
		if x.world.Class {
			s.alive &^= x.wants(s)
			return x.editClaim(s, func(c *v1alpha1.ServerClaim) { deleted(c) })
		}
		s.alive &^= x.wants(s)
		return slot >= 0 && x.editServer(s, slot, func(o *v1alpha1.Server) { deleted(o) })
	case DeleteServer:
		return slot >= 0 && x.editServer(s, slot, func(o *v1alpha1.Server) { deleted(o) })
	case TogglePower:
		if x.world.Class {
			return x.editClaim(s, func(c *v1alpha1.ServerClaim) { c.Spec.Power = toggled(c.Spec.Power) })
		}
		return slot >= 0 && x.editServer(s, slot, func(o *v1alpha1.Server) { o.Spec.Power = toggled(o.Spec.Power) })
	case EditImage:
		return slot >= 0 && x.editServer(s, slot, func(o *v1alpha1.Server) {
			o.Spec.OpenStack.Image = imageOf(3 - imageNamed(o.Spec.OpenStack.Image.Name))
		})
	case Restart:
		s.restarts++
		return s.restarts <= maxRestarts && x.editClaim(s, func(c *v1alpha1.ServerClaim) {
			t := metav1.NewTime(askedAt(s.restarts))
			c.Spec.RestartedAt = &t
		})
	case EditFloating:
		return slot >= 0 && x.editServer(s, slot, func(o *v1alpha1.Server) {
			if o.Spec.OpenStack.FloatingIP == nil {
				o.Spec.OpenStack.FloatingIP = floatingIP()
			} else {
				o.Spec.OpenStack.FloatingIP = nil
			}
		})
	case CreateMaintenance, DeleteMaintenance:
		return x.toMaintenance(s, deed, slot)
	}
	return x.consents(s, deed, slot)
}

func (x *explorer) consents(s *State, deed Deed, slot int) bool {
	switch deed {
	case Approve:
		return x.editClaim(s, func(c *v1alpha1.ServerClaim) { annotate(c, v1alpha1.AnnotationRebuildApproved, imageOf(2).String()) })
	case ApproveMaintenance:
		return x.editClaim(s, func(c *v1alpha1.ServerClaim) { annotate(c, v1alpha1.AnnotationMaintenanceApproved, maintName) })
	case Adopt:
		return slot >= 0 && x.adoptOne(s, slot)
	case Resume:
		return s.epoch && slot >= 0 && x.editServer(s, slot, func(o *v1alpha1.Server) {
			annotate(o, v1alpha1.AnnotationResume, lifecycle.ResumeConsent(o.Annotations[ledger.KeyIdentity], restored))
		})
	case Retry:
		if slot < 0 {
			return false
		}
		s.budget += attempts
		return x.editServer(s, slot, func(o *v1alpha1.Server) { annotate(o, v1alpha1.AnnotationRetry, o.Annotations[ledger.KeyIdentity]) })
	case Force:
		return slot >= 0 && x.editClaim(s, func(c *v1alpha1.ServerClaim) {
			annotate(c, v1alpha1.AnnotationForceRelease, x.servers.Get(s.now.server[slot]).Name)
		})
	case ClearClaimRef:
		return slot >= 0 && x.clearRef(s, slot)
	}
	return false
}

// adoptOne says to a server without a VM that the first one there that is not its is its.
func (x *explorer) adoptOne(s *State, slot int) bool {
	for number, vm := range s.cloud.vms {
		if vm.exists() && vm.of != x.serves(s.now.server[slot]) {
			return x.editServer(s, slot, func(o *v1alpha1.Server) { annotate(o, v1alpha1.AnnotationAdopt, vmID(number)) })
		}
	}
	return false
}

// clearRef is a release by hand. It counts where no claim speaks against it.
func (x *explorer) clearRef(s *State, slot int) bool {
	server := x.servers.Get(s.now.server[slot])
	claim := x.claims.Get(s.now.claim)
	if claim == nil || claim.Annotations[ledger.KeyBound] != server.Annotations[ledger.KeyIdentity] {
		s.freed |= x.serves(s.now.server[slot]).bit()
	}
	return x.editServer(s, slot, func(o *v1alpha1.Server) { o.Spec.ClaimRef = nil })
}

func toggled(p v1alpha1.Power) v1alpha1.Power {
	if p == v1alpha1.PowerOff {
		return v1alpha1.PowerOn
	}
	return v1alpha1.PowerOff
}

func annotate(object interface {
	GetAnnotations() map[string]string
	SetAnnotations(map[string]string)
}, key, value string,
) {
	all := map[string]string{key: value}
	for k, v := range object.GetAnnotations() {
		if k != key {
			all[k] = v
		}
	}
	object.SetAnnotations(all)
}

// wants are the bits of those whose object is there.
func (x *explorer) wants(s *State) uint8 {
	if x.world.Class {
		if s.now.claim == absent {
			return 0
		}
		return x.ownerOf(s.now.claim).bit()
	}
	if s.now.server[0] == absent {
		return 0
	}
	return x.serves(s.now.server[0]).bit()
}

// createFromGit makes the object anew, as it stands in Git: without any memory.
func (x *explorer) createFromGit(s *State) bool {
	if x.world.Class {
		if s.now.claim != absent || s.cuid == maxUIDs {
			return false
		}
		s.cuid++
		s.now.claim = x.claims.Intern(x.newClaim(s.cuid))
		s.alive |= ofClaim(s.cuid).bit()
		return true
	}
	if s.now.server[0] != absent || s.suid == maxUIDs {
		return false
	}
	s.suid++
	s.now.server[0] = x.servers.Intern(x.newServer(s.suid))
	s.alive |= ofObject(s.suid).bit()
	s.budget += attempts
	return true
}

func (x *explorer) editServer(s *State, slot int, change func(*v1alpha1.Server)) bool {
	before := s.now.server[slot]
	object := x.servers.Get(before).DeepCopy()
	change(object)
	s.now.server[slot] = absent
	if !apiserver.Goes(object) {
		s.now.server[slot] = x.servers.Intern(object)
	}
	return s.now.server[slot] != before
}

func (x *explorer) editClaim(s *State, change func(*v1alpha1.ServerClaim)) bool {
	if s.now.claim == absent {
		return false
	}
	before := s.now.claim
	object := x.claims.Get(before).DeepCopy()
	change(object)
	s.now.claim = absent
	if !apiserver.Goes(object) {
		s.now.claim = x.claims.Intern(object)
	}
	return s.now.claim != before
}
