// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
)

// decided is one case: the clause that must give the step, what the case shows, what is different from an Available server, and what
// the step must be.
type decided struct {
	clause string
	shows  string
	given  lt.Override
	kind   lifecycle.StepKind
	check  func(*testing.T, lifecycle.Decision)
}

// given puts overrides together, for cases.
func given(overrides ...lt.Override) lt.Override { return lt.All(overrides...) }

// cases of every phase; see the files named after them.
func cases() []decided {
	return slices.Concat(
		firstCases(), initialCases(), discoveryCases(), availableCases(), cleaningCases(), deletingCases(), maintenanceCases(),
		reservedCases(), unbootedCases(), bootingCases(), startingCases(), bootedCases(), restartCases(), releasingCases(), withdrawCases(),
		httpCases(), mediaCases(), mediaAlwaysCases(), mediaOverCases(),
		pictureCases(), powerOffCases(), graceCases(), taskCases(),
	)
}

// TestDecide shows every clause of every phase.
func TestDecide(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.clause+"/"+strings.ReplaceAll(c.shows, " ", "_"), func(t *testing.T) {
			d := metal.Decide(lt.View(c.given))
			if d.Step.Clause != c.clause || d.Step.Kind != c.kind {
				t.Fatalf("got %s %s (%s), want %s %s", d.Step.Kind, d.Step.Clause, d.Step.Message, c.kind, c.clause)
			}
			if c.check != nil {
				c.check(t, d)
			}
		})
	}
}

// TestEveryClauseHasACase fails for a clause, or a row of the phase table, that no case shows.
func TestEveryClauseHasACase(t *testing.T) {
	clauses, rows := map[string]bool{}, map[string]bool{}
	for _, c := range cases() {
		clauses[c.clause] = true
		rule := metal.Decide(lt.View(c.given)).Rule
		rows[rule[strings.LastIndexAny(rule, " ")+1:]] = true
		if strings.HasPrefix(rule, "metal 1,") {
			rows["1"] = true
		}
	}
	for _, name := range metal.ClauseNames() {
		if !clauses[name] {
			t.Errorf("clause %s has no case", name)
		}
	}
	for _, r := range append(metal.Rows(), metal.Row{Number: "1"}) {
		if !rows[r.Number] {
			t.Errorf("row %s of the phase table has no case", r.Number)
		}
	}
}

// says wants a word in what is told first.
func says(word string) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if len(d.Gates) == 0 || !strings.Contains(d.Gates[0].Message, word) {
			t.Errorf("gates %+v, want %q in the first", d.Gates, word)
		}
	}
}

// reason checks the first gate.
func reason(want string) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if len(d.Gates) == 0 || d.Gates[0].Reason != want {
			t.Errorf("gates %+v, want first %s", d.Gates, want)
		}
	}
}

// and puts checks together.
func and(checks ...func(*testing.T, lifecycle.Decision)) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		for _, check := range checks {
			check(t, d)
		}
	}
}

func live(t *testing.T, d lifecycle.Decision) {
	t.Helper()
	if !d.Step.Live {
		t.Errorf("%s is not decided on a live view (P10)", d.Step.Clause)
	}
}

// rule checks which row of the phase table held.
func rule(want string) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if d.Rule != want {
			t.Errorf("rule %q, want %q", d.Rule, want)
		}
	}
}

// tells checks the Event that the patch leaves behind.
func tells(event string) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if d.Step.Event != event {
			t.Errorf("event %q, want %q", d.Step.Event, event)
		}
	}
}

// does checks the effect.
func does(op lifecycle.Op) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if d.Step.Effect == nil || d.Step.Effect.Op != op {
			t.Errorf("effect %+v, want %s", d.Step.Effect, op)
		}
	}
}

// written is the patch of a step, or what is recorded after its effect, as a ledger.
func written(t *testing.T, d lifecycle.Decision) (*lifecycle.Patch, ledger.Server) {
	t.Helper()
	p := d.Step.Patch
	if p == nil {
		p = d.Step.Record
	}
	if p == nil {
		t.Fatalf("%s writes nothing", d.Step.Clause)
	}
	entries := map[string]string{}
	for key, value := range p.Ledger {
		if value != "" {
			entries[key] = value
		}
	}
	led, err := ledger.ParseServer(entries)
	if err != nil {
		t.Fatal(err)
	}
	return p, led
}

// sets checks that the patch sets entries, and nothing else but those named by clears.
func sets(keys ...string) func(*testing.T, lifecycle.Decision) { return changes(keys, nil) }

func changes(sets, clears []string) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		p, _ := written(t, d)
		for key, value := range p.Ledger {
			if value != "" && !slices.Contains(sets, key) {
				t.Errorf("sets %s=%s, which is not expected", key, value)
			}
		}
		for _, key := range sets {
			if p.Ledger[key] == "" {
				t.Errorf("does not set %s", key)
			}
		}
		for _, key := range clears {
			if value, said := p.Ledger[key]; !said || value != "" {
				t.Errorf("does not clear %s", key)
			}
		}
	}
}

// removes checks that the patch removes consents.
func removes(annotations ...string) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		p, _ := written(t, d)
		for _, a := range annotations {
			if !slices.Contains(p.Remove, a) {
				t.Errorf("removes %v, want %s among them", p.Remove, a)
			}
		}
	}
}

// stage checks the stage of the boot that is written.
func stage(want ledger.Stage) func(*testing.T, lifecycle.Decision) {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if _, led := written(t, d); led.Boot == nil || led.Boot.Stage != want || led.Boot.Claim != lt.ClaimID {
			t.Errorf("boot %+v, want %s for the claim", led.Boot, want)
		}
	}
}
