// SPDX-License-Identifier: Apache-2.0

package search

import "hash/maphash"

// mark is the fingerprint of a state: 128 bits, of two independent hashes. Among ten million states the chance that any two meet in one is
// less than one in 10^24, and a set of them takes a tenth of the memory of the states themselves.
type mark [2]uint64

var halves = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func markOf[S comparable](s S) mark {
	return mark{maphash.Comparable(halves[0], s), maphash.Comparable(halves[1], s)}
}

// Set is a set of states.
type Set[S comparable] struct{ marks map[mark]struct{} }

// NewSet is a set without any.
func NewSet[S comparable]() Set[S] { return Set[S]{marks: map[mark]struct{}{}} }

// Has says whether a state is in the set.
func (t Set[S]) Has(s S) bool {
	_, known := t.marks[markOf(s)]
	return known
}

// Add puts a state in, and says whether it is new there.
func (t Set[S]) Add(s S) bool {
	before := len(t.marks)
	t.marks[markOf(s)] = struct{}{}
	return len(t.marks) > before
}

// Len is how many states are in the set.
func (t Set[S]) Len() int { return len(t.marks) }
