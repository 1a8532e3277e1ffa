// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// BMC is the connection to one BMC with one set of credentials. It is the Observer and the Actor of what is behind it.
// Safe for concurrent use. Once its registration has changed or ended, all its calls fail with Transient(Unreachable).
type BMC struct {
	name     string
	endpoint Endpoint
	cred     Credentials
	opts     Options
	metrics  *metrics
	base     base
	http     *http.Client
	gate     *gate

	retired atomic.Bool     // replaced: no new request starts
	life    context.Context //nolint:containedctx // of the registration: ends with Forget and Close, and breaks off what is on the wire
	end     context.CancelFunc

	auth auth // touched by the holder of the gate only
	root atomic.Pointer[serviceRoot]

	known knowledge
}

func newBMC(p *Pool, name string, ep Endpoint, cred Credentials) (*BMC, error) {
	at, err := parseEndpoint(ep.URL)
	if err != nil {
		return nil, err
	}
	if cred.Username == "" || cred.Password == "" {
		return nil, &provider.Error{Class: provider.Denied, Reason: provider.ReasonCredentialsMissing,
			Message: "the credentials of this BMC lack user name or password"}
	}
	if tls := ep.TLS; at.scheme != "https" && (len(tls.CABundle) > 0 || tls.PinnedSHA256 != "" || tls.InsecureSkipVerify) {
		return nil, endpointInvalid("an http:// endpoint has no certificate to verify: use https://, or drop what is said of TLS")
	}
	transport, err := newTransport(p.opts, ep.TLS)
	if err != nil {
		return nil, err
	}
	b := &BMC{
		name: name, endpoint: ep, cred: cred, opts: p.opts, metrics: p.metrics, base: at, gate: &gate{},
		http: &http.Client{Transport: transport, CheckRedirect: refuseRedirect},
	}
	b.life, b.end = context.WithCancel(context.Background())
	return b, nil
}

// Observer returns what the monitor looks with.
func (b *BMC) Observer() provider.Observer { return observer{b} }

// Actor returns what the reconciler acts with.
func (b *BMC) Actor() provider.Actor { return actor{b} }

// serves says whether this connection is the one for that endpoint and those credentials.
func (b *BMC) serves(ep Endpoint, cred Credentials) bool {
	return b.cred == cred && b.endpoint.equal(ep)
}

// close breaks off what is on the wire, ends the session and lets the connections go.
func (b *BMC) close(ctx context.Context) {
	b.retired.Store(true)
	place := b.gate.enqueue(leaving)
	b.end()
	if place.wait(ctx) != nil {
		b.http.CloseIdleConnections()
		return
	}
	defer place.leave()
	b.logout(ctx)
	b.http.CloseIdleConnections()
}

// hold runs f as the one who holds the lane.
func (b *BMC) hold(ctx context.Context, p priority, f func() error) error {
	place := b.gate.enqueue(p)
	if err := place.wait(ctx); err != nil {
		return &provider.Error{Class: provider.Transient, Reason: provider.ReasonTimeout,
			Message: "the BMC was busy with an earlier request until the deadline", Err: err}
	}
	defer place.leave()
	if b.retired.Load() {
		return errClosed()
	}
	return f()
}
