// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// unexplained holds a machine that runs for a reason we do not know (P13).
var unexplained = clause{Name: "FoundRunning", When: rules.Not((*state).explained), Then: foundRunning}

// strangers come before anything else that is done to a machine for which no boot of a claim is known: what runs on it is somebody's, and stays
// somebody's past a power cut, or whatever else switches it off, until a person has told (docs/decisions/0157).
var strangers = steps{rememberFound, foundBefore}

// rememberFound asks the machine itself: a status that is older than the machine makes no stranger (P1).
var rememberFound = clause{Name: "RememberFound", When: func(s *state) bool {
	return s.on() && !s.explained() && !s.rememberedFound() && s.Ledger.Boot == nil && s.Elsewhere == nil && !s.BoundHere()
}, Then: func(s *state) answer {
	a := s.act(v1alpha1.ReasonFoundRunning, "confirm that the machine runs, and remember that it was found running", lifecycle.Effect{
		Op: lifecycle.OpConfirmOn, Expect: s.expectSeen(),
	}).Recording(lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(&ledger.PowerOn{By: ledger.ByUnknown, At: s.Now()})})
	a.Gate = foundRunning(s).Gate
	return a
}}

// foundBefore holds a machine that is Off and was found running before: its Off may be a power cut.
var foundBefore = clause{Name: "FoundBefore", When: rules.All((*state).off, (*state).heldFound), Then: foundRunning}

func foundRunning(s *state) answer {
	how := "the machine is " + string(s.Facts.PowerState) + " and nothing here explains it: somebody may be using it"
	if s.off() {
		how = "the machine was found running at " + s.Ledger.PowerOn.At.Format(time.RFC3339) + " with nothing here to explain it, and is Off now: somebody may be using it, and come back with the power"
	}
	return rules.Hold(v1alpha1.ReasonFoundRunning, how+". Once nobody does, annotate the Server with "+
		v1alpha1.AnnotationPowerOff+"="+s.powerOffConsent()+", or set spec.foundRunning to PowerOff")
}

// foundRunning says that the machine runs and nothing of ours explains it.
func (s *state) foundRunning() bool { return !s.off() && !s.powerUnknown() && !s.remembered() }

// rememberedFound says that the machine was found running once.
func (s *state) rememberedFound() bool {
	return s.Ledger.PowerOn != nil && s.Ledger.PowerOn.By == ledger.ByUnknown
}

// heldFound says that nobody has said since that it may be used.
func (s *state) heldFound() bool { return s.rememberedFound() && !s.explained() }

// found is what stays remembered for as long as that is so; nil for nothing.
func (s *state) found() *ledger.PowerOn {
	if s.heldFound() {
		return s.Ledger.PowerOn
	}
	return nil
}
