// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"sync"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Pool keeps the connections to all clouds of a process: one per name. Safe for concurrent use.
type Pool struct {
	opts    Options
	metrics *metrics

	// What outlives a change of credentials: it is about VMs, not about a login.
	creating *keyedLock // by identity: one Create at a time in this process
	leases   *leases    // that this process has settled
	turns    *turns     // of server groups whose VMs are made one after another

	mu     sync.Mutex
	clouds map[string]*Cloud
	closed bool
}

// NewPool makes an empty pool. It starts nothing.
func NewPool(opts Options) *Pool {
	opts = opts.withDefaults()
	return &Pool{
		opts: opts, metrics: newMetrics(opts.Registerer),
		creating: newKeyedLock(), leases: newLeases(opts.Clock, opts.RequestTimeout), turns: newTurns(opts.Clock), clouds: map[string]*Cloud{},
	}
}

// Cloud returns the connection to the cloud of that name. It sends nothing and is cheap: call it before each use, with what endpoint and
// credentials are now. Where they differ from the last call's, the old connection ends, requests on the wire included: what they did is
// found by the next look. Errors: Denied(CredentialsMissing) for a clouds.yaml that lacks the entry or what a login needs,
// Terminal(EndpointInvalid) for a malformed address or CA bundle.
func (p *Pool) Cloud(name string, ep Endpoint, cred Credentials) (*Cloud, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed()
	}
	old := p.clouds[name]
	if old != nil && old.serves(ep, cred) {
		return old, nil
	}
	c, err := newCloud(p, ep, cred)
	if err != nil {
		return nil, err
	}
	if old != nil {
		old.close()
	}
	p.clouds[name] = c
	return c, nil
}

// Forget drops that cloud. Requests on the wire are broken off, and when Forget has returned no new one starts, until Cloud is called
// for it again. Tokens are left to expire: revoking one would end those that other services were handed for work under way.
func (p *Pool) Forget(_ context.Context, name string) {
	p.mu.Lock()
	c := p.clouds[name]
	delete(p.clouds, name)
	p.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// Close drops all clouds and leaves the pool unusable. It sends nothing.
func (p *Pool) Close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.clouds {
		c.close()
	}
	clear(p.clouds)
	return nil
}

func errClosed() *provider.Error {
	return &provider.Error{Class: provider.Transient, Reason: provider.ReasonUnreachable,
		Message: "the connection to this cloud was closed because its registration changed or ended"}
}
