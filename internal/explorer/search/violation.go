// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"strings"
)

// Violation is a broken invariant with the shortest path to it.
type Violation struct {
	Invariant string
	How       string
	Path      []Line
	// Replay says by what a walk finds it again; "" for what was not found by one.
	Replay string
}

// Line is one step of a path in words.
type Line struct {
	// Actor and Move say who did what.
	Actor, Move string
	// Changes are the objects and machines that the step changed, as they are after it.
	Changes []string
}

// Told remembers which kinds of violations were told: one of each is enough.
type Told map[string]bool

// Report adds a violation to a result, told as the path to it, unless one of its kind is there.
func (t Told) Report(into *Result, b Breach, path func() []Line) {
	if t[b.Invariant+b.How] {
		return
	}
	t[b.Invariant+b.How] = true
	into.Violations = append(into.Violations, Violation{Invariant: b.Invariant, How: b.How, Path: path()})
}

// String is the whole path, for people.
func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", v.Invariant, v.How)
	for i, line := range v.Path {
		fmt.Fprintf(&b, "%3d. %s: %s\n", i, line.Actor, line.Move)
		for _, change := range line.Changes {
			fmt.Fprintf(&b, "       %s\n", change)
		}
	}
	if v.Replay != "" {
		fmt.Fprintf(&b, "found again by %s\n", v.Replay)
	}
	return b.String()
}
