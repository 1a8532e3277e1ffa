// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Subject is the state of a kind of server: it has what every server has.
type Subject interface{ Common() *State }

// State is a view, read once: what all predicates look at. It is never changed after Read.
type State struct {
	V     lifecycle.ServerView
	Spec  v1alpha1.ServerSpec
	Facts v1alpha1.ServerObserved
	// Ledger is the server's; zero where Unreadable says why it cannot be read.
	Ledger     ledger.Server
	Unreadable error
	// Claim is the claim that claimRef names, where it is that claim.
	Claim ClaimState
	// Elsewhere is a live claim other than claimRef's that is bound to this server; nil for none.
	Elsewhere *v1alpha1.ServerClaim
}

// Read reads a view with a server.
func Read(v lifecycle.ServerView) State {
	s := State{V: v, Spec: v.Server.Spec, Facts: v.Facts()}
	s.Ledger, s.Unreadable = ledger.ParseServer(v.Server.Annotations)
	s.Claim = readClaim(v)
	s.Elsewhere = boundElsewhere(v)
	return s
}

// Common implements Subject.
func (s *State) Common() *State { return s }

// Now is the time of the view, as a ledger keeps it.
func (s *State) Now() time.Time { return s.V.Now.UTC().Truncate(time.Millisecond) }

// Name of the server.
func (s *State) Name() string { return s.V.Server.Name }

// Deleting says that somebody deleted the server.
func (s *State) Deleting() bool { return !s.V.Server.DeletionTimestamp.IsZero() }

// Ours says that our finalizer is on the server.
func (s *State) Ours() bool {
	return slices.Contains(s.V.Server.Finalizers, v1alpha1.FinalizerServer)
}

// Consent says whether a person's annotation names value.
func (s *State) Consent(annotation, value string) bool {
	given, ok := s.V.Server.Annotations[annotation]
	return ok && value != "" && given == value
}

// Given are those of the annotations that are there: what a patch can remove.
func (s *State) Given(annotations ...string) []string {
	var there []string
	for _, a := range annotations {
		if _, ok := s.V.Server.Annotations[a]; ok {
			there = append(there, a)
		}
	}
	return there
}

// Released says that the release for the claim that claimRef names has finished.
func (s *State) Released() bool {
	return s.Spec.ClaimRef != nil && s.Ledger.Released != nil && s.Ledger.Released.Claim == s.Spec.ClaimRef.Identity
}

// Fresh says that nothing is remembered yet.
func (s *State) Fresh() bool { return s.Ledger.Identity == "" }

// Moved says that the ledger was confirmed for another object: restored, or moved.
func (s *State) Moved() bool { return s.Ledger.ObjectUID != s.V.Server.UID }

// Confirmed says that memory is written, and for this object.
func (s *State) Confirmed() bool {
	return s.Ours() && !s.Fresh() && s.Ledger.Owner != "" && !s.Moved()
}

// Foreign says that the ledger is another cluster's.
func (s *State) Foreign() bool {
	return s.Ledger.Owner != "" && s.Ledger.Owner != s.V.Settings.ClusterID
}

// TakenOver says that a person has named the old owner, on the object or for the whole manager.
func (s *State) TakenOver() bool {
	return s.Consent(v1alpha1.AnnotationTakeOver, s.Ledger.Owner) || s.V.Settings.TakeOver == s.Ledger.Owner
}

// Snapshot says that the cluster was restored, and nobody has resumed this server since.
func (s *State) Snapshot() bool {
	return s.V.Settings.Epoch != "" && s.Ledger.RestoreEpoch != s.V.Settings.Epoch && !s.Fresh()
}

// Maintained says that a maintenance has the server.
func (s *State) Maintained() bool { return s.Spec.MaintenanceRef != nil }

// InMaintenance says that the maintenance of maintenanceRef is there. One of the same name and another UID is not it before the
// maintenance controller has said so.
func (s *State) InMaintenance() bool {
	m, ref := s.V.Maintenance, s.Spec.MaintenanceRef
	return m != nil && ref != nil && m.Name == ref.Name && string(m.UID) == ref.UID
}

// MaintenancePower is what the maintenance asks for; it is there.
func (s *State) MaintenancePower() v1alpha1.Power {
	if p := s.V.Maintenance.Spec.Power; p != "" {
		return p
	}
	return v1alpha1.PowerKeep
}

// Pictured says that the picture was taken after the open intent had been read (R4).
func (s *State) Pictured() bool {
	return s.Ledger.Intent != nil && s.Facts.Intent == s.Ledger.Intent.ID
}

// ReleaseOpen says that a release stands announced.
func (s *State) ReleaseOpen() bool {
	return s.Ledger.Intent != nil && s.Ledger.Intent.Why == ledger.WhyReleased
}

// DeadlineAfter is how long an effect that began before t may still be on the wire; 0 or less where it cannot be.
func (s *State) DeadlineAfter(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return t.Add(s.V.Settings.EffectDeadline).Sub(s.V.Now)
}

// IntentID derives the id of an intent from the version of the object it is written to, of which there is one, so that no two intents
// share one.
func (s *State) IntentID(why ledger.Why) string {
	seed := sha256.Sum256([]byte(string(s.V.Server.UID) + "/" + s.V.Server.ResourceVersion + "/" + string(why) + "/" + s.Now().String()))
	return hex.EncodeToString(seed[:6])
}

// ClaimInForce is the claim under which an intent is opened; "" where claimRef names none.
func (s *State) ClaimInForce() (identity string, uid types.UID) {
	if ref := s.Spec.ClaimRef; ref != nil {
		return ref.Identity, types.UID(ref.UID)
	}
	return "", ""
}

// LastChange is the latest time that the object tells of itself.
func (s *State) LastChange() time.Time {
	last := s.V.Server.CreationTimestamp.UTC()
	if t := s.V.Server.DeletionTimestamp; t != nil && t.After(last) {
		last = t.UTC()
	}
	for _, t := range s.Ledger.Times() {
		if t.After(last) {
			last = t
		}
	}
	return last
}
