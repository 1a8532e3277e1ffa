// SPDX-License-Identifier: Apache-2.0

// Command explore walks through every state of small worlds with the production decisions in them, and through the same worlds with
// one clause at a time taken away; then at random through larger ones. It fails where the product breaks an invariant, and where a missing
// clause is not found.
//
//	go run ./hack/explore                          everything
//	WORLD=restore,snapshot go run ./hack/explore   some worlds, no mutants
//	MOVES=2 WORLD=one-claim go run ./hack/explore  two moves of the adversary on a path
//	KINDS=every ...                                of every kind that there is, in each world
//	DEPTH=20 ...                                   paths of at most 20 steps
//	WALK=5m SEED=7 go run ./hack/explore           walks at random only, for so long
//	SEED=7 FROM=12 WORLD=walk ...                  that one walk again
//	TELL=1 ...                                     the path by which each mutant was found
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/holdfast-dev/holdfast/internal/explorer/search"
)

// What a run does besides where nothing else is asked for: so many steps of each walk at random.
const stepsOfAWalk = 20_000

func main() {
	debug.SetGCPercent(400) // states are kept to the end: there is little to collect
	var o options
	flag.StringVar(&o.worlds, "world", os.Getenv("WORLD"), "worlds to explore or to walk, comma-separated; none: all, and the mutants")
	flag.IntVar(&o.moves, "moves", number("MOVES"), "moves of the adversary on a path; 0: as the world says")
	flag.StringVar(&o.kinds, "kinds", os.Getenv("KINDS"), "kinds of moves of the adversary: every, or as the world says")
	flag.DurationVar(&o.walk, "walk", span("WALK"), "instead, walk at random for so long")
	flag.Uint64Var(&o.seed, "seed", uint64(max(1, number("SEED"))), "of the random walks")
	from := flag.String("from", os.Getenv("FROM"), "the one random walk to take again, by its number")
	depth := flag.Int("depth", number("DEPTH"), "longest path; 0: no bound")
	timeout := flag.Duration("timeout", 30*time.Minute, "when what is not done is cut short")
	tell := flag.Bool("tell", os.Getenv("TELL") != "", "print the path by which each mutant was found")
	states := flag.Int("states", 6_000_000, "most states of one exploration")
	flag.Parse()

	plan, strolls, err := o.plan()
	if err == nil && *from != "" {
		strolls.Walks.From, err = strconv.ParseUint(*from, 10, 64)
		strolls.Walks.MaxStates, strolls.Long = 1, 0
		plan = search.Plan{}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	start := time.Now()
	plan.Tell = *tell
	plan.Options = search.Options{MaxStates: *states, Until: start.Add(*timeout), Depth: *depth, Rest: true, All: true}
	good := plan.Run(os.Stdout)
	good = strolls.Run(os.Stdout) && good
	fmt.Printf("\n%.0f s\n", time.Since(start).Seconds())
	if !good {
		os.Exit(1)
	}
}

func span(variable string) time.Duration {
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		refused(variable, err)
	}
	return d
}

func number(variable string) int {
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		refused(variable, err)
	}
	return n
}

// refused ends a run that was asked for in a way that cannot be read: a default in its place would be another run than was asked for.
func refused(variable string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", variable, err)
	os.Exit(2)
}
