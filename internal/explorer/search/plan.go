// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"io"
	"runtime"
	"sync"
)

// World is one world to be explored with the product in it.
type World struct {
	Name    string
	Explore func(Options) Result
}

// Mutant is the product less one clause, to be hunted.
type Mutant struct {
	// Clause that is taken away.
	Clause string
	// Behind names what stands behind the clause, where nothing breaks without it alone; "": something must break.
	Behind string
	// Hunt explores the worlds in which it is looked for, one after the other, until one shows what is missing; else it gives the last.
	Hunt func(Options) Result
}

// Hunt explores the worlds named, in order, until one breaks; else it gives the last.
func Hunt(worlds []string, explore func(name string) Result) Result {
	var result Result
	for _, name := range worlds {
		if result = explore(name); len(result.Violations) > 0 {
			break
		}
	}
	return result
}

// Plan is what is to be explored.
type Plan struct {
	Worlds  []World
	Mutants []Mutant
	// Options of each exploration; a mutant's ends at its first violation, and says itself whether it checks for rest.
	Options Options
	// Tell prints also the path by which each mutant was found.
	Tell bool
}

// Run explores a plan, as many explorations at a time as there are processors, and prints a line for each in the plan's order. It
// returns whether all is as it must be: no violation in the product, no mutant that got away, nothing cut short.
func (p Plan) Run(out io.Writer) bool {
	good := true
	if len(p.Worlds) > 0 {
		fmt.Fprintf(out, "%-22s %9s %11s %9s %5s %10s %8s\n", "world", "states", "transitions", "decisions", "depth", "violations", "seconds")
	}
	var all Result
	inOrder(p.Worlds, func(w World) Result { return w.Explore(p.Options) }, func(w World, r Result) {
		good = good && r.Complete && len(r.Violations) == 0
		all.States, all.Transitions, all.Decisions = all.States+r.States, all.Transitions+r.Transitions, all.Decisions+r.Decisions
		fmt.Fprintf(out, "%-22s %9d %11d %9d %5d %10d %8.1f%s\n", w.Name, r.States, r.Transitions, r.Decisions, r.Depth, len(r.Violations), r.Took.Seconds(), cut(r))
		for _, v := range r.Violations {
			fmt.Fprintf(out, "\n%s\n", v)
		}
	})
	if len(p.Worlds) > 0 {
		fmt.Fprintf(out, "%-22s %9d %11d %9d\n", "all", all.States, all.Transitions, all.Decisions)
	}
	return p.hunt(out) && good
}

func (p Plan) hunt(out io.Writer) bool {
	if len(p.Mutants) == 0 {
		return true
	}
	fmt.Fprintf(out, "\n%-72s %-21s %-6s %5s %8s\n", "without this clause", "found by", "breaks", "steps", "seconds")
	good := true
	options := p.Options
	options.Rest, options.All = false, false
	inOrder(p.Mutants, func(m Mutant) Result { return m.Hunt(options) }, func(m Mutant, r Result) {
		caught := len(r.Violations) > 0
		if !caught && m.Behind != "" && r.Complete {
			fmt.Fprintf(out, "%-72s nothing breaks in %d states: behind it is %s\n", m.Clause, r.States, m.Behind)
			return
		}
		if !caught {
			good = false
			fmt.Fprintf(out, "%-72s NOT FOUND%s\n", m.Clause, cut(r))
			return
		}
		v := r.Violations[0]
		fmt.Fprintf(out, "%-72s %-21s %-6s %5d %8.1f\n", m.Clause, r.World, v.Invariant, len(v.Path)-1, r.Took.Seconds())
		if p.Tell {
			fmt.Fprintf(out, "\n%s\n", v)
		}
	})
	return good
}

// cut says that a result is not the whole.
func cut(r Result) string {
	if r.Complete || len(r.Violations) > 0 {
		return ""
	}
	return "  CUT SHORT"
}

// inOrder works on several at a time and tells the results in the order of what was asked.
func inOrder[T, R any](list []T, work func(T) R, tell func(T, R)) {
	results := make([]chan R, len(list))
	for i := range results {
		results[i] = make(chan R, 1)
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(1, len(list))) {
		workers.Go(func() {
			for i := range next {
				results[i] <- work(list[i])
			}
		})
	}
	go func() {
		for i := range list {
			next <- i
		}
		close(next)
	}()
	for i := range list {
		tell(list[i], <-results[i])
	}
	workers.Wait()
}
