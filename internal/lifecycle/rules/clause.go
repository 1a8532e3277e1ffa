// SPDX-License-Identifier: Apache-2.0

package rules

// Clause is one line of a phase: a name, when it applies, and what is done then. S is what its predicates look at.
type Clause[S any] struct {
	Name string
	When func(S) bool
	Then func(S) Answer
	// Carries is true where an intent that is open stays open: the clause carries it out, or waits for what it needs. Every other
	// clause that is reached with an intent open withdraws it (R3).
	Carries bool
}

// Steps are the clauses of a phase in order; the first that applies decides.
type Steps[S any] []Clause[S]

// Decide gives the answer of the first clause that applies, and whether it carries an open intent. Where none applies the answer bears
// no clause; the last clause of every phase always applies.
func (list Steps[S]) Decide(s S) (Answer, bool) {
	for _, c := range list {
		if c.When(s) {
			a := c.Then(s)
			a.Clause = c.Name
			return a, c.Carries
		}
	}
	return Settled("nothing applies"), false
}

// Join puts lists after one another.
func Join[S any](lists ...Steps[S]) Steps[S] {
	var all Steps[S]
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// Named puts a name before the names of all clauses.
func Named[S any](prefix string, list Steps[S]) Steps[S] {
	return each(list, func(c *Clause[S]) { c.Name = prefix + "." + c.Name })
}

// Within makes clauses that apply only where when holds too. A prefix of "" leaves their names alone.
func Within[S any](prefix string, when func(S) bool, list Steps[S]) Steps[S] {
	return each(list, func(c *Clause[S]) {
		if prefix != "" {
			c.Name = prefix + "." + c.Name
		}
		c.When = All(when, c.When)
	})
}

// Carrying marks clauses under which an open intent stays open.
func Carrying[S any](list Steps[S]) Steps[S] {
	return each(list, func(c *Clause[S]) { c.Carries = true })
}

// Answering changes what the clauses answer.
func Answering[S any](change func(S, Answer) Answer, list Steps[S]) Steps[S] {
	return each(list, func(c *Clause[S]) {
		inner := c.Then
		c.Then = func(s S) Answer { return change(s, inner(s)) }
	})
}

// Lift makes clauses about what every server has into clauses about a kind of server.
func Lift[S Subject](list Steps[*State]) Steps[S] {
	out := make(Steps[S], len(list))
	for i, c := range list {
		out[i] = Clause[S]{
			Name: c.Name, Carries: c.Carries,
			When: func(s S) bool { return c.When(s.Common()) },
			Then: func(s S) Answer { return c.Then(s.Common()) },
		}
	}
	return out
}

func each[S any](list Steps[S], change func(*Clause[S])) Steps[S] {
	out := make(Steps[S], len(list))
	for i, c := range list {
		change(&c)
		out[i] = c
	}
	return out
}

// Always applies.
func Always[S any](S) bool { return true }

// Not turns a predicate round.
func Not[S any](p func(S) bool) func(S) bool { return func(s S) bool { return !p(s) } }

// All holds where every one of the predicates does. They are asked in order.
func All[S any](ps ...func(S) bool) func(S) bool {
	return func(s S) bool {
		for _, p := range ps {
			if !p(s) {
				return false
			}
		}
		return true
	}
}

// Either holds where one of the predicates does.
func Either[S any](ps ...func(S) bool) func(S) bool {
	return func(s S) bool {
		for _, p := range ps {
			if p(s) {
				return true
			}
		}
		return false
	}
}
