// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"time"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Answer is a step and the reason that it gives for the object not being ready; nil for none.
type Answer struct {
	lifecycle.Step
	Gate *lifecycle.Gate
}

// Settled answers that there is nothing to do until something changes (P8).
func Settled(message string) Answer {
	return Answer{Step: lifecycle.Step{Kind: lifecycle.StepSettled, Message: message}}
}

// Idle answers that there is nothing to do until something else is asked for, and that the object is ready so, whatever its phase says.
func Idle(reason, message string) Answer {
	ready := Converged(reason, message)
	return Answer{Step: lifecycle.Step{Kind: lifecycle.StepSettled, Message: message}, Gate: &ready}
}

// Hold answers that nothing is done until a person consents or a fact changes.
func Hold(reason, message string) Answer {
	return Answer{
		Step: lifecycle.Step{Kind: lifecycle.StepHold, Message: message},
		Gate: &lifecycle.Gate{Level: lifecycle.Stalled, Reason: reason, Message: message},
	}
}

// HoldLive is a hold that rests on an object's absence: it is believed on a live view only (P10).
func HoldLive(reason, message string) Answer {
	a := Hold(reason, message)
	a.Live = true
	return a
}

// Wait answers that a fact will bring the next pass; the timer is the backstop.
func (s *State) Wait(reason, message string) Answer {
	return Answer{
		Step: lifecycle.Step{Kind: lifecycle.StepWait, Message: message, After: max(s.V.Settings.Backstop, time.Second)},
		Gate: gate(reason, message),
	}
}

// Patch writes the server's own metadata or spec.
func Patch(reason, message string, p lifecycle.Patch) Answer {
	return Answer{Step: lifecycle.Step{Kind: lifecycle.StepPatch, Message: message, Patch: &p}, Gate: gate(reason, message)}
}

// Act asks the provider. It is decided again on a live view, always (P4).
func (s *State) Act(reason, message string, e lifecycle.Effect) Answer {
	return Answer{
		Step: lifecycle.Step{Kind: lifecycle.StepAct, Message: message, Effect: &e, After: s.V.Settings.Backstop, Live: true},
		Gate: gate(reason, message),
	}
}

func gate(reason, message string) *lifecycle.Gate {
	return &lifecycle.Gate{Level: lifecycle.Progressing, Reason: reason, Message: message}
}

// Soon bounds the timer of a step: a moment comes at which more can be done.
func (a Answer) Soon(d time.Duration) Answer {
	a.After = min(a.After, max(d, time.Second))
	return a
}

// Unknown says that it cannot be told now whether the object is ready.
func (a Answer) Unknown() Answer {
	a.Gate.Unknown = true
	return a
}

// Stalled says that it does not clear by itself.
func (a Answer) Stalled() Answer {
	a.Gate.Level, a.Gate.Unknown = lifecycle.Stalled, false
	return a
}

// Recording names the patch that follows the effect.
func (a Answer) Recording(p lifecycle.Patch) Answer {
	a.Record = &p
	return a
}

// Telling leaves an Event behind, once the patch is written.
func (a Answer) Telling(event string) Answer {
	a.Event = event
	return a
}

// Quiet says that the object is as ready as it was.
func (a Answer) Quiet() Answer {
	a.Gate = nil
	return a
}

// Reasons of the Events that a patch leaves behind: what a person must be able to read about later.
const (
	EventAbandoned   = "Abandoned"
	EventTakenOver   = "TakenOver"
	EventResumed     = "Resumed"
	EventGlassBroken = "GlassBroken"
)
