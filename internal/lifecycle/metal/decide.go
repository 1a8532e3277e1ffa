// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// Decide answers what a pass over a server of bare metal does, and what it reports. It answers for every view, and the same for the
// same view. Of the server's status it sees the monitor's region alone (P1).
func Decide(v lifecycle.ServerView) lifecycle.Decision {
	if v.Server == nil {
		return lifecycle.Decision{Step: rules.Settled("there is no server").Step}
	}
	s := newState(v)
	row, rule := s.row()
	a := s.answer(row)
	return lifecycle.Decision{
		Phase:      row.phase,
		Rule:       rule,
		Step:       a.Step,
		Conditions: s.conditions(row.phase),
		Gates:      s.gates(row.phase, a),
	}
}

// answer goes through what outranks every phase, then through the phase.
func (s *state) answer(row row) answer {
	if a, _ := before.Decide(s); a.Clause != "" {
		return a
	}
	if a, _ := first.Decide(s); a.Clause != "" && row.phase != v1alpha1.PhaseDeleting {
		return s.guarded(a)
	}
	a, carries := row.steps.Decide(s)
	if !carries {
		a = s.withdrawing(a)
	}
	return s.guarded(s.tidied(a))
}

// tidied: a settled server on which a consent lies about is not settled. It would let go what nobody has looked at yet.
func (s *state) tidied(a answer) answer {
	unused := s.Given(v1alpha1.AnnotationPowerOff, v1alpha1.AnnotationBooted, v1alpha1.AnnotationBootAgain)
	if a.Kind != lifecycle.StepSettled || len(unused) == 0 {
		return a
	}
	name := a.Clause
	a = rules.DropConsents(unused)
	a.Clause = name + "." + unusedConsent
	return a
}

// guarded lets no effect out that cannot be carried out: the machine's BMC must be known and answer.
func (s *state) guarded(a answer) answer {
	if a.Kind != lifecycle.StepAct {
		return a
	}
	name := a.Clause
	switch {
	case s.V.BMC == nil:
		a = dependencyMissing(s)
	case s.systemMissing():
		a = systemMissing(s)
	case !s.reachable():
		a = unreachable(s)
	}
	a.Clause = name
	return a
}

// withdrawing is what becomes of an answer that does not carry the intent that is open: a patch takes it along, anything else is
// put off for the patch that withdraws it (R3).
func (s *state) withdrawing(a answer) answer {
	if s.Ledger.Intent == nil || (s.Spec.MaintenanceRef != nil && s.ReleaseOpen()) {
		return a
	}
	if a.Kind != lifecycle.StepPatch {
		w := rules.Patch(v1alpha1.ReasonPoweringOff, "withdraw the announced power-off ("+string(s.Ledger.Intent.Why)+"): nothing asks for it any more", lifecycle.Patch{Ledger: ledger.Entries{}})
		w.Clause, w.Live = a.Clause+"."+withdraw, a.Live
		a = w
	}
	if _, said := a.Patch.Ledger[ledger.KeyIntent]; !said {
		s.closeIntent(a.Patch)
	}
	return a
}

// Ends of the names of clauses that are put off: until an intent is withdrawn, or a consent that lets nothing go is removed.
const (
	withdraw      = "Withdraw"
	unusedConsent = "UnusedConsent"
)
