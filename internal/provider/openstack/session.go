// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	gopherstack "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	// firstLockout is how long no login is tried after credentials were refused; it doubles with each further refusal. Keystone can be
	// set to lock an account after a few failures.
	firstLockout = time.Minute
	maxLockout   = time.Hour
)

// session is the login at one cloud: made at the first call, renewed when a token is refused.
type session struct {
	opts    Options
	metrics *metrics
	entry   entry
	gate    *gate
	turn    chan struct{} // holds the one who logs in

	mu       sync.Mutex
	client   *gophercloud.ProviderClient // nil before the first login
	compute  *gophercloud.ServiceClient  // each nil before its first use
	highest  microversion                // of compute, as far as it was asked
	network  *gophercloud.ServiceClient
	image    *gophercloud.ServiceClient
	refusal  *provider.Error // why credentials are not tried now
	refusals int
	retryAt  time.Time
}

func newSession(opts Options, m *metrics, e entry, g *gate) *session {
	return &session{opts: opts, metrics: m, entry: e, gate: g, turn: make(chan struct{}, 1)}
}

// loggedIn is the client with a token. Only one caller logs in, the others wait for it.
func (s *session) loggedIn(ctx context.Context) (*gophercloud.ProviderClient, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, connectionError("waiting for a login under way", ctx.Err())
	}
	if err := s.locked(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client != nil {
		return client, nil
	}
	return s.login(ctx)
}

// login gets the first token, and arms the renewal of those that follow.
func (s *session) login(ctx context.Context) (*gophercloud.ProviderClient, error) {
	client, err := gopherstack.NewClient(s.entry.auth.IdentityEndpoint)
	if err != nil {
		return nil, endpointInvalid("auth_url of clouds.yaml is no address of an identity service")
	}
	client.HTTPClient = s.gate.client()
	client.UserAgent.Prepend(s.opts.UserAgent)
	s.gate.name(client.IdentityBase, "identity")
	err = gopherstack.Authenticate(ctx, client, s.entry.auth)
	if err = s.took(err); err != nil {
		return nil, err
	}
	renew := client.ReauthFunc
	client.ReauthFunc = func(ctx context.Context) error {
		if err := s.locked(); err != nil {
			return err
		}
		// Several requests wait for this one renewal: it does not end with the one that happened to ask for it. The request's own
		// deadline bounds it (B176).
		return s.took(renew(context.WithoutCancel(ctx)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = client
	return client, nil
}

// took classes the outcome of a login, and remembers a refusal so that repeating does not lock the account. A rate limit is none (B212).
func (s *session) took(err error) error {
	if err == nil {
		s.metrics.login("accepted")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.refusal, s.refusals = nil, 0
		return nil
	}
	e := asError(classify("login", err))
	switch {
	case e.Class == provider.Denied && (e.Reason == provider.ReasonCredentialsInvalid || e.Reason == provider.ReasonForbidden):
		return s.refuse(e)
	case e.Class == provider.NotFound, e.Reason == provider.ReasonRefused:
		e = fail(provider.Terminal, provider.ReasonNotOpenStack, "there is no identity service at auth_url that takes a login of version 3", e)
	}
	s.metrics.login("failed")
	return e
}

// refuse starts or lengthens the pause in which credentials are not tried.
func (s *session) refuse(e *provider.Error) *provider.Error {
	s.metrics.login("refused")
	s.mu.Lock()
	defer s.mu.Unlock()
	pause := maxLockout
	if s.refusals < 6 {
		pause = min(firstLockout<<s.refusals, maxLockout)
	}
	s.refusal, s.refusals, s.retryAt = e, s.refusals+1, s.opts.Clock().Add(pause)
	return e
}

// locked is the refusal that stands, nil where credentials may be tried.
func (s *session) locked() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal != nil && s.opts.Clock().Before(s.retryAt) {
		return s.refusal
	}
	return nil
}

// checked classes err of a request. A token that is refused right after it was issued counts as a refusal of the credentials.
func (s *session) checked(what string, err error) error {
	err = classify(what, err)
	if provider.ClassOf(err) == provider.Denied && statusOf(err) == http.StatusUnauthorized && s.locked() == nil {
		return s.refuse(asError(err))
	}
	return err
}

// project is whom the token is for.
func (s *session) project() (id, name string) {
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client == nil {
		return "", ""
	}
	result, ok := client.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return "", ""
	}
	project, err := result.ExtractProject()
	if err != nil || project == nil {
		return "", ""
	}
	return project.ID, project.Name
}
