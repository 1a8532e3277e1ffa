// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"container/heap"
	"time"
)

// appointment is something a machine or BMC will do at a known time.
type appointment struct {
	at    time.Time
	seq   uint64
	run   func(at time.Time)
	index int
}

// agenda is the one timer wheel of a rack: a heap of appointments, ordered by time, then by age.
type agenda struct {
	items []*appointment
	seq   uint64
}

func (a *agenda) Len() int { return len(a.items) }

func (a *agenda) Less(i, j int) bool {
	if a.items[i].at.Equal(a.items[j].at) {
		return a.items[i].seq < a.items[j].seq
	}
	return a.items[i].at.Before(a.items[j].at)
}

func (a *agenda) Swap(i, j int) {
	a.items[i], a.items[j] = a.items[j], a.items[i]
	a.items[i].index, a.items[j].index = i, j
}

func (a *agenda) Push(x any) {
	item := x.(*appointment)
	item.index = len(a.items)
	a.items = append(a.items, item)
}

func (a *agenda) Pop() any {
	last := len(a.items) - 1
	item := a.items[last]
	a.items[last] = nil
	a.items = a.items[:last]
	item.index = -1
	return item
}

// schedule has run called once the clock shows at. It is handed the due time, not the time of the call,
// so that chains of steps keep their pace however late they are noticed.
func (r *Rack) schedule(at time.Time, run func(at time.Time)) *appointment {
	r.agenda.seq++
	item := &appointment{at: at, seq: r.agenda.seq, run: run}
	heap.Push(&r.agenda, item)
	return item
}

// cancel forgets an appointment; nil and kept ones are fine.
func (r *Rack) cancel(item *appointment) {
	if item != nil && item.index >= 0 {
		heap.Remove(&r.agenda, item.index)
	}
}

// enter takes the rack's lock, after everything that is due has been done. The returned function leaves:
//
//	defer r.enter()()
func (r *Rack) enter() (leave func()) {
	r.mu.Lock()
	r.runDue()
	return r.leave
}

func (r *Rack) leave() {
	r.runDue()
	r.arm()
	r.mu.Unlock()
}

// runDue reads the clock, once for all that follows under the lock, and does what is due by then.
func (r *Rack) runDue() {
	r.now = r.clock.Now()
	for len(r.agenda.items) > 0 && !r.agenda.items[0].at.After(r.now) {
		item := heap.Pop(&r.agenda).(*appointment)
		item.run(item.at)
	}
}

// arm sets the one timer to the earliest appointment.
func (r *Rack) arm() {
	if r.closed || len(r.agenda.items) == 0 {
		return
	}
	next := r.agenda.items[0].at
	if r.stopTimer != nil {
		if !next.Before(r.armedFor) {
			return
		}
		r.stopTimer()
	}
	r.armedFor = next
	r.stopTimer = r.clock.AfterFunc(next.Sub(r.now), r.ring)
}

func (r *Rack) ring() {
	r.mu.Lock()
	r.stopTimer = nil
	r.leave()
}
