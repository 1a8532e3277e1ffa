// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// deletion is the one time at which objects are deleted: a time that tells nothing.
var deletion = &metav1.Time{Time: askedIn(0)}

func (x *explorer) peoples(s *State, yield step) {
	// The BMC controller makes a Server anew wherever there is none.
	for i := range x.world.Servers {
		if s.now.server[i] == absent && s.suids[i] < maxUIDs {
			next := *s
			next.suids[i]++
			next.now.server[i] = x.servers.Intern(newServer(i, next.suids[i]))
			yield(&next, move{kind: moveMake, a: uint8(i)})
		}
	}
	if s.people == 0 {
		return
	}
	for _, deed := range x.world.Deeds {
		for which := range max(x.world.Servers, x.world.Claims) {
			next := *s
			next.people--
			if x.do(&next, deed, which) {
				yield(&next, move{kind: movePeople, a: uint8(deed), b: uint8(which)})
			}
		}
	}
}

// do is one deed of a person; false where it is not there to be done.
func (x *explorer) do(s *State, deed Deed, which int) bool {
	switch deed {
	case CreateClaim, DeleteClaim, ClaimPower, Restart, ForceRelease, StripClaim, Approve, ConsentChooseAnew:
		return which < x.world.Claims && x.toClaim(s, deed, which)
	case CreateMaintenance, DeleteMaintenance:
		return which == 0 && x.toMaintenance(s, deed)
	default:
		return which < x.world.Servers && x.toServer(s, deed, which)
	}
}

func (x *explorer) toClaim(s *State, deed Deed, c int) bool {
	if deed == CreateClaim {
		return s.now.claim[c] == absent && s.uids[c] < maxUIDs && x.makeClaim(s, c)
	}
	object := x.claims.Get(s.now.claim[c])
	if object == nil {
		return false
	}
	alive := object.DeletionTimestamp == nil
	switch deed {
	case DeleteClaim:
		return alive && x.deleteClaim(s, c)
	case ClaimPower:
		return alive && x.editClaim(s, c, func(o *v1alpha1.ServerClaim) { o.Spec.Power = other(o.Spec.Power) })
	case Restart:
		if !alive || s.era == maxEra {
			return false
		}
		s.era++
		return x.editClaim(s, c, func(o *v1alpha1.ServerClaim) { o.Spec.RestartedAt = &metav1.Time{Time: askedIn(s.era)} })
	case ForceRelease:
		return !alive && x.editClaim(s, c, func(o *v1alpha1.ServerClaim) {
			annotate(o, v1alpha1.AnnotationForceRelease, o.Spec.ServerName)
		})
	case Approve:
		return x.editClaim(s, c, func(o *v1alpha1.ServerClaim) { annotate(o, v1alpha1.AnnotationMaintenanceApproved, maintName) })
	case ConsentChooseAnew:
		return alive && !x.installed(s, x.ownerOfClaim(s.now.claim[c])) && x.editClaim(s, c, func(o *v1alpha1.ServerClaim) {
			annotate(o, v1alpha1.AnnotationChooseAnew, string(o.UID))
		})
	case StripClaim:
		s.now.claim[c] = absent
		return !alive
	}
	return false
}

// installed says that a machine was installed for an owner.
func (x *explorer) installed(s *State, o owner) bool {
	for i := range x.world.Servers {
		if m := s.mach[i]; m.disk == o || m.imaged&o.bit() != 0 {
			return true
		}
	}
	return false
}

func (x *explorer) makeClaim(s *State, c int) bool {
	s.uids[c]++
	s.alive |= ownerOf(c, int(s.uids[c])).bit()
	s.now.claim[c] = x.claims.Intern(newClaim(c, s.uids[c], x.world))
	return true
}

func (x *explorer) deleteClaim(s *State, c int) bool {
	object := x.claims.Get(s.now.claim[c])
	s.alive &^= x.ownerOfClaim(s.now.claim[c]).bit() | identities[string(object.UID)].bit()
	if len(object.Finalizers) == 0 {
		s.now.claim[c] = absent
		return true
	}
	return x.editClaim(s, c, func(o *v1alpha1.ServerClaim) { o.DeletionTimestamp = deletion })
}

func (x *explorer) editClaim(s *State, c int, edit func(*v1alpha1.ServerClaim)) bool {
	object := x.claims.Get(s.now.claim[c]).DeepCopy()
	edit(object)
	before := s.now.claim[c]
	s.now.claim[c] = x.claims.Intern(object)
	return s.now.claim[c] != before
}

func (x *explorer) toServer(s *State, deed Deed, i int) bool {
	object := x.servers.Get(s.now.server[i])
	if object == nil {
		return false
	}
	identity := object.Annotations[ledger.KeyIdentity]
	claim := ""
	if object.Spec.ClaimRef != nil {
		claim = object.Spec.ClaimRef.Identity
	}
	switch deed {
	case DeleteServer:
		if len(object.Finalizers) == 0 {
			s.now.server[i] = absent
			return true
		}
		return x.editServer(s, i, func(o *v1alpha1.Server) { o.DeletionTimestamp = deletion })
	case ClearClaimRef:
		return claim != "" && x.clearClaimRef(s, i)
	case ConsentPowerOff:
		return x.consentPowerOff(s, i)
	case ConsentResume:
		if disk := s.mach[i].disk; x.lives(s, disk) && disk != x.holder(s.now.server[i]) {
			return false // whoever finds somebody else's installation on the machine does not let it go on
		}
		return s.epoch && identity != "" && x.editServer(s, i, func(o *v1alpha1.Server) {
			annotate(o, v1alpha1.AnnotationResume, lifecycle.ResumeConsent(identity, restored))
		})
	case ConsentBooted:
		return claim != "" && x.editServer(s, i, func(o *v1alpha1.Server) { annotate(o, v1alpha1.AnnotationBooted, claim) })
	case ConsentBootAgain:
		s.mach[i].imaged &^= identities[claim].bit()
		return claim != "" && x.editServer(s, i, func(o *v1alpha1.Server) { annotate(o, v1alpha1.AnnotationBootAgain, claim) })
	case Cordon:
		return x.editServer(s, i, func(o *v1alpha1.Server) { o.Spec.Unschedulable = !o.Spec.Unschedulable })
	case Pause:
		return x.editServer(s, i, func(o *v1alpha1.Server) { o.Spec.Paused = !o.Spec.Paused })
	}
	return false
}

// consentPowerOff is a person's who is sure that nobody uses the machine, or has found out that whoever does may go.
func (x *explorer) consentPowerOff(s *State, i int) bool {
	m, named := &s.mach[i], x.lookedAt(s, i)
	if s.snapshot && (x.lives(s, m.disk) || x.lives(s, m.runs)) {
		return false // nothing else tells any more whether somebody does
	}
	if named == "" || !x.editServer(s, i, func(o *v1alpha1.Server) { annotate(o, v1alpha1.AnnotationPowerOff, named) }) {
		return false
	}
	if m.disk == stranger {
		m.disk, s.alive = 0, s.alive&^stranger.bit()
	}
	return true
}

// lookedAt is what a person who has looked at a machine names in a consent to switch it off, as the hold asks: the stamp that it bears, where
// the server's memory does not account for it, and the server's identity otherwise. What is judged by it is judged by more than the production
// code's own word, so that is not asked.
func (x *explorer) lookedAt(s *State, i int) string {
	server := x.servers.Get(s.now.server[i])
	identity := server.Annotations[ledger.KeyIdentity]
	tag := tagOf(s.mach[i].tag)
	led, err := ledger.ParseServer(server.Annotations)
	if err != nil || identity == "" || !ledger.IsStamp(tag) {
		return identity
	}
	for _, claim := range x.accounted(s, server, led) {
		if tag == ledger.Stamp(identity, cluster, claim) {
			return identity
		}
	}
	return tag
}

// accounted are the claims for which a machine may be stamped, as far as its server knows.
func (x *explorer) accounted(s *State, server *v1alpha1.Server, led ledger.Server) []string {
	if ref := server.Spec.ClaimRef; ref != nil {
		return []string{ref.Identity}
	}
	var known []string
	if led.Boot != nil {
		known = append(known, led.Boot.Claim)
	}
	if led.Intent != nil {
		known = append(known, led.Intent.Claim)
	}
	for c := range x.world.Claims {
		if claim := x.claims.Get(s.now.claim[c]); claim != nil && claim.Annotations[ledger.KeyBound] == led.Identity {
			known = append(known, claim.Annotations[ledger.KeyIdentity])
		}
	}
	return known
}

// clearClaimRef is a manual release: where the claim is no more, or has not written that it may have booted, the person who clears it
// gives its workload up.
func (x *explorer) clearClaimRef(s *State, i int) bool {
	was := x.holder(s.now.server[i])
	found, bound := false, false
	for c := range x.world.Claims {
		if s.now.claim[c] != absent && x.ownerOfClaim(s.now.claim[c]) == was {
			found, bound = true, x.claims.Get(s.now.claim[c]).Annotations[ledger.KeyBound] != ""
		}
	}
	if !found {
		s.alive &^= was.bit()
	}
	if m := &s.mach[i]; !bound && m.disk == was {
		m.disk = 0
	}
	if m := &s.mach[i]; !bound && m.runs == was {
		m.runs = 0
	}
	if !bound {
		s.mach[i].imaged &^= was.bit() // what it gets from now on is another boot
	}
	return x.editServer(s, i, func(o *v1alpha1.Server) { o.Spec.ClaimRef = nil })
}

func (x *explorer) editServer(s *State, i int, edit func(*v1alpha1.Server)) bool {
	object := x.servers.Get(s.now.server[i]).DeepCopy()
	edit(object)
	before := s.now.server[i]
	s.now.server[i] = x.servers.Intern(object)
	return s.now.server[i] != before
}

func (x *explorer) toMaintenance(s *State, deed Deed) bool {
	object := x.maintenances.Get(s.now.maintenance)
	if deed == CreateMaintenance {
		s.now.maintenance = x.maintenances.Intern(newMaintenance(x.world))
		return object == nil
	}
	if object == nil || object.DeletionTimestamp != nil {
		return false
	}
	if len(object.Finalizers) == 0 {
		s.now.maintenance = absent
		return true
	}
	ended := object.DeepCopy()
	ended.DeletionTimestamp = deletion
	s.now.maintenance = x.maintenances.Intern(ended)
	return true
}

func other(p v1alpha1.Power) v1alpha1.Power {
	if p == v1alpha1.PowerOff {
		return v1alpha1.PowerOn
	}
	return v1alpha1.PowerOff
}

func annotate(o metav1.Object, key, value string) {
	annotations := map[string]string{}
	for k, v := range o.GetAnnotations() {
		annotations[k] = v
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}
