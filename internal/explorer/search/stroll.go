// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// Stroll is one world to be walked at random with the product in it.
type Stroll struct {
	Name string
	Walk func(Walks) Result
}

// Strolls are walks at random through several worlds.
type Strolls struct {
	Worlds []Stroll
	// Walks are the bounds of each world's; where Long is set, it is how long all of them take together.
	Walks Walks
	Long  time.Duration
}

// Run walks, in as many worlds at a time as there are processors, and prints a line for each. It returns whether nothing broke.
func (p Strolls) Run(out io.Writer) bool {
	if len(p.Worlds) == 0 {
		return true
	}
	fmt.Fprintf(out, "\n%-22s %9s %11s %9s %5s %10s %8s\n", "walked at random", "seed", "steps", "decisions", "depth", "violations", "seconds")
	good := true
	inOrder(p.Worlds, func(w Stroll) Result { return w.Walk(p.bounds()) }, func(w Stroll, r Result) {
		good = good && len(r.Violations) == 0
		fmt.Fprintf(out, "%-22s %9d %11d %9d %5d %10d %8.1f\n", w.Name, p.Walks.Seed, r.Transitions, r.Decisions, r.Depth, len(r.Violations), r.Took.Seconds())
		for _, v := range r.Violations {
			fmt.Fprintf(out, "\n%s\n", v)
		}
	})
	return good
}

// bounds are those of a world's walks that begin now.
func (p Strolls) bounds() Walks {
	w := p.Walks
	if p.Long > 0 {
		atATime := min(runtime.GOMAXPROCS(0), len(p.Worlds))
		w.Until = time.Now().Add(p.Long * time.Duration(atATime) / time.Duration(len(p.Worlds)))
	}
	return w
}
