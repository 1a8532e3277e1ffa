// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// What events say about clouds and the servers in them. They plan looks; what a cloud is asked for is read when it is.

// add plans the first look at a cloud: at once, but over the slow pace where it was known and well before a start.
func (c *clouds) add(cloud *v1alpha1.Cloud, how arrival, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(cloud.Name)
	if e.uid == cloud.UID {
		return // told twice: a listing after a broken watch
	}
	e.reset(now)
	e.uid, e.secret, e.digest = cloud.UID, cloud.Spec.CloudsSecretRef.Name, 0
	if how == listed {
		switch cloudStanding(cloud.Status.Observed) {
		case standingGood:
			e.about = now.Add(spread(c.cadence.Clouds.About, c.random))
			e.due = now.Add(spread(c.cadence.Clouds.Slow, c.random))
			if e.hurried() {
				e.due = now
			}
		case standingBad:
			// A process that starts over and over must not lock the account by one try each time.
			if cloud.Status.Observed.Reason == provider.ReasonCredentialsInvalid {
				e.gate, e.denied = now.Add(spread(c.cadence.DeniedFirst, c.random)), true
			}
		case standingUnknown:
		}
	}
	c.planned(e)
}

// update begins anew where the spec changed, and looks soon where somebody else wrote the region.
func (c *clouds) update(before, after *v1alpha1.Cloud, now time.Time) {
	if before.UID != after.UID {
		c.remove(before, now)
		c.add(after, created, now)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, found := c.known[after.Name]
	if !found || e.uid != after.UID {
		return
	}
	e.secret = after.Spec.CloudsSecretRef.Name
	switch {
	case wake.Spec.Moved(before, after) && after.DeletionTimestamp.IsZero():
		e.reset(now)
	case wake.Observed.Moved(before, after) && fingerprint(after.Status.Observed) != e.digest:
		if !e.tellSoon(now, c.cadence.Fast) {
			e.about = earlier(e.about, now.Add(c.cadence.Fast))
		}
	default:
		return
	}
	c.planned(e)
}

// remove ends the look that is under way: after the object is gone nothing touches that cloud (B059).
func (c *clouds) remove(cloud *v1alpha1.Cloud, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, found := c.known[cloud.Name]
	if !found || e.uid != cloud.UID {
		return
	}
	e.reset(now)
	e.uid = ""
	e.leaving = e.visiting == nil
	c.planned(e)
}

// secretChanged begins anew with every cloud that uses the secret (B171, B179); where the guard of the secret alone moved (touched), with
// those that fail.
func (c *clouds) secretChanged(name string, touched secretChange, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.known {
		if e.uid != "" && e.secret == name && (touched == contentChanged || e.strikes.count > 0) {
			e.reset(now)
			c.planned(e)
		}
	}
}

// secretChange is what became of a secret.
type secretChange string

const (
	contentChanged secretChange = "content"
	guardChanged   secretChange = "guard"
)

// reset forgets failures, back-off and what was listed with other credentials. A look under way goes by what is no longer true, and ends.
func (e *cloudEntry) reset(now time.Time) {
	e.due, e.about, e.gate, e.denied, e.strikes = now, now, time.Time{}, false, strikes{}
	e.told, e.retell, e.leaving, e.floor, e.looks = nil, time.Time{}, false, time.Time{}, 0
	e.memory = nil
	e.epoch++
	if e.visiting != nil {
		e.visiting.cancel()
	}
}

// tellSoon has the failure told again while the back-off forbids to look. false: there is none, or a look may tell.
func (e *cloudEntry) tellSoon(now time.Time, pause time.Duration) bool {
	if e.told == nil || !now.Before(e.gate) {
		return false
	}
	e.retell = earlier(e.retell, now.Add(pause))
	return true
}

// hurried says that a server of the cloud is unsettled.
func (e *cloudEntry) hurried() bool {
	for _, m := range e.members {
		if m.unsettled {
			return true
		}
	}
	return false
}

// addServer plans the first look at a server.
func (c *clouds) addServer(server *v1alpha1.Server, unsettled bool, how arrival, now time.Time) {
	if server.Spec.OpenStack == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.member(server); m != nil {
		return // told twice
	}
	c.forget(server.Name)
	e := c.entry(server.Spec.OpenStack.CloudRef.Name)
	e.members[server.Name] = &member{object: server, unsettled: unsettled}
	c.servers[server.Name] = e.name
	if how == created || unsettled || server.Status.Observed == nil {
		e.looks = 0
		e.due = earlier(e.due, now)
	}
	e.tellSoon(now, c.cadence.Fast)
	c.planned(e)
}

// updateServer starts the ladder anew where ledger or spec changed, and looks soon where somebody else wrote the region.
func (c *clouds) updateServer(before, after *v1alpha1.Server, unsettled bool, now time.Time) {
	if before.UID != after.UID {
		c.removeServer(before)
		c.addServer(after, unsettled, created, now)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.member(after)
	if m == nil {
		return
	}
	e, soon := c.known[c.servers[after.Name]], now.Add(c.cadence.Fast)
	_, moved := wake.First(before, after, wake.Deletion, wake.Spec, wake.Ledger)
	foreign := wake.Observed.Moved(before, after) && fingerprint(after.Status.Observed) != m.digest
	switch {
	case foreign && e.tellSoon(now, c.cadence.Fast):
	case foreign, unsettled && (moved || !m.unsettled):
		if moved {
			e.looks = 0
		}
		e.due = earlier(e.due, soon)
		if !e.denied && soon.Before(e.gate) {
			e.gate = soon // somebody waits: one try more does not hurt
		}
	}
	m.object, m.unsettled = after, unsettled
	c.planned(e)
}

// removeServer ends the looks at a server.
func (c *clouds) removeServer(server *v1alpha1.Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.member(server) != nil {
		c.forget(server.Name)
	}
}

// member returns what is kept of a server, nil where this very object is not known.
func (c *clouds) member(server *v1alpha1.Server) *member {
	e, found := c.known[c.servers[server.Name]]
	if !found {
		return nil
	}
	if m := e.members[server.Name]; m != nil && m.object.UID == server.UID {
		return m
	}
	return nil
}

func (c *clouds) forget(server string) {
	e, found := c.known[c.servers[server]]
	delete(c.servers, server)
	if found {
		delete(e.members, server)
		c.planned(e)
	}
}
