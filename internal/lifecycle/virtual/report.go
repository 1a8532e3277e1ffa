// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"strconv"

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
	case v1alpha1.PhaseCreating:
		return rules.Progressing(v1alpha1.ReasonCreating, "the VM is not made yet")
	case v1alpha1.PhaseRetrying:
		return rules.Progressing(v1alpha1.ReasonRetrying, "a VM that never launched is made again")
	case v1alpha1.PhaseRebuilding:
		return rules.Progressing(v1alpha1.ReasonRebuilding, "the disk of the VM is made anew")
	case v1alpha1.PhaseReleasing:
		return rules.Progressing(v1alpha1.ReasonReleasing, "the claim is being released")
	case v1alpha1.PhaseReleased:
		return rules.Converged(v1alpha1.ReasonReleased, "released and retained: clear spec.claimRef to keep the VM without a claim")
	case v1alpha1.PhaseMaintenance:
		return rules.Progressing(v1alpha1.ReasonMaintenance, "the maintenance "+s.Spec.MaintenanceRef.Name+" has the VM") // B052
	case v1alpha1.PhaseDeleting:
		return rules.Progressing(v1alpha1.ReasonDeleting, "the server is going")
	case v1alpha1.PhaseReserved:
		return rules.Converged(v1alpha1.ReasonRunning, "the VM is as its claim "+s.ClaimName()+" asks")
	default:
		return rules.Converged(v1alpha1.ReasonRunning, "the VM is as the spec says")
	}
}

// conditions are the domain conditions, in the order in which a server comes to life.
func (s *state) conditions(phase v1alpha1.ServerPhase) []lifecycle.Condition {
	return []lifecycle.Condition{
		s.dependencies(), s.providerReachable(), s.provisioned(), s.powerAsDesired(phase), s.networkReady(), rules.ClaimedBy(&s.State, phase), rules.MaintainedBy(&s.State),
	}
}

func (s *state) dependencies() lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionDependenciesReady, Status: rules.IsFalse}
	switch made := s.vmID() != ""; {
	case s.V.Cloud == nil:
		c.Reason, c.Message = v1alpha1.ReasonDependencyMissing, s.cloudMissing().Message
	case s.lacking(isMissing) != "":
		c.Reason, c.Message = v1alpha1.ReasonDependencyMissing, "there is no "+s.lacking(isMissing)
	case s.lacking(isDeleting) != "" && !made:
		c.Reason, c.Message = v1alpha1.ReasonDependencyDeleting, "the "+s.lacking(isDeleting)+" is being deleted"
	case s.lacking(isDeleting) != "":
		c.Status, c.Reason, c.Message = rules.IsTrue, v1alpha1.ReasonInUse, "the "+s.lacking(isDeleting)+" is being deleted, which waits for this server"
	default:
		c.Status, c.Reason, c.Message = rules.IsTrue, v1alpha1.ReasonInUse, "what the VM is made with is there"
	}
	return c
}

func (s *state) providerReachable() lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionProviderReachable}
	switch {
	case s.V.Server.Status.Observed == nil:
		c.Status, c.Reason, c.Message = rules.IsUnknown, v1alpha1.ReasonNotObserved, "the cloud was not looked at yet for this server"
	case !s.reachable():
		c.Status, c.Reason, c.Message = rules.IsFalse, orElse(s.Facts.Reason, v1alpha1.ReasonProviderUnreachable), s.unreachable().Message
	default:
		c.Status, c.Reason, c.Message = rules.IsTrue, v1alpha1.ReasonReachable, "the last look succeeded"
	}
	return c
}

func (s *state) provisioned() lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionProvisioned, Status: rules.IsFalse}
	switch {
	case s.launched() && s.gone():
		c.Reason, c.Message = v1alpha1.ReasonLost, "the VM "+s.vmID()+" is gone"
	case s.launched():
		c.Status, c.Reason, c.Message = rules.IsTrue, v1alpha1.ConditionProvisioned, "the VM "+orElse(s.vmID(), s.vm.ID)+" was launched"
	case s.createFailed():
		c.Reason, c.Message = v1alpha1.ReasonCreateFailed, "the VM never launched: "+orElse(s.vm.Fault, "no reason told")
	default:
		c.Reason, c.Message = v1alpha1.ReasonCreating, "the VM was not launched yet"
	}
	return c
}

// desiredIn is the power that is to be kept in this phase; Keep where none is.
func (s *state) desiredIn(phase v1alpha1.ServerPhase) v1alpha1.Power {
	switch phase {
	case v1alpha1.PhaseRunning, v1alpha1.PhaseReserved, v1alpha1.PhaseRebuilding:
		if s.Spec.ClaimRef == nil || s.Claim.Same {
			return s.desired()
		}
	case v1alpha1.PhaseReleasing:
		if s.retained() {
			return v1alpha1.PowerOff
		}
	case v1alpha1.PhaseMaintenance:
		if s.InMaintenance() {
			return s.MaintenancePower()
		}
	}
	return v1alpha1.PowerKeep
}

func (s *state) powerAsDesired(phase v1alpha1.ServerPhase) lifecycle.Condition {
	return rules.PowerAsDesired(&s.State, s.desiredIn(phase))
}

func (s *state) networkReady() lifecycle.Condition {
	c := lifecycle.Condition{Type: v1alpha1.ConditionNetworkReady, Status: rules.IsFalse, Reason: v1alpha1.ReasonNetworkUpdating}
	switch {
	case !s.exists():
		c.Status, c.Reason, c.Message = rules.IsUnknown, v1alpha1.ReasonNotObserved, "nothing is known of the VM's network"
	case s.missingPort() >= 0:
		c.Reason, c.Message = v1alpha1.ReasonPortMissing, "port "+strconv.Itoa(s.missingPort())+" is not at the cloud"
	case s.portsDiffer():
		c.Message = "the ports are being brought to the spec"
	case s.floatingIPUnwanted():
		c.Message = "the floating IP is being released"
	case s.floatingIPDiffers():
		c.Message = "the floating IP is being attached"
	default:
		c.Status, c.Reason, c.Message = rules.IsTrue, v1alpha1.ConditionNetworkReady, "ports and floating IP are as the spec says"
	}
	return c
}
