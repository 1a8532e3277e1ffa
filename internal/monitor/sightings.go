// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// arrival is how an object came to be seen for the first time.
type arrival string

const (
	listed  arrival = "listed"  // it was there when this process started
	created arrival = "created" // it is new
)

// addBMC plans the first discovery of a BMC: at once, but over the slow pace where it was known and well before a start.
func (f *fleet) addBMC(bmc *v1alpha1.BMC, how arrival, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entry(bmc.Name)
	if e.uid == bmc.UID {
		return // told twice: a listing after a broken watch
	}
	f.reset(e, now)
	e.uid, e.secret, e.expected = bmc.UID, bmc.Spec.CredentialsSecretRef.Name, 0
	if how == listed {
		switch bmcStanding(bmc.Status.Observed) {
		case standingGood:
			e.discovery = now.Add(spread(f.cadence.Slow, f.random))
		case standingBad:
			// A process that starts over and over must not lock the account by one try each time.
			if bmc.Status.Observed.Reason == provider.ReasonCredentialsInvalid {
				e.gate, e.denied = now.Add(spread(f.cadence.DeniedFirst, f.random)), true
			}
		case standingUnknown:
		}
	}
	f.plan(e)
}

// updateBMC begins anew where the spec changed, and looks soon where somebody else wrote the region.
func (f *fleet) updateBMC(before, after *v1alpha1.BMC, now time.Time) {
	if before.UID != after.UID {
		f.removeBMC(before, now)
		f.addBMC(after, created, now)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e, found := f.bmcs[after.Name]
	if !found || e.uid != after.UID {
		return
	}
	e.secret = after.Spec.CredentialsSecretRef.Name
	switch {
	case wake.Spec.Moved(before, after):
		f.reset(e, now)
	case wake.Observed.Moved(before, after) && fingerprint(after.Status.Observed) != e.expected:
		if !f.retell(e, now) {
			e.discovery = earlier(e.discovery, now.Add(f.cadence.Fast))
		}
	default:
		return
	}
	f.plan(e)
}

// removeBMC ends the visit that is under way: after the object is gone nothing touches that BMC (B059). What is kept for it is
// dropped at the end of that visit, or by one for that alone.
func (f *fleet) removeBMC(bmc *v1alpha1.BMC, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, found := f.bmcs[bmc.Name]
	if !found || e.uid != bmc.UID {
		return
	}
	f.reset(e, now)
	e.uid = ""
	e.leaving = e.visiting == nil
	f.plan(e)
}

// secretChanged begins anew with every BMC that uses the secret (B171).
func (f *fleet) secretChanged(name string, now time.Time) {
	f.resetUsers(name, now, func(*entry) bool { return true })
}

// secretTouched begins anew with those that fail, and leaves alone the visits of those that do well: a secret that is guarded
// when its BMC is enrolled must not cost a second discovery.
func (f *fleet) secretTouched(name string, now time.Time) {
	f.resetUsers(name, now, func(e *entry) bool { return e.strikes.count > 0 })
}

func (f *fleet) resetUsers(secret string, now time.Time, which func(*entry) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.bmcs {
		if e.uid != "" && e.secret == secret && which(e) {
			f.reset(e, now)
			f.plan(e)
		}
	}
}

// reset forgets failures and back-off. A visit under way goes by what is no longer true, and ends.
func (f *fleet) reset(e *entry, now time.Time) {
	e.discovery, e.gate, e.denied, e.strikes = now, time.Time{}, false, strikes{}
	e.told, e.retell, e.leaving = nil, time.Time{}, false
	e.epoch++
	if e.visiting != nil {
		e.visiting.cancel()
	}
	for _, m := range e.machines {
		if m.strikes.count > 0 {
			m.strikes, m.due = strikes{}, now
		}
	}
}

// retell has the failure told again while the back-off forbids to look. false: there is none, or a look may tell.
func (f *fleet) retell(e *entry, now time.Time) bool {
	if e.told == nil || !now.Before(e.gate) {
		return false
	}
	e.retell = earlier(e.retell, now.Add(f.cadence.Fast))
	return true
}

// addServer plans the first look at a server.
func (f *fleet) addServer(server *v1alpha1.Server, unsettled bool, how arrival, now time.Time) {
	if server.Spec.Redfish == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.machine(server.Name); m != nil && m.uid == server.UID {
		return // told twice
	}
	f.forget(server.Name)
	m := &machine{uid: server.UID, unsettled: unsettled, due: now}
	if observed := server.Status.Observed; how == listed && observed != nil {
		m.inventory = now.Add(spread(f.cadence.Inventory, f.random))
		if !unsettled {
			m.due = now.Add(spread(f.cadence.Slow, f.random))
		}
	}
	e := f.entry(server.Spec.Redfish.BMCRef.Name)
	e.machines[server.Name] = m
	f.retell(e, now)
	f.servers[server.Name] = e.name
	f.plan(e)
}

// updateServer starts the ladder anew where ledger or spec changed, and looks soon where somebody else wrote the region.
func (f *fleet) updateServer(before, after *v1alpha1.Server, unsettled bool, now time.Time) {
	if before.UID != after.UID {
		f.removeServer(before)
		f.addServer(after, unsettled, created, now)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.machine(after.Name)
	if m == nil || m.uid != after.UID {
		return
	}
	e, soon := f.bmcs[f.servers[after.Name]], now.Add(f.cadence.Fast)
	_, moved := wake.First(before, after, wake.Deletion, wake.Spec, wake.Ledger)
	if moved {
		m.looks = 0
	}
	foreign := wake.Observed.Moved(before, after) && fingerprint(after.Status.Observed) != m.expected
	if foreign {
		m.owed = true
		if !apiequality.Semantic.DeepEqual(hardwareIn(before), hardwareIn(after)) {
			m.inventory = time.Time{}
		}
	}
	switch {
	case foreign && f.retell(e, now):
	case foreign, unsettled && (moved || !m.unsettled):
		m.due = earlier(m.due, soon)
		if !e.denied && soon.Before(e.gate) {
			e.gate = soon // somebody waits: one try more does not hurt
		}
	case m.unsettled && !unsettled && !m.owed:
		m.due = now.Add(jittered(f.cadence.Slow, f.random))
	}
	m.unsettled = unsettled
	f.plan(e)
}

func hardwareIn(server *v1alpha1.Server) *v1alpha1.Hardware {
	if server.Status.Observed == nil {
		return nil
	}
	return server.Status.Observed.Hardware
}

// removeServer ends the looks at a server.
func (f *fleet) removeServer(server *v1alpha1.Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.machine(server.Name); m != nil && m.uid == server.UID {
		f.forget(server.Name)
	}
}

// machine returns what is kept of a server, nil where it is not known.
func (f *fleet) machine(server string) *machine {
	if e, found := f.bmcs[f.servers[server]]; found {
		return e.machines[server]
	}
	return nil
}

func (f *fleet) forget(server string) {
	e, found := f.bmcs[f.servers[server]]
	delete(f.servers, server)
	if found {
		delete(e.machines, server)
		f.plan(e)
	}
}
