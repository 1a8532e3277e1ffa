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
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

func answered(status int, body string, headers ...string) error {
	header := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return gophercloud.ErrUnexpectedResponseCode{URL: "http://cloud/v2.1/servers?token=canary", Method: "POST", Actual: status, Body: []byte(body), ResponseHeader: header}
}

// TestAnswersHaveOneClass: by the words of each service (P12, B210, B212).
func TestAnswersHaveOneClass(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		class  provider.Class
		reason string
		after  time.Duration
	}{
		{"429", answered(429, `{"overLimit": {"code": 429, "message": "slow down"}}`, "Retry-After", "7"), provider.Busy, provider.ReasonRateLimited, 7 * time.Second},
		{"413 with Retry-After: an older service's 429", answered(413, `{"overLimit": {"message": "slow down"}}`, "Retry-After", "3"), provider.Busy, provider.ReasonRateLimited, 3 * time.Second},
		{"413 without: an older Nova's quota", answered(413, `{"overLimit": {"message": "Quota exceeded"}}`, "Retry-After", "0"), provider.Terminal, provider.ReasonQuotaExceeded, 0},
		{"503", answered(503, `<html>`, "Retry-After", "1"), provider.Busy, provider.ReasonBusy, time.Second},
		{"Nova's quota", answered(403, `{"forbidden": {"code": 403, "message": "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances"}}`), provider.Terminal, provider.ReasonQuotaExceeded, 0},
		{"Neutron's quota", answered(409, `{"NeutronError": {"type": "OverQuota", "message": "Quota exceeded for resources: ['port']."}}`), provider.Terminal, provider.ReasonQuotaExceeded, 0},
		{"no address left", answered(409, `{"NeutronError": {"type": "IpAddressGenerationFailure", "message": "No more IP addresses available on network"}}`), provider.Terminal, provider.ReasonQuotaExceeded, 0},
		{"policy", answered(403, `{"forbidden": {"message": "Policy doesn't allow os_compute_api:servers:create to be performed."}}`), provider.Denied, provider.ReasonForbidden, 0},
		{"conflict", answered(409, `{"conflictingRequest": {"message": "Port x is still in use."}}`), provider.Busy, provider.ReasonBusy, 0},
		{"revision", answered(412, `{"NeutronError": {"type": "RevisionNumberConstraintFailed", "message": "Constrained to 1, but current revision is 2"}}`), provider.Busy, provider.ReasonBusy, 0},
		{"bad request", answered(400, `{"badRequest": {"message": "Flavor nope could not be found."}}`), provider.Terminal, provider.ReasonRefused, 0},
		{"server error", answered(500, `{"computeFault": {"message": "Unexpected API Error."}}`), provider.Transient, provider.ReasonServerError, 0},
		{"gateway", answered(504, `<html>`), provider.Transient, provider.ReasonServerError, 0},
		{"redirect", answered(302, ``), provider.Terminal, provider.ReasonEndpointInvalid, 0},
		{"not found", answered(404, `{"itemNotFound": {"message": "Instance could not be found."}}`), provider.NotFound, provider.ReasonResourceMissing, 0},
		{"renewal refused", &gophercloud.ErrUnableToReauthenticate{ErrOriginal: answered(401, ``), ErrReauth: answered(401, ``)}, provider.Denied, provider.ReasonCredentialsInvalid, 0},
		{"renewal limited", &gophercloud.ErrUnableToReauthenticate{ErrOriginal: answered(401, ``), ErrReauth: answered(429, ``, "Retry-After", "2")}, provider.Busy, provider.ReasonRateLimited, 2 * time.Second},
		{"refused after renewal", &gophercloud.ErrErrorAfterReauthentication{ErrOriginal: answered(401, ``)}, provider.Denied, provider.ReasonCredentialsInvalid, 0},
		{"gone after renewal", &gophercloud.ErrErrorAfterReauthentication{ErrOriginal: answered(404, `{"itemNotFound": {"message": "x"}}`)}, provider.NotFound, provider.ReasonResourceMissing, 0},
		{"deadline", &url.Error{Op: "Get", URL: "http://cloud", Err: context.DeadlineExceeded}, provider.Transient, provider.ReasonTimeout, 0},
		{"broken off", &url.Error{Op: "Get", URL: "http://cloud", Err: io.ErrUnexpectedEOF}, provider.Transient, provider.ReasonUnreachable, 0},
		{"cut off", io.ErrUnexpectedEOF, provider.Transient, provider.ReasonProtocolError, 0},
		{"no JSON", json.Unmarshal([]byte("<html>"), &struct{}{}), provider.Transient, provider.ReasonProtocolError, 0},
	} {
		var e *provider.Error
		if !errors.As(classify("making the VM", c.err), &e) || e.Class != c.class || e.Reason != c.reason || e.After != c.after {
			t.Errorf("%s: got %v after %s, want %s (%s) after %s", c.name, e, e.After, c.class, c.reason, c.after)
		}
		if strings.Contains(e.Error(), "canary") {
			t.Errorf("%s: the address is shown: %v", c.name, e)
		}
	}
}

// TestNoValueIsShown: Nova quotes the value of a field that it refuses, which may be user data.
func TestNoValueIsShown(t *testing.T) {
	err := classify("making the VM", answered(400,
		`{"badRequest": {"message": "Invalid input for field/attribute user_data. Value: canary-user-data. 'canary-user-data' is too long"}}`))
	if text := err.Error(); strings.Contains(text, "canary") || !strings.Contains(text, "user_data") {
		t.Errorf("the message is %q", text)
	}
	long := classify("making the VM", answered(400, `{"badRequest": {"message": "`+strings.Repeat("ä ", 300)+`\nline"}}`))
	var e *provider.Error
	if !errors.As(long, &e) || len(e.Message) > maxMessage || strings.ContainsAny(e.Message, "\r\n") {
		t.Errorf("a long message is not fit to be shown: %q", e.Message)
	}
}

// TestWhatWasCertainlyNotDone: a lease is given back early only then.
func TestWhatWasCertainlyNotDone(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		notDone bool
	}{
		{"refused", answered(400, ``), true},
		{"quota", answered(403, `{"forbidden": {"message": "Quota exceeded"}}`), true},
		{"not available", answered(503, ``), true},
		{"no connection", &url.Error{Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}, true},
		{"reply lost", &url.Error{Err: io.ErrUnexpectedEOF}, false},
		{"connection broken", &url.Error{Err: &net.OpError{Op: "read", Err: errors.New("reset")}}, false},
		{"deadline", &url.Error{Err: context.DeadlineExceeded}, false},
		{"failed", answered(500, ``), false},
		{"gateway's timeout", answered(504, ``), false},
		{"answer cut off", io.ErrUnexpectedEOF, false},
	} {
		if got := certainlyNotDone(classify("making the VM", c.err)); got != c.notDone {
			t.Errorf("%s: certainly not done is %v, want %v", c.name, got, c.notDone)
		}
	}
}
