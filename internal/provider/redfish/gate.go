// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"slices"
	"sync"
)

// priority orders those who wait for a BMC's lane; within one priority it is first come, first served.
type priority int

const (
	// looking waits behind all others: a look is late at worst.
	looking priority = iota
	// acting overtakes every waiting look, so that an effect is delayed by one request at most (B236).
	acting
	// leaving closes the session of replaced credentials before anyone opens the next (B163).
	leaving

	priorities = int(leaving) + 1
)

// gate is the lane to one BMC: one holder at a time, the highest priority next. The zero value is free.
type gate struct {
	mu      sync.Mutex
	taken   bool
	waiting [priorities][]chan struct{}
}

// ticket is a place in the queue of a gate.
type ticket struct {
	gate  *gate
	turn  chan struct{} // closed when the turn has come
	class priority
}

// enqueue takes a place in the queue; wait must be called on the ticket, and leave after a wait without error.
func (g *gate) enqueue(p priority) *ticket {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := &ticket{gate: g, turn: make(chan struct{}), class: p}
	if !g.taken {
		g.taken = true
		close(t.turn)
		return t
	}
	g.waiting[p] = append(g.waiting[p], t.turn)
	return t
}

// wait blocks until the turn has come. With an error the place is given up, and leave must not be called.
func (t *ticket) wait(ctx context.Context) error {
	select {
	case <-t.turn:
		return nil
	default:
	}
	select {
	case <-t.turn:
		return nil
	case <-ctx.Done():
		t.giveUp()
		return context.Cause(ctx)
	}
}

// giveUp leaves the queue; a turn that came in the same moment is handed on.
func (t *ticket) giveUp() {
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	queue := g.waiting[t.class]
	if i := slices.Index(queue, t.turn); i >= 0 {
		g.waiting[t.class] = slices.Delete(queue, i, i+1)
		return
	}
	g.handOn()
}

// leave frees the lane for the next in line.
func (t *ticket) leave() {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	t.gate.handOn()
}

func (g *gate) handOn() {
	for p := priorities - 1; p >= 0; p-- {
		if len(g.waiting[p]) > 0 {
			next := g.waiting[p][0]
			g.waiting[p] = slices.Delete(g.waiting[p], 0, 1)
			close(next)
			return
		}
	}
	g.taken = false
}
