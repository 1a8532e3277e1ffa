// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// gates are the reasons why the server is not ready, the answer's own first: it is the one that a person should read (P9).
func (s *state) gates(phase v1alpha1.ServerPhase, a answer) []lifecycle.Gate {
	return rules.Gates(&s.State, a, phase, s.standing(phase))
}

// standing is what the phase itself says of readiness.
func (s *state) standing(phase v1alpha1.ServerPhase) lifecycle.Gate {
	switch phase {
	case v1alpha1.PhaseInitial:
		return rules.Progressing(v1alpha1.ReasonInitializing, "memory is being written")
	case v1alpha1.PhaseDiscovery:
		return rules.Progressing(v1alpha1.ReasonDiscovering, "discovery is under way")
	case v1alpha1.PhaseReserved:
		return s.standingReserved()
	case v1alpha1.PhaseReleasing:
		return rules.Progressing(v1alpha1.ReasonReleasing, "the machine is being taken back")
	case v1alpha1.PhaseReleased:
		return rules.Converged(v1alpha1.ReasonReleased, "released and retained: clear spec.claimRef to free the machine")
	case v1alpha1.PhaseCleaning:
		return rules.Progressing(v1alpha1.ReasonCleaning, "the machine must be cleaned before its next claim")
	case v1alpha1.PhaseMaintenance:
		return rules.Progressing(v1alpha1.ReasonMaintenance, "the maintenance "+s.Spec.MaintenanceRef.Name+" has the machine") // B052
	case v1alpha1.PhaseDeleting:
		return rules.Progressing(v1alpha1.ReasonDeleting, "the server is going")
	default:
		return rules.Converged(v1alpha1.ReasonSettled, s.forClaims())
	}
}

func (s *state) standingReserved() lifecycle.Gate {
	if s.bootKnown() && s.Ledger.Boot.Stage == "Booted" {
		return rules.Converged(v1alpha1.ReasonBooted, "booted for the claim "+s.ClaimName())
	}
	return rules.Converged(v1alpha1.ReasonBound, "bound to the claim "+s.ClaimName())
}

// conditions are the domain conditions, in the order in which a server comes to life.
func (s *state) conditions(phase v1alpha1.ServerPhase) []lifecycle.Condition {
	return []lifecycle.Condition{
		s.dependencies(), s.providerReachable(), s.discovered(), s.powerAsDesired(phase), rules.ClaimedBy(&s.State, phase), rules.MaintainedBy(&s.State),
	}
}

func (s *state) dependencies() lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionDependenciesReady}
	switch {
	case s.V.BMC == nil:
		c.Status, c.Reason, c.Message = rules.IsFalse, v1alpha1.ReasonDependencyMissing, dependencyMissing(s).Message
	case s.bmcDeleting() && s.Fresh():
		c.Status, c.Reason, c.Message = rules.IsFalse, v1alpha1.ReasonDependencyDeleting, "the BMC "+s.V.BMC.Name+" is being deleted"
	case s.bmcDeleting():
		c.Status, c.Reason, c.Message = rules.IsTrue, v1alpha1.ReasonInUse, "the BMC "+s.V.BMC.Name+" is being deleted, which waits for this server"
	default:
		c.Status, c.Reason, c.Message = rules.IsTrue, v1alpha1.ReasonInUse, "the BMC "+s.V.BMC.Name+" is there"
	}
	return c
}

func (s *state) providerReachable() lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionProviderReachable}
	switch {
	case s.V.Server.Status.Observed == nil:
		c.Status, c.Reason, c.Message = rules.IsUnknown, v1alpha1.ReasonNotObserved, "the machine was not looked at yet"
	case s.systemMissing():
		c.Status, c.Reason, c.Message = rules.IsFalse, s.Facts.Reason, systemMissing(s).Message
	case !s.reachable():
		c.Status, c.Reason, c.Message = rules.IsFalse, orElse(s.Facts.Reason, v1alpha1.ReasonProviderUnreachable), unreachable(s).Message
	default:
		c.Status, c.Reason, c.Message = rules.IsTrue, v1alpha1.ReasonReachable, "the last look succeeded"
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
	if s.Ledger.DiscoveredAt.IsZero() {
		return lifecycle.Condition{Type: v1alpha1.ConditionDiscovered, Status: rules.IsFalse, Reason: v1alpha1.ReasonDiscovering, Message: "discovery has not finished"}
	}
	return lifecycle.Condition{Type: v1alpha1.ConditionDiscovered, Status: rules.IsTrue, Reason: v1alpha1.ConditionDiscovered, Message: "discovery finished"}
}

// desired is the power that is to be kept in this phase; Keep where none is.
func (s *state) desired(phase v1alpha1.ServerPhase) v1alpha1.Power {
	switch phase {
	case v1alpha1.PhaseAvailable:
		return s.wanted()
	case v1alpha1.PhaseReserved:
		if s.Claim.Same {
			return s.ClaimPower()
		}
	case v1alpha1.PhaseReleasing, v1alpha1.PhaseDiscovery:
		return v1alpha1.PowerOff
	case v1alpha1.PhaseMaintenance:
		if s.InMaintenance() && s.V.Maintenance.Spec.Power != "" {
			return s.V.Maintenance.Spec.Power
		}
	}
	return v1alpha1.PowerKeep
}

func (s *state) powerAsDesired(phase v1alpha1.ServerPhase) lifecycle.Condition {
	c := rules.PowerAsDesired(&s.State, s.desired(phase))
	if c.Reason == v1alpha1.ReasonPoweringOff {
		if reason, message := s.taskLost(); reason != "" {
			c.Reason, c.Message = reason, message
		}
	}
	return c
}
