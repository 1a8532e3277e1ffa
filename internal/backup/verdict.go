// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Verdict is what becomes of an object after a restore.
type Verdict string

const (
	// Resume goes on as if nothing had happened; nothing is asked of the machine.
	Resume Verdict = "resume"
	// Restamp goes on, after the machine was marked anew as ours.
	Restamp Verdict = "re-stamp"
	// Start goes on, after a machine that should be On was switched on: from its disk.
	Start Verdict = "start"
	// Boot goes on with the first boot for a claim that had not booted yet: from the network, which may install the machine.
	Boot Verdict = "boot"
	// Create goes on with making a VM that had not been made yet.
	Create Verdict = "create"
	// Discover finds the machine anew: a free one, of which nothing was remembered.
	Discover Verdict = "discover anew"
	// Wait goes on by itself once something changes that no restore brings back.
	Wait Verdict = "wait"
	// Begin is a claim without memory: it gets a machine as a new one does. What ran for it before is not its own any more.
	Begin Verdict = "begin anew"
	// PowerOff switches a machine off, because what was restored asks for it.
	PowerOff Verdict = "power off"
	// Hold does nothing until a person has done something.
	Hold Verdict = "hold"
)

// order of verdicts from the best to the worst.
var severity = []Verdict{Resume, Restamp, Start, Boot, Create, Discover, Wait, Begin, PowerOff, Hold}

// Resumes says that the object goes on by itself and nothing is lost.
func (v Verdict) Resumes() bool { return slices.Index(severity, v) < slices.Index(severity, Wait) }

func worse(a, b Verdict) bool { return slices.Index(severity, a) > slices.Index(severity, b) }

// Outcome is what becomes of an object where its machine is found in one condition.
type Outcome struct {
	// Condition of the machine, or VM; "" for objects that have none.
	Condition Condition `json:"condition,omitempty"`
	// Expected says that it is what the backup tells; where it tells nothing, several are.
	Expected bool    `json:"expected"`
	Verdict  Verdict `json:"verdict"`
	// Phase that a server or claim comes to rest in.
	Phase string `json:"phase,omitempty"`
	// Clause of the last decision.
	Clause string `json:"clause,omitempty"`
	// Reason and Message of a hold or of a wait; Reason of a hold is one of those that the runbook lists.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// WaysOut of a hold.
	WaysOut []string `json:"waysOut,omitempty"`
	// Effects that were asked of the machine on the way, in order; those that change nothing left out.
	Effects []lifecycle.Op `json:"effects,omitempty"`
}

// outcome judges where an object came to rest.
func (e *end) outcome(kind string) Outcome {
	o := Outcome{Phase: e.phase, Clause: e.step.Clause, Effects: e.changes(), Verdict: Resume}
	held, waits := first(e.gates, lifecycle.Stalled), first(e.gates, lifecycle.Progressing)
	switch {
	case e.refused != "":
		remedy, _ := lifecycle.RemedyOf(e.refused)
		o.hold(lifecycle.Gate{Reason: e.refused, Message: remedy.Missing}, lifecycle.WaysOut(e.refused))
	case held != nil && (kind == KindServer || kind == KindClaim):
		o.hold(*held, lifecycle.WaysOut(held.Reason))
	case held != nil: // the message tells the ways out
		o.hold(*held, nil)
	case slices.ContainsFunc(e.effects, func(call lifecycle.Effect) bool { return call.Op.Destructive() }):
		o.Verdict = PowerOff
	case kind == KindClaim && e.fresh:
		o.Verdict = Begin
		o.because(waits)
	case waits != nil:
		o.Verdict = Wait
		o.because(waits)
	default:
		o.Verdict = e.goesOn()
	}
	return o
}

func (o *Outcome) hold(gate lifecycle.Gate, waysOut []string) {
	o.Verdict, o.WaysOut = Hold, waysOut
	o.because(&gate)
}

func (o *Outcome) because(gate *lifecycle.Gate) {
	if gate != nil {
		o.Reason, o.Message = gate.Reason, gate.Message
	}
}

// goesOn is how an object goes on by itself.
func (e *end) goesOn() Verdict {
	done := func(ops ...lifecycle.Op) bool {
		return slices.ContainsFunc(e.effects, func(call lifecycle.Effect) bool { return slices.Contains(ops, call.Op) })
	}
	switch {
	case done(lifecycle.OpSetBootOverride):
		return Boot
	case done(lifecycle.OpCreateInstance):
		return Create
	case done(lifecycle.OpPowerOn, lifecycle.OpStart):
		return Start
	case slices.ContainsFunc(e.effects, isStamp):
		return Restamp
	case e.fresh:
		return Discover
	}
	return Resume
}

// changes are the effects that change something.
func (e *end) changes() []lifecycle.Op {
	var ops []lifecycle.Op
	for _, call := range e.effects {
		if !call.Op.Confirms() {
			ops = append(ops, call.Op)
		}
	}
	return ops
}

// first is the first gate of a level; nil for none. A server that a maintenance has is not ready for as long as that lasts, and as it is to be.
func first(gates []lifecycle.Gate, level lifecycle.Level) *lifecycle.Gate {
	for i := range gates {
		if gates[i].Level == level && gates[i].Reason != v1alpha1.ReasonMaintenance {
			return &gates[i]
		}
	}
	return nil
}
