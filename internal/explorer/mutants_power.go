// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// powerMutants see or do something else about machines that are on their way, or that cannot be asked to shut down.
func powerMutants() []Mutant {
	return []Mutant{
		{Clause: "the power is cut only once it is remembered that the operating system was asked (B025)", Worlds: []string{"one-claim"}, Apply: seeing(func(_ *lifecycle.ServerView, m *ledger.Server) {
			if m.Intent != nil {
				m.Intent.Asked = m.Intent.At
			}
		})},
		{Clause: "who was asked in vain was asked", Worlds: []string{"deaf"}, Apply: vainIsUnasked, Rest: true},
		{Clause: "a machine on its way down is not Off (R4)", Worlds: []string{"on-its-way", "on-its-way-stalls"}, Apply: seeing(goingDownIsOff),
			Behind: "the machine itself, which is asked before anything rests on its Off"},
		{Clause: "what is cut is what was seen: a machine that is still coming up", Worlds: []string{"on-its-way-first"}, Apply: cutsWhatever},
	}
}

// vainIsUnasked forgets the requests that a BMC refused.
func vainIsUnasked(b *Brain) {
	decide := b.Server
	b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
		d := decide(v)
		d.Step.Tried = nil
		return d
	}
}

// goingDownIsOff takes a machine for Off once it is told to be on its way there.
func goingDownIsOff(v *lifecycle.ServerView, _ *ledger.Server) {
	if seen := v.Server.Status.Observed; seen != nil && seen.PowerState == v1alpha1.ObservedPoweringOff {
		seen.PowerState = v1alpha1.ObservedOff
	}
}

// cutsWhatever cuts the power of a machine in whatever state it is by then.
func cutsWhatever(b *Brain) {
	decide := b.Server
	b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
		d := decide(v)
		if d.Step.Kind == lifecycle.StepAct && d.Step.Effect.Op == lifecycle.OpForceOff {
			effect := *d.Step.Effect
			effect.Expect.Power = ""
			d.Step.Effect = &effect
		}
		return d
	}
}
