// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	// logoutTimeout bounds the logout of a connection that was replaced while nobody waits for it.
	logoutTimeout = 5 * time.Second
	// logoutsAtOnce bounds how many BMCs Close says goodbye to at a time.
	logoutsAtOnce = 64
)

// Pool keeps the connections to all BMCs of a process: one per name. Safe for concurrent use.
type Pool struct {
	opts    Options
	metrics *metrics

	mu       sync.Mutex
	bmcs     map[string]*BMC
	closed   bool
	goodbyes sync.WaitGroup // logouts of replaced connections
}

// NewPool makes an empty pool. It starts nothing.
func NewPool(opts Options) *Pool {
	opts = opts.withDefaults()
	return &Pool{opts: opts, metrics: newMetrics(opts.Registerer), bmcs: map[string]*BMC{}}
}

// BMC returns the connection to the BMC of that name. It sends nothing and is cheap: call it before each use, with what
// endpoint and credentials are now. Where they differ from the last call's, the old connection is closed and its session
// ended. Errors: Terminal(EndpointInvalid) for an endpoint or a CA bundle or pin that is malformed,
// Denied(CredentialsMissing) without user name or password.
func (p *Pool) BMC(name string, ep Endpoint, cred Credentials) (*BMC, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed()
	}
	old := p.bmcs[name]
	if old != nil && old.serves(ep, cred) {
		return old, nil
	}
	b, err := newBMC(p, name, ep, cred)
	if err != nil {
		return nil, err
	}
	if old != nil {
		p.replace(old, b)
	}
	p.bmcs[name] = b
	return b, nil
}

// replace ends the session of old. To the same service the new connection inherits the lane, where the logout stands first:
// there is never more than one session (B163).
func (p *Pool) replace(old, b *BMC) {
	if old.base == b.base {
		b.gate = old.gate
	}
	old.retired.Store(true)
	place := old.gate.enqueue(leaving)
	p.goodbyes.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), logoutTimeout)
		defer cancel()
		if place.wait(ctx) != nil {
			return
		}
		defer place.leave()
		old.logout(ctx)
		old.http.CloseIdleConnections()
	})
}

// Forget ends the session of that BMC and drops it. Requests on the wire are broken off, and when Forget has returned nothing
// of this pool touches that BMC any more (B059), until BMC is called for it again.
func (p *Pool) Forget(ctx context.Context, name string) {
	p.mu.Lock()
	b := p.bmcs[name]
	delete(p.bmcs, name)
	p.mu.Unlock()
	if b != nil {
		b.close(ctx)
	}
}

// Close ends all sessions and leaves the pool unusable. It returns the context's error where the time did not suffice for all.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	all := slices.Collect(maps.Values(p.bmcs))
	clear(p.bmcs)
	p.mu.Unlock()

	var g errgroup.Group
	g.SetLimit(logoutsAtOnce)
	for _, b := range all {
		g.Go(func() error { b.close(ctx); return nil })
	}
	_ = g.Wait() // close reports no error: the BMC's own timeout ends what could not be ended
	p.goodbyes.Wait()
	return ctx.Err()
}

func errClosed() *provider.Error {
	return &provider.Error{Class: provider.Transient, Reason: provider.ReasonUnreachable,
		Message: "the connection to this BMC was closed because its registration changed or ended"}
}

func (a Endpoint) equal(b Endpoint) bool {
	return a.URL == b.URL && a.Vendor == b.Vendor && a.TLS.PinnedSHA256 == b.TLS.PinnedSHA256 &&
		a.TLS.InsecureSkipVerify == b.TLS.InsecureSkipVerify && bytes.Equal(a.TLS.CABundle, b.TLS.CABundle)
}
