// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// AuthMode values of provider.BMCFacts.
const (
	authSession = "Session"
	authBasic   = "Basic"
)

const (
	// firstLockout is how long no login is tried after credentials were refused; it doubles with each further refusal.
	// BMCs lock an account or an address after about three failures a minute.
	firstLockout = time.Minute
	maxLockout   = time.Hour
	// sessionRetry is how long basic authentication stands in for a full session table before a session is tried again.
	sessionRetry = 10 * time.Minute
)

// auth is how this connection authenticates. Touched by the holder of the gate only.
type auth struct {
	mode    string // "" undecided, authSession or authBasic
	token   string
	session string    // path of the session, for logout
	until   time.Time // basic only: when a session is tried again; zero never
	full    bool      // basic stands in for a full session table

	refusal  *provider.Error // why the credentials are not tried now
	refusals int
	retryAt  time.Time
	deferred int // logins in a row that a bare 503 put off
}

type loginBody struct {
	UserName string `json:"UserName"`
	Password string `json:"Password"`
}

// authorized sends r with credentials. A session that has ended is opened anew, once; a second refusal in a row is Denied, and
// then nothing is tried until the credentials change or a growing back-off has passed (B165, B169, B173). A 403 to credentials that are
// good is an answer like another: it is about what was asked, and costs nothing else (B159, B162).
func (b *BMC) authorized(ctx context.Context, r request) (*response, error) {
	for attempt := 0; ; attempt++ {
		if err := b.login(ctx); err != nil {
			return nil, err
		}
		resp, err := b.exchange(ctx, r, b.authorize)
		if err != nil {
			return nil, err
		}
		if !b.refused(ctx, resp, attempt > 0) {
			b.auth.refusals, b.auth.refusal = 0, nil
			return resp, nil
		}
		again := attempt == 0 && b.auth.mode == authSession
		b.logout(ctx) // the BMC may hold the session for alive (403): never leave it behind
		if !again {
			return nil, b.refuse(resp)
		}
	}
}

// refused says that the answer is about the credentials, not about what was asked. Some BMCs say 403 of a session that has ended (B169), and
// others of what the account, or the licence, does not allow: where its own words do not tell, a login that has just succeeded does, or
// another request.
func (b *BMC) refused(ctx context.Context, r *response, anew bool) bool {
	if r.status != http.StatusForbidden {
		return r.status == http.StatusUnauthorized
	}
	messages := parseMessages(r.body)
	if anyOf(messages, privilegeMessages) || anyOf(messages, passwordMessages) || (anew && b.auth.mode == authSession) {
		return false
	}
	return !b.welcome(ctx)
}

// welcome says that the BMC takes these credentials, or this session, still: it shows the session, or its systems. An answer that is about
// neither, and no answer, contradict nothing.
func (b *BMC) welcome(ctx context.Context) bool {
	paths := []string{b.auth.session}
	if root, err := b.fetchRoot(ctx); err == nil {
		paths = append(paths, root.systems)
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		r, err := b.exchange(ctx, request{method: http.MethodGet, path: path}, b.authorize)
		if err != nil {
			return true
		}
		switch r.status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		default:
			return true
		}
	}
	return false
}

func (b *BMC) authorize(h http.Header) {
	switch b.auth.mode {
	case authSession:
		h.Set("X-Auth-Token", b.auth.token)
	case authBasic:
		r := http.Request{Header: h}
		r.SetBasicAuth(b.cred.Username, b.cred.Password)
	}
}

// login makes sure that authorize has something to send.
func (b *BMC) login(ctx context.Context) error {
	now := b.opts.Clock()
	if b.auth.refusal != nil && now.Before(b.auth.retryAt) {
		return b.auth.refusal
	}
	switch {
	case b.auth.mode == authSession && b.auth.token != "":
		return nil
	case b.auth.mode == authBasic && (b.auth.until.IsZero() || now.Before(b.auth.until)):
		return nil
	}
	root, err := b.fetchRoot(ctx)
	if err != nil {
		return err
	}
	if root.sessions == "" {
		b.useBasic(time.Time{})
		return nil
	}
	resp, err := b.exchange(ctx, request{method: http.MethodPost, path: root.sessions,
		body: loginBody{UserName: b.cred.Username, Password: b.cred.Password}}, nil)
	if err != nil {
		b.metrics.login("failed")
		return err // a broken connection never leads to a weaker mode (B168)
	}
	return b.loggedIn(resp)
}

// loggedIn takes the answer to a login.
func (b *BMC) loggedIn(r *response) error {
	messages := parseMessages(r.body)
	switch {
	case r.ok() && r.header.Get("X-Auth-Token") != "":
		b.auth.mode, b.auth.token, b.auth.session = authSession, r.header.Get("X-Auth-Token"), b.sessionPath(r)
		b.auth.full, b.auth.deferred = false, 0
		b.metrics.login("session")
		return nil
	case r.ok(), unsupported(r.status):
		b.useBasic(time.Time{}) // a clear "not supported" (B166)
		return nil
	case anyOf(messages, sessionsFullMessages), r.status == http.StatusServiceUnavailable && b.auth.deferred > 0:
		b.auth.full = true
		b.useBasic(b.opts.Clock().Add(sessionRetry)) // the table is full: never one more login a request (B163)
		return nil
	case r.status == http.StatusServiceUnavailable:
		b.auth.deferred++ // starting, or full without saying so: the next login tells
		b.metrics.login("failed")
		return b.answerError(r)
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		return b.refuse(r)
	default:
		b.metrics.login("failed")
		return b.answerError(r)
	}
}

func unsupported(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

func (b *BMC) useBasic(until time.Time) {
	b.auth.mode, b.auth.token, b.auth.session, b.auth.until, b.auth.deferred = authBasic, "", "", until, 0
	b.metrics.login("basic")
}

// sessionPath is where the session just opened is deleted: Location, else the body.
func (b *BMC) sessionPath(r *response) string {
	if p := b.base.resolve(r.sent.path, r.header.Get("Location")); p != "" {
		return p
	}
	doc, err := parseDocument(r.body, "Session", &gaps{})
	if err != nil {
		return ""
	}
	return b.base.resolve(r.sent.path, doc.text("@odata.id"))
}

// refuse remembers that the credentials were refused, so that repeating does not lock the account.
func (b *BMC) refuse(r *response) error {
	err := b.answerError(r)
	if b.auth.full { // right credentials, for all we know: basic authentication may be switched off
		err = fail(provider.Busy, provider.ReasonBusy, "the BMC's session table is full, and it takes no basic authentication", err)
	} else {
		err = fail(provider.Denied, provider.ReasonCredentialsInvalid, err.Message, err.Err)
	}
	b.metrics.login("refused")
	pause := maxLockout
	if b.auth.refusals < 6 {
		pause = firstLockout << b.auth.refusals
	}
	now := b.opts.Clock()
	b.auth = auth{refusal: err, refusals: b.auth.refusals + 1, retryAt: now.Add(min(pause, maxLockout))}
	if err.Class == provider.Busy {
		err.After = pause
	}
	return err
}

// logout ends the session, if there is one, and forgets it whatever the BMC answers: the BMC's own timeout ends it then.
func (b *BMC) logout(ctx context.Context) {
	token, session := b.auth.token, b.auth.session
	b.auth.mode, b.auth.token, b.auth.session = "", "", ""
	if token == "" || session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, logoutTimeout)
	defer cancel()
	r := request{method: http.MethodDelete, path: session}
	_, _ = b.send(ctx, r, func(h http.Header) { h.Set("X-Auth-Token", token) })
}

// exchange is roundTrip, following the one redirect that means nothing: a GET to the same path with or without a trailing slash.
func (b *BMC) exchange(ctx context.Context, r request, authorize func(http.Header)) (*response, error) {
	resp, err := b.roundTrip(ctx, r, authorize)
	if err != nil || r.method != http.MethodGet || resp.status < 300 || resp.status >= 400 || resp.status == http.StatusNotModified {
		return resp, err
	}
	target := b.base.resolve(r.path, resp.header.Get("Location"))
	if target == r.path || !samePath(target, r.path) || !b.sameHost(resp.header.Get("Location")) {
		return resp, nil
	}
	again := r
	again.path = target
	second, err := b.roundTrip(ctx, again, authorize)
	if err != nil {
		return nil, err
	}
	second.sent = r
	return second, nil
}
