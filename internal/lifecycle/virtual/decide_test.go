// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"slices"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

// given is a virtual scene with what is different.
func given(overrides ...lt.Override) lt.Override {
	return lt.All(append([]lt.Override{lt.Virtual}, overrides...)...)
}

const (
	settled = lifecycle.StepSettled
	wait    = lifecycle.StepWait
	hold    = lifecycle.StepHold
	patch   = lifecycle.StepPatch
	act     = lifecycle.StepAct
)

// decided is an lt.Case, as a row of a table.
type decided struct {
	clause string
	shows  string
	given  lt.Override
	kind   lifecycle.StepKind
	check  lt.Check
}

// cases of every phase; see the files named after them.
func cases() []lt.Case {
	var all []lt.Case
	for _, c := range slices.Concat(firstCases(), initialCases(), creatingCases(), retryingCases(), lostCases(), runningCases(), powerCases(),
		restartCases(), networkCases(), rebuildingCases(), releasingCases(), maintenanceCases(), deletingCases()) {
		all = append(all, lt.Case{Clause: c.clause, Shows: c.shows, Given: c.given, Kind: c.kind, Check: c.check})
	}
	return all
}

// TestDecide shows every clause of every phase.
func TestDecide(t *testing.T) { lt.Run(t, virtual.Decide, cases()) }

// TestEveryClauseHasACase fails for a clause, or a row of the phase table, that no case shows.
func TestEveryClauseHasACase(t *testing.T) {
	var rows []string
	for _, r := range virtual.Rows() {
		rows = append(rows, r.Number)
	}
	lt.Covered(t, virtual.Decide, cases(), virtual.ClauseNames(), rows)
}

// at checks the phase.
func at(phase string) lt.Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if string(d.Phase) != phase {
			t.Errorf("phase %s, want %s", d.Phase, phase)
		}
	}
}

// carries checks that a destructive effect carries the intent that stands written (P6).
func carries(t *testing.T, d lifecycle.Decision) {
	t.Helper()
	if d.Step.Effect == nil || d.Step.Effect.Intent != "i-1" {
		t.Errorf("effect %+v, want one of the intent that stands", d.Step.Effect)
	}
}

// expects looks at what a cloud's effect relies on and asks for.
func expects(check func(lifecycle.VirtualEffect) bool) lt.Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if d.Step.Effect == nil || d.Step.Effect.Virtual == nil || !check(*d.Step.Effect.Virtual) {
			t.Errorf("effect %+v", d.Step.Effect)
			if d.Step.Effect != nil {
				t.Errorf("at the cloud %+v", d.Step.Effect.Virtual)
			}
		}
	}
}
