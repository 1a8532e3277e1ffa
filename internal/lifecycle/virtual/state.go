// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// The shared machinery, about a VM.
type (
	clause = rules.Clause[*state]
	steps  = rules.Steps[*state]
	answer = rules.Answer
)

// state is a view, read once: what all predicates look at. It is never changed after newState.
type state struct {
	rules.State
	openstack v1alpha1.OpenStackServer
	// vm is the last picture of the VM; a zero one where seen is false.
	vm   v1alpha1.ObservedInstance
	seen bool
}

func newState(v lifecycle.ServerView) *state {
	s := &state{State: rules.Read(v)}
	if s.Spec.OpenStack != nil {
		s.openstack = *s.Spec.OpenStack
	}
	if s.Facts.Instance != nil {
		s.vm, s.seen = *s.Facts.Instance, true
	}
	return s
}

// identity is the one remembered, or that which will be.
func (s *state) identity() string {
	if s.Ledger.Identity != "" {
		return s.Ledger.Identity
	}
	return s.derived()
}

// derived is the identity of a server that remembers none: the claim's that it was made for, else of the object itself.
func (s *state) derived() string {
	if ref := s.Spec.ClaimRef; ref != nil {
		return ledger.ClaimedIdentity(ref.Identity)
	}
	return ledger.ObjectIdentity(s.V.Server.UID)
}

// ref is how the provider finds the VM.
func (s *state) ref() provider.InstanceRef {
	return provider.InstanceRef{Identity: s.identity(), Owner: s.V.Settings.ClusterID, Name: s.Name(), ID: s.Ledger.ProviderID, Project: s.Ledger.Project}
}

// claimIdentity is the claim that the VM serves; "" for none.
func (s *state) claimIdentity() string {
	if s.Spec.ClaimRef == nil {
		return ""
	}
	return s.Spec.ClaimRef.Identity
}

// retained says that a person keeps the VM after its release. Unset is Delete.
func (s *state) retained() bool { return s.Spec.ReclaimPolicy == v1alpha1.ReclaimRetain }

// held says whether somebody still has the server: a maintenance, or a claim that was not released. A claim that is seen being deleted
// under policy Delete does not: its server is deleted with it.
func (s *state) held() bool {
	if s.Maintained() {
		return true
	}
	return s.Spec.ClaimRef != nil && !s.Released() && !s.deletedWithClaim()
}

func (s *state) deletedWithClaim() bool {
	return !s.retained() && s.Claim.Same && s.Claim.Deleting
}
