// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"container/heap"
	"sync"
	"time"
)

// Appointment is something that will happen at a known time.
type Appointment struct {
	at    time.Time
	seq   uint64
	run   func(at time.Time)
	index int
}

// Agenda is the one lock and the one timer of a simulated world: appointments ordered by time, then by age.
// The world does everything between [Agenda.Enter] and the function that it returns.
type Agenda struct {
	clock Clock

	mu        sync.Mutex
	now       time.Time
	items     queue
	seq       uint64
	closed    bool
	armedFor  time.Time
	stopTimer func() bool
}

// NewAgenda makes an empty agenda.
func NewAgenda(c Clock) *Agenda { return &Agenda{clock: c, now: c.Now()} }

// Enter takes the lock, after everything that is due has been done. The returned function leaves:
//
//	defer agenda.Enter()()
func (a *Agenda) Enter() (leave func()) {
	a.mu.Lock()
	a.runDue()
	return a.leave
}

// Now is the clock as it was read on entering: one moment for all that happens under one lock.
func (a *Agenda) Now() time.Time { return a.now }

// Schedule has run called once the clock shows at, under the lock. It is handed the due time, not the time of
// the call, so that chains of steps keep their pace however late they are noticed.
func (a *Agenda) Schedule(at time.Time, run func(at time.Time)) *Appointment {
	a.seq++
	item := &Appointment{at: at, seq: a.seq, run: run}
	heap.Push(&a.items, item)
	return item
}

// Cancel forgets an appointment; nil and kept ones are fine.
func (a *Agenda) Cancel(item *Appointment) {
	if item != nil && item.index >= 0 {
		heap.Remove(&a.items, item.index)
	}
}

// Close does what is due and then nothing any more. It reports whether the agenda was open.
func (a *Agenda) Close() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.runDue()
	a.closed = true
	if a.stopTimer != nil {
		a.stopTimer()
	}
	return true
}

func (a *Agenda) leave() {
	a.runDue()
	a.arm()
	a.mu.Unlock()
}

func (a *Agenda) runDue() {
	a.now = a.clock.Now()
	for !a.closed && len(a.items) > 0 && !a.items[0].at.After(a.now) {
		item := heap.Pop(&a.items).(*Appointment)
		item.run(item.at)
	}
}

// arm sets the one timer to the earliest appointment.
func (a *Agenda) arm() {
	if a.closed || len(a.items) == 0 {
		return
	}
	next := a.items[0].at
	if a.stopTimer != nil {
		if !next.Before(a.armedFor) {
			return
		}
		a.stopTimer()
	}
	a.armedFor = next
	a.stopTimer = a.clock.AfterFunc(next.Sub(a.now), a.ring)
}

func (a *Agenda) ring() {
	a.mu.Lock()
	a.stopTimer = nil
	a.leave()
}

// queue implements heap.Interface.
type queue []*Appointment

func (q *queue) Len() int { return len(*q) }

func (q *queue) Less(i, j int) bool {
	a, b := (*q)[i], (*q)[j]
	if a.at.Equal(b.at) {
		return a.seq < b.seq
	}
	return a.at.Before(b.at)
}

func (q *queue) Swap(i, j int) {
	items := *q
	items[i], items[j] = items[j], items[i]
	items[i].index, items[j].index = i, j
}

func (q *queue) Push(x any) {
	item := x.(*Appointment)
	item.index = len(*q)
	*q = append(*q, item)
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	item := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	item.index = -1
	return item
}
