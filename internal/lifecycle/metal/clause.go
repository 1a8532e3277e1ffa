// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// clause is one line of a phase: a name, when it applies, and what is done then.
type clause struct {
	name string
	when func(*state) bool
	then func(*state) answer
	// carries is true where an intent that is open stays open: the clause carries it out, or waits for what it needs. Every other
	// clause that is reached with an intent open withdraws it (R3).
	carries bool
}

// steps are the clauses of a phase in order; the first that applies decides.
type steps []clause

// answer is a step and the reason that it gives for the object not being ready; nil for none.
type answer struct {
	lifecycle.Step
	gate *lifecycle.Gate
}

// decide gives the answer of the first clause that applies, and whether it carries an open intent. The last clause of every phase
// always applies.
func (list steps) decide(s *state) (answer, bool) {
	for _, c := range list {
		if c.when(s) {
			a := c.then(s)
			a.Clause = c.name
			return a, c.carries
		}
	}
	return settled("nothing applies"), false
}

// join puts lists after one another.
func join(lists ...steps) steps {
	var all steps
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// named puts a name before the names of all clauses.
func named(prefix string, list steps) steps {
	out := make(steps, len(list))
	for i, c := range list {
		c.name = prefix + "." + c.name
		out[i] = c
	}
	return out
}

// within makes clauses that apply only where when holds too.
func within(prefix string, when func(*state) bool, list steps) steps {
	out := make(steps, len(list))
	for i, c := range list {
		inner := c.when
		if prefix != "" {
			c.name = prefix + "." + c.name
		}
		c.when = func(s *state) bool { return when(s) && inner(s) }
		out[i] = c
	}
	return out
}

// carrying marks clauses under which an open intent stays open.
func carrying(list steps) steps {
	out := make(steps, len(list))
	for i, c := range list {
		c.carries = true
		out[i] = c
	}
	return out
}

func always(*state) bool { return true }

func not(p func(*state) bool) func(*state) bool { return func(s *state) bool { return !p(s) } }

func all(ps ...func(*state) bool) func(*state) bool {
	return func(s *state) bool {
		for _, p := range ps {
			if !p(s) {
				return false
			}
		}
		return true
	}
}

func either(ps ...func(*state) bool) func(*state) bool {
	return func(s *state) bool {
		for _, p := range ps {
			if p(s) {
				return true
			}
		}
		return false
	}
}
