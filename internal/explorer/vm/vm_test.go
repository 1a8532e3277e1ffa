// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/explorer/racing"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// small are the worlds that are explored in a test; `make explore` explores all of them.
var small = []string{"vm-two-losses", "vm-aged", "vm-stalls", "vm-stalls-and-loss", "class-people", "class-rebuild", "class-maintenance", "class-pairs", "vm-network"}

// TestProductionBreaksNothing: I1, I2, I3, I5, I6, I7, I8 and I9 on every step, to the end (B087, B184, B187, B189, B192).
func TestProductionBreaksNothing(t *testing.T) {
	names := small
	if racing.Detected {
		names = []string{"vm-stalls-and-loss"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, known := WorldNamed(name)
			if !known {
				t.Fatal("no such world")
			}
			r := Explore(w, Production(), search.Options{Rest: true})
			if !r.Complete && len(r.Violations) == 0 {
				t.Fatal("not explored to the end")
			}
			for _, v := range r.Violations {
				t.Errorf("%s", v)
			}
			if r.States < 1000 {
				t.Errorf("only %d states: nothing moves in this world", r.States)
			}
		})
	}
}

// TestMutantsAreFound: an explorer that finds nothing where a clause is missing proves nothing. `make explore` hunts all of them.
func TestMutantsAreFound(t *testing.T) {
	for _, m := range Mutants() {
		if m.Behind != "" {
			continue // explored to the end: too long for a test
		}
		t.Run(m.Clause, func(t *testing.T) {
			t.Parallel()
			if r := m.Planned().Hunt(search.Options{}); len(r.Violations) == 0 {
				t.Errorf("explored %d states of %s without it, and found nothing", r.States, r.World)
			}
		})
	}
}

// TestTheClausesOfTheContractAreMutants: these were each shown to be necessary, and must never silently leave the list.
func TestTheClausesOfTheContractAreMutants(t *testing.T) {
	for _, want := range []string{
		"VM: the retry predicate: no trace of a launch (I2)", "VM: the budget of retries", "VM: gone is a 404 by its id, never a missing row (P10)", "VM: the latch of the first launch",
		"VM: finds before it creates (B187)", "VM: a written intent before what destroys (P6)",
	} {
		if !slices.ContainsFunc(Mutants(), func(m Mutant) bool { return m.Clause == want }) {
			t.Errorf("no mutant without %q", want)
		}
	}
}

// TestEveryEffectIsReached: a world in which an effect never happens proves nothing about it.
func TestEveryEffectIsReached(t *testing.T) {
	if racing.Detected {
		t.Skip("explores many worlds; nothing in it is about goroutines")
	}
	reached := map[lifecycle.Op]bool{}
	for _, name := range append(slices.Clone(small), "class-retain", "vm-rebuild", "class-restart") {
		w, _ := WorldNamed(name)
		x := newExplorer(w, Production())
		search.Explore(w.Name, x, search.Options{MaxStates: 12000})
		for _, c := range x.choices.list {
			if c.step.Effect != nil {
				reached[c.step.Effect.Op] = true
			}
		}
	}
	for _, op := range []lifecycle.Op{
		lifecycle.OpCreateInstance, lifecycle.OpDeleteFailed, lifecycle.OpDismantle, lifecycle.OpRebuild, lifecycle.OpStart, lifecycle.OpStop,
		lifecycle.OpConfirmStopped, lifecycle.OpStampInstance, lifecycle.OpAttachFloatingIP, lifecycle.OpReleaseFloatingIP,
	} {
		if !reached[op] {
			t.Errorf("no world reaches %s", op)
		}
	}
}

// TestAViolationIsTold: who did what, and what it changed, from the start to the broken invariant.
func TestAViolationIsTold(t *testing.T) {
	w, _ := WorldNamed("vm-stalls")
	b := Production()
	b.Find = false
	r := Explore(w, b, search.Options{})
	if len(r.Violations) != 1 {
		t.Fatalf("%d violations", len(r.Violations))
	}
	text := r.Violations[0].String()
	for _, want := range []string{"I3: a second VM", "Creating.Create -> CreateInstance", "stalls before its", "vm-2: BUILD"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestPageNamesWhatIsExplored: docs/explorer-virtual.md has a row for each world and each mutant of virtual servers.
func TestPageNamesWhatIsExplored(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/explorer-virtual.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	for _, w := range Worlds() {
		if row := fmt.Sprintf("| `%s` | %s |", w.Name, w.About); !slices.Contains(lines, row) {
			t.Errorf("no row\n%s", row)
		}
	}
	for _, m := range Mutants() {
		if row := fmt.Sprintf("| %s | `%s` |", m.Clause, strings.Join(m.Worlds, "`, `")); !slices.Contains(lines, row) {
			t.Errorf("no row\n%s", row)
		}
	}
}

// TestWalksFindAMutant: a walk at random with a fixed seed finds what a missing clause breaks, and finds nothing with all of them there.
func TestWalksFindAMutant(t *testing.T) {
	own := WalkWorlds()[0]
	for _, v := range Walk(own, Production(), search.Walks{Seed: 3, Options: search.Options{MaxStates: 4000, Rest: true}}).Violations {
		t.Errorf("%s", v)
	}
	b := Production()
	b.Find = false
	r := Walk(own, b, search.Walks{Seed: 3, Options: search.Options{MaxStates: 40000}})
	if len(r.Violations) != 1 || r.Violations[0].Invariant != "I3" || !strings.Contains(r.Violations[0].Replay, "SEED=3 FROM=") {
		t.Errorf("%d steps without looking before a VM is made: %v", r.Transitions, r.Violations)
	}
}
