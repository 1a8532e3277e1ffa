// SPDX-License-Identifier: Apache-2.0

package chaos

import "sync"

// tally counts what was done, and keeps what went wrong with the campaign itself.
type tally struct {
	mu       sync.Mutex
	faults   map[string]map[string]int // by name and outcome
	answers  map[string]int            // of a person, by reason
	failures []string
	lines    []string
}

func (t *tally) count(fault, outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.faults == nil {
		t.faults = map[string]map[string]int{}
	}
	if t.faults[fault] == nil {
		t.faults[fault] = map[string]int{}
	}
	t.faults[fault][outcome]++
}

func (t *tally) answered(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers == nil {
		t.answers = map[string]int{}
	}
	t.answers[reason]++
}

// fail notes what makes the campaign worth nothing.
func (t *tally) fail(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, what)
}

func (t *tally) log(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
}

// names is a set of names.
type names struct {
	mu  sync.Mutex
	all map[string]bool
}

// add reports whether the name was not in it.
func (n *names) add(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil {
		n.all = map[string]bool{}
	}
	fresh := !n.all[name]
	n.all[name] = true
	return fresh
}

func (n *names) has(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all[name]
}

func (n *names) remove(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.all, name)
}
