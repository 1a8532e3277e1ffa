// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var unbroken search.Breach

func or(a, b search.Breach) search.Breach {
	if a != unbroken {
		return a
	}
	return b
}

// identities maps what ledgers call servers to who they are.
var identities = func() map[string]who {
	m := map[string]who{}
	for n := uint8(1); n <= maxUIDs; n++ {
		m[ledger.ObjectIdentity(serverUID(n))] = ofObject(n)
		m[ledger.ClaimedIdentity(string(claimUID(n)))] = ofClaim(n)
	}
	return m
}()

// ofClaim and ofObject are the identities that the n-th claim, and the n-th Server that no claim made, give.
func ofClaim(n uint8) who  { return who(n) }
func ofObject(n uint8) who { return who(maxUIDs + n) }

// claimed is the claim of an identity; 0 for none.
func claimed(identity string) who {
	for n := uint8(1); n <= maxUIDs; n++ {
		if string(claimUID(n)) == identity {
			return ofClaim(n)
		}
	}
	return 0
}

func (x *explorer) whoIs(e *lifecycle.Effect) who { return identities[e.Virtual.Instance.Identity] }

// serves is who a server object is: by its memory, or what that will be.
func (x *explorer) serves(server id) who {
	object := x.servers.Get(server)
	if identity := object.Annotations[ledger.KeyIdentity]; identity != "" {
		return identities[identity]
	}
	if ref := object.Spec.ClaimRef; ref != nil {
		return claimed(ref.Identity)
	}
	return identities[ledger.ObjectIdentity(object.UID)]
}

// ownerOf is who a claim is: its identity, or what that will be.
func (x *explorer) ownerOf(claim id) who {
	object := x.claims.Get(claim)
	if identity := object.Annotations[ledger.KeyIdentity]; identity != "" {
		return claimed(identity)
	}
	return claimed(string(object.UID))
}

// present are the bits of those whose object is there and is not being deleted: what was deleted and then restored is wanted again.
func (x *explorer) present(s *State) uint8 {
	if x.world.Class {
		if c := x.claims.Get(s.now.claim); c != nil && c.DeletionTimestamp == nil {
			return x.ownerOf(s.now.claim).bit()
		}
		return 0
	}
	if o := x.servers.Get(s.now.server[0]); o != nil && o.DeletionTimestamp == nil {
		return x.serves(s.now.server[0]).bit()
	}
	return 0
}

// lives says that somebody wants a VM.
func (x *explorer) lives(s *State, w who) bool {
	return (s.alive|x.present(s))&^s.freed&w.bit() != 0
}

// ends checks an effect that ends what runs (I1, I5, I9): its VM's owner asked for it, or had given it up when it was decided.
func (x *explorer) ends(s *State, e effect, how string) search.Breach {
	if e.asked || e.given&e.of.bit() != 0 || !x.lives(s, e.of) {
		return unbroken
	}
	return search.Breach{Invariant: "I1", How: "the VM of somebody who wants it is " + how}
}

// asks says whether the effect that is decided now is asked for by who has the VM.
func (x *explorer) asks(s *State, slot int, c *choice) bool {
	server := x.servers.Get(s.now.server[slot])
	if server == nil {
		return false
	}
	claim := x.claims.Get(s.now.claim)
	switch c.step.Effect.Op {
	case lifecycle.OpStop:
		if x.maintenanceAsks(s, server) {
			return true
		}
		if restarts(c) {
			return claim != nil && claim.Spec.RestartedAt != nil
		}
		if x.world.Class {
			return claim != nil && (claim.Spec.Power == v1alpha1.PowerOff || claim.DeletionTimestamp != nil)
		}
		return server.Spec.Power == v1alpha1.PowerOff
	case lifecycle.OpCreateInstance: // in place of none whose first launch is remembered
		return s.latched&x.whoIs(c.step.Effect).bit() == 0
	case lifecycle.OpReleaseFloatingIP:
		return server.Spec.OpenStack.FloatingIP == nil
	case lifecycle.OpRebuild:
		target := imageNamed(c.step.Effect.Virtual.Image.Name)
		edited := imageNamed(server.Spec.OpenStack.Image.Name) == target
		if x.world.Class {
			return edited && claim != nil && claim.Annotations[v1alpha1.AnnotationRebuildApproved] == imageOf(target).String()
		}
		return edited
	}
	return false
}

// restarts says that an effect stops a VM in order to restart it.
func restarts(c *choice) bool {
	return c.step.Effect.Op == lifecycle.OpStop && c.intent != nil && c.intent.Why == ledger.WhyRestart
}

// undone notes that a VM is On before a restart of it was recorded, which no start of that restart does: one of an earlier time, a rebuild or
// a hand undid its stop, which is done again (docs/explorer-virtual.md, assumptions).
func (x *explorer) undone(s *State, w who) {
	claim := x.claims.Get(s.now.claim)
	if claim == nil || claim.Spec.RestartedAt == nil {
		return
	}
	for _, server := range s.now.server {
		if server == absent || x.serves(server) != w {
			continue
		}
		if led, err := ledger.ParseServer(x.servers.Get(server).Annotations); err == nil && claim.Spec.RestartedAt.After(led.Restarted) {
			s.restarts++
		}
	}
}

// announced checks I7: what destroys carries its own intent, which stood written in the view, or the object was being deleted.
func (x *explorer) announced(e effect) search.Breach {
	op := e.step.Effect.Op
	if !op.Destructive() {
		return unbroken
	}
	if op == lifecycle.OpDismantle {
		if !e.deleting {
			return search.Breach{Invariant: "I7", How: "a server that nobody deleted is taken away"}
		}
		return unbroken
	}
	if e.intent == nil || e.intent.ID != e.step.Effect.Intent || e.intent.Target != e.step.Effect.Virtual.Instance.ID {
		return search.Breach{Invariant: "I7", How: string(op) + " without its own written intent"}
	}
	return unbroken
}

// doubles checks a VM that is made: the only one of its identity (I3), and not in place of one whose first launch is remembered.
func (x *explorer) doubles(s *State, e effect) search.Breach {
	w := e.of
	count := 0
	for _, vm := range s.cloud.vms {
		if vm.exists() && vm.of == w {
			count++
		}
	}
	switch {
	case count > 1:
		return search.Breach{Invariant: "I3", How: "a second VM of one identity is made"}
	case !e.asked:
		return search.Breach{Invariant: "I2", How: "a VM is made anew in place of one that was launched and is remembered"}
	}
	return unbroken
}

// recorded follows what a manager writes about a server: the latch of the first launch, and that a server goes, which leaves nothing
// behind (I3).
func (x *explorer) recorded(s *State, before, after id) search.Breach {
	if after != absent {
		x.gaveUp(s, after)
		if x.servers.Get(after).Annotations[ledger.KeyProvisionedAt] != "" {
			s.latched |= x.serves(after).bit()
		}
		return unbroken
	}
	of := x.serves(before)
	s.latched &^= of.bit()
	if x.servers.Get(before).Spec.MaintenanceRef != nil {
		return search.Breach{Invariant: "I4", How: "a server goes that is in maintenance"}
	}
	if x.doubled(s, before) {
		return unbroken
	}
	// One that goes before it ever remembered anything has made nothing. What another life of it made, whose object was lost, its claim would
	// know; where that memory was lost as well, nobody does.
	if s.unbound&of.bit() != 0 && !slices.Contains(x.servers.Get(before).Finalizers, v1alpha1.FinalizerServer) {
		return unbroken
	}
	return x.leftBehind(s, of)
}

// gaveUp follows who has a server: a release that has finished gives it up, also where its claim comes back later (AlreadyReleased); a
// claim that gets it again wants it again.
func (x *explorer) gaveUp(s *State, server id) {
	bit := x.serves(server).bit()
	switch {
	case x.released(server):
		s.freed |= bit
	case x.servers.Get(server).Spec.ClaimRef != nil:
		s.freed &^= bit
	}
}

// released says that the release of the claim that has a server has finished.
func (x *explorer) released(server id) bool {
	o := x.servers.Get(server)
	led, err := ledger.ParseServer(o.Annotations)
	return err == nil && o.Spec.ClaimRef != nil && led.Released != nil && led.Released.Claim == o.Spec.ClaimRef.Identity
}

// doubled says that another object speaks for the same server.
func (x *explorer) doubled(s *State, server id) bool {
	for _, other := range s.now.server {
		if other != absent && other != server && x.serves(other) == x.serves(server) {
			return true
		}
	}
	return false
}

// leaves checks a claim that goes (I8): no server has it any more, unless a person forced it.
func (x *explorer) leaves(s *State, claim id) search.Breach {
	object, of := x.claims.Get(claim), x.ownerOf(claim)
	if object.Annotations[v1alpha1.AnnotationForceRelease] != "" {
		return unbroken
	}
	for _, server := range s.now.server {
		o := x.servers.Get(server)
		if o == nil || o.Spec.ClaimRef == nil || claimed(o.Spec.ClaimRef.Identity) != of {
			continue
		}
		if !x.released(server) {
			return search.Breach{Invariant: "I8", How: "a claim goes while its server still has it"}
		}
	}
	return unbroken
}

// toldOf is what an effect told, as the reconciler gets it.
func toldOf(m made) *provider.Made {
	if m == (made{}) {
		return nil
	}
	out := &provider.Made{}
	if m.vm > 0 {
		out.InstanceID = vmID(int(m.vm) - 1)
	}
	if m.image > 0 {
		out.ImageID = imageID(m.image)
	}
	if m.floating {
		out.FloatingIP = floatingID
	}
	return out
}
