// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

func settled(clause, message string) lifecycle.Step {
	return lifecycle.Step{Kind: lifecycle.StepSettled, Clause: clause, Message: message}
}

// wait has a timer as backstop: the wakes are speed, the timer is liveness.
func wait(d deciding, clause, message string) lifecycle.Step {
	return lifecycle.Step{Kind: lifecycle.StepWait, Clause: clause, Message: message, After: d.Settings.Backstop, Live: true}
}

// hold waits for a person. All holds of a claim rest on what another object is or lacks, so they are decided live (P10).
func (d deciding) hold(clause, reason, message string) Decision {
	phase := v1alpha1.ClaimHeld
	if !d.Claim.DeletionTimestamp.IsZero() {
		phase = v1alpha1.ClaimReleasing
	}
	return Decision{
		Step:       lifecycle.Step{Kind: lifecycle.StepHold, Clause: clause, Message: message, Live: true},
		Phase:      phase,
		Conditions: notBound(reason, message),
		Gates:      []lifecycle.Gate{{Level: lifecycle.Stalled, Reason: reason, Message: message}},
	}
}

// pending is a claim without a server yet.
func (d deciding) pending(step lifecycle.Step, reason, message string) Decision {
	return Decision{
		Step:       step,
		Phase:      v1alpha1.ClaimPending,
		Conditions: notBound(reason, message),
		Gates:      []lifecycle.Gate{{Level: lifecycle.Progressing, Reason: reason, Message: message}},
	}
}

func notBound(reason, message string) []lifecycle.Condition {
	return []lifecycle.Condition{
		{Type: v1alpha1.ConditionBound, Status: "False", Reason: reason, Message: message},
		{Type: v1alpha1.ConditionBooted, Status: "False", Reason: reason, Message: "no server yet"},
	}
}

// haveServer is a claim that has its server.
func (d deciding) haveServer(s *v1alpha1.Server, memory ledger.Server, step lifecycle.Step) Decision {
	bound := fmt.Sprintf("server %q", s.Name)
	return Decision{
		Step:  step,
		Phase: v1alpha1.ClaimBound,
		Conditions: []lifecycle.Condition{
			{Type: v1alpha1.ConditionBound, Status: "True", Reason: v1alpha1.ReasonBound, Message: bound},
			d.bootedCondition(s, memory),
		},
		Gates:   d.gates(s, memory),
		Machine: machineOf(s),
	}
}

// isBooted: a machine was booted for this claim; a VM was launched, which is what it was made for.
func (d deciding) isBooted(s *v1alpha1.Server, memory ledger.Server) bool {
	if servers.IsVirtual(s) {
		return virtual.Launched(s)
	}
	return memory.Boot != nil && memory.Boot.Claim == d.memory.Identity && memory.Boot.Stage == ledger.StageBooted
}

func (d deciding) bootedCondition(s *v1alpha1.Server, memory ledger.Server) lifecycle.Condition {
	if d.isBooted(s, memory) {
		return lifecycle.Condition{Type: v1alpha1.ConditionBooted, Status: "True", Reason: v1alpha1.ReasonBooted, Message: "the machine was booted for this claim"}
	}
	gate := d.notBooted(s)
	return lifecycle.Condition{Type: v1alpha1.ConditionBooted, Status: "False", Reason: gate.Reason, Message: gate.Message}
}

// notBooted says what a claim whose machine was not booted yet waits for; nothing but its own word, where it asks for no power.
func (d deciding) notBooted(s *v1alpha1.Server) lifecycle.Gate {
	gate := func(level lifecycle.Level, reason, message string) lifecycle.Gate {
		return lifecycle.Gate{Level: level, Reason: reason, Message: message}
	}
	switch later := d.ServerAwaitsPower; {
	case later && servers.IsVirtual(s):
		return gate(lifecycle.Converged, v1alpha1.ReasonPowerNotWanted, fmt.Sprintf("server %q is this claim's; its VM is made when the claim asks for power", s.Name))
	case later:
		return gate(lifecycle.Converged, v1alpha1.ReasonPowerNotWanted, fmt.Sprintf("server %q is this claim's; its machine is booted when the claim asks for power", s.Name))
	case servers.IsVirtual(s):
		return gate(lifecycle.Progressing, v1alpha1.ReasonCreating, "the VM is being made for this claim")
	}
	return gate(lifecycle.Progressing, v1alpha1.ReasonBooting, "the machine is being booted for this claim")
}

// gates are why a bound claim is not ready, in order of precedence. A machine in maintenance is not its tenant's to use (B052).
func (d deciding) gates(s *v1alpha1.Server, memory ledger.Server) []lifecycle.Gate {
	var gates []lifecycle.Gate
	add := func(reason, message string) {
		gates = append(gates, lifecycle.Gate{Level: lifecycle.Progressing, Reason: reason, Message: message})
	}
	if d.ServerHold != nil {
		gates = append(gates, *d.ServerHold)
	}
	if s.Spec.MaintenanceRef != nil {
		add(v1alpha1.ReasonMaintenance, fmt.Sprintf("maintenance %q has server %q", s.Spec.MaintenanceRef.Name, s.Name))
	}
	booted := d.isBooted(s, memory)
	for _, gate := range d.ServerWaits {
		switch {
		case gate.Reason == v1alpha1.ReasonInUse: // its deletion waits for this very claim
		case gate.Reason == v1alpha1.ReasonAwaitingBound && !s.DeletionTimestamp.IsZero():
			gates = append(gates, lifecycle.Gate{
				Level: lifecycle.Stalled, Reason: v1alpha1.ReasonDeleting, Message: fmt.Sprintf("server %q is being deleted, and makes nothing for this claim; delete the claim", s.Name),
			})
		case !booted, gate.Reason == v1alpha1.ReasonRebuilding:
			// Of a VM that was launched an outage of its cloud is not told: it runs, and what was seen of it stands.
			gates = append(gates, gate)
		}
	}
	standing := lifecycle.Gate{Level: lifecycle.Converged, Reason: v1alpha1.ReasonBound, Message: fmt.Sprintf("bound to server %q", s.Name)}
	switch {
	case !booted && d.ServerAwaitsPower:
		standing = d.notBooted(s)
	case !booted:
		gates = append(gates, d.notBooted(s))
	case servers.IsVirtual(s) && !virtual.NetworkSettled(s):
		add(v1alpha1.ReasonNetworkUpdating, "ports and floating IP are being brought to what was asked")
	}
	if reason := d.powerGate(s); reason != "" {
		add(reason, fmt.Sprintf("power is to be %s", d.Claim.Spec.Power))
	}
	if len(gates) == 0 {
		return []lifecycle.Gate{standing}
	}
	return gates
}

// powerGate is the reason for which the machine's power is not what the claim asks for; "" where it is.
func (d deciding) powerGate(s *v1alpha1.Server) string {
	want, is := d.Claim.Spec.Power, v1alpha1.ObservedUnknown
	if seen := s.Status.Observed; seen != nil {
		is = seen.PowerState
	}
	switch {
	case d.ServerAwaitsPower:
		return ""
	case want == v1alpha1.PowerOff && is != v1alpha1.ObservedOff:
		return v1alpha1.ReasonPoweringOff
	case (want == v1alpha1.PowerOn || want == "") && is != v1alpha1.ObservedOn:
		return v1alpha1.ReasonPoweringOn
	}
	return ""
}
