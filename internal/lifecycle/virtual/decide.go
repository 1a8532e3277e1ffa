// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// Decide answers what a pass over a virtual server does, and what it reports. It answers for every view, and the same for the same
// view. Of the server's status it sees the monitor's region alone (P1).
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

// answer goes through what outranks every phase, deletion too, since that takes the VM away; then through the phase.
func (s *state) answer(row row) answer {
	if a, _ := before.Decide(s); a.Clause != "" {
		return a
	}
	if a, _ := first.Decide(s); a.Clause != "" {
		return s.guarded(a)
	}
	a, carries := row.steps.Decide(s)
	if !carries {
		a = s.withdrawing(a)
	}
	return s.guarded(s.tidied(s.replacing(a)))
}

// guarded lets no effect out that cannot be carried out: the cloud must be known and answer.
func (s *state) guarded(a answer) answer {
	if a.Kind != lifecycle.StepAct {
		return a
	}
	name := a.Clause
	switch {
	case s.V.Cloud == nil:
		a = s.cloudMissing()
	case !s.reachable():
		a = s.unreachable()
	}
	a.Clause = name
	return a
}

// withdrawing is what becomes of an answer that does not carry the intent that is open: a patch takes it along, anything else is
// put off for the patch that withdraws it (R3). A maintenance must not cost the memory of a release, nor of a rebuild that was asked
// for.
func (s *state) withdrawing(a answer) answer {
	if s.Ledger.Intent == nil || (s.Maintained() && (s.ReleaseOpen() || s.rebuildAsked())) {
		return a
	}
	if a.Kind != lifecycle.StepPatch {
		w := rules.Patch(v1alpha1.ReasonSettled, "withdraw what was announced ("+string(s.Ledger.Intent.Op)+", "+string(s.Ledger.Intent.Why)+"): nothing asks for it any more", lifecycle.Patch{})
		w.Clause, w.Live = a.Clause+"."+withdraw, a.Live
		a = w
	}
	if _, said := a.Patch.Ledger[ledger.KeyIntent]; !said {
		s.closeIntent(a.Patch)
	}
	return a
}

// replacing lets a patch that announces something else in a stop's place say so: that stop may still be on the wire.
func (s *state) replacing(a answer) answer {
	if a.Kind != lifecycle.StepPatch || s.Ledger.Intent == nil || s.Ledger.Intent.Op != ledger.IntentPowerOff {
		return a
	}
	_, replaced := a.Patch.Ledger[ledger.KeyIntent]
	if _, rests := a.Patch.Ledger[ledger.KeyOffAt]; replaced && !rests {
		ledger.Entries(a.Patch.Ledger).OffAt(s.Now())
	}
	return a
}

// withdrawn withdraws the intent, and says why.
func withdrawn(message string) func(*state) answer {
	return func(s *state) answer {
		p := lifecycle.Patch{}
		s.closeIntent(&p)
		return rules.Patch(v1alpha1.ReasonSettled, message, p)
	}
}

// closeIntent adds to a patch that the open intent is no more. Its effect may still be on the wire: the next start waits for that.
func (s *state) closeIntent(p *lifecycle.Patch) {
	if s.Ledger.Intent == nil {
		return
	}
	if p.Ledger == nil {
		p.Ledger = map[string]string{}
	}
	entries := ledger.Entries(p.Ledger).Intent(nil)
	if s.Ledger.Intent.Op == ledger.IntentPowerOff {
		entries.OffAt(s.Now())
	}
}

// tidied: a settled server on which a consent lies about is not settled. It would let go what nobody has looked at yet.
func (s *state) tidied(a answer) answer {
	unused := s.Given(v1alpha1.AnnotationAdopt, v1alpha1.AnnotationRetry)
	if a.Kind != lifecycle.StepSettled || len(unused) == 0 {
		return a
	}
	name := a.Clause
	a = rules.DropConsents(unused)
	a.Clause = name + "." + unusedConsent
	return a
}

// Ends of the names of clauses that are put off: until an intent is withdrawn, or a consent that lets nothing go is removed.
const (
	withdraw      = "Withdraw"
	unusedConsent = "UnusedConsent"
)
