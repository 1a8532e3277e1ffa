// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"sync"
	"time"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// amnesia are the tenants of whom the record says that their machine may be forgotten, until it is seen that it is not: what the record
// excuses ends there.
type amnesia struct {
	mu sync.Mutex
	// since is when the memory had been taken away; zero while that goes on.
	since map[*tenancy]time.Time
}

// begins notes that a tenant's memory is being taken away; the returned function, that it has been.
func (a *amnesia) begins(t *tenancy) (done func()) {
	a.set(t, time.Time{})
	return func() { a.set(t, time.Now()) }
}

func (a *amnesia) set(t *tenancy, since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since == nil {
		a.since = map[*tenancy]time.Time{}
	}
	a.since[t] = since
}

// before are the tenants whose memory had been taken away at a moment.
func (a *amnesia) before(at time.Time) []*tenancy {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []*tenancy
	for t, since := range a.since {
		if !since.IsZero() && since.Before(at) {
			all = append(all, t)
		}
	}
	return all
}

// ends notes that a tenant's machine is remembered, unless its memory was taken away again since.
func (a *amnesia) ends(t *tenancy, seen time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	since, has := a.since[t]
	if !has || since.IsZero() || !since.Before(seen) {
		return false
	}
	delete(a.since, t)
	return true
}

// recall puts on the record which tenants' claims are seen to name the machines that they have. What was seen before their memory was taken
// away says nothing.
func (c *campaign) recall() {
	c.gate.RLock()
	defer c.gate.RUnlock()
	looked := c.sight.lookedAt()
	for _, t := range c.amnesia.before(looked) {
		if c.knowsMachine(t) && c.amnesia.ends(t, looked) {
			c.journal.note(judge.Event{Kind: judge.Remembered, Tenant: t.id})
		}
	}
}

// knowsMachine says that a tenant's claim is bound to a Server, which knows the claim, and the very machine or VM that runs for the tenant.
func (c *campaign) knowsMachine(t *tenancy) bool {
	claim := c.sight.claim(t.name)
	if claim == nil {
		return false
	}
	server := c.sight.server(claim.Spec.ServerName)
	if server == nil || server.Spec.ClaimRef == nil || server.Spec.ClaimRef.Name != t.name {
		return false
	}
	bound := claim.Annotations[ledger.KeyBound]
	if bound == "" || bound != identityOf(server) || !c.world.look(server).of(t) {
		return false
	}
	return server.Spec.Redfish != nil || server.Annotations[ledger.KeyProviderID] != ""
}
