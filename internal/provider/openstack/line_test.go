// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/holdfast-dev/holdfast/internal/provider/conformance/cloud"
)

// line is the line between provider and cloud, on which requests are counted and things go wrong.
type line struct {
	mu       sync.Mutex
	trouble  *cloud.Trouble
	writes   int
	requests int
	tokens   map[string]bool // seen so far
	dead     map[string]bool // of them, no longer good
	waiting  []func()        // requests that are carried out later
}

func newLine() *line { return &line{tokens: map[string]bool{}, dead: map[string]bool{}} }

func (l *line) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) { return l.send(next, r) })
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (l *line) Break(trouble cloud.Trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = &trouble
	switch trouble {
	case cloud.TokensDie, cloud.WrongCredentials:
		for token := range l.tokens {
			l.dead[token] = true
		}
	}
}

func (l *line) Repair() {
	l.mu.Lock()
	l.trouble = nil
	waiting := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for _, carryOut := range waiting {
		carryOut()
	}
}

func (l *line) Writes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

func (l *line) Requests() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests
}

func isLogin(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/auth/tokens") }

func isWrite(r *http.Request) bool { return r.Method != http.MethodGet && !isLogin(r) }

func isCreation(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/servers")
}

// begin counts a request, kills its token where it is dead, and tells the trouble that it meets.
func (l *line) begin(r *http.Request) (trouble cloud.Trouble, troubled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if isWrite(r) {
		l.writes++
	}
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		l.tokens[token] = true
		if l.dead[token] || (l.trouble != nil && *l.trouble == cloud.TokensAreRefused) {
			r.Header.Set("X-Auth-Token", "dead")
		}
	}
	if l.trouble == nil {
		return 0, false
	}
	return *l.trouble, true
}

func (l *line) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	trouble, troubled := l.begin(r)
	if !troubled {
		return next.RoundTrip(r)
	}
	switch trouble {
	case cloud.Unreachable:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case cloud.Fails:
		return answer(r, http.StatusInternalServerError, `{"computeFault": {"code": 500, "message": "Unexpected API Error."}}`), nil
	case cloud.ProxyPages:
		return answer(r, http.StatusNotFound, "<html><h1>404 Not Found</h1></html>"), nil
	case cloud.RateLimits:
		return limited(r), nil
	case cloud.LoginIsLimited:
		if isLogin(r) {
			return limited(r), nil
		}
		r.Header.Set("X-Auth-Token", "dead")
	case cloud.WrongCredentials:
		if isLogin(r) {
			return answer(r, http.StatusUnauthorized, `{"error": {"code": 401, "message": "The request you have made requires authentication.", "title": "Unauthorized"}}`), nil
		}
	case cloud.OldCompute:
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v2.1/") {
			return answer(r, http.StatusOK, `{"version": {"id": "v2.1", "status": "CURRENT", "version": "2.38", "min_version": "2.1", "links": []}}`), nil
		}
	case cloud.SlowCreation:
		if isCreation(r) {
			return nil, l.later(next, r)
		}
	case cloud.SmallPages:
		if query := r.URL.Query(); r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/servers/detail") {
			query.Set("limit", "2")
			r.URL.RawQuery = query.Encode()
		}
	}
	resp, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return spoiled(trouble, r, resp)
}

// spoiled is what comes of an answer.
func spoiled(trouble cloud.Trouble, r *http.Request, resp *http.Response) (*http.Response, error) {
	switch {
	case trouble == cloud.LosesReply && r.Method == http.MethodPost && !isLogin(r):
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return nil, io.ErrUnexpectedEOF
	case trouble == cloud.Garbage && r.Method == http.MethodGet:
		whole, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(whole[:len(whole)/2]))
	}
	return resp, nil
}

// later breaks the connection, and has the request carried out when the line is repaired.
func (l *line) later(next http.RoundTripper, r *http.Request) error {
	whole, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, func() {
		again := r.Clone(ctx())
		again.Body = io.NopCloser(bytes.NewReader(whole))
		if resp, err := next.RoundTrip(again); err == nil {
			_ = resp.Body.Close()
		}
	})
	return io.ErrUnexpectedEOF
}

func limited(r *http.Request) *http.Response {
	resp := answer(r, http.StatusTooManyRequests, `{"overLimit": {"code": 429, "message": "This request was rate-limited."}}`)
	resp.Header.Set("Retry-After", strconv.Itoa(int(cloud.RetryAfter.Seconds())))
	return resp
}

func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}
}
