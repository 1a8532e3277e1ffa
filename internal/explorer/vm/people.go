// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
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
	}
	return x.consents(s, deed, slot)
}

func (x *explorer) consents(s *State, deed Deed, slot int) bool {
	switch deed {
	case Approve:
		return x.editClaim(s, func(c *v1alpha1.ServerClaim) { annotate(c, v1alpha1.AnnotationRebuildApproved, imageOf(2).String()) })
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

func (x *explorer) harms(s *State, yield step) {
	if s.adverse == 0 {
		return
	}
	if x.backups && !s.backup {
		next := *s
		next.backup, next.old = true, s.now
		yield(&next, move{actor: "backup", what: "is taken"})
	}
	for _, harm := range x.world.Harms {
		for slot := range maxServers {
			next := *s
			next.adverse--
			if (!harm.needsBackup() || s.backup) && x.inflict(&next, harm, slot) {
				yield(&next, move{actor: "ADVERSARY", what: harmNames[harm]})
			}
		}
	}
}

// needsBackup says that a harm takes something out of the backup.
func (h Harm) needsBackup() bool {
	switch h {
	case OldStatus, OldLedger, RestoreServer, OldClaimLedger, RestoreClaim, OldCluster:
		return true
	}
	return false
}

// inflict does a harm: to a server of a slot, or once to the claim or the cluster.
func (x *explorer) inflict(s *State, harm Harm, slot int) bool {
	switch harm {
	case DropClaimLedger, OldClaimLedger, LoseClaim, RestoreClaim:
		return slot == 0 && x.harmClaim(s, harm)
	case OldCluster:
		if slot > 0 {
			return false
		}
		s.now, s.lag, s.lagging, s.flight = s.old, objects{}, false, flight{}
		x.forgets(s)
		return true
	case RestoreServer:
		return s.now.server[slot] == absent && x.restoreServer(s, slot)
	}
	if s.now.server[slot] == absent {
		return false
	}
	old := x.servers.Get(s.old.server[slot])
	switch harm {
	case WipeStatus:
		return x.editServer(s, slot, func(o *v1alpha1.Server) { o.Status = v1alpha1.ServerStatus{} })
	case OldStatus:
		return old != nil && x.editServer(s, slot, func(o *v1alpha1.Server) { o.Status = old.Status })
	case DropLedger:
		x.forgets(s)
		return x.editServer(s, slot, func(o *v1alpha1.Server) { o.Annotations = apiserver.WithLedger(o.Annotations, nil) })
	case OldLedger:
		x.forgets(s)
		return old != nil && x.editServer(s, slot, func(o *v1alpha1.Server) { o.Annotations = apiserver.WithLedger(o.Annotations, old.Annotations) })
	case LoseServer:
		x.forgets(s)
		s.now.server[slot] = absent
		return true
	}
	return false
}

// forgets: what was remembered of launches and of the budget may be lost from here on.
func (*explorer) forgets(s *State) {
	s.latched = 0
	s.budget += attempts
}

// restoreServer is a restore as backup tools make it: the old content without status, under a new UID, not being deleted.
func (x *explorer) restoreServer(s *State, slot int) bool {
	old := x.servers.Get(s.old.server[slot])
	if old == nil || s.suid == maxUIDs || x.slotNamed(s.now, old.Name) >= 0 {
		return false
	}
	s.suid++
	restored := old.DeepCopy()
	restored.UID, restored.DeletionTimestamp, restored.Status = serverUID(s.suid), nil, v1alpha1.ServerStatus{}
	s.now.server[slot] = x.servers.Intern(restored)
	x.forgets(s)
	return true
}

func (x *explorer) harmClaim(s *State, harm Harm) bool {
	if !x.world.Class {
		return false
	}
	old := x.claims.Get(s.old.claim)
	if harm == RestoreClaim {
		if s.now.claim != absent || old == nil || s.cuid == maxUIDs {
			return false
		}
		s.cuid++
		restored := old.DeepCopy()
		restored.UID, restored.DeletionTimestamp = claimUID(s.cuid), nil
		s.now.claim = x.claims.Intern(restored)
		return true
	}
	if s.now.claim == absent {
		return false
	}
	x.freed(s)
	switch harm {
	case DropClaimLedger:
		return x.editClaim(s, func(c *v1alpha1.ServerClaim) { c.Annotations = apiserver.WithLedger(c.Annotations, nil) })
	case OldClaimLedger:
		return old != nil && old.UID == x.claims.Get(s.now.claim).UID &&
			x.editClaim(s, func(c *v1alpha1.ServerClaim) { c.Annotations = apiserver.WithLedger(c.Annotations, old.Annotations) })
	case LoseClaim:
		s.now.claim = absent
		return true
	}
	return false
}

// freed gives up what a person released by hand (claimRef cleared) once the claim, which spoke against it, does not any more: a release
// was asked for, and nobody objects.
func (x *explorer) freed(s *State) {
	of := x.ownerOf(s.now.claim)
	for _, server := range s.now.server {
		if o := x.servers.Get(server); o != nil && o.Spec.ClaimRef == nil && x.serves(server) == of {
			s.freed |= of.bit()
		}
	}
}
