// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/racing"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

func world(t *testing.T, name string) World {
	t.Helper()
	w, known := WorldNamed(name)
	if !known {
		t.Fatalf("no world %q", name)
	}
	return w
}

// TestProductionBreaksNothing explores the smaller worlds to their end: I1, I4, I5, I6, I7, I8, I9 and I10 on every step. `make explore`
// explores all of them.
func TestProductionBreaksNothing(t *testing.T) {
	names := []string{"one-claim", "two-servers-aged", "two-servers-restored", "one-claim-http", "one-claim-media", "stalls-and-loss", "restart-and-loss", "two-claims-unstamped", "on-its-way-first"}
	if racing.Detected {
		names = []string{"two-servers-aged"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Explore(world(t, name), Production(), Options{Rest: true})
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
		if racing.Detected && m.Worlds[0] != "restore" {
			continue
		}
		switch m.Worlds[0] {
		case "one-claim", "one-claim-media", "stalls", "two-servers-aged", "two-servers-restored", "maintenance-approved", "restore", "deaf", "on-its-way", "on-its-way-first":
		default:
			continue
		}
		t.Run(m.Clause, func(t *testing.T) {
			t.Parallel()
			if c := Hunt(m, Options{}); !c.Caught && m.Behind == "" {
				t.Errorf("explored %d states of %s without it, and found nothing", c.Result.States, c.Result.World)
			}
		})
	}
}

// TestTheClausesOfTheContractAreMutants: these were each shown to be necessary, and must never silently leave the list. Those of virtual servers
// are in their own.
func TestTheClausesOfTheContractAreMutants(t *testing.T) {
	var clauses []string
	for _, m := range Mutants() {
		clauses = append(clauses, m.Clause)
	}
	for _, want := range []string{
		"a machine that is On and not explained is held (P13)", "decides again on a live read before an effect (P4)", "the effect's precondition is checked by the machine",
		"the Starting stage, before the first power-on", "`bound` is written before the first boot", "a server bound to by another claim is held (BoundElsewhere)",
		"the claim's UID in the intent", "the server that bears the claim is its choice (B049)", "a restart only once", "decides on live reads about claims (P10)",
		"a release only after a confirmed Off", "the stamp", "status is never read to decide: memory is in metadata (P1, P3)", "a claim that is missing is no release (P10)",
		"a written intent before a power-off (P6)", "nothing is bound while an intent is open (R2)",
	} {
		if !slices.Contains(clauses, want) {
			t.Errorf("no mutant without %q", want)
		}
	}
}

// TestEveryEffectIsReached: a world in which an effect never happens proves nothing about it.
func TestEveryEffectIsReached(t *testing.T) {
	if racing.Detected {
		t.Skip("explores several worlds; nothing in it is about goroutines")
	}
	reached := map[lifecycle.Op]bool{}
	for _, name := range []string{"one-claim", "one-claim-http", "one-claim-media", "stalls-and-loss", "restart", "deaf", "on-its-way"} {
		x := newExplorer(world(t, name), Production())
		search.Explore(name, x, search.Options{MaxStates: 20000})
		for _, c := range x.serverChoices.list {
			if c.step.Effect != nil {
				reached[c.step.Effect.Op] = true
			}
		}
	}
	for _, op := range []lifecycle.Op{
		lifecycle.OpPowerOn, lifecycle.OpShutDown, lifecycle.OpForceOff, lifecycle.OpConfirmOff, lifecycle.OpConfirmOn, lifecycle.OpSetBootOverride,
		lifecycle.OpClearBootOverride, lifecycle.OpInsertMedia, lifecycle.OpEjectMedia, lifecycle.OpWriteAssetTag,
	} {
		if !reached[op] {
			t.Errorf("no world reaches %s", op)
		}
	}
}

// TestExplorationIsTheSameEachTime: a path that is told is played again, so successors must come in the same order.
func TestExplorationIsTheSameEachTime(t *testing.T) {
	w := world(t, "two-servers-aged")
	first, second := Explore(w, Production(), Options{}), Explore(w, Production(), Options{})
	if first.States != second.States || first.Transitions != second.Transitions || first.Depth != second.Depth {
		t.Errorf("%d/%d/%d, then %d/%d/%d", first.States, first.Transitions, first.Depth, second.States, second.Transitions, second.Depth)
	}
}

// TestViolationIsTold: who did what, and what it changed, from the start to the broken invariant.
func TestViolationIsTold(t *testing.T) {
	b := Production()
	seeing(explainAll)(&b)
	r := Explore(world(t, "one-claim"), b, Options{})
	if len(r.Violations) != 1 {
		t.Fatalf("%d violations", len(r.Violations))
	}
	text := r.Violations[0].String()
	for _, want := range []string{"I1: a power-off under the workload of somebody", "0. world: one-claim", "ADVERSARY: switches on by hand", "monitor: looks", "-> ShutDown", "machine 1: shutting down"} {
		if !strings.Contains(text, want) {
			t.Errorf("the path does not tell %q:\n%s", want, text)
		}
	}
}

// TestBoundsEndAnExploration, and the result says so.
func TestBoundsEndAnExploration(t *testing.T) {
	w := world(t, "one-claim")
	if r := Explore(w, Production(), Options{MaxStates: 500}); r.Complete || r.States > 700 {
		t.Errorf("%d states, complete %v", r.States, r.Complete)
	}
	w.Depth = 5
	if r := Explore(w, Production(), Options{}); r.Complete || r.Depth != 5 {
		t.Errorf("depth %d, complete %v", r.Depth, r.Complete)
	}
}

// TestServerRefusesWhatTheRealOneRefuses: what a write may not change is refused here too, or paths would be explored that cannot be.
func TestServerRefusesWhatTheRealOneRefuses(t *testing.T) {
	x := newExplorer(World{Servers: 1, Claims: 1}, Production())
	deleted := available(0, x.world)
	deleted.DeletionTimestamp, deleted.Finalizers = deletion, []string{v1alpha1.FinalizerServer}
	claimed := available(0, x.world)
	claimed.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: namespace, Name: "a", Identity: "a", UID: "a-1"}
	launched := available(0, x.world)
	launched.Annotations[ledger.KeyProvisionedAt] = `{"id":"vm-1","at":"2026-01-01T00:00:00Z"}`
	refer := func(identity, uid string) *lifecycle.Patch {
		ref := v1alpha1.ClaimReference{Namespace: namespace, Name: "a", Identity: identity, UID: uid}
		return &lifecycle.Patch{ClaimRef: &lifecycle.RefChange[v1alpha1.ClaimReference]{To: &ref}}
	}
	for _, c := range []struct {
		name    string
		object  *v1alpha1.Server
		patch   *lifecycle.Patch
		refused bool
	}{
		{"identity is write-once", available(0, x.world), &lifecycle.Patch{Ledger: ledger.Entries{}.Identity("other")}, true},
		{"identity does not go", available(0, x.world), &lifecycle.Patch{Ledger: map[string]string{ledger.KeyIdentity: ""}}, true},
		{"a first launch does not go", launched, &lifecycle.Patch{Ledger: map[string]string{ledger.KeyProvisionedAt: ""}}, true},
		{"a first launch is remembered", available(0, x.world), &lifecycle.Patch{Ledger: ledger.Entries{}.ProvisionedAt(&ledger.Provisioned{ID: "vm-1", At: early(0)})}, false},
		{"no finalizer is added to what is being deleted", deleted, &lifecycle.Patch{AddFinalizer: "x"}, true},
		{"a claimRef does not become another's", claimed, refer("b", "b-1"), true},
		{"its UID is stamped anew", claimed, refer("a", "a-2"), false},
		{"the ledger changes", available(0, x.world), &lifecycle.Patch{Ledger: ledger.Entries{}.DirtySince(early(0))}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := x.writeServer(x.servers.Intern(c.object), c.patch); got.Refused != c.refused {
				t.Errorf("refused %v, want %v", got.Refused, c.refused)
			}
		})
	}
	if got := x.writeServer(x.servers.Intern(deleted), &lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerServer}); got.Next != absent {
		t.Error("an object being deleted stays without finalizers")
	}
}

// TestLatePassesAddNoTimes: what is written long after is dated as if it were early, so that time never adds states.
func TestLatePassesAddNoTimes(t *testing.T) {
	x := newExplorer(World{Servers: 1, Claims: 1}, Production())
	from := x.servers.Intern(available(0, x.world))
	soon := x.writeServer(from, &lifecycle.Patch{Ledger: ledger.Entries{}.DirtySince(early(1))})
	long := x.writeServer(from, &lifecycle.Patch{Ledger: ledger.Entries{}.DirtySince(late(1))})
	if soon != long {
		t.Error("two contents that differ only in how late they were written")
	}
}

// TestCompareAndSwapKnowsWhatCameBack: a write fails also where the content it was decided from stands again (ABA).
func TestCompareAndSwapKnowsWhatCameBack(t *testing.T) {
	before, after := State{}, State{}
	before.now.server[0], after.now.server[0] = 1, 2
	after.flight = flight{kind: claimWrites, slot: 0, target: 1}
	outrun(&before, &after)
	if after.flight.kind != noFlight {
		t.Error("a write that was overtaken can still succeed")
	}
	after.flight = flight{kind: effectStalls, slot: 0, target: 1}
	outrun(&before, &after)
	if after.flight.kind != effectStalls || after.flight.target != overtaken {
		t.Error("an effect on the wire is not recalled by a write; its record fails")
	}
	after.lagging, after.lag.server[0], before.lag.server[0] = true, 1, 1
	outrun(&before, &after)
	if after.stands(laggard, flight{slot: 0, target: 2}) {
		t.Error("a lagging cache writes over what it has not seen")
	}
}

// TestWalksAreReplayable: a seed gives the same walks; what is found on one is told from its start, and found again by what it says.
func TestWalksAreReplayable(t *testing.T) {
	w := WalkWorlds()[0]
	for _, v := range Walk(w, Production(), search.Walks{Seed: 1, Options: Options{MaxStates: 4000, Rest: true}}).Violations {
		t.Errorf("%s", v)
	}
	b := Production()
	seeing(explainAll)(&b)
	walks := search.Walks{Seed: 7, Options: Options{MaxStates: 40000}}
	first, second := Walk(w, b, walks), Walk(w, b, walks)
	if len(first.Violations) != 1 || len(second.Violations) != 1 {
		t.Fatalf("%d and %d violations", len(first.Violations), len(second.Violations))
	}
	found := first.Violations[0]
	if found.String() != second.Violations[0].String() || len(found.Path) < 3 {
		t.Errorf("one seed, two walks:\n%s\n%s", found, second.Violations[0])
	}
	var world string
	var step int
	if _, err := fmt.Sscanf(strings.ReplaceAll(found.Replay, ",", " "), "SEED=%d FROM=%d WORLD=%s step %d", &walks.Seed, &walks.From, &world, &step); err != nil {
		t.Fatalf("%q: %v", found.Replay, err)
	}
	walks.MaxStates = step
	again := Walk(w, b, walks)
	if len(again.Violations) != 1 || again.Violations[0].String() != found.String() {
		t.Errorf("%s is not found again by its own word", found)
	}
}

// TestPlanPrintsATable: a line for each world and each mutant, in the plan's order.
func TestPlanPrintsATable(t *testing.T) {
	w := world(t, "two-servers-aged")
	found := Mutant{Clause: "the server that bears the claim is its choice (B049)", Worlds: []string{w.Name}, Apply: claimMutants()[1].Apply}
	nothing := Mutant{Clause: "nothing", Worlds: []string{w.Name}, Apply: func(*Brain) {}}
	p := search.Plan{Worlds: []search.World{w.Planned()}, Mutants: []search.Mutant{found.Planned(), nothing.Planned()}}
	var out strings.Builder
	if p.Run(&out) {
		t.Error("a mutant that got away is no success")
	}
	r := Explore(w, Production(), Options{})
	for _, want := range []string{fmt.Sprint(r.States), fmt.Sprint(r.Transitions), "I8", "NOT FOUND"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// TestPageNamesWhatIsExplored: docs/explorer.md has a row for each world and each mutant, and none for what is not there.
func TestPageNamesWhatIsExplored(t *testing.T) {
	raw, err := os.ReadFile("../../docs/explorer.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, w := range Worlds() {
		want = append(want, fmt.Sprintf("| `%s` | %s |", w.Name, w.About))
	}
	for _, m := range Mutants() {
		want = append(want, fmt.Sprintf("| %s | `%s` |", m.Clause, strings.Join(m.Worlds, "`, `")))
	}
	rows := 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if slices.Contains(want, line) {
			rows++
		} else if strings.HasPrefix(line, "| `") {
			t.Errorf("a row for what is not explored: %s", line)
		}
	}
	if rows != len(want) {
		t.Errorf("%d rows of %d:\n%s", rows, len(want), strings.Join(want, "\n"))
	}
}
