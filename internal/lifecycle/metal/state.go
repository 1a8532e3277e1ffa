// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// state is a view, read once: what all predicates look at. It is never changed after newState.
type state struct {
	v     lifecycle.ServerView
	spec  v1alpha1.ServerSpec
	facts v1alpha1.ServerObserved
	// led is the server's ledger; zero where unreadable says why it cannot be read.
	led        ledger.Server
	unreadable error
	// claim is the claim that claimRef names, where it is that claim (see claims.go).
	claim claimState
	// elsewhere is a live claim other than claimRef's that is bound to this machine; nil for none.
	elsewhere *v1alpha1.ServerClaim
}

func newState(v lifecycle.ServerView) *state {
	s := &state{v: v, spec: v.Server.Spec, facts: v.Facts()}
	s.led, s.unreadable = ledger.ParseServer(v.Server.Annotations)
	s.claim = readClaim(v)
	s.elsewhere = boundElsewhere(v)
	return s
}

func (s *state) now() time.Time { return s.v.Now.UTC().Truncate(time.Millisecond) }

// system is how the provider finds this machine.
func (s *state) system() provider.SystemRef {
	if s.spec.Redfish == nil {
		return provider.SystemRef{}
	}
	return provider.SystemRef{UUID: s.spec.Redfish.SystemUUID, ID: s.spec.Redfish.SystemID}
}

// target names the machine in an intent.
func (s *state) target() string {
	ref := s.system()
	switch {
	case ref.UUID != "":
		return strings.ToLower(ref.UUID)
	case ref.ID != "":
		return ref.ID
	}
	return s.led.Identity
}

func (s *state) deleting() bool { return !s.v.Server.DeletionTimestamp.IsZero() }

func (s *state) ours() bool {
	return slices.Contains(s.v.Server.Finalizers, v1alpha1.FinalizerServer)
}

// consent says whether a person's annotation names value.
func (s *state) consent(annotation, value string) bool {
	given, ok := s.v.Server.Annotations[annotation]
	return ok && value != "" && given == value
}

// given are those of the annotations that are there: what a patch can remove.
func (s *state) given(annotations ...string) []string {
	var there []string
	for _, a := range annotations {
		if _, ok := s.v.Server.Annotations[a]; ok {
			there = append(there, a)
		}
	}
	return there
}

// held says whether somebody still has the machine: a maintenance, or a claim that was not released.
func (s *state) held() bool {
	return s.spec.MaintenanceRef != nil || (s.spec.ClaimRef != nil && !s.released())
}

// released says that the release for the claim that claimRef names has finished.
func (s *state) released() bool {
	return s.spec.ClaimRef != nil && s.led.Released != nil && s.led.Released.Claim == s.spec.ClaimRef.Identity
}

// fresh says that nothing is remembered yet.
func (s *state) fresh() bool { return s.led.Identity == "" }

// moved says that the ledger was confirmed for another object: restored, or moved.
func (s *state) moved() bool { return s.led.ObjectUID != s.v.Server.UID }

func (s *state) confirmed() bool {
	return s.ours() && !s.fresh() && s.led.Owner != "" && !s.moved()
}

func (s *state) name() string { return s.v.Server.Name }

// zero clears a time in the ledger.
var zero time.Time
