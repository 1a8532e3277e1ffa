// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// fleet is when each BMC and each server behind it is to be looked at. It holds no facts: those are in the objects. All of it
// may be forgotten at any moment (a restart) at the cost of a few looks.
type fleet struct {
	cadence Cadence
	random  func() float64 // in [0, 1)

	mu      sync.Mutex
	bmcs    map[string]*entry
	servers map[string]string // name of a server → name of its BMC
	due     dueHeap
	// kick tells the scheduler that the earliest moment may have changed.
	kick chan struct{}
}

// entry is one BMC: the unit of scheduling, since it serves one request at a time. All of it is guarded by fleet.mu.
type entry struct {
	name     string
	uid      types.UID // of the BMC object; "" while there is none: then nothing is asked
	secret   string    // name of the credentials' secret
	machines map[string]*machine

	discovery time.Time // when to ask the BMC itself; zero: not planned
	gate      time.Time // no look before: the back-off
	denied    bool      // the gate protects an account: nothing but a change of secret or spec opens it
	strikes   strikes
	// told is the failure that the regions tell, nil while they tell none; retell is when to tell it again, without asking the
	// BMC: somebody took it out of a region, or a server came to it.
	told    *failure
	retell  time.Time
	leaving bool // the BMC object is gone: what is kept for it is to go too
	// epoch counts changes of secret and spec: what a visit of an older one found says nothing about this one.
	epoch    int
	expected uint64 // fingerprint of the region as this process left it

	visiting *visit // not nil while a visit is under way
	at       time.Time
	index    int // in the heap; -1 outside
}

// machine is one server.
type machine struct {
	uid       types.UID
	due       time.Time // zero: not planned, because a visit is about to look
	looks     int       // since the last change of ledger or spec: the rung of the ladder
	unsettled bool
	strikes   strikes
	inventory time.Time // when to read the hardware anew
	etag      string    // of the picture that expected is the fingerprint of
	expected  uint64
	told      bool      // the region tells a failure of this server alone
	owed      bool      // a picture is owed soon: one could not be written, or somebody else wrote the region
	seen      time.Time // last look that succeeded
}

func newFleet(cadence Cadence, random func() float64) *fleet {
	return &fleet{
		cadence: cadence,
		random:  random,
		bmcs:    map[string]*entry{},
		servers: map[string]string{},
		kick:    make(chan struct{}, 1),
	}
}

// entry returns the entry of a BMC, made if need be: servers may be seen before their BMC.
func (f *fleet) entry(name string) *entry {
	e, found := f.bmcs[name]
	if !found {
		e = &entry{name: name, machines: map[string]*machine{}, index: -1}
		f.bmcs[name] = e
	}
	return e
}

// plan puts an entry where it belongs in the heap, or drops it when nothing is left of it.
func (f *fleet) plan(e *entry) {
	if e.uid == "" && len(e.machines) == 0 && e.visiting == nil && !e.leaving {
		delete(f.bmcs, e.name)
	}
	e.at = e.next()
	switch {
	case e.at.IsZero() && e.index >= 0:
		heap.Remove(&f.due, e.index)
	case e.at.IsZero():
	case e.index >= 0:
		heap.Fix(&f.due, e.index)
	default:
		heap.Push(&f.due, e)
	}
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// next is when a BMC is to be visited; the zero time for not at all. The gate holds back what asks the BMC.
func (e *entry) next() time.Time {
	switch {
	case e.visiting != nil:
		return time.Time{}
	case e.leaving:
		return time.Unix(0, 0) // at once
	case e.uid == "":
		return time.Time{}
	}
	at := e.discovery
	for _, m := range e.machines {
		at = earlier(at, m.due)
	}
	if !at.IsZero() && at.Before(e.gate) {
		at = e.gate
	}
	return earlier(at, e.retell)
}

// idle is how long a fleet of which nothing is due waits for a change of plan.
const idle = time.Hour

// wait is how long nothing is due.
func (f *fleet) wait(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.due) == 0 {
		return idle
	}
	return f.due[0].at.Sub(now)
}

// begin takes the BMC that is due first and plans a visit of all that is due there. nil: nothing is due. The context of the
// visit ends with the BMC object, and when its secret or spec changes.
func (f *fleet) begin(ctx context.Context, now time.Time) (context.Context, *visit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.due) == 0 || f.due[0].at.After(now) {
		return ctx, nil
	}
	e := f.due[0]
	v := &visit{entry: e, bmc: e.name, uid: e.uid, epoch: e.epoch}
	ctx, v.cancel = context.WithCancel(ctx)
	e.visiting = v
	switch {
	case e.leaving:
		v.leave, e.leaving = true, false
	case !e.retell.IsZero() && !e.retell.After(now):
		v.retell, e.retell = e.told, time.Time{}
	default:
		e.assign(v, now)
	}
	f.plan(e)
	return ctx, v
}

// assign hands a visit all that is due.
func (e *entry) assign(v *visit, now time.Time) {
	if !e.discovery.IsZero() && !e.discovery.After(now) {
		v.discover, e.discovery = true, time.Time{}
	}
	for name, m := range e.machines {
		if !m.due.IsZero() && !m.due.After(now) {
			v.servers = append(v.servers, turn{server: name, due: m.due})
			m.due = time.Time{}
		}
	}
	// The one that waited longest first: a system that hangs goes behind the others of its BMC.
	slices.SortFunc(v.servers, func(a, b turn) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.server, b.server)) })
}

// end returns a BMC to the heap. What the visit was to do and did not come to is due still; the gate holds it where the BMC
// failed. It says whether the BMC is gone, so that what is kept for it has to go too.
func (f *fleet) end(v *visit, now time.Time) (gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v.cancel()
	e := v.entry
	e.visiting = nil
	if v.discover && e.discovery.IsZero() {
		e.discovery = now
	}
	for _, turn := range v.servers {
		if m, found := e.machines[turn.server]; found && m.due.IsZero() {
			m.due = now
		}
	}
	f.plan(e)
	return f.bmcs[e.name] == nil || f.bmcs[e.name].uid == ""
}

// dueHeap implements heap.Interface: the entry that is due first is on top.
type dueHeap []*entry

// Len implements heap.Interface.
func (h *dueHeap) Len() int { return len(*h) }

// Less implements heap.Interface.
func (h *dueHeap) Less(i, j int) bool { return (*h)[i].at.Before((*h)[j].at) }

// Swap implements heap.Interface.
func (h *dueHeap) Swap(i, j int) {
	entries := *h
	entries[i], entries[j] = entries[j], entries[i]
	entries[i].index, entries[j].index = i, j
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	e, _ := x.(*entry)
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.index = -1
	return e
}

// clear forgets everything, for a monitor that is started again.
func (f *fleet) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.bmcs)
	clear(f.servers)
	f.due = nil
}
