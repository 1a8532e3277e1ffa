// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"reflect"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Decision is what a pass is to do, and what it is to report.
type Decision struct {
	// Phase by the first rule of the phase table that holds, and which rule that was ("metal 7"). Display and explain only (P2).
	Phase v1alpha1.ServerPhase
	Rule  string
	// Step is the one thing this pass does (P4).
	Step Step
	// Conditions are the domain conditions to report. The reconciler derives Ready, Reconciling and Stalled from Gates.
	Conditions []Condition
	// Gates are the reasons why the object is not ready, in order of precedence; the worst decides (P9).
	Gates []Gate
}

// Condition is one domain condition to report.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // True, False or Unknown
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Level of a gate: the worst of all contributed decides.
type Level int

const (
	// Converged is no objection.
	Converged Level = iota
	// Progressing clears by itself.
	Progressing
	// Stalled needs a person, or a changed fact.
	Stalled
)

// Gate is a named reason why an object is not ready.
type Gate struct {
	Level   Level
	Unknown bool // Progressing only: Ready is Unknown (not established) and not False (known not yet)
	Reason  string
	Message string
}

// StepKind says what a step does.
type StepKind string

const (
	// StepSettled does nothing: only a change wakes the object.
	StepSettled StepKind = "Settled"
	// StepWait does nothing but wait for a fact, with a timer as backstop.
	StepWait StepKind = "Wait"
	// StepHold does nothing until a person consents or a fact changes. It has no timer.
	StepHold StepKind = "Hold"
	// StepPatch writes Patch to the object decided about.
	StepPatch StepKind = "Patch"
	// StepCreate makes an object that does not exist, and StepDelete asks for the deletion of one: the Server of a claim with a class.
	StepCreate StepKind = "Create"
	StepDelete StepKind = "Delete"
	// StepAct asks the provider for Effect, then writes Record where that is not nil.
	StepAct StepKind = "Act"
)

// Step is one thing to do. Exactly the fields that its kind names are set.
type Step struct {
	Kind StepKind
	// Clause names the clause of the lifecycle that gave this step, e.g. "Reserved.Starting.PowerOn": for tests, logs, metrics and explain.
	Clause string
	// Message says in a sentence what is done or waited for.
	Message string
	// Patch of StepPatch.
	Patch *Patch
	// Event is the reason of the Event told once Patch is written, with Message as its text; "" for none. Effects tell theirs by Op.
	Event string
	// Effect of StepAct; Record, the patch after it succeeded; Refused, the patch after it failed with class Terminal; Tried, the patch after it
	// failed at a provider that was asked in vain, or that knows no such request (nil: none).
	Effect  *Effect
	Record  *Patch
	Refused *Patch
	Tried   *Patch
	// Pace is how soon an effect that was accepted, and of which nothing came, is asked for again; 0: after one effect deadline.
	Pace time.Duration
	// After is the timer of StepWait; also of the pass after StepAct.
	After time.Duration
	// Live asks that the step be decided on a live view: always for StepAct, and for holds that rest on an object's absence (P10).
	Live bool
}

// SameEffect says that two steps ask for the very same effect for the very same reason: what a decision on a live view must be, compared
// with the one that led to it, before anything is done (P4). What is recorded afterwards is taken from the live one.
func (s Step) SameEffect(other Step) bool {
	return s.Kind == StepAct && other.Kind == StepAct && s.Clause == other.Clause && reflect.DeepEqual(s.Effect, other.Effect)
}
