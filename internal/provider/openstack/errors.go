// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// statusError is the cause behind an error that came as an HTTP answer. It prints the status alone: bodies may quote what was sent.
type statusError struct {
	status int
	told   bool // the body is an error document of an OpenStack service, not a proxy's page
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

// gone says that the service itself answered 404. A proxy that does not know the way says 404 too, and nothing is gone for it (P10).
func gone(err error) bool {
	var s *statusError
	return errors.As(err, &s) && s.status == http.StatusNotFound && s.told
}

func fail(class provider.Class, reason, message string, cause error) *provider.Error {
	return &provider.Error{Class: class, Reason: reason, Message: cut(message), Err: cause}
}

func mismatch(message string) *provider.Error {
	return fail(provider.Mismatch, provider.ReasonStateMismatch, message, nil)
}

func busy(message string, after time.Duration) *provider.Error {
	e := fail(provider.Busy, provider.ReasonBusy, message, nil)
	e.After = after
	return e
}

// maxMessage bounds a message, see provider.Error.
const maxMessage = 255

// cut makes one short line of s.
func cut(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage-len("…")], "") + "…"
}

// classify gives what a request ended with its one class (P12). what names the request for a person, in our own words.
func classify(what string, err error) error {
	var (
		ours    *provider.Error
		answer  gophercloud.ErrUnexpectedResponseCode
		renewal *gophercloud.ErrUnableToReauthenticate
		after   *gophercloud.ErrErrorAfterReauthentication
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &renewal):
		return classify("renewing the token", renewal.ErrReauth)
	case errors.As(err, &after) && gophercloud.ResponseCodeIs(err, http.StatusUnauthorized):
		return fail(provider.Denied, provider.ReasonCredentialsInvalid, what+": a token just issued is refused", &statusError{status: http.StatusUnauthorized})
	case errors.As(err, &answer):
		return answerError(what, answer)
	default:
		return connectionError(what, err)
	}
}

// asError is the provider.Error that classify answered.
func asError(err error) *provider.Error {
	var e *provider.Error
	if errors.As(err, &e) {
		return e
	}
	return connectionError("request", err)
}

// answerError classes an answer that is no success.
func answerError(what string, r gophercloud.ErrUnexpectedResponseCode) *provider.Error {
	said := parseFault(r.Body)
	cause := &statusError{status: r.Actual, told: said.text != ""}
	asked := provider.RetryAfter(r.ResponseHeader.Get("Retry-After"), time.Now())
	status := r.Actual
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusRequestEntityTooLarge && asked > 0:
		return waiting(asked, fail(provider.Busy, provider.ReasonRateLimited, what+": the cloud asks for fewer requests", cause))
	case status == http.StatusServiceUnavailable:
		return waiting(asked, fail(provider.Busy, provider.ReasonBusy, what+": the service is not available now (503)", cause))
	case said.overQuota(status):
		return fail(provider.Terminal, provider.ReasonQuotaExceeded, what+": "+said.or("the quota of the project is used up"), cause)
	case status == http.StatusUnauthorized:
		return fail(provider.Denied, provider.ReasonCredentialsInvalid, what+": the cloud refuses the credentials", cause)
	case status == http.StatusForbidden:
		return fail(provider.Denied, provider.ReasonForbidden, what+": the cloud forbids this to the user (403)", cause)
	case status == http.StatusNotFound, status == http.StatusGone:
		return fail(provider.NotFound, provider.ReasonResourceMissing, what+": the cloud does not know it (404)", cause)
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		return fail(provider.Busy, provider.ReasonBusy, what+": "+said.or("the cloud reports a conflict"), cause)
	case status == http.StatusRequestTimeout:
		return fail(provider.Transient, provider.ReasonTimeout, what+": the cloud gave up waiting (408)", cause)
	case status >= 500:
		return fail(provider.Transient, provider.ReasonServerError, what+": the cloud failed ("+strconv.Itoa(status)+")", cause)
	case status >= 300 && status < 400:
		return fail(provider.Terminal, provider.ReasonEndpointInvalid, what+": the cloud answers with a redirect; its catalog or auth_url must name the address it redirects to", cause)
	case status >= 400:
		return fail(provider.Terminal, provider.ReasonRefused, what+": "+said.or("the cloud refuses it ("+strconv.Itoa(status)+")"), cause)
	default:
		return fail(provider.Transient, provider.ReasonProtocolError, what+": unexpected status "+strconv.Itoa(status), cause)
	}
}

func waiting(after time.Duration, e *provider.Error) *provider.Error {
	e.After = after
	return e
}

// said is what the body of an error says.
type said struct {
	kind string // Neutron's type of error
	text string // one line, fit to be shown; "" where there is none
}

// parseFault reads the three forms in use: {"NeutronError": {"type", "message"}}, {"<word>": {"code", "message"}} of Nova, and Glance's HTML,
// of which nothing is taken.
func parseFault(raw []byte) said {
	var forms map[string]json.RawMessage
	if json.Unmarshal(raw, &forms) != nil {
		return said{}
	}
	for _, form := range forms {
		var inner struct{ Type, Message string }
		if json.Unmarshal(form, &inner) == nil && inner.Message != "" {
			return said{kind: inner.Type, text: showable(inner.Message)}
		}
	}
	return said{}
}

// showable is what of a service's message may be shown. Nova's answer to a malformed field quotes its value, which may be user data.
func showable(message string) string {
	message, _, _ = strings.Cut(message, "Value:")
	return cut(message)
}

func (s said) or(otherwise string) string {
	if s.text == "" {
		return otherwise
	}
	return s.text
}

// overQuota: Nova says 403 and 413, Neutron 409.
func (s said) overQuota(status int) bool {
	switch status {
	case http.StatusForbidden:
		return strings.Contains(s.text, "Quota exceeded") || strings.Contains(s.text, "quota exceeded")
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusConflict:
		return s.kind == "OverQuota" || s.kind == "IpAddressGenerationFailure"
	}
	return false
}

// connectionError classes what went wrong before an answer was complete. Texts are fixed: the causes quote addresses.
func connectionError(what string, err error) *provider.Error {
	var (
		netErr net.Error
		dns    *net.DNSError
		syntax *json.SyntaxError
		form   *json.UnmarshalTypeError
	)
	switch {
	case provider.CertificateProblem(err) != "":
		return fail(provider.Denied, provider.ReasonTLSVerifyFailed, "the cloud's certificate "+provider.CertificateProblem(err), err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fail(provider.Terminal, provider.ReasonEndpointInvalid, "the address says https, and the cloud answers in plain HTTP", err)
	case errors.Is(err, errTooLong), errors.As(err, &syntax), errors.As(err, &form), endsEarly(err):
		return fail(provider.Transient, provider.ReasonProtocolError, what+": the cloud's answer cannot be understood", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fail(provider.Transient, provider.ReasonTimeout, what+": the cloud did not answer within the deadline", err)
	case errors.Is(err, context.Canceled):
		return fail(provider.Transient, provider.ReasonUnreachable, what+": the request to the cloud was broken off", err)
	case errors.As(err, &dns):
		return fail(provider.Transient, provider.ReasonUnreachable, "the cloud's host name cannot be resolved", err)
	case errors.As(err, &netErr) && netErr.Timeout():
		return fail(provider.Transient, provider.ReasonTimeout, what+": no connection to the cloud within the time allowed", err)
	default:
		return fail(provider.Transient, provider.ReasonUnreachable, what+": no connection to the cloud, or it broke", err)
	}
}

// endsEarly says that an answer began and was cut off: what breaks before that comes wrapped by the HTTP client.
func endsEarly(err error) bool {
	var sending *url.Error
	return !errors.As(err, &sending) && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF))
}

// certainlyNotDone says of a write that ended in err that the cloud did not carry it out: it refused, or was never reached.
func certainlyNotDone(err error) bool {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	switch provider.ClassOf(err) {
	case provider.Transient:
		return false
	default:
		return true
	}
}
