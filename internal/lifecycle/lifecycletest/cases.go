// SPDX-License-Identifier: Apache-2.0

package lifecycletest

import (
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Decide is what is tested.
type Decide = func(lifecycle.ServerView) lifecycle.Decision

// Case is one case of deciding: the clause that must give the step, what the case shows, what is different from the scene that all begin
// with, and what the step must be.
type Case struct {
	Clause string
	Shows  string
	Given  Override
	Kind   lifecycle.StepKind
	Check  Check
}

// Run shows every case.
func Run(t *testing.T, decide Decide, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Clause+"/"+strings.ReplaceAll(c.Shows, " ", "_"), func(t *testing.T) {
			d := decide(View(c.Given))
			if d.Step.Clause != c.Clause || d.Step.Kind != c.Kind {
				t.Fatalf("got %s %s (%s), want %s %s", d.Step.Kind, d.Step.Clause, d.Step.Message, c.Kind, c.Clause)
			}
			if c.Check != nil {
				c.Check(t, d)
			}
		})
	}
}

// Covered fails for a clause, or a row of the phase table, that no case shows. Row 1 is a deletion that waits.
func Covered(t *testing.T, decide Decide, cases []Case, clauses, rows []string) {
	t.Helper()
	shown, held := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		shown[c.Clause] = true
		rule := decide(View(c.Given)).Rule
		held[rule[strings.LastIndexAny(rule, " ")+1:]] = true
		if strings.Contains(rule, " 1, ") {
			held["1"] = true
		}
	}
	for _, name := range clauses {
		if !shown[name] {
			t.Errorf("clause %s has no case", name)
		}
	}
	for _, number := range append(rows, "1") {
		if !held[number] {
			t.Errorf("row %s of the phase table has no case", number)
		}
	}
}
