// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// statusError is the cause behind an error that came as an HTTP answer. It keeps what a ladder of retries decides by, and
// prints the status alone: bodies may quote what was sent (B244).
type statusError struct {
	status   int
	messages []message
}

func (e *statusError) Error() string { return "HTTP status " + strconv.Itoa(e.status) }

// statusOf is the HTTP status behind err, 0 where no answer came.
func statusOf(err error) int {
	var s *statusError
	if errors.As(err, &s) {
		return s.status
	}
	return 0
}

func fail(class provider.Class, reason, message string, cause error) *provider.Error {
	return &provider.Error{Class: class, Reason: reason, Message: message, Err: cause}
}

// connectionError classes what went wrong before an answer was complete. Texts are fixed: the causes quote addresses.
func connectionError(err error) error {
	var (
		netErr net.Error
		dns    *net.DNSError
		alert  tls.AlertError
		record tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, errPinMismatch):
		return fail(provider.Denied, provider.ReasonTLSVerifyFailed, "the BMC shows another certificate than the pinned one", err)
	case provider.CertificateProblem(err) != "":
		return fail(provider.Denied, provider.ReasonTLSVerifyFailed, "the BMC's certificate "+provider.CertificateProblem(err), err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fail(provider.Terminal, provider.ReasonEndpointInvalid, "the endpoint says https, and the BMC answers in plain HTTP", err)
	case errors.As(err, &alert), errors.As(err, &record):
		return fail(provider.Transient, provider.ReasonUnreachable, "the TLS handshake with the BMC failed", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fail(provider.Transient, provider.ReasonTimeout, "the BMC did not answer within the deadline", err)
	case errors.Is(err, context.Canceled):
		return fail(provider.Transient, provider.ReasonUnreachable, "the request to the BMC was broken off", err)
	case errors.As(err, &dns):
		return fail(provider.Transient, provider.ReasonUnreachable, "the BMC's host name cannot be resolved", err)
	case errors.As(err, &netErr) && netErr.Timeout():
		return fail(provider.Transient, provider.ReasonTimeout, "no connection to the BMC within the time allowed", err)
	default:
		return fail(provider.Transient, provider.ReasonUnreachable, "no connection to the BMC, or it broke", err)
	}
}

// answerError classes an answer that is no success. 401 never comes here alone: see authorized.
func (b *BMC) answerError(r *response) *provider.Error {
	messages := parseMessages(r.body)
	cause := &statusError{status: r.status, messages: messages}
	what := describe(r)
	switch {
	case r.status == http.StatusTooManyRequests:
		return b.busy(r, provider.ReasonRateLimited, "the BMC asks for fewer requests", cause)
	case r.status == http.StatusServiceUnavailable, anyOf(messages, notNowMessages) && r.status != http.StatusForbidden:
		return b.busy(r, provider.ReasonBusy, what+"the BMC says not now", cause)
	case r.status >= 300 && r.status < 400:
		return fail(provider.Terminal, provider.ReasonEndpointInvalid, "the BMC answers with a redirect; register the address it redirects to", cause)
	case r.status == http.StatusUnauthorized:
		return fail(provider.Denied, provider.ReasonCredentialsInvalid, "the BMC refuses the credentials", cause)
	case r.status == http.StatusForbidden:
		return forbidden(what, messages, cause)
	case r.sent.path == b.base.root() && (r.status == http.StatusNotFound || !isJSON(r.body)) && r.status < 500:
		return fail(provider.Terminal, provider.ReasonNotRedfish, fmt.Sprintf("there is no Redfish service at this endpoint (status %d)", r.status), cause)
	case r.status == http.StatusNotFound, r.status == http.StatusGone:
		return fail(provider.Transient, provider.ReasonProtocolError, what+"the BMC does not know it (404)", cause)
	case r.status == http.StatusRequestTimeout:
		return fail(provider.Transient, provider.ReasonTimeout, what+"the BMC gave up waiting (408)", cause)
	case r.status == http.StatusConflict, r.status == http.StatusPreconditionFailed, r.status == http.StatusPreconditionRequired:
		return b.busy(r, provider.ReasonBusy, what+fmt.Sprintf("the BMC reports a conflict (%d)", r.status), cause)
	case r.status >= 500 && r.status != http.StatusNotImplemented:
		return fail(provider.Transient, provider.ReasonServerError, what+fmt.Sprintf("the BMC failed (%d)", r.status), cause)
	case r.status >= 400:
		return fail(provider.Terminal, provider.ReasonRefused, what+refusal(r.status, messages), cause)
	default:
		return fail(provider.Transient, provider.ReasonProtocolError, what+fmt.Sprintf("unexpected status %d", r.status), cause)
	}
}

func (b *BMC) busy(r *response, reason, message string, cause error) *provider.Error {
	e := fail(provider.Busy, reason, message, cause)
	e.After = provider.RetryAfter(r.header.Get("Retry-After"), b.opts.Clock())
	return e
}

// describe names the request for a person, short, from our own words and the path.
func describe(r *response) string {
	p := pathOnly(r.sent.path)
	if len(p) > 120 {
		p = p[:120] + "…"
	}
	return r.sent.method + " " + p + ": "
}

func refusal(status int, messages []message) string {
	for _, m := range messages {
		if m.id != "" && len(m.id) <= 64 {
			return fmt.Sprintf("the BMC refuses (%d, %s)", status, m.id)
		}
	}
	return fmt.Sprintf("the BMC refuses (%d)", status)
}

// forbidden is what the BMC does not do for credentials that are good: see refused.
func forbidden(what string, messages []message, cause error) *provider.Error {
	switch {
	case anyOf(messages, passwordMessages):
		return fail(provider.Denied, provider.ReasonCredentialsInvalid, "the BMC wants the password of this account changed first", cause)
	case anyOf(messages, privilegeMessages):
		return fail(provider.Denied, provider.ReasonForbidden, what+"the account lacks the privilege for this at the BMC", cause)
	default:
		return fail(provider.Denied, provider.ReasonForbidden, what+refusal(http.StatusForbidden, messages), cause)
	}
}

func isJSON(body []byte) bool {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	return len(body) > 0 && body[0] == '{'
}
