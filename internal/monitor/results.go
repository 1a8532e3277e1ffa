// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"maps"
	"slices"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// What visits found, and what follows for the next ones. A visit of an older epoch changes nothing: the secret or the spec it
// went by is no longer the one of now.

// current says whether a visit still speaks of what is.
func (f *fleet) current(v *visit) bool {
	return v.entry.uid == v.uid && v.entry.epoch == v.epoch
}

// discovered plans the next discovery.
func (f *fleet) discovered(v *visit, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.current(v) {
		return
	}
	e := v.entry
	if e.told != nil {
		for _, m := range e.machines {
			m.due = earlier(m.due, now) // each was told unreachable with its BMC
		}
	}
	e.strikes, e.gate, e.denied = strikes{}, time.Time{}, false
	e.told, e.retell = nil, time.Time{}
	e.discovery = earlier(e.discovery, now.Add(jittered(f.cadence.Discovery, f.random)))
}

// bmcStruck counts a failure of the BMC as a whole and sets the back-off; the next visit begins with a discovery, which decides
// whether it was the BMC or one system. false: the visit is outdated, nothing follows.
func (f *fleet) bmcStruck(v *visit, fail failure, now time.Time) (strikes, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.current(v) {
		return strikes{}, false
	}
	e := v.entry
	e.strikes.add(fail)
	e.gate = now.Add(jittered(f.cadence.retry(fail, e.strikes), f.random))
	e.denied = fail.locking
	e.discovery = earlier(e.discovery, e.gate)
	return e.strikes, true
}

// tells notes what the regions of a BMC and its servers tell from now on, and returns the names of those servers.
func (f *fleet) tells(v *visit, fail failure) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.current(v) {
		return nil
	}
	v.entry.told = &fail
	return slices.Sorted(maps.Keys(v.entry.machines))
}

// tellAgain plans another try after a failure could not be written everywhere.
func (f *fleet) tellAgain(v *visit, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current(v) && v.entry.told != nil {
		v.entry.retell = earlier(v.entry.retell, at)
	}
}

// rediscover plans a discovery soon after one that could not be written.
func (f *fleet) rediscover(v *visit, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current(v) {
		v.entry.discovery = earlier(v.entry.discovery, at)
	}
}

// question is how a server is to be looked at.
type question struct {
	etag      string
	inventory bool
	media     bool
}

// question asks for the hardware where it is not known or old. The ETag is used only while the region still is what the
// picture behind it made it: NotModified then says that the region is true, and never keeps a wiped or older one (I5).
func (f *fleet) question(server *v1alpha1.Server, now time.Time) question {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.machine(server.Name)
	if m == nil || m.uid != server.UID {
		return question{inventory: true}
	}
	observed := server.Status.Observed
	if observed == nil || observed.Hardware == nil || !now.Before(m.inventory) {
		return question{inventory: true}
	}
	if fingerprint(observed) != m.expected {
		return question{}
	}
	return question{etag: m.etag}
}

// expect notes the fingerprint of a region before it is written, so that its echo is known. The ETag goes: it belonged to the
// region before, and looked hands in the one that goes with what was written.
func (f *fleet) expect(server *v1alpha1.Server, digest uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.machine(server.Name); m != nil && m.uid == server.UID {
		m.expected, m.etag = digest, ""
	}
}

func (f *fleet) expectBMC(v *visit, digest uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v.entry.expected = digest
}

// look is a look at a server that succeeded.
type look struct {
	asked  question
	etag   string
	result writeResult
}

// looked plans the next look at a server after one that succeeded. It says whether the server has recovered from failures of
// its own.
func (f *fleet) looked(server *v1alpha1.Server, l look, now time.Time) (recovered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.machine(server.Name)
	if m == nil || m.uid != server.UID {
		return false
	}
	recovered, m.told = m.told, false
	m.strikes, m.etag, m.seen = strikes{}, l.etag, now
	m.owed = l.result == writeLost || l.result == writeFailed
	if m.owed {
		m.etag = "" // the region does not say what that picture said
	}
	if l.asked.inventory && !m.owed {
		m.inventory = now.Add(jittered(f.cadence.Inventory, f.random))
	}
	pause := jittered(f.cadence.Slow, f.random)
	if m.unsettled || m.owed {
		pause = min(pause, f.cadence.rung(m.looks))
		m.looks++
	} else {
		m.looks = 0
	}
	m.due = earlier(m.due, now.Add(pause))
	return recovered
}

// serverStruck counts a failed look at a server. false: the visit is outdated, or the server is gone.
func (f *fleet) serverStruck(v *visit, server *v1alpha1.Server, fail failure, now time.Time) (strikes, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.machine(server.Name)
	if !f.current(v) || m == nil || m.uid != server.UID {
		return strikes{}, false
	}
	m.strikes.add(fail)
	m.due = earlier(m.due, now.Add(jittered(f.cadence.retry(fail, m.strikes), f.random)))
	return m.strikes, true
}

// told notes that a server's region tells a failure of its own.
func (f *fleet) told(server *v1alpha1.Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.machine(server.Name); m != nil && m.uid == server.UID {
		m.told = true
	}
}

// postpone holds back a BMC whose visit came to nothing for a reason that its event is about to tell.
func (f *fleet) postpone(v *visit, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current(v) {
		v.entry.gate = now.Add(f.cadence.Fast)
	}
}
