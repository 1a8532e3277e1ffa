// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Statuses of conditions.
const (
	IsTrue    = "True"
	IsFalse   = "False"
	IsUnknown = "Unknown"
)

// Progressing is a gate that clears by itself.
func Progressing(reason, message string) lifecycle.Gate {
	return lifecycle.Gate{Level: lifecycle.Progressing, Reason: reason, Message: message}
}

// Converged is no objection.
func Converged(reason, message string) lifecycle.Gate {
	return lifecycle.Gate{Level: lifecycle.Converged, Reason: reason, Message: message}
}

// Gates are the reasons why a server is not ready: the answer's own first, since it is the one that a person should read, then what a
// deletion waits for, then what the phase itself says (P9).
func Gates(s *State, a Answer, phase v1alpha1.ServerPhase, standing lifecycle.Gate) []lifecycle.Gate {
	var gates []lifecycle.Gate
	switch {
	case a.Gate == nil:
	case a.Gate.Level == lifecycle.Converged:
		standing = *a.Gate
	default:
		gates = append(gates, *a.Gate)
	}
	if s.Deleting() && s.Ours() && phase != v1alpha1.PhaseDeleting {
		gates = append(gates, Progressing(v1alpha1.ReasonInUse, "deletion waits for "+s.holder()))
	}
	return append(gates, standing)
}

// holder says what a deletion waits for.
func (s *State) holder() string {
	switch {
	case s.Spec.MaintenanceRef != nil:
		return "the maintenance " + s.Spec.MaintenanceRef.Name
	case s.Spec.ClaimRef != nil:
		return "the release of the claim " + s.ClaimName()
	}
	return "the release of the machine"
}

// PowerAsDesired compares the power that is seen with the one that is asked for; Keep: nobody asks.
func PowerAsDesired(s *State, desired v1alpha1.Power) lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionPowerAsDesired}
	seen := s.Facts.PowerState
	switch {
	case !known(seen):
		c.Status, c.Reason, c.Message = IsUnknown, v1alpha1.ReasonNotObserved, "the power state is not known"
	case desired == v1alpha1.PowerKeep:
		c.Status, c.Reason, c.Message = IsTrue, v1alpha1.ReasonPowerKept, "nobody asks for a power state"
	case string(desired) == string(seen):
		c.Status, c.Reason, c.Message = IsTrue, string(desired), "the machine is "+string(desired)+", as desired"
	case desired == v1alpha1.PowerOn:
		c.Status, c.Reason, c.Message = IsFalse, v1alpha1.ReasonPoweringOn, "the machine is "+string(seen)+" and to be On"
	default:
		c.Status, c.Reason, c.Message = IsFalse, v1alpha1.ReasonPoweringOff, "the machine is "+string(seen)+" and to be Off"
	}
	return c
}

// known says that a word of power is understood: anything else tells nothing (B028).
func known(seen v1alpha1.ObservedPower) bool {
	switch seen {
	case v1alpha1.ObservedOn, v1alpha1.ObservedOff, v1alpha1.ObservedPoweringOn, v1alpha1.ObservedPoweringOff:
		return true
	}
	return false
}

// ClaimedBy says which claim has the server.
func ClaimedBy(s *State, phase v1alpha1.ServerPhase) lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionClaimed}
	switch {
	case s.Spec.ClaimRef == nil:
		c.Status, c.Reason, c.Message = IsFalse, v1alpha1.ReasonNotClaimed, "no claim has this server"
	case phase == v1alpha1.PhaseReleased:
		c.Status, c.Reason, c.Message = IsFalse, v1alpha1.ReasonReleased, "released from the claim "+s.ClaimName()
	case s.Claim.Found == nil:
		c.Status, c.Reason, c.Message = IsUnknown, v1alpha1.ReasonClaimMissing, "the claim "+s.ClaimName()+" is not there"
	case !s.Claim.Same || (s.Live() && !s.Reserved()):
		c.Status, c.Reason, c.Message = IsUnknown, v1alpha1.ReasonClaimMismatch, "the claim "+s.ClaimName()+" is not the one that has this server"
	case phase == v1alpha1.PhaseReleasing:
		c.Status, c.Reason, c.Message = IsTrue, v1alpha1.ReasonReleasing, "being released from the claim "+s.ClaimName()
	default:
		c.Status, c.Reason, c.Message = IsTrue, v1alpha1.ReasonBound, "claimed by "+s.ClaimName()
	}
	return c
}

// MaintainedBy says which maintenance has the server.
func MaintainedBy(s *State) lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionInMaintenance}
	if s.Spec.MaintenanceRef == nil {
		c.Status, c.Reason, c.Message = IsFalse, v1alpha1.ReasonNotInMaintenance, "no maintenance has this server"
		return c
	}
	c.Status, c.Reason, c.Message = IsTrue, v1alpha1.ReasonMaintenance, "the maintenance "+s.Spec.MaintenanceRef.Name+" has this server"
	return c
}
