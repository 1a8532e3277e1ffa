// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"testing"

	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// reach explores a world, with or without merging states that differ in the names of the claims alone, and gives the canonical forms of
// all states that it visits.
func reach(w World, b Brain, merge bool) (Result, search.Set[State]) {
	x, forms := newExplorer(w, b), search.NewSet[State]()
	symmetry := x.symmetry
	if !merge {
		x.symmetry = nil
	}
	seen := &noted{explorer: x, note: func(s State) {
		symmetry.canonical(&s)
		forms.Add(s)
	}}
	return search.Explore(w.Name, seen, Options{All: true}), forms
}

// noted tells each state that is expanded.
type noted struct {
	*explorer
	note func(State)
}

func (n *noted) Moves(s *State, yield func(*State, search.Breach)) {
	n.note(*s)
	n.explorer.Moves(s, yield)
}

// TestMergingLosesNothing: with and without merging states that differ in the names of the claims alone, a world reaches the same states up to
// those names, and breaks the same, with the product and with a mutant in it. Without merging there are about twice as many.
func TestMergingLosesNothing(t *testing.T) {
	w := world(t, "two-claims-unstamped")
	w.People, w.Stalls, w.StallEffects, w.StallLooks, w.Tenant = 2, 1, true, true, 0
	w.Harms = []Harm{WipeStatus}
	mutant := Production()
	noIntent(&mutant)
	for name, b := range map[string]Brain{"product": Production(), "mutant": mutant} {
		merged, forms := reach(w, b, true)
		all, allForms := reach(w, b, false)
		t.Logf("%s: %d states, %d merged", name, all.States, merged.States)
		if !merged.Complete || !all.Complete || merged.States != forms.Len() || forms.Len() != allForms.Len() {
			t.Errorf("%s: merged %d states of %d forms, else %d states of %d forms", name, merged.States, forms.Len(), all.States, allForms.Len())
		}
		if all.States < merged.States*3/2 {
			t.Errorf("%s: merging %d states to %d is worth nothing", name, all.States, merged.States)
		}
		if invariants(merged) != invariants(all) || (name == "mutant") != (len(all.Violations) > 0) {
			t.Errorf("%s: merged breaks %q, else %q", name, invariants(merged), invariants(all))
		}
	}
}

// invariants are those that break, in order.
func invariants(r Result) string {
	all := ""
	for _, name := range []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10"} {
		for _, v := range r.Violations {
			if v.Invariant == name {
				all += name + " "
				break
			}
		}
	}
	return all
}

// TestExchangingTwiceChangesNothing, in states that a world gets into.
func TestExchangingTwiceChangesNothing(t *testing.T) {
	w := world(t, "stalls")
	x := newExplorer(w, Production())
	symmetry := x.symmetry
	x.symmetry = nil
	seen := &noted{explorer: x, note: func(s State) {
		other := symmetry.exchanged(&s)
		if back := symmetry.exchanged(&other); back != s {
			t.Fatalf("exchanged twice:\n%+v\n%+v", s, back)
		}
	}}
	search.Explore(w.Name, seen, Options{MaxStates: 5000})
}
