// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

func (x *explorer) harms(s *State, yield step) {
	if s.adverse == 0 {
		return
	}
	if x.backups && !s.backup {
		next := *s
		next.backup, next.old = true, s.now
		yield(&next, move{kind: moveBackup})
	}
	for _, harm := range x.world.Harms {
		for which := range max(x.world.Servers, x.world.Claims) {
			next := *s
			next.adverse--
			if x.inflict(&next, harm, which) {
				yield(&next, move{kind: moveHarm, a: uint8(harm), b: uint8(which)}.breaking(x.harmBroke))
				x.harmBroke = unbroken
			}
		}
	}
}

// needsBackup says that a harm takes something out of the backup.
func (h Harm) needsBackup() bool {
	switch h {
	case OldStatus, OldLedger, OldClaimLedger, RestoreServer, RestoreClaim, OldServer, OldClaim, OldCluster:
		return true
	}
	return false
}

func (x *explorer) inflict(s *State, harm Harm, which int) bool {
	if harm.needsBackup() && !s.backup {
		return false
	}
	switch harm {
	case DropClaimLedger, OldClaimLedger, LoseClaim, RestoreClaim, OldClaim:
		return which < x.world.Claims && x.harmClaim(s, harm, which)
	case OldCluster:
		return which == 0 && x.oldCluster(s)
	case HandOn, PowerCycle:
		return which < x.world.Servers && x.harmMachine(s, harm, which)
	case PowerCut:
		return which < x.world.Servers && x.cutPower(s, which)
	default:
		return which < x.world.Servers && x.harmServer(s, harm, which)
	}
}

func (x *explorer) harmServer(s *State, harm Harm, i int) bool {
	if harm == RestoreServer {
		return s.now.server[i] == absent && x.restoreServer(s, i)
	}
	if s.now.server[i] == absent {
		return false
	}
	old := x.servers.Get(s.old.server[i])
	switch harm {
	case WipeStatus:
		return x.editServer(s, i, func(o *v1alpha1.Server) { o.Status = v1alpha1.ServerStatus{} })
	case OldStatus:
		return old != nil && x.editServer(s, i, func(o *v1alpha1.Server) { o.Status = old.Status })
	case DropLedger:
		return x.editServer(s, i, func(o *v1alpha1.Server) { o.Annotations = x.replaced(o.Annotations, nil) })
	case OldLedger:
		if old == nil {
			return false
		}
		changed := x.editServer(s, i, func(o *v1alpha1.Server) {
			o.Annotations = x.replaced(o.Annotations, old.Annotations)
		})
		era := s.mach[i].era
		x.older(s, i)
		if !x.world.Unguarded {
			s.mach[i].era = era // whether it was started since is looked at before a restart is announced (docs/decisions/0158)
		}
		return changed
	case LoseServer:
		s.now.server[i] = absent
		return true
	case OldServer:
		return x.restoreServer(s, i)
	}
	return false
}

// replaced are annotations whose ledger somebody replaced by that of old.
func (x *explorer) replaced(now, old map[string]string) map[string]string {
	if x.world.Unguarded {
		return apiserver.WithLedger(now, old)
	}
	return apiserver.GlassBroken(now, old)
}

// restoreServer is a restore as backup tools make it: the old content without status, under a new UID, not being deleted.
func (x *explorer) restoreServer(s *State, i int) bool {
	old := x.servers.Get(s.old.server[i])
	if old == nil || s.suids[i] == maxUIDs {
		return false
	}
	s.suids[i]++
	restored := old.DeepCopy()
	restored.UID, restored.DeletionTimestamp, restored.Status = serverUID(i, s.suids[i]), nil, v1alpha1.ServerStatus{}
	s.now.server[i] = x.servers.Intern(restored)
	x.older(s, i)
	return true
}

// older is what an older memory of a server tells that nothing contradicts (docs/explorer.md, what is not proven): a restart that was carried
// out since is owed again, which costs an uptime and no data; and a machine that a hand switched on since runs for whom it was on then.
func (x *explorer) older(s *State, i int) {
	server := s.now.server[i]
	if server == absent {
		return
	}
	m, told := &s.mach[i], x.memoryOf(server)
	m.era = min(m.era, told.restarted)
	if m.runs == stranger && told.explains {
		m.runs = told.boot
	}
}

func (x *explorer) harmClaim(s *State, harm Harm, c int) bool {
	if harm == RestoreClaim {
		return s.now.claim[c] == absent && x.restoreClaim(s, c)
	}
	if s.now.claim[c] == absent {
		return false
	}
	old := x.claims.Get(s.old.claim[c])
	if harm != OldClaim || (old != nil && old.Annotations[ledger.KeyBound] == "") {
		x.forgotten(s, x.ownerOfClaim(s.now.claim[c]))
	}
	switch harm {
	case DropClaimLedger:
		return x.editClaim(s, c, func(o *v1alpha1.ServerClaim) {
			o.Annotations = x.replaced(o.Annotations, nil)
		})
	case OldClaimLedger:
		return old != nil && old.UID == x.claims.Get(s.now.claim[c]).UID &&
			x.editClaim(s, c, func(o *v1alpha1.ServerClaim) {
				o.Annotations = x.replaced(o.Annotations, old.Annotations)
			})
	case LoseClaim:
		s.now.claim[c] = absent
		return true
	case OldClaim:
		return x.restoreClaim(s, c)
	}
	return false
}

// forgotten gives up what a person released by hand (claimRef cleared, the boot for the claim still written) once the claim, which
// spoke against it, does not any more: a release was asked for, and nobody objects.
func (x *explorer) forgotten(s *State, o owner) {
	for i := range x.world.Servers {
		m := &s.mach[i]
		if server := s.now.server[i]; server == absent || x.holder(server) != 0 || x.memoryOf(server).boot != o {
			continue
		}
		if m.runs == o {
			m.runs = 0
		}
		if m.disk == o {
			m.disk = 0
		}
		m.imaged &^= o.bit()
	}
}

// restoreClaim brings a claim back, under a new UID. While it is there its workload must not be touched, also where its tenant had
// deleted it since.
func (x *explorer) restoreClaim(s *State, c int) bool {
	old := x.claims.Get(s.old.claim[c])
	if old == nil || s.uids[c] == maxUIDs {
		return false
	}
	s.uids[c]++
	restored := old.DeepCopy()
	restored.UID, restored.DeletionTimestamp = claimUID(c, s.uids[c]), nil
	s.now.claim[c] = x.claims.Intern(restored)
	if old.Annotations[ledger.KeyIdentity] == "" {
		s.alive |= x.ownerOfClaim(s.now.claim[c]).bit() // one that nobody had seen yet
	}
	return true
}

// oldCluster is an older snapshot of etcd under the same machines: every object as it was, UIDs too. The managers start anew; where
// no stamp tells them so, a person tells them (--after-restore).
func (x *explorer) oldCluster(s *State) bool {
	s.now, s.lag, s.lagging = s.old, objects{}, false
	s.flight, s.look = flight{}, picture{}
	s.snapshot, s.epoch = true, x.world.NoStamp
	for i := range x.world.Servers {
		era := s.mach[i].era
		x.older(s, i)
		if s.epoch { // who is told of a snapshot owes no restart for it (docs/decisions/0160)
			s.mach[i].era = era
		}
	}
	x.unrevive(s)
	return true
}

// unrevive: a claim that the snapshot has as being deleted was given up, whatever a restore made of it since. Nothing tells that any more.
func (x *explorer) unrevive(s *State) {
	for c := range x.world.Claims {
		if known := x.claims.Get(s.now.claim[c]); known != nil && known.DeletionTimestamp != nil {
			s.alive &^= x.ownerOfClaim(s.now.claim[c]).bit()
		}
	}
}

// harmMachine switches a machine on without us. Nobody does so while it is armed for its first boot, or in the moment between a look
// that confirms Off and its record: see docs/explorer.md, assumptions.
func (x *explorer) harmMachine(s *State, harm Harm, i int) bool {
	m := &s.mach[i]
	if m.armed == 1 || s.flight.kind == recordStalls || (harm == PowerCycle) != m.on {
		return false
	}
	if m.on {
		m.switchOff()
	}
	s.expire(true) // a hand takes longer than what is on the wire
	if x.harmBroke = x.switchOn(s, i); m.starting {
		x.harmBroke = x.comesUp(s, i)
	}
	if m.runs == 0 || !x.lives(s, m.runs) {
		m.runs = x.usedBy(s, i)
	}
	if m.runs == stranger && x.world.Found && x.servers.Get(s.now.server[i]).Annotations[v1alpha1.AnnotationPowerOff] == "" {
		m.disk, s.alive = stranger, s.alive|stranger.bit() // and has something there that a person has not given up
	}
	if !x.lives(s, m.runs) {
		m.imaged &^= m.runs.bit() // its tenant gave it up: what a hand starts of it is no claim's boot
	}
	return true
}

// cutPower takes a machine's power away. A stranger's, before it was seen to run and that was made something of, is Off like any other: see
// docs/explorer.md, what is not proven.
func (x *explorer) cutPower(s *State, i int) bool {
	m := &s.mach[i]
	if !m.on || (m.runs == stranger && !x.memoryOf(s.now.server[i]).found && !x.atRest(s)) {
		return false
	}
	m.switchOff()
	return true
}

// usedBy is whose doing it is that a machine runs on which nobody wants an installation: that of whoever has the server or is leaving it, else
// somebody's.
func (x *explorer) usedBy(s *State, i int) owner {
	server := s.now.server[i]
	if o := x.holder(server); o != 0 && o != x.memoryOf(server).released {
		return o
	}
	if o := x.memoryOf(server).boot; o != 0 {
		return o
	}
	for c := range x.world.Claims {
		if known := x.claims.Get(s.now.claim[c]); known != nil && known.Annotations[ledger.KeyBound] == serverIdentity(i) {
			o := x.ownerOfClaim(s.now.claim[c])
			if leaving := known.DeletionTimestamp != nil; leaving || (o != x.memoryOf(server).released && x.lives(s, o)) {
				return o
			}
		}
	}
	return stranger
}
