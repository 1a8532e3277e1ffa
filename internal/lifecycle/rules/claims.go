// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// ClaimState is what is known of the claim that claimRef names. Its zero value is a claim that was not found.
type ClaimState struct {
	Found *v1alpha1.ServerClaim
	// Identity in its own ledger; "" where that cannot be read.
	Identity   string
	Bound      string
	Unreadable bool
	Deleting   bool
	// Same says that the object found is the claim that claimRef means: identity outlives UID (P11).
	Same bool
}

func readClaim(v lifecycle.ServerView) ClaimState {
	ref := v.Server.Spec.ClaimRef
	if ref == nil || v.Claim == nil || v.Claim.Namespace != ref.Namespace || v.Claim.Name != ref.Name {
		return ClaimState{}
	}
	c := ClaimState{Found: v.Claim, Deleting: !v.Claim.DeletionTimestamp.IsZero()}
	if led, err := ledger.ParseClaim(v.Claim.Annotations); err == nil {
		c.Identity, c.Bound = led.Identity, led.Bound
	} else {
		c.Unreadable = true
	}
	c.Same = c.Identity != "" && c.Identity == ref.Identity
	return c
}

// ClaimIdentity reads the identity of a claim without parsing the rest of its ledger.
func ClaimIdentity(claim *v1alpha1.ServerClaim) string {
	if claim == nil {
		return ""
	}
	return claim.Annotations[ledger.KeyIdentity]
}

// boundElsewhere finds a live claim other than claimRef's whose ledger says that its workload may run on this server.
func boundElsewhere(v lifecycle.ServerView) *v1alpha1.ServerClaim {
	for _, claim := range v.BoundClaims {
		if claim == nil || !claim.DeletionTimestamp.IsZero() {
			continue
		}
		ref := v.Server.Spec.ClaimRef
		if ref != nil && claim.Namespace == ref.Namespace && claim.Name == ref.Name && ClaimIdentity(claim) == ref.Identity {
			continue
		}
		return claim
	}
	return nil
}

// Claimed says that claimRef names a claim, and when holds.
func Claimed[S Subject](when func(S) bool) func(S) bool {
	return func(s S) bool { return s.Common().Spec.ClaimRef != nil && when(s) }
}

// Live says that the claim of claimRef is there, is that claim, and stays.
func (s *State) Live() bool { return s.Claim.Same && !s.Claim.Deleting }

// Reserved says that server and claim name each other.
func (s *State) Reserved() bool { return s.Live() && s.Claim.Found.Spec.ServerName == s.Name() }

// Leaving says that the claim of claimRef is seen being deleted, or that its release was announced and it is gone.
func (s *State) Leaving() bool {
	if s.Claim.Same && s.Claim.Deleting {
		return true
	}
	i, ref := s.Ledger.Intent, s.Spec.ClaimRef
	announced := i != nil && i.Why == ledger.WhyReleased && i.Claim == ref.Identity && string(i.ClaimUID) == ref.UID
	return announced && !s.identityLives(ref.Identity)
}

// identityLives says whether any live claim is known that is of that identity, or may be: one whose ledger cannot be read is not
// nobody (P3, P10).
func (s *State) identityLives(identity string) bool {
	if s.Live() || (s.Claim.Unreadable && !s.Claim.Deleting) {
		return true
	}
	for _, claim := range s.V.BoundClaims {
		if claim != nil && claim.DeletionTimestamp.IsZero() && ClaimIdentity(claim) == identity {
			return true
		}
	}
	return false
}

// BoundHere says that the claim's ledger names this server: its workload may run here.
func (s *State) BoundHere() bool { return s.Claim.Same && s.Claim.Bound == s.Ledger.Identity }

// ClaimName is the namespace and name of the claim that claimRef names.
func (s *State) ClaimName() string { return s.Spec.ClaimRef.Namespace + "/" + s.Spec.ClaimRef.Name }

// ClaimPower is what the claim asks for.
func (s *State) ClaimPower() v1alpha1.Power {
	if s.Claim.Found == nil || s.Claim.Found.Spec.Power == "" {
		return v1alpha1.PowerOn
	}
	return s.Claim.Found.Spec.Power
}

// RestartAsked is the claim's restartedAt; zero for none.
func (s *State) RestartAsked() time.Time {
	if s.Claim.Found == nil || s.Claim.Found.Spec.RestartedAt.IsZero() {
		return time.Time{}
	}
	return s.Claim.Found.Spec.RestartedAt.UTC()
}

// RestartWanted says that the claim asks for a restart that is newer than the last one known.
func (s *State) RestartWanted() bool {
	asked := s.RestartAsked()
	return !asked.IsZero() && asked.After(s.Ledger.Restarted)
}

// RestartUnknown says that it is not known which restart was the last: an absent record never means an older one.
func (s *State) RestartUnknown() bool { return s.Ledger.Restarted.IsZero() }

// OnSinceRestart says that the current On began after the restart was asked for.
func (s *State) OnSinceRestart() bool {
	return s.Facts.PowerState == v1alpha1.ObservedOn && s.Facts.Since != nil && s.Facts.Since.UTC().After(s.RestartAsked())
}

// Restarting says that a restart of the claim was announced, and what it has was not On after it yet. It outlives the intent: where power is
// kept, nothing else tells that it is to be On again.
func (s *State) Restarting() bool {
	p, ref := s.Ledger.PowerOn, s.Spec.ClaimRef
	return p != nil && p.Restart && p.By == ledger.ByClaim && ref != nil && p.ID == ref.Identity
}

// ForRestart is what an announced restart remembers; nil where the claim asks for Off.
func (s *State) ForRestart() *ledger.PowerOn {
	if s.ClaimPower() == v1alpha1.PowerOff {
		return nil
	}
	return &ledger.PowerOn{By: ledger.ByClaim, ID: s.Claim.Identity, At: s.Now(), Restart: true}
}

// RestartOver says that this memory has done its work: it is On, as far as the picture tells, and no stop of ours can be on the wire; or
// its claim asks for Off.
func (s *State) RestartOver() bool {
	if s.Ledger.PowerOn == nil || !s.Ledger.PowerOn.Restart {
		return false
	}
	return s.ClaimPower() == v1alpha1.PowerOff || (s.Facts.PowerState == v1alpha1.ObservedOn && s.DeadlineAfter(s.Ledger.OffAt) <= 0)
}

// AwaitRestartOver waits, where nothing else is to be done, until that can be said.
var AwaitRestartOver = Clause[*State]{
	Name: "RestartOver", When: func(s *State) bool { return s.Restarting() && s.Facts.PowerState == v1alpha1.ObservedOn },
	Then: func(s *State) Answer {
		return s.Wait(v1alpha1.ReasonPoweringOn, "On after a restart; whether it stays so is known when no power-off of ours can be on the wire any more").Soon(s.DeadlineAfter(s.Ledger.OffAt)).Quiet()
	},
}

// RestartKnown is what a first boot records as carried out: the claim's restart as it stands, or the boot itself.
func (s *State) RestartKnown() time.Time {
	if asked := s.RestartAsked(); !asked.IsZero() {
		return asked
	}
	return s.Now()
}

// IsElsewhere holds every step that could end or overwrite what another claim may have running here.
var IsElsewhere = Clause[*State]{Name: "BoundElsewhere", When: func(s *State) bool { return s.Elsewhere != nil }, Then: func(s *State) Answer {
	other := s.Elsewhere.Namespace + "/" + s.Elsewhere.Name
	return HoldLive(v1alpha1.ReasonBoundElsewhere, "the claim "+other+" is bound to this machine and may be running on it: it is bound again to that claim only. Delete that claim to release the machine")
}}

// Dangling holds a server whose claim is not there, or is another one: what a restore looks like from here (P10). What runs on it keeps
// running.
var Dangling = Steps[*State]{
	{Name: "ClaimMissing", When: func(s *State) bool { return s.Claim.Found == nil }, Then: func(s *State) Answer {
		return HoldLive(v1alpha1.ReasonClaimMissing, "the claim "+s.ClaimName()+" that has this server is not there: restore it; or clear spec.claimRef, which releases the machine")
	}},
	{Name: "ClaimMismatch", When: Always[*State], Then: func(s *State) Answer {
		return HoldLive(v1alpha1.ReasonClaimMismatch, "the claim "+s.ClaimName()+" is not the one that has this server, or names another server: restore the right one; or clear spec.claimRef, which releases the machine")
	}},
}

// AwaitBound waits until the claim remembers the server, which it must before the server first boots for it: either of them can then lose
// its memory.
var AwaitBound = Clause[*State]{Name: "AwaitBound", When: func(s *State) bool { return s.Spec.ClaimRef != nil && !s.BoundHere() }, Then: func(s *State) Answer {
	return s.Wait(v1alpha1.ReasonAwaitingBound, "waiting until the claim has written down which machine it got")
}}
