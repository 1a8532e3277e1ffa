// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// maxBody bounds an answer: a page of a thousand VMs is about 2 MiB.
const maxBody = 64 << 20

// errTooLong breaks off an answer that is longer than any we ask for.
var errTooLong = errors.New("answer too long")

func newTransport(opts Options, caBundle []byte, insecure bool) (*http.Transport, error) {
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case insecure:
		tlsConfig.InsecureSkipVerify = true // asked for in clouds.yaml
	case len(caBundle) > 0:
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(caBundle) {
			return nil, endpointInvalid("the CA bundle holds no PEM certificate")
		}
	}
	dialer := &net.Dialer{Timeout: opts.ConnectTimeout}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: opts.ConnectTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     30 * time.Second,
	}, nil
}

// refuseRedirect hands every redirect to our own code: a POST is never sent twice, and a token never to another host.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// gate is what every request to one cloud passes: the end of the registration, the pause that the cloud asked for, our own rate limit,
// and the deadline of a request. What it refuses was not sent.
type gate struct {
	life    context.Context //nolint:containedctx // of the registration
	opts    Options
	metrics *metrics
	limit   *rate.Limiter
	next    http.RoundTripper

	mu       sync.Mutex
	until    time.Time // no request before; zero where the cloud asked for nothing
	reason   string
	services map[string]string // service by the beginning of its addresses
}

func newGate(life context.Context, opts Options, m *metrics, next http.RoundTripper) *gate {
	burst := max(1, int(2*opts.RequestsPerSecond))
	return &gate{life: life, opts: opts, metrics: m, next: next, services: map[string]string{},
		limit: rate.NewLimiter(rate.Limit(opts.RequestsPerSecond), burst)}
}

// client is an HTTP client that sends through the gate.
func (g *gate) client() http.Client {
	return http.Client{Transport: g, CheckRedirect: refuseRedirect}
}

// RoundTrip implements http.RoundTripper.
func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), g.opts.RequestTimeout)
	stop := context.AfterFunc(g.life, cancel)
	done := func() { stop(); cancel() }
	if err := g.admit(ctx); err != nil {
		done()
		return nil, err
	}
	service, start := g.serviceOf(r.URL.String()), time.Now()
	resp, err := g.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		done()
		g.metrics.request(service, r.Method, 0, time.Since(start))
		return nil, err
	}
	g.metrics.request(service, r.Method, resp.StatusCode, time.Since(start))
	g.heed(resp)
	resp.Body = &body{Reader: io.LimitReader(resp.Body, maxBody+1), Closer: resp.Body, done: done}
	return resp, nil
}

// admit waits for the request's turn, no longer than its context.
func (g *gate) admit(ctx context.Context) error {
	if g.life.Err() != nil {
		return errClosed()
	}
	if wait, reason := g.pause(); wait > 0 {
		g.metrics.hold("pause")
		e := fail(provider.Busy, reason, "the cloud asked for a pause that is not over yet", nil)
		e.After = wait
		return e
	}
	if err := g.limit.Wait(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		g.metrics.hold("limit")
		return fail(provider.Busy, provider.ReasonRateLimited, "the rate limit of requests to this cloud leaves no turn within the deadline", err)
	}
	return nil
}

func (g *gate) pause() (time.Duration, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until.Sub(g.opts.Clock()), g.reason
}

// heed remembers the pause that an answer asks for. It is one for all that goes to this cloud (B210).
func (g *gate) heed(r *http.Response) {
	after := provider.RetryAfter(r.Header.Get("Retry-After"), g.opts.Clock())
	if after <= 0 || !pleading(r.StatusCode) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := g.opts.Clock().Add(after); until.After(g.until) {
		g.until, g.reason = until, pauseReason(r.StatusCode)
	}
}

// pleading says that an answer of this status may ask for a pause. 413 is how older services say 429.
func pleading(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusRequestEntityTooLarge
}

func pauseReason(status int) string {
	if status == http.StatusServiceUnavailable {
		return provider.ReasonBusy
	}
	return provider.ReasonRateLimited
}

// name tells the gate whose addresses begin so.
func (g *gate) name(prefix, service string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.services[prefix] = service
}

// serviceOf is whose address that is. One that is not named yet is asked for its versions.
func (g *gate) serviceOf(address string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	best, service := 0, "discovery"
	for prefix, name := range g.services {
		if len(prefix) > best && strings.HasPrefix(address, prefix) {
			best, service = len(prefix), name
		}
	}
	return service
}

// body ends the request's deadline when the answer has been read.
type body struct {
	io.Reader
	io.Closer
	done func()
	read int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.read += int64(n); b.read > maxBody {
		return n, errTooLong
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.done()
	return b.Closer.Close()
}
