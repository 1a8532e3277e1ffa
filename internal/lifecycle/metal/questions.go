// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Available says whether the server, on what its own object tells, is free for any claim: memory confirmed and ours, discovered,
// seen, nothing open, nothing held, nobody's. Cordon, twins, taints and what other claims say of it are the binder's to look at.
func Available(server *v1alpha1.Server, settings lifecycle.Settings) bool {
	if server == nil || !server.DeletionTimestamp.IsZero() || server.Spec.Paused {
		return false
	}
	s := newState(lifecycle.NewServerView(server, time.Time{}, settings))
	if r, _ := s.row(); r.phase != v1alpha1.PhaseAvailable {
		return false
	}
	return s.Unreadable == nil && !s.Foreign() && !s.stamped() && !s.Snapshot() && s.Ledger.Intent == nil &&
		s.reachable() && !s.replaced() && s.free()
}

// free says that the machine is Off, or may be switched off, for whoever claims it.
func (s *state) free() bool {
	if s.off() {
		return !s.rememberedFound()
	}
	return s.on() && s.remembered() && s.Spec.PowerOff != v1alpha1.PowerOffNever
}

// Unsettled says whether something is under way with the server that a picture of the machine would bring forward, and since when at
// least, from its object alone: what the monitor's pace goes by. The time is the last one that the object itself tells; zero: none.
func Unsettled(server *v1alpha1.Server) (since time.Time, unsettled bool) {
	if server == nil {
		return zero, false
	}
	s := newState(lifecycle.NewServerView(server, time.Time{}, lifecycle.Settings{}))
	return s.LastChange(), s.unsettled()
}

func (s *state) unsettled() bool {
	if s.Spec.Paused || s.Unreadable != nil {
		return false
	}
	r, _ := s.row()
	switch r.phase {
	case v1alpha1.PhaseDeleting, v1alpha1.PhaseReleased:
		return false
	case v1alpha1.PhaseReleasing:
		return true
	case v1alpha1.PhaseInitial, v1alpha1.PhaseDiscovery:
		// A machine that is known and Off waits for us alone.
		if !s.inventoried() || !s.off() {
			return true
		}
	}
	consented := len(s.Given(v1alpha1.AnnotationPowerOff, v1alpha1.AnnotationTakeOver, v1alpha1.AnnotationBootAgain)) > 0
	return consented || s.Ledger.Intent != nil || s.bootUnsettled() || s.powerUnsettled() || s.indicatorDiffers()
}

// bootUnsettled: just bound and not seen Off, on the way to the first boot, or booted with the override still armed or the image still in
// the drive. One that is bound and Off waits for time to pass, and is then asked itself: no picture brings that forward.
func (s *state) bootUnsettled() bool {
	switch {
	case s.Spec.ClaimRef == nil:
		return false
	case !s.bootKnown():
		return !s.reachable() || !s.off()
	}
	return s.Ledger.Boot.Stage != ledger.StageBooted || s.armed() || s.mediaMayBeIn()
}

// powerUnsettled: the machine is on its way, or it was asked to be On and is not, or nobody asked and the spec wants another state.
func (s *state) powerUnsettled() bool {
	if s.changing() || s.powerUnknown() || (s.Ledger.PowerOn != nil && !s.rememberedFound() && !s.on()) {
		return true
	}
	if s.Spec.ClaimRef != nil || s.Spec.MaintenanceRef != nil || s.wanted() == v1alpha1.PowerKeep {
		return false
	}
	return string(s.wanted()) != string(s.Facts.PowerState)
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
