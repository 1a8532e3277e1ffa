// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

var zero time.Time

// Confirmed says whether a server remembers who it is, for this object and this cluster, and nothing that its object alone tells holds
// it: from then on its claim may write down that it is bound to it. To one that is being deleted only where it has its VM: for it none is made.
func Confirmed(server *v1alpha1.Server, settings lifecycle.Settings) bool {
	if server == nil || server.Spec.Paused {
		return false
	}
	s := newState(lifecycle.NewServerView(server, zero, settings))
	if !server.DeletionTimestamp.IsZero() && s.vmID() == "" {
		return false
	}
	return s.Unreadable == nil && s.Confirmed() && !s.Foreign() && !s.Snapshot() && !s.foreignStamp() && !s.stampMismatch()
}

// Launched says whether the VM of a server was launched once, by memory or by the picture: what a claim reports as booted.
func Launched(server *v1alpha1.Server) bool {
	if server == nil {
		return false
	}
	s := newState(lifecycle.NewServerView(server, zero, lifecycle.Settings{}))
	return s.Unreadable == nil && s.launched() && !s.gone()
}

// NetworkSettled says whether the ports and the floating IP of a server's VM are, as far as its object tells, as the spec asks: what a
// claim waits for before it calls its machine ready. It is the condition NetworkReady.
func NetworkSettled(server *v1alpha1.Server) bool {
	if server == nil {
		return false
	}
	s := newState(lifecycle.NewServerView(server, zero, lifecycle.Settings{}))
	return s.Unreadable == nil && s.networkReady().Status == rules.IsTrue
}

// Unsettled says whether something is under way with the server that a picture of the VM would bring forward, and since when at
// least, from its object alone: what the monitor's pace goes by. The time is the last one that the object itself tells; zero: none.
func Unsettled(server *v1alpha1.Server) (since time.Time, unsettled bool) {
	if server == nil {
		return zero, false
	}
	// The pace does not hang on how the manager is set: the budget is the default's.
	s := newState(lifecycle.NewServerView(server, zero, lifecycle.DefaultSettings("")))
	return s.LastChange(), s.unsettled()
}

func (s *state) unsettled() bool {
	if s.Spec.Paused || s.Unreadable != nil {
		return false
	}
	switch s.phaseAlone() {
	case v1alpha1.PhaseReleased, v1alpha1.PhaseFailed, v1alpha1.PhaseLost:
		return s.Ledger.Intent != nil
	case v1alpha1.PhaseInitial, v1alpha1.PhaseCreating, v1alpha1.PhaseRetrying, v1alpha1.PhaseRebuilding, v1alpha1.PhaseReleasing, v1alpha1.PhaseDeleting:
		return true
	}
	consented := len(s.Given(v1alpha1.AnnotationTakeOver, v1alpha1.AnnotationAdopt, v1alpha1.AnnotationRetry)) > 0
	return consented || s.Ledger.Intent != nil || s.unknown() || s.busy() || s.powerUnsettled() || s.networkUnsettled()
}

// phaseAlone is the phase as far as the object alone tells: its claim, which is not looked at, is taken for live and matching where nothing
// says that it leaves.
func (s *state) phaseAlone() v1alpha1.ServerPhase {
	for _, r := range table {
		if r.number != dangling && r.when(s) {
			return r.phase
		}
	}
	return table[len(table)-1].phase
}

// powerUnsettled: the VM is on its way, or its spec alone wants another state.
func (s *state) powerUnsettled() bool {
	if s.errored() {
		return false
	}
	if !s.on() && !s.off() {
		return true
	}
	if s.Restarting() && !s.on() {
		return true
	}
	if s.Spec.ClaimRef != nil || s.Maintained() || s.desired() == v1alpha1.PowerKeep {
		return false
	}
	return string(s.desired()) != string(s.Facts.PowerState)
}

func (s *state) networkUnsettled() bool {
	if s.errored() || s.Maintained() {
		return false
	}
	return s.portsDiffer() || s.floatingIPUnwanted() || s.floatingIPDiffers()
}

// Describe decides about v and puts the decision into words, with the text of the rule that gave the phase.
func Describe(v lifecycle.ServerView) lifecycle.Description {
	d := lifecycle.Describe(Decide(v))
	if v.Server != nil {
		r, _ := newState(v).row()
		d.RuleText = r.text
	}
	return d
}
