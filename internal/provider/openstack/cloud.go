// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"bytes"
	"context"
	"net/http"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Cloud is the connection to one cloud with one set of credentials. It is the Observer and the Actor of what is there. Safe for
// concurrent use. Once its registration has changed or ended, all its calls fail with Transient(Unreachable).
type Cloud struct {
	endpoint Endpoint
	version  string
	opts     Options
	pool     *Pool

	transport *http.Transport // its idle connections are let go with the cloud
	session   *session
	known     *resolutions

	end context.CancelFunc // of the registration: breaks off what is on the wire
}

func newCloud(p *Pool, ep Endpoint, cred Credentials) (*Cloud, error) {
	entry, err := parseEntry(ep, cred.CloudsYAML)
	if err != nil {
		return nil, err
	}
	transport, err := newTransport(p.opts, ep.CABundle, entry.insecure)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	gate := newGate(life, p.opts, p.metrics, transport)
	ep.CABundle = bytes.Clone(ep.CABundle)
	return &Cloud{
		endpoint: ep, version: cred.Version, opts: p.opts, pool: p, transport: transport, end: end,
		session: newSession(p.opts, p.metrics, entry, gate),
		known:   newResolutions(p.opts.Clock),
	}, nil
}

// Observer returns what the monitor looks with.
func (c *Cloud) Observer() provider.CloudObserver { return observer{c} }

// Actor returns what the reconciler acts with.
func (c *Cloud) Actor() provider.CloudActor { return actor{c} }

// projectID is whose resources this connection sees: the same for as long as there is the connection.
func (c *Cloud) projectID(ctx context.Context) (string, error) {
	if _, err := c.session.loggedIn(ctx); err != nil {
		return "", err
	}
	id, _ := c.session.project()
	return id, nil
}

// serves says whether this connection is the one for that endpoint and those credentials.
func (c *Cloud) serves(ep Endpoint, cred Credentials) bool {
	return c.version == cred.Version && c.endpoint.CloudName == ep.CloudName && c.endpoint.Region == ep.Region &&
		bytes.Equal(c.endpoint.CABundle, ep.CABundle)
}

func (c *Cloud) close() {
	c.end()
	c.transport.CloseIdleConnections()
}

type observer struct{ c *Cloud }

type actor struct{ *Cloud }
