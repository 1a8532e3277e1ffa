// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
)

// harms are what the adversary does.
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
		s.now, s.lag, s.lagging, s.flight, s.late = s.old, objects{}, false, flight{}, lateLook{}
		s.unbound = ^uint8(0)
		asked := s.restarts
		x.forgets(s)
		if s.epoch = x.world.Told; s.epoch {
			s.restarts = asked // who is told of a snapshot owes no restart for it (docs/decisions/0160)
		}
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
		return x.editServer(s, slot, func(o *v1alpha1.Server) { o.Annotations = x.replaced(o.Annotations, nil) })
	case OldLedger:
		return old != nil && x.ageLedger(s, slot, old)
	case LoseServer:
		x.forgets(s)
		s.now.server[slot] = absent
		return true
	}
	return false
}

// ageLedger puts an older ledger on a server. On one that is being deleted it says whose deletion that is: who it was before is given up.
func (x *explorer) ageLedger(s *State, slot int, old *v1alpha1.Server) bool {
	x.forgets(s)
	if !x.editServer(s, slot, func(o *v1alpha1.Server) {
		o.Annotations = x.replaced(o.Annotations, old.Annotations)
	}) {
		return false
	}
	if server := s.now.server[slot]; server != absent && x.servers.Get(server).DeletionTimestamp != nil && !x.world.Class {
		s.alive &^= x.serves(server).bit()
	}
	return true
}

// forgets: what was remembered of launches and of the budget may be lost from here on.
func (x *explorer) forgets(s *State) {
	s.latched = 0
	s.budget += attempts
	if x.restarts {
		s.restarts++
	}
}

// replaced are annotations whose ledger somebody replaced by that of old.
func (x *explorer) replaced(now, old map[string]string) map[string]string {
	if x.world.Unguarded {
		return apiserver.WithLedger(now, old)
	}
	return apiserver.GlassBroken(now, old)
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
	s.unbound |= x.ownerOf(s.now.claim).bit()
	switch harm {
	case DropClaimLedger:
		return x.editClaim(s, func(c *v1alpha1.ServerClaim) {
			c.Annotations = x.replaced(c.Annotations, nil)
		})
	case OldClaimLedger:
		return old != nil && old.UID == x.claims.Get(s.now.claim).UID &&
			x.editClaim(s, func(c *v1alpha1.ServerClaim) {
				c.Annotations = x.replaced(c.Annotations, old.Annotations)
			})
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
