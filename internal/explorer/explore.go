// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"slices"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// explorer explores one world with one brain.
type explorer struct {
	world World
	brain Brain
	bmc   *v1alpha1.BMC

	servers      table[*v1alpha1.Server]
	claims       table[*v1alpha1.ServerClaim]
	maintenances table[*v1alpha1.ServerMaintenance]

	serverChoices, claimChoices, maintenanceChoices choices

	same     map[[2]int32]bool
	pictures map[shot]id
	intents  map[id][]string
	memories map[id]memory
	rests    map[State]bool // states from which everything is known to come to rest

	backups   bool // some harm needs one
	harmBroke breach
}

func newExplorer(w World, b Brain) *explorer {
	x := &explorer{
		world: w, brain: b, bmc: newBMC(),
		servers: newTable[*v1alpha1.Server](), claims: newTable[*v1alpha1.ServerClaim](), maintenances: newTable[*v1alpha1.ServerMaintenance](),
		serverChoices: newChoices(), claimChoices: newChoices(), maintenanceChoices: newChoices(),
		same: map[[2]int32]bool{}, pictures: map[shot]id{}, intents: map[id][]string{}, memories: map[id]memory{}, rests: map[State]bool{},
	}
	x.backups = slices.ContainsFunc(w.Harms, Harm.needsBackup)
	return x
}

// Options bound an exploration.
type Options struct {
	// MaxStates ends an exploration that does not end by itself; 0: no bound.
	MaxStates int
	// Until ends it at a time; zero: none.
	Until time.Time
	// Rest checks that everything comes to rest (I6). It costs about as much again.
	Rest bool
	// All goes on after a violation, and keeps one of each kind; else the first ends it.
	All bool
}

// Result is what an exploration found.
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

// Violation is a broken invariant with the shortest path to it.
type Violation struct {
	Invariant string
	How       string
	Path      []Line
}

// node remembers how a state was reached: a path is played again to be told.
type node struct {
	parent int32
	nth    uint16 // which successor of its parent
}

// search is one exploration under way.
type search struct {
	*explorer
	options  Options
	seen     map[State]int32
	nodes    []node
	frontier []State
	numbers  []int32 // of the frontier's states
	result   Result
	told     map[string]bool
}

// Explore visits every state of a world within its budgets, shortest paths first, and reports what breaks.
func Explore(w World, b Brain, o Options) Result {
	start := time.Now()
	q := &search{explorer: newExplorer(w, b), options: o, seen: map[State]int32{}, told: map[string]bool{}}
	q.result.World = w.Name
	q.visit(q.initial(), node{parent: -1})
	q.result.Complete = q.run()
	q.result.States, q.result.Took = len(q.nodes), time.Since(start)
	q.result.Decisions = len(q.serverChoices.list) + len(q.claimChoices.list) + len(q.maintenanceChoices.list)
	return q.result
}

// run goes through the frontier, level by level; true where nothing is left.
func (q *search) run() bool {
	for len(q.frontier) > 0 {
		if q.world.Depth > 0 && q.result.Depth == q.world.Depth {
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

func (q *search) over(i int) bool {
	if len(q.result.Violations) > 0 && !q.options.All {
		return true
	}
	if q.options.MaxStates > 0 && len(q.nodes) >= q.options.MaxStates {
		return true
	}
	return i%1024 == 0 && !q.options.Until.IsZero() && time.Now().After(q.options.Until)
}

func (q *search) expand(s *State, number int32) {
	nth := uint16(0)
	q.successors(s, func(next *State, m move) {
		q.result.Transitions++
		here := node{parent: number, nth: nth}
		nth++
		if m.broken != unbroken {
			q.violated(m.broken, here)
			return
		}
		q.visit(*next, here)
	})
	if !q.options.Rest {
		return
	}
	if broken := q.restless(*s); broken != unbroken {
		q.violated(broken, node{parent: number, nth: noStep})
	}
}

// noStep marks a violation of a state itself.
const noStep = ^uint16(0)

func (q *search) visit(s State, from node) {
	s.tidy()
	if _, known := q.seen[s]; known {
		return
	}
	number := int32(len(q.nodes))
	q.seen[s] = number
	q.nodes = append(q.nodes, from)
	q.frontier = append(q.frontier, s)
	q.numbers = append(q.numbers, number)
}

// tidy gives states that mean the same the same form.
func (s *State) tidy() {
	if !s.lagging {
		s.lag = objects{}
	}
	if s.adverse == 0 {
		s.backup, s.old = false, objects{}
	}
}

func (q *search) violated(b breach, at node) { q.report(b, q.path(at), at.nth == noStep) }

// report keeps one violation of a kind, told as the path to it. Where it is one of the state itself, how things go on is told too.
func (q *search) report(b breach, path []uint16, ofState bool) {
	if q.told[b.invariant+b.how] {
		return
	}
	q.told[b.invariant+b.how] = true
	q.result.Violations = append(q.result.Violations, Violation{Invariant: b.invariant, How: b.how, Path: q.tell(path, ofState)})
}

// path are the steps from the start to a node.
func (q *search) path(at node) []uint16 {
	var steps []uint16
	if at.nth != noStep {
		steps = append(steps, at.nth)
	}
	for number := at.parent; number >= 0 && q.nodes[number].parent >= 0; number = q.nodes[number].parent {
		steps = append(steps, q.nodes[number].nth)
	}
	slices.Reverse(steps)
	return steps
}
