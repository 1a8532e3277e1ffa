// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// gates are the reasons why the server is not ready, the answer's own first: it is the one that a person should read (P9).
func (s *state) gates(phase v1alpha1.ServerPhase, a answer) []lifecycle.Gate {
	var gates []lifecycle.Gate
	if a.gate != nil {
		gates = append(gates, *a.gate)
	}
	if s.deleting() && s.ours() && phase != v1alpha1.PhaseDeleting {
		gates = append(gates, progressing(v1alpha1.ReasonInUse, "deletion waits for "+s.holder()))
	}
	return append(gates, s.standing(phase))
}

func progressing(reason, message string) lifecycle.Gate {
	return lifecycle.Gate{Level: lifecycle.Progressing, Reason: reason, Message: message}
}

func converged(reason, message string) lifecycle.Gate {
	return lifecycle.Gate{Level: lifecycle.Converged, Reason: reason, Message: message}
}

// standing is what the phase itself says of readiness.
func (s *state) standing(phase v1alpha1.ServerPhase) lifecycle.Gate {
	switch phase {
	case v1alpha1.PhaseInitial:
		return progressing(v1alpha1.ReasonInitializing, "memory is being written")
	case v1alpha1.PhaseDiscovery:
		return progressing(v1alpha1.ReasonDiscovering, "discovery is under way")
	case v1alpha1.PhaseReserved:
		return s.standingReserved()
	case v1alpha1.PhaseReleasing:
		return progressing(v1alpha1.ReasonReleasing, "the machine is being taken back")
	case v1alpha1.PhaseReleased:
		return converged(v1alpha1.ReasonReleased, "released and retained: clear spec.claimRef to free the machine")
	case v1alpha1.PhaseCleaning:
		return progressing(v1alpha1.ReasonCleaning, "the machine must be cleaned before its next claim")
	case v1alpha1.PhaseMaintenance:
		return progressing(v1alpha1.ReasonMaintenance, "the maintenance "+s.spec.MaintenanceRef.Name+" has the machine") // B052
	case v1alpha1.PhaseDeleting:
		return progressing(v1alpha1.ReasonDeleting, "the server is going")
	default:
		return converged(v1alpha1.ReasonSettled, "free for a claim")
	}
}

func (s *state) standingReserved() lifecycle.Gate {
	if s.bootKnown() && s.led.Boot.Stage == "Booted" {
		return converged(v1alpha1.ReasonBooted, "booted for the claim "+s.claimName())
	}
	return converged(v1alpha1.ReasonBound, "bound to the claim "+s.claimName())
}

// holder says what a deletion waits for.
func (s *state) holder() string {
	switch {
	case s.spec.MaintenanceRef != nil:
		return "the maintenance " + s.spec.MaintenanceRef.Name
	case s.spec.ClaimRef != nil:
		return "the release of the claim " + s.claimName()
	}
	return "the release of the machine"
}

const (
	isTrue    = "True"
	isFalse   = "False"
	isUnknown = "Unknown"
)

// conditions are the domain conditions, in the order in which a server comes to life.
func (s *state) conditions(phase v1alpha1.ServerPhase) []lifecycle.Condition {
	return []lifecycle.Condition{
		s.dependencies(), s.providerReachable(), s.discovered(), s.powerAsDesired(phase), s.claimedBy(phase), s.maintained(),
	}
}

func (s *state) dependencies() lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionDependenciesReady}
	switch {
	case s.v.BMC == nil:
		c.Status, c.Reason, c.Message = isFalse, v1alpha1.ReasonDependencyMissing, dependencyMissing(s).Message
	case s.bmcDeleting() && s.fresh():
		c.Status, c.Reason, c.Message = isFalse, v1alpha1.ReasonDependencyDeleting, "the BMC "+s.v.BMC.Name+" is being deleted"
	case s.bmcDeleting():
		c.Status, c.Reason, c.Message = isTrue, v1alpha1.ReasonInUse, "the BMC "+s.v.BMC.Name+" is being deleted, which waits for this server"
	default:
		c.Status, c.Reason, c.Message = isTrue, v1alpha1.ReasonInUse, "the BMC "+s.v.BMC.Name+" is there"
	}
	return c
}

func (s *state) providerReachable() lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionProviderReachable}
	switch {
	case s.v.Server.Status.Observed == nil:
		c.Status, c.Reason, c.Message = isUnknown, v1alpha1.ReasonNotObserved, "the machine was not looked at yet"
	case s.systemMissing():
		c.Status, c.Reason, c.Message = isFalse, s.facts.Reason, systemMissing(s).Message
	case !s.reachable():
		c.Status, c.Reason, c.Message = isFalse, orElse(s.facts.Reason, v1alpha1.ReasonProviderUnreachable), unreachable(s).Message
	default:
		c.Status, c.Reason, c.Message = isTrue, v1alpha1.ReasonReachable, "the last look succeeded"
	}
	return c
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

func (s *state) discovered() lifecycle.Condition {
	if s.led.DiscoveredAt.IsZero() {
		return lifecycle.Condition{Type: v1alpha1.ConditionDiscovered, Status: isFalse, Reason: v1alpha1.ReasonDiscovering, Message: "discovery has not finished"}
	}
	return lifecycle.Condition{Type: v1alpha1.ConditionDiscovered, Status: isTrue, Reason: v1alpha1.ConditionDiscovered, Message: "discovery finished"}
}

// desired is the power that is to be kept in this phase; Keep where none is.
func (s *state) desired(phase v1alpha1.ServerPhase) v1alpha1.Power {
	switch phase {
	case v1alpha1.PhaseAvailable:
		return s.wanted()
	case v1alpha1.PhaseReserved:
		if s.claim.same {
			return s.claimPower()
		}
	case v1alpha1.PhaseReleasing, v1alpha1.PhaseDiscovery:
		return v1alpha1.PowerOff
	case v1alpha1.PhaseMaintenance:
		if s.inMaintenance() && s.v.Maintenance.Spec.Power != "" {
			return s.v.Maintenance.Spec.Power
		}
	}
	return v1alpha1.PowerKeep
}

func (s *state) powerAsDesired(phase v1alpha1.ServerPhase) lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionPowerAsDesired}
	desired := s.desired(phase)
	switch {
	case s.powerUnknown():
		c.Status, c.Reason, c.Message = isUnknown, v1alpha1.ReasonNotObserved, "the power state is not known"
	case desired == v1alpha1.PowerKeep:
		c.Status, c.Reason, c.Message = isTrue, v1alpha1.ReasonPowerKept, "nobody asks for a power state"
	case string(desired) == string(s.facts.PowerState):
		c.Status, c.Reason, c.Message = isTrue, string(desired), "the machine is "+string(desired)+", as desired"
	case desired == v1alpha1.PowerOn:
		c.Status, c.Reason, c.Message = isFalse, v1alpha1.ReasonPoweringOn, "the machine is "+string(s.facts.PowerState)+" and to be On"
	default:
		c.Status, c.Reason, c.Message = isFalse, v1alpha1.ReasonPoweringOff, "the machine is "+string(s.facts.PowerState)+" and to be Off"
		if reason, message := s.taskLost(); reason != "" {
			c.Reason, c.Message = reason, message
		}
	}
	return c
}

func (s *state) claimedBy(phase v1alpha1.ServerPhase) lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionClaimed}
	switch {
	case s.spec.ClaimRef == nil:
		c.Status, c.Reason, c.Message = isFalse, v1alpha1.ReasonNotClaimed, "no claim has this server"
	case phase == v1alpha1.PhaseReleased:
		c.Status, c.Reason, c.Message = isFalse, v1alpha1.ReasonReleased, "released from the claim "+s.claimName()
	case s.claim.found == nil:
		c.Status, c.Reason, c.Message = isUnknown, v1alpha1.ReasonClaimMissing, "the claim "+s.claimName()+" is not there"
	case !s.claim.same || (s.live() && !s.reserved()):
		c.Status, c.Reason, c.Message = isUnknown, v1alpha1.ReasonClaimMismatch, "the claim "+s.claimName()+" is not the one that has this server"
	case phase == v1alpha1.PhaseReleasing:
		c.Status, c.Reason, c.Message = isTrue, v1alpha1.ReasonReleasing, "being released from the claim "+s.claimName()
	default:
		c.Status, c.Reason, c.Message = isTrue, v1alpha1.ReasonBound, "claimed by "+s.claimName()
	}
	return c
}

func (s *state) maintained() lifecycle.Condition {
	if s.spec.MaintenanceRef == nil {
		return lifecycle.Condition{Type: v1alpha1.ConditionInMaintenance, Status: isFalse, Reason: v1alpha1.ReasonNotInMaintenance, Message: "no maintenance has this server"}
	}
	return lifecycle.Condition{Type: v1alpha1.ConditionInMaintenance, Status: isTrue, Reason: v1alpha1.ReasonMaintenance, Message: "the maintenance " + s.spec.MaintenanceRef.Name + " has this server"}
}
