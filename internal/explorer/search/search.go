// SPDX-License-Identifier: Apache-2.0

// Package search walks, breadth first and to the end, through every state that a game can get into, and tells each rule that breaks as the
// shortest path to it.
package search

import (
	"slices"
	"time"
)

// Breach is a rule that a step, or a state, breaks, and how. The zero value is none.
type Breach struct{ Invariant, How string }

// Game is what is searched. S is a state: a value without pointers, so that equal states are the same state.
type Game[S comparable] interface {
	// Start is the state that everything begins in.
	Start() S
	// Tidy gives states that mean the same the same form.
	Tidy(*S)
	// Moves yields all successors of a state, always in the same order. The successor may be changed and kept by nobody.
	Moves(s *S, yield func(next *S, broken Breach))
	// Restless says what is wrong with a state from which things do not come to rest once nobody interferes any more.
	Restless(S) Breach
	// Tell plays a path again, and puts it into words.
	Tell(path []uint16) []Line
	// TellRest is Tell, and how things go on from there when nobody interferes any more.
	TellRest(path []uint16) []Line
	// Decisions is how many distinct views were decided about so far.
	Decisions() int
}

// Options bound a search.
type Options struct {
	// MaxStates ends a search that does not end by itself; 0: no bound.
	MaxStates int
	// Until ends it at a time; zero: none.
	Until time.Time
	// Depth bounds the length of a path; 0: none.
	Depth int
	// Rest checks that everything comes to rest (I6). It costs about as much again.
	Rest bool
	// All goes on after a violation, and keeps one of each kind; else the first ends it.
	All bool
}

// Result is what a search found.
type Result struct {
	World       string
	States      int
	Transitions int
	// Decisions is how many distinct views were decided about.
	Decisions int
	Depth     int
	// Complete is false where a bound ended it.
	Complete   bool
	Violations []Violation
	Took       time.Duration
}

// node remembers how a state was reached: a path is played again to be told.
type node struct {
	parent int32
	nth    uint16 // which successor of its parent
}

// NoStep marks a violation of a state itself.
const NoStep = ^uint16(0)

// searching is one search under way.
type searching[S comparable] struct {
	game     Game[S]
	options  Options
	seen     Set[S]
	nodes    []node
	frontier []S
	numbers  []int32 // of the frontier's states
	result   Result
	told     Told
}

// Explore visits every state of a game within the bounds, shortest paths first, and reports what breaks.
func Explore[S comparable](world string, game Game[S], o Options) Result {
	start := time.Now()
	q := &searching[S]{game: game, options: o, seen: NewSet[S](), told: Told{}}
	q.result.World = world
	q.visit(game.Start(), node{parent: -1})
	q.result.Complete = q.run()
	q.result.States, q.result.Took = len(q.nodes), time.Since(start)
	q.result.Decisions = game.Decisions()
	return q.result
}

// run goes through the frontier, level by level; true where nothing is left.
func (q *searching[S]) run() bool {
	for len(q.frontier) > 0 {
		if q.options.Depth > 0 && q.result.Depth == q.options.Depth {
			return false
		}
		states, numbers := q.frontier, q.numbers
		q.frontier, q.numbers = nil, nil
		for i := range states {
			q.expand(&states[i], numbers[i])
			if q.over(i) {
				return false
			}
		}
		q.result.Depth++
	}
	return true
}

func (q *searching[S]) over(i int) bool {
	if q.options.MaxStates > 0 && len(q.nodes) >= q.options.MaxStates {
		return true
	}
	return q.options.Over(q.result, i)
}

// Over says whether a search ends after its i-th state: at its first violation, or at a time, which is looked at now and then.
func (o Options) Over(r Result, i int) bool {
	if len(r.Violations) > 0 && !o.All {
		return true
	}
	return i%1024 == 0 && !o.Until.IsZero() && time.Now().After(o.Until)
}

func (q *searching[S]) expand(s *S, number int32) {
	nth := uint16(0)
	q.game.Moves(s, func(next *S, broken Breach) {
		q.result.Transitions++
		here := node{parent: number, nth: nth}
		nth++
		if broken != (Breach{}) {
			q.violated(broken, here)
			return
		}
		q.visit(*next, here)
	})
	if !q.options.Rest {
		return
	}
	if broken := q.game.Restless(*s); broken != (Breach{}) {
		q.violated(broken, node{parent: number, nth: NoStep})
	}
}

func (q *searching[S]) visit(s S, from node) {
	q.game.Tidy(&s)
	if !q.seen.Add(s) {
		return
	}
	number := int32(len(q.nodes))
	q.nodes = append(q.nodes, from)
	q.frontier = append(q.frontier, s)
	q.numbers = append(q.numbers, number)
}

func (q *searching[S]) violated(b Breach, at node) {
	tell := q.game.Tell
	if at.nth == NoStep { // what breaks is the last state itself
		tell = q.game.TellRest
	}
	q.told.Report(&q.result, b, func() []Line { return tell(q.path(at)) })
}

// path are the steps from the start to a node.
func (q *searching[S]) path(at node) []uint16 {
	var steps []uint16
	if at.nth != NoStep {
		steps = append(steps, at.nth)
	}
	for number := at.parent; number >= 0 && q.nodes[number].parent >= 0; number = q.nodes[number].parent {
		steps = append(steps, q.nodes[number].nth)
	}
	slices.Reverse(steps)
	return steps
}
