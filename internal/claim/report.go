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
	gate := notBooted(s)
	return lifecycle.Condition{Type: v1alpha1.ConditionBooted, Status: "False", Reason: gate.Reason, Message: gate.Message}
}

func notBooted(s *v1alpha1.Server) lifecycle.Gate {
	if servers.IsVirtual(s) {
		return lifecycle.Gate{Level: lifecycle.Progressing, Reason: v1alpha1.ReasonCreating, Message: "the VM is being made for this claim"}
	}
	return lifecycle.Gate{Level: lifecycle.Progressing, Reason: v1alpha1.ReasonBooting, Message: "the machine is being booted for this claim"}
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
		if !booted || gate.Reason == v1alpha1.ReasonRebuilding {
			// Of a VM that was launched an outage of its cloud is not told: it runs, and what was seen of it stands.
			gates = append(gates, gate)
		}
	}
	switch {
	case !booted:
		gates = append(gates, notBooted(s))
	case servers.IsVirtual(s) && !virtual.NetworkSettled(s):
		add(v1alpha1.ReasonNetworkUpdating, "ports and floating IP are being brought to what was asked")
	}
	if reason := powerGate(d.Claim.Spec.Power, s.Status.Observed); reason != "" {
		add(reason, fmt.Sprintf("power is to be %s", d.Claim.Spec.Power))
	}
	if len(gates) == 0 {
		return []lifecycle.Gate{{Level: lifecycle.Converged, Reason: v1alpha1.ReasonBound, Message: fmt.Sprintf("bound to server %q", s.Name)}}
	}
	return gates
}

func powerGate(want v1alpha1.Power, seen *v1alpha1.ServerObserved) string {
	is := v1alpha1.ObservedUnknown
	if seen != nil {
		is = seen.PowerState
	}
	switch {
	case want == v1alpha1.PowerOff && is != v1alpha1.ObservedOff:
		return v1alpha1.ReasonPoweringOff
	case (want == v1alpha1.PowerOn || want == "") && is != v1alpha1.ObservedOn:
		return v1alpha1.ReasonPoweringOn
	}
	return ""
}
