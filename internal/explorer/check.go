// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// holder is the owner that a server's claimRef names.
func (x *explorer) holder(server id) owner {
	object := x.servers.Get(server)
	if object == nil || object.Spec.ClaimRef == nil {
		return 0
	}
	return identities[object.Spec.ClaimRef.Identity]
}

// ownerOfClaim is who a claim object is: its identity, or what that will be.
func (x *explorer) ownerOfClaim(claim id) owner {
	object := x.claims.Get(claim)
	if identity := object.Annotations[ledger.KeyIdentity]; identity != "" {
		return identities[identity]
	}
	return identities[string(object.UID)]
}

// lives says that a workload must not be touched: its tenant wants it, or its claim is there and is not being deleted.
func (x *explorer) lives(s *State, o owner) bool {
	return o != 0 && (o == stranger || (s.alive|x.present(s))&o.bit() != 0)
}

// present are the bits of the owners whose claims are there and are not being deleted.
func (x *explorer) present(s *State) owners {
	bits := owners(0)
	for c := range x.world.Claims {
		if known := x.claims.Get(s.now.claim[c]); known != nil && known.DeletionTimestamp == nil {
			bits |= x.ownerOfClaim(s.now.claim[c]).bit()
		}
	}
	return bits
}

// revive: a claim that its tenant had given up was restored and is bound again: from now on its tenant wants its machine, and what it
// had on one that is Off was given up.
func (x *explorer) revive(s *State, o owner) {
	if x.present(s)&o.bit()&^s.alive == 0 {
		return
	}
	s.alive |= o.bit()
	for i := range s.mach {
		if m := &s.mach[i]; m.runs != o {
			m.imaged &^= o.bit()
		}
	}
}

// bindBreaks checks a write of a server's claimRef (I8): it is nobody else's, the machine is no living claim's, and no other server
// has the claim.
func (x *explorer) bindBreaks(s *State, i int, before, after id) breach {
	was, is := x.holder(before), x.holder(after)
	if is == 0 || was == is {
		return unbroken
	}
	if was != 0 {
		return breach{"I8", "a server passes from " + was.String() + " to " + is.String() + " without a release"}
	}
	// After a snapshot only the machine itself can tell, and it is asked before anything is done to it.
	if has := s.mach[i].disk; !s.snapshot && has != is && x.lives(s, has) && x.remembered(s, has) {
		return breach{"I8", "a server with the workload of " + has.String() + " is bound to " + is.String()}
	}
	if runs := s.mach[i].runs; s.mach[i].imaged&runs.bit() != 0 && runs != is && !s.snapshot {
		return breach{"I8", "a server that still runs the workload of " + runs.String() + " is bound to " + is.String()}
	}
	for j := range x.world.Servers {
		if j != i && x.holder(s.now.server[j]) == is {
			return breach{"I8", is.String() + " is written into a second server"}
		}
	}
	return unbroken
}

// leaveBreaks checks a claim that goes: no server has it any more, unless a person forced it (I8).
func (x *explorer) leaveBreaks(s *State, claim id) breach {
	o := x.ownerOfClaim(claim)
	for i := range x.world.Servers {
		server := s.now.server[i]
		if x.holder(server) == o && x.memoryOf(server).released != o && x.claims.Get(claim).Annotations[v1alpha1.AnnotationForceRelease] == "" {
			return breach{"I8", o.String() + " goes while " + serverName(i) + " still has it"}
		}
	}
	return unbroken
}

// recorded follows what a manager writes into a server's ledger: which restarts were carried out, and that a release is finished. It is
// a breach to release a claim that had not been given up when that was decided (I9).
func (x *explorer) recorded(s *State, f flight, after id) breach {
	if f.kind == claimWrites || f.kind == maintainWrites || after == absent {
		return unbroken
	}
	m := &s.mach[f.server]
	m.era = max(m.era, x.memoryOf(after).restarted)
	o := x.memoryOf(after).released
	if o == 0 || o == x.memoryOf(f.target).released || m.disk != o {
		return unbroken
	}
	m.disk = 0 // nobody's any more
	if m.media != 0 && (int(s.adverse) == x.world.Adverse || x.remembersBoot(s, o, int(f.server))) {
		return breach{"I1", "the machine of " + o.String() + " is released with an image in its drive: the next one's to boot from"}
	}
	if x.lives(s, o) && f.given&o.bit() == 0 {
		return breach{"I9", "the machine of " + o.String() + " is released, which its tenant did not give up"}
	}
	return unbroken
}

// memory is what a server's ledger tells that the checks go by.
type memory struct {
	released  owner // from whom it was released last
	boot      owner // for whom it was booted
	explains  bool  // that the machine is On
	found     bool  // that the machine was found running
	restarted uint8 // the era of the last restart carried out
}

func (x *explorer) memoryOf(server id) memory {
	if known, ok := x.memories[server]; ok {
		return known
	}
	var m memory
	if object := x.servers.Get(server); object != nil {
		led, _ := ledger.ParseServer(object.Annotations)
		if led.Released != nil {
			m.released = identities[led.Released.Claim]
		}
		m.found = led.PowerOn != nil && led.PowerOn.By == ledger.ByUnknown
		m.explains = led.PowerOn != nil && !m.found
		if led.Boot != nil {
			m.boot = identities[led.Boot.Claim]
		}
		if !led.Restarted.IsZero() {
			m.restarted = uint8(eraOf(&metav1.Time{Time: led.Restarted}))
		}
	}
	x.memories[server] = m
	return m
}

// remembered says that a claim object of an owner exists: what nobody remembers cannot be known.
func (x *explorer) remembered(s *State, o owner) bool {
	for c := range x.world.Claims {
		if s.now.claim[c] != absent && x.ownerOfClaim(s.now.claim[c]) == o {
			return true
		}
	}
	return false
}

// remembersBoot says that the claim object of an owner is there and tells that it may have booted on a server.
func (x *explorer) remembersBoot(s *State, o owner, server int) bool {
	for c := range x.world.Claims {
		known := x.claims.Get(s.now.claim[c])
		if known != nil && x.ownerOfClaim(s.now.claim[c]) == o && known.Annotations[ledger.KeyBound] == serverIdentity(server) {
			return true
		}
	}
	return false
}

// intentsAbout are the ids of all intents that anybody may still speak of.
func (x *explorer) intentsAbout(s *State) []string {
	var all []string
	add := func(server id) {
		for _, name := range x.intentsOf(server) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	for i := range x.world.Servers {
		add(s.now.server[i])
		add(s.lag.server[i])
		add(s.old.server[i])
	}
	add(s.look.basis)
	switch s.flight.kind {
	case effectStalls, recordStalls, serverWrites:
		c := x.choiceOf(s.flight)
		all = append(all, c.opens)
		if c.intent != nil {
			all = append(all, c.intent.ID)
		}
	}
	return all
}

func (x *explorer) intentsOf(server id) []string {
	if known, ok := x.intents[server]; ok {
		return known
	}
	var names []string
	if object := x.servers.Get(server); object != nil {
		if memory, err := ledger.ParseServer(object.Annotations); err == nil && memory.Intent != nil {
			names = append(names, memory.Intent.ID)
		}
		if object.Status.Observed != nil && object.Status.Observed.Intent != "" {
			names = append(names, object.Status.Observed.Intent)
		}
	}
	x.intents[server] = names
	return names
}
