// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// What looks at clouds found, and what follows for the next ones. A look of an older epoch changes nothing: the secret or the spec it went
// by is no longer the one of now.

// current says whether a visit still speaks of what is.
func (c *clouds) current(v *cloudVisit) bool {
	return v.entry.uid == v.uid && v.entry.epoch == v.epoch
}

// struck counts a failed look and sets the back-off. What the listings said is not built upon any more: the next one is full. false: the
// visit is outdated, nothing follows.
func (c *clouds) struck(v *cloudVisit, fail failure, now time.Time) (strikes, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.current(v) {
		return strikes{}, false
	}
	e := v.entry
	e.strikes.add(fail)
	e.gate = now.Add(jittered(c.cadence.retry(fail, e.strikes), c.random))
	e.denied = fail.locking
	e.due = earlier(e.due, e.gate)
	return e.strikes, true
}

// tells notes what the regions of a cloud and its servers tell from now on.
func (c *clouds) tells(v *cloudVisit, fail failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current(v) {
		v.entry.told = &fail
	}
}

// tellAgain plans another try after a failure could not be written everywhere.
func (c *clouds) tellAgain(v *cloudVisit, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current(v) && v.entry.told != nil {
		v.entry.retell = earlier(v.entry.retell, at)
	}
}

// askedAbout plans when to ask the cloud itself next: in its pace, or soon where the answer could not be written.
func (c *clouds) askedAbout(v *cloudVisit, owed bool, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.current(v) {
		return
	}
	pause := c.cadence.Clouds.About
	if owed {
		pause = min(pause, c.cadence.WriteDeadline)
	}
	v.entry.about = now.Add(jittered(pause, c.random))
}

// looked plans the next look after one that succeeded. owed: what it found could not all be told, or asked for.
func (c *clouds) looked(v *cloudVisit, learned *memory, owed bool, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.current(v) {
		return
	}
	e := v.entry
	e.strikes, e.gate, e.denied = strikes{}, time.Time{}, false
	e.told, e.retell = nil, time.Time{}
	e.memory = learned
	pause := jittered(c.cadence.Clouds.Slow, c.random)
	if owed || e.hurried() {
		pause = min(pause, doubled(c.cadence.Fast, e.looks, c.cadence.Clouds.Slow))
		e.looks++
	} else {
		e.looks = 0
	}
	e.due = earlier(e.due, now.Add(pause))
}

// saw notes that a look told of a server.
func (c *clouds) saw(server *v1alpha1.Server, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.member(server); m != nil {
		m.seen = now
	}
}

// expect notes the fingerprint of a region before it is written, so that its echo is known.
func (c *clouds) expect(server *v1alpha1.Server, digest uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.member(server); m != nil {
		m.digest = digest
	}
}

func (c *clouds) expectCloud(v *cloudVisit, digest uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v.entry.digest = digest
}

// postpone holds back a cloud whose visit came to nothing for a reason that its event is about to tell.
func (c *clouds) postpone(v *cloudVisit, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current(v) {
		v.entry.gate = now.Add(c.cadence.Fast)
	}
}
