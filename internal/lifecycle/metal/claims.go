// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// claimState is what is known of the claim that claimRef names. Its zero value is a claim that was not found.
type claimState struct {
	found *v1alpha1.ServerClaim
	// identity in its own ledger; "" where that cannot be read.
	identity   string
	bound      string
	unreadable bool
	deleting   bool
	// same says that the object found is the claim that claimRef means: identity outlives UID (P11).
	same bool
}

func readClaim(v lifecycle.ServerView) claimState {
	ref := v.Server.Spec.ClaimRef
	if ref == nil || v.Claim == nil || v.Claim.Namespace != ref.Namespace || v.Claim.Name != ref.Name {
		return claimState{}
	}
	c := claimState{found: v.Claim, deleting: !v.Claim.DeletionTimestamp.IsZero()}
	if led, err := ledger.ParseClaim(v.Claim.Annotations); err == nil {
		c.identity, c.bound = led.Identity, led.Bound
	} else {
		c.unreadable = true
	}
	c.same = c.identity != "" && c.identity == ref.Identity
	return c
}

func identityOf(claim *v1alpha1.ServerClaim) string {
	if claim == nil {
		return ""
	}
	return claim.Annotations[ledger.KeyIdentity]
}

// boundElsewhere finds a live claim other than claimRef's whose ledger says that it may have booted on this machine.
func boundElsewhere(v lifecycle.ServerView) *v1alpha1.ServerClaim {
	for _, claim := range v.BoundClaims {
		if claim == nil || !claim.DeletionTimestamp.IsZero() {
			continue
		}
		ref := v.Server.Spec.ClaimRef
		if ref != nil && claim.Namespace == ref.Namespace && claim.Name == ref.Name && identityOf(claim) == ref.Identity {
			continue
		}
		return claim
	}
	return nil
}

// isElsewhere holds every step that could end or overwrite what another claim may have running here.
var isElsewhere = clause{name: "BoundElsewhere", when: func(s *state) bool { return s.elsewhere != nil }, then: func(s *state) answer {
	other := s.elsewhere.Namespace + "/" + s.elsewhere.Name
	return holdLive(v1alpha1.ReasonBoundElsewhere, "the claim "+other+" is bound to this machine and may be running on it: it is bound again to that claim only. Delete that claim to release the machine")
}}

// live says that the claim of claimRef is there, is that claim, and stays.
func (s *state) live() bool { return s.claim.same && !s.claim.deleting }

// reserved says that server and claim name each other.
func (s *state) reserved() bool { return s.live() && s.claim.found.Spec.ServerName == s.name() }

// leaving says that the claim of claimRef is seen being deleted, or that its release was announced and it is gone.
func (s *state) leaving() bool {
	if s.claim.same && s.claim.deleting {
		return true
	}
	i, ref := s.led.Intent, s.spec.ClaimRef
	announced := i != nil && i.Why == ledger.WhyReleased && i.Claim == ref.Identity && string(i.ClaimUID) == ref.UID
	return announced && !s.identityLives(ref.Identity)
}

// identityLives says whether any live claim is known that is of that identity, or may be: one whose ledger cannot be read is not
// nobody (P3, P10).
func (s *state) identityLives(identity string) bool {
	if s.live() || (s.claim.unreadable && !s.claim.deleting) {
		return true
	}
	for _, claim := range s.v.BoundClaims {
		if claim != nil && claim.DeletionTimestamp.IsZero() && identityOf(claim) == identity {
			return true
		}
	}
	return false
}

// boundHere says that the claim's ledger names this machine: it may have booted here.
func (s *state) boundHere() bool { return s.claim.same && s.claim.bound == s.led.Identity }

// booted says that the ledger speaks of a boot for this very claim.
func (s *state) bootKnown() bool {
	return s.led.Boot != nil && s.spec.ClaimRef != nil && s.led.Boot.Claim == s.spec.ClaimRef.Identity
}

func inStage(stage ledger.Stage) func(*state) bool {
	return func(s *state) bool { return s.bootKnown() && s.led.Boot.Stage == stage }
}

// claimPower is what the claim asks for.
func (s *state) claimPower() v1alpha1.Power {
	if s.claim.found == nil || s.claim.found.Spec.Power == "" {
		return v1alpha1.PowerOn
	}
	return s.claim.found.Spec.Power
}

func claimWants(p v1alpha1.Power) func(*state) bool {
	return func(s *state) bool { return s.claimPower() == p }
}

func (s *state) fromDisk() bool {
	return s.claim.found != nil && s.claim.found.Spec.Boot.Method == v1alpha1.BootDisk
}

// bootsAlways says that the machine is diskless: it boots from the network at each power-on.
func (s *state) bootsAlways() bool {
	return s.claim.found != nil && s.claim.found.Spec.Boot.When == v1alpha1.BootAlways && !s.fromDisk()
}

// restartAsked is the claim's restartedAt; zero for none.
func (s *state) restartAsked() time.Time {
	if s.claim.found == nil || s.claim.found.Spec.RestartedAt.IsZero() {
		return time.Time{}
	}
	return s.claim.found.Spec.RestartedAt.UTC()
}

// restartKnown is what a boot records as carried out: the claim's restart as it stands, or the boot itself.
func (s *state) restartKnown() time.Time {
	if asked := s.restartAsked(); !asked.IsZero() {
		return asked
	}
	return s.now()
}
