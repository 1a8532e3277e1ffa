// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// clouds is when each cloud is to be looked at. Like fleet it holds no facts but what the last listings said, to which listings of changes
// are added; all of it may be forgotten at any moment at the cost of one full listing.
type clouds struct {
	cadence Cadence
	random  func() float64 // in [0, 1)

	mu      sync.Mutex
	known   map[string]*cloudEntry
	servers map[string]string // name of a server → name of its Cloud
	// kick tells the scheduler that the earliest moment may have changed.
	kick chan struct{}
}

// cloudEntry is one cloud. All of it is guarded by clouds.mu, but for memory, which belongs to the look that is under way.
type cloudEntry struct {
	name    string
	uid     types.UID // of the Cloud object; "" while there is none: then nothing is asked
	secret  string    // name of the credentials' secret
	members map[string]*member

	due     time.Time // of the next look; zero: not planned
	about   time.Time // when to ask the cloud itself
	gate    time.Time // no look before: the back-off
	denied  bool      // the gate protects an account: nothing but a change of secret or spec opens it
	floor   time.Time // no look before: the one before it was a moment ago
	looks   int       // since the last change of a server's ledger or spec: the rung of the ladder
	strikes strikes
	// told is the failure that the regions tell, nil while they tell none; retell is when to tell it again without asking the cloud.
	told    *failure
	retell  time.Time
	leaving bool   // the Cloud object is gone: what is kept for it is to go too
	epoch   int    // counts changes of secret and spec
	digest  uint64 // fingerprint of the region as this process left it

	memory   *memory // nil: nothing was listed yet, or it is not to be trusted
	visiting *cloudVisit
}

// member is one server in a cloud.
type member struct {
	// object is the server as its last event showed it. A cache shares it: it is never modified.
	object    *v1alpha1.Server
	unsettled bool
	digest    uint64    // fingerprint of the region as this process left it
	seen      time.Time // last look that told of it
}

func newClouds(cadence Cadence, random func() float64) *clouds {
	return &clouds{
		cadence: cadence, random: random,
		known: map[string]*cloudEntry{}, servers: map[string]string{}, kick: make(chan struct{}, 1),
	}
}

// entry returns the entry of a cloud, made if need be: servers may be seen before their Cloud.
func (c *clouds) entry(name string) *cloudEntry {
	e, found := c.known[name]
	if !found {
		e = &cloudEntry{name: name, members: map[string]*member{}}
		c.known[name] = e
	}
	return e
}

// planned drops an entry of which nothing is left, and tells the scheduler to look at the plan.
func (c *clouds) planned(e *cloudEntry) {
	if e.uid == "" && len(e.members) == 0 && e.visiting == nil && !e.leaving {
		delete(c.known, e.name)
	}
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// next is when a cloud is to be visited; the zero time for not at all.
func (e *cloudEntry) next() time.Time {
	switch {
	case e.visiting != nil:
		return time.Time{}
	case e.leaving:
		return time.Unix(0, 0) // at once
	case e.uid == "":
		return time.Time{}
	}
	at := e.about
	if len(e.members) > 0 {
		at = earlier(at, e.due)
	}
	if !at.IsZero() {
		at = later(at, later(e.gate, e.floor))
	}
	return earlier(at, e.retell)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// first is the cloud that is due first, nil where none ever is. There are few.
func (c *clouds) first() (*cloudEntry, time.Time) {
	var first *cloudEntry
	var at time.Time
	for _, e := range c.known {
		if due := e.next(); !due.IsZero() && (at.IsZero() || due.Before(at)) {
			first, at = e, due
		}
	}
	return first, at
}

// wait is how long nothing is due.
func (c *clouds) wait(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, at := c.first()
	if at.IsZero() {
		return idle
	}
	return at.Sub(now)
}

// cloudVisit is one go at one cloud.
type cloudVisit struct {
	entry   *cloudEntry
	cancel  context.CancelFunc
	cloud   string
	uid     types.UID // of the Cloud object
	epoch   int
	began   time.Time
	about   bool               // ask the cloud itself
	servers []*v1alpha1.Server // its members, sorted by name; shared with a cache
	hurried bool               // one of them is unsettled
	memory  *memory
	retell  *failure // not nil: tell this failure again, and ask nothing
	leave   bool     // the Cloud object is gone: drop what is kept for it
}

// begin takes the cloud that is due first. nil: none is due. The servers are taken now, before the cloud is asked anything, and with them
// the intents that are open (R4). The context of the visit ends with the Cloud object, and when its secret or spec changes.
func (c *clouds) begin(ctx context.Context, now time.Time) (context.Context, *cloudVisit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, at := c.first()
	if e == nil || at.After(now) {
		return ctx, nil
	}
	v := &cloudVisit{entry: e, cloud: e.name, uid: e.uid, epoch: e.epoch, began: now}
	ctx, v.cancel = context.WithCancel(ctx)
	e.visiting = v
	switch {
	case e.leaving:
		v.leave, e.leaving = true, false
		return ctx, v
	case !e.retell.IsZero() && !e.retell.After(now):
		v.retell, e.retell = e.told, time.Time{}
	default:
		v.about = !e.about.After(now)
		v.memory, e.memory = e.memory, nil
		e.due = time.Time{}
	}
	for _, name := range slices.Sorted(maps.Keys(e.members)) {
		v.servers = append(v.servers, e.members[name].object)
		v.hurried = v.hurried || e.members[name].unsettled
	}
	return ctx, v
}

// end makes a cloud free for its next visit. It says whether the cloud is gone, so that what is kept for it has to go too.
func (c *clouds) end(v *cloudVisit, now time.Time) (gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v.cancel()
	e := v.entry
	e.visiting = nil
	if v.retell == nil && e.due.IsZero() {
		e.due = now // what the visit was to do and did not come to
	}
	if v.retell == nil {
		e.floor = later(v.began.Add(c.cadence.Clouds.Floor), now.Add(min(now.Sub(v.began), c.cadence.Clouds.Slow)))
	}
	c.planned(e)
	return c.known[e.name] == nil || c.known[e.name].uid == ""
}

// clear forgets everything, for a monitor that is started again.
func (c *clouds) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.known)
	clear(c.servers)
}

// census counts clouds as fleet.census does BMCs.
func (c *clouds) census(now time.Time) census {
	c.mu.Lock()
	defer c.mu.Unlock()
	var counted census
	for _, e := range c.known {
		if at := e.next(); e.visiting != nil {
			counted.visiting++
		} else if !at.IsZero() && !at.After(now) {
			counted.waiting++
		}
		for _, m := range e.members {
			if !m.seen.IsZero() {
				counted.ages = append(counted.ages, now.Sub(m.seen))
			}
		}
	}
	return counted
}
