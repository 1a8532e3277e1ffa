// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"context"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// asking is one look at one cloud: the observer, with each call counted and bounded.
type asking struct {
	m        *Monitor
	observer provider.CloudObserver
	owner    string
	calls    int
	doubts   int // how many may still be asked for by id
	// owed: more was missing than may be asked for by id, or an answer about one thing failed.
	owed bool
}

// ask makes one call, and measures it.
func ask[T any](a *asking, kind string, call func() (T, error)) (T, error) {
	began := a.m.now()
	a.calls++
	facts, err := call()
	outcome := outcomeOK
	if err != nil {
		outcome = cloudFailureOf(err).outcome
	}
	a.m.metrics.looked(kind, outcome, a.m.now().Sub(began))
	return facts, err
}

// gather lists what a cloud has of this cluster: three listings, whatever the number of servers. What is known and missing from them is
// asked for by id, and so is, once, the fault of a VM that is errored.
func (a *asking) gather(ctx context.Context, v *cloudVisit) (*gathered, error) {
	project, err := a.observer.Project(ctx)
	if err != nil {
		return nil, err
	}
	before := v.memory.about(project)
	since := a.m.cadence.Clouds.since(before, v)
	kind := lookChanges
	if since.IsZero() {
		kind = lookInstances
	}
	rows, err := ask(a, kind, func() ([]provider.InstanceFacts, error) { return a.observer.ListInstances(ctx, a.owner, since) })
	if err != nil {
		return nil, err
	}
	ports, err := ask(a, lookPorts, func() ([]provider.PortFacts, error) { return a.observer.ListPorts(ctx, a.owner) })
	if err != nil {
		return nil, err
	}
	floating, err := ask(a, lookFloatingIPs, func() ([]provider.FloatingIPFacts, error) { return a.observer.ListFloatingIPs(ctx, a.owner) })
	if err != nil {
		return nil, err
	}
	learned := before.after(rows, since.IsZero(), v.began)
	learned.project = project
	learned.keepDoubts(v.servers)
	if err := a.resolve(ctx, v, learned); err != nil {
		return nil, err
	}
	if err := a.explain(ctx, v, learned); err != nil {
		return nil, err
	}
	found := a.sorted(learned, ports, floating)
	return found, a.missing(ctx, v.servers, found)
}

// sorted puts what was listed under the identity it bears. What bears another owner's mark is not ours, whatever a listing says.
func (a *asking) sorted(learned *memory, ports []provider.PortFacts, floating []provider.FloatingIPFacts) *gathered {
	found := &gathered{
		memory:    learned,
		instances: map[string][]provider.InstanceFacts{},
		ports:     map[string][]provider.PortFacts{},
		floating:  map[string][]provider.FloatingIPFacts{},
	}
	for _, one := range learned.instances {
		if one.Owner == a.owner {
			found.instances[one.Identity] = append(found.instances[one.Identity], one)
		}
	}
	for _, one := range ports {
		if one.Owner == a.owner {
			found.ports[one.Identity] = append(found.ports[one.Identity], one)
		}
	}
	for _, one := range floating {
		if one.Owner == a.owner {
			found.floating[one.Identity] = append(found.floating[one.Identity], one)
		}
	}
	return found
}

// resolve asks by id for VMs that no listing shows: only a 404 says that one is gone (P10). An answer about one that fails says nothing
// about the others, but where the cloud as a whole does not serve us the look is over.
func (a *asking) resolve(ctx context.Context, v *cloudVisit, learned *memory) error {
	for _, id := range learned.unlisted(v.servers, v.began, a.m.cadence.Clouds.Slow) {
		facts, answer, err := byID(a, lookInstance, func() (provider.InstanceFacts, error) { return a.observer.Instance(ctx, id) })
		switch {
		case err != nil:
			return err
		case answer != unanswered:
			learned.doubts[id] = doubt{at: a.m.now(), gone: answer == notThere, facts: facts}
		}
	}
	return nil
}

// answer is how asking for one thing by id ended.
type answer string

const (
	unanswered answer = "unanswered" // not asked, or the answer failed: nothing is known
	notThere   answer = "not there"
	there      answer = "there"
)

// byID asks for one thing by id, as long as it may. The error is of the cloud as a whole.
func byID[T any](a *asking, kind string, call func() (T, error)) (T, answer, error) {
	var none T
	if a.doubts == 0 {
		a.owed = true
		return none, unanswered, nil
	}
	a.doubts--
	facts, err := ask(a, kind, call)
	switch {
	case err == nil:
		return facts, there, nil
	case provider.ClassOf(err) == provider.NotFound:
		return none, notThere, nil
	case failureOf(err).wide:
		return none, unanswered, err
	}
	a.owed = true
	return none, unanswered, nil
}

// missing asks by id for ports and floating IPs that the last pictures show and the listings do not. What bears another mark now is no
// longer the server's; what could not be asked for stays as last seen.
func (a *asking) missing(ctx context.Context, servers []*v1alpha1.Server, found *gathered) error {
	for _, server := range servers {
		identity, observed := identityOf(server), server.Status.Observed
		if observed == nil || identity == "" {
			continue
		}
		for _, port := range observed.Ports {
			if err := a.missingPort(ctx, port, identity, found); err != nil {
				return err
			}
		}
		if observed.FloatingIP != nil {
			if err := a.missingFloatingIP(ctx, *observed.FloatingIP, identity, found); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *asking) missingPort(ctx context.Context, known v1alpha1.ObservedPort, identity string, found *gathered) error {
	for _, listed := range found.ports[identity] {
		if listed.ID == known.ID {
			return nil
		}
	}
	facts, answer, err := byID(a, lookPort, func() (provider.PortFacts, error) { return a.observer.Port(ctx, known.ID) })
	switch {
	case answer == unanswered:
		facts = portAsSeen(known, identity)
	case answer == notThere || a.another(facts.Identity, facts.Owner, identity):
		return err
	case facts.Owner == "":
		facts.Index = int(known.Index) // it was in the tags that somebody took away
	}
	found.ports[identity] = append(found.ports[identity], facts)
	return err
}

// another says that something bears the mark of another server or owner than the one it was seen with. That a mark is lost says nothing.
func (a *asking) another(identity, owner, before string) bool {
	return (identity != "" && identity != before) || (owner != "" && owner != a.owner)
}

func (a *asking) missingFloatingIP(ctx context.Context, known v1alpha1.ObservedFloatingIP, identity string, found *gathered) error {
	for _, listed := range found.floating[identity] {
		if listed.ID == known.ID {
			return nil
		}
	}
	facts, answer, err := byID(a, lookFloatingIP, func() (provider.FloatingIPFacts, error) { return a.observer.FloatingIP(ctx, known.ID) })
	switch {
	case answer == unanswered:
		facts = provider.FloatingIPFacts{ID: known.ID, Identity: identity, Address: known.Address, PortID: known.PortID}
	case answer == notThere || a.another(facts.Identity, facts.Owner, identity):
		return err
	}
	found.floating[identity] = append(found.floating[identity], facts)
	return err
}

// cloudPictureAge is how old a picture of a cloud's servers may be when it is written: a process that was stopped meanwhile must not tell
// the past.
func (c Cadence) cloudPictureAge() time.Duration { return c.Clouds.LookDeadline + 2*c.WriteDeadline }
