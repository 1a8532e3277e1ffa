// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// The shared machinery, about a machine.
type (
	clause = rules.Clause[*state]
	steps  = rules.Steps[*state]
	answer = rules.Answer
)

// state is a view, read once: what all predicates look at. It is never changed after newState.
type state struct{ rules.State }

func newState(v lifecycle.ServerView) *state { return &state{State: rules.Read(v)} }

// system is how the provider finds this machine.
func (s *state) system() provider.SystemRef {
	if s.Spec.Redfish == nil {
		return provider.SystemRef{}
	}
	return provider.SystemRef{UUID: s.Spec.Redfish.SystemUUID, ID: s.Spec.Redfish.SystemID}
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
	return s.Ledger.Identity
}

// held says whether somebody still has the machine: a maintenance, or a claim that was not released.
func (s *state) held() bool {
	return s.Spec.MaintenanceRef != nil || (s.Spec.ClaimRef != nil && !s.Released())
}

// zero clears a time in the ledger.
var zero time.Time
