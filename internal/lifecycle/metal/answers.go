// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// settled: nothing to do until something changes (P8).
func settled(message string) answer {
	return answer{Step: lifecycle.Step{Kind: lifecycle.StepSettled, Message: message}}
}

// hold: nothing is done until a person consents or a fact changes.
func hold(reason, message string) answer {
	return answer{
		Step: lifecycle.Step{Kind: lifecycle.StepHold, Message: message},
		gate: &lifecycle.Gate{Level: lifecycle.Stalled, Reason: reason, Message: message},
	}
}

// holdLive is a hold that rests on an object's absence: it is believed on a live view only (P10).
func holdLive(reason, message string) answer {
	a := hold(reason, message)
	a.Live = true
	return a
}

// wait: a fact will bring the next pass, the timer is the backstop.
func (s *state) wait(reason, message string) answer {
	return answer{
		Step: lifecycle.Step{Kind: lifecycle.StepWait, Message: message, After: max(s.v.Settings.Backstop, time.Second)},
		gate: &lifecycle.Gate{Level: lifecycle.Progressing, Reason: reason, Message: message},
	}
}

// within bounds the timer of a step: a moment comes at which more can be done.
func (a answer) within(d time.Duration) answer {
	a.After = min(a.After, max(d, time.Second))
	return a
}

// unknown: whether the object is ready cannot be told now.
func (a answer) unknown() answer {
	a.gate.Unknown = true
	return a
}

// stalled: it does not clear by itself.
func (a answer) stalled() answer {
	a.gate.Level, a.gate.Unknown = lifecycle.Stalled, false
	return a
}

// patch writes the server's own metadata or spec.
func patch(reason, message string, p lifecycle.Patch) answer {
	return answer{
		Step: lifecycle.Step{Kind: lifecycle.StepPatch, Message: message, Patch: &p},
		gate: &lifecycle.Gate{Level: lifecycle.Progressing, Reason: reason, Message: message},
	}
}

// act asks the provider. It is decided again on a live view, always (P4).
func (s *state) act(reason, message string, e lifecycle.Effect) answer {
	e.System = s.system()
	return answer{
		Step: lifecycle.Step{Kind: lifecycle.StepAct, Message: message, Effect: &e, After: max(s.v.Settings.Backstop, time.Second), Live: true},
		gate: &lifecycle.Gate{Level: lifecycle.Progressing, Reason: reason, Message: message},
	}
}

// recording names the patch that follows the effect.
func (a answer) recording(p lifecycle.Patch) answer {
	a.Record = &p
	return a
}

// Reasons of the Events that a patch leaves behind: what a person must be able to read about later.
const (
	eventAbandoned   = "Abandoned"
	eventTakenOver   = "TakenOver"
	eventResumed     = "Resumed"
	eventConsented   = "PowerOffConsented"
	eventBootAgain   = "BootAgain"
	eventBooted      = "BootedByConsent"
	eventGlassBroken = "GlassBroken"
)

// telling leaves an Event behind, once the patch is written.
func (a answer) telling(event string) answer {
	a.Event = event
	return a
}

// quiet: the object is as ready as it was.
func (a answer) quiet() answer {
	a.gate = nil
	return a
}
