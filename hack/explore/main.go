// SPDX-License-Identifier: Apache-2.0

// Command explore walks through every state of small worlds with the production decisions in them, and through the same worlds with
// one clause at a time taken away. It fails where the product breaks an invariant, and where a missing clause is not found.
//
//	go run ./hack/explore                       everything, within three minutes on two cores
//	WORLD=restore,snapshot go run ./hack/explore   some worlds, no mutants
//	MOVES=2 WORLD=one-claim go run ./hack/explore  two moves of the adversary on a path
//	DEPTH=20 ...                                paths of at most 20 steps
//	WALK=5m SEED=7 go run ./hack/explore        walks at random through a larger world
//	TELL=1 ...                                  the path by which each mutant was found
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/internal/explorer"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/explorer/vm"
)

func main() {
	world := flag.String("world", os.Getenv("WORLD"), "worlds to explore, comma-separated; none: all, and the mutants")
	moves := flag.Int("moves", number("MOVES"), "moves of the adversary on a path; 0: as the world says")
	depth := flag.Int("depth", number("DEPTH"), "longest path; 0: no bound")
	timeout := flag.Duration("timeout", 10*time.Minute, "when what is not done is cut short")
	walk := flag.Duration("walk", span("WALK"), "instead, walk at random for so long")
	seed := flag.Uint64("seed", uint64(max(1, number("SEED"))), "of the random walks")
	tell := flag.Bool("tell", os.Getenv("TELL") != "", "print the path by which each mutant was found")
	states := flag.Int("states", 6_000_000, "most states of one exploration")
	flag.Parse()

	if *walk > 0 {
		os.Exit(stroll(*seed, *walk))
	}
	plan, err := planFor(*world, *moves)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	plan.Tell = *tell
	plan.Options = search.Options{MaxStates: *states, Until: time.Now().Add(*timeout), Depth: *depth, Rest: true, All: true}
	start := time.Now()
	good := plan.Run(os.Stdout)
	fmt.Printf("\n%.0f s\n", time.Since(start).Seconds())
	if !good {
		os.Exit(1)
	}
}

// stroll walks at random and says what it found.
func stroll(seed uint64, long time.Duration) int {
	r := explorer.Walk(explorer.WalkWorld(), explorer.Production(), seed, explorer.Options{Until: time.Now().Add(long), Rest: true, All: true})
	fmt.Printf("seed %d: %d steps at random, %d violations, %.0f s\n", seed, r.Transitions, len(r.Violations), r.Took.Seconds())
	for _, v := range r.Violations {
		fmt.Printf("\n%s\n", v)
	}
	return min(1, len(r.Violations))
}

func span(variable string) time.Duration {
	d, _ := time.ParseDuration(os.Getenv(variable))
	return d
}

func number(variable string) int {
	n, _ := strconv.Atoi(os.Getenv(variable))
	return n
}

func planFor(names string, moves int) (search.Plan, error) {
	chosen := strings.Split(names, ",")
	var plan search.Plan
	for _, w := range worlds(moves) {
		if names == "" || slices.Contains(chosen, w.Name) {
			plan.Worlds = append(plan.Worlds, w)
		}
	}
	if names != "" {
		if len(plan.Worlds) < len(chosen) {
			return plan, fmt.Errorf("%q names a world that there is not; there are: %s", names, strings.Join(allNames(), ", "))
		}
		return plan, nil
	}
	for _, m := range explorer.Mutants() {
		plan.Mutants = append(plan.Mutants, m.Planned())
	}
	for _, m := range vm.Mutants() {
		plan.Mutants = append(plan.Mutants, m.Planned())
	}
	return plan, nil
}

// worlds are those of machines, then those of virtual servers.
func worlds(moves int) []search.World {
	var all []search.World
	for _, w := range explorer.Worlds() {
		if moves > 0 && w.Adverse > 0 {
			w.Adverse = moves
		}
		all = append(all, w.Planned())
	}
	for _, w := range vm.Worlds() {
		if moves > 0 && w.Adverse > 0 {
			w.Adverse = moves
		}
		all = append(all, w.Planned())
	}
	return all
}

func allNames() []string {
	var names []string
	for _, w := range worlds(0) {
		names = append(names, w.Name)
	}
	return names
}
