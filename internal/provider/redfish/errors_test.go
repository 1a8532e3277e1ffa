// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestAnswersAreClassed: every answer to a write gets one class and one reason (P12), whatever its body says about us (B244).
func TestAnswersAreClassed(t *testing.T) {
	leak := `{"error":{"code":"Base.1.0.GeneralError","message":"` + canary + `"}}`
	for _, row := range []struct {
		name   string
		status int
		body   string
		class  provider.Class
		reason string
	}{
		{"400", 400, leak, provider.Terminal, provider.ReasonRefused},
		{"400 not now", 400, redfishError("ResourceInUse", canary), provider.Busy, provider.ReasonBusy},
		{"404", 404, leak, provider.Transient, provider.ReasonProtocolError},
		{"405", 405, leak, provider.Terminal, provider.ReasonRefused},
		{"408", 408, leak, provider.Transient, provider.ReasonTimeout},
		{"409", 409, leak, provider.Busy, provider.ReasonBusy},
		{"412", 412, leak, provider.Busy, provider.ReasonBusy},
		{"415", 415, "<html>" + canary, provider.Terminal, provider.ReasonRefused},
		{"429", 429, leak, provider.Busy, provider.ReasonRateLimited},
		{"500", 500, leak, provider.Transient, provider.ReasonServerError},
		{"500 not now", 500, redfishError("ServiceInUnknownState", canary), provider.Busy, provider.ReasonBusy},
		{"501", 501, leak, provider.Terminal, provider.ReasonRefused},
		{"502", 502, "<html>" + canary, provider.Transient, provider.ReasonServerError},
		{"503", 503, "", provider.Busy, provider.ReasonBusy},
		{"307", 307, "", provider.Terminal, provider.ReasonEndpointInvalid},
		{"403", 403, leak, provider.Denied, provider.ReasonForbidden},
		{"403, licence", 403, redfishError("LicenseKeyRequired", canary), provider.Denied, provider.ReasonForbidden},
		{"403, privilege", 403, redfishError("InsufficientPrivilege", canary), provider.Denied, provider.ReasonForbidden},
		{"403, password", 403, redfishError("PasswordChangeRequired", canary), provider.Denied, provider.ReasonCredentialsInvalid},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t, func(s object) { s["IndicatorLED"] = "Off" })
			f.answer("PATCH /redfish/v1/Systems/1", row.status, row.body)
			_, err := f.connect().Actor().SetIndicator(t.Context(), fakeRef, provider.IndicatorLit, provider.Expect{})
			wantError(t, err, row.class, row.reason)
		})
	}
}

// TestNotRedfish: another device at the address is told in one short line, and nothing of its page (B125).
func TestNotRedfish(t *testing.T) {
	page := "<html><body>" + strings.Repeat("printer ", 500) + canary
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"400 with a page": {400, page}, "404 with a page": {404, page}, "200 with a page": {200, page}, "200 with other JSON": {200, `{"hello":"` + canary + `"}`},
		"200 with a list": {200, `[]`}, "200 with nothing": {200, ``}, "404 in JSON": {404, `{"detail":"Not Found"}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.answer("GET /redfish/v1", answer.status, answer.body)
			_, err := f.connect().Observer().Discover(t.Context())
			wantError(t, err, provider.Terminal, provider.ReasonNotRedfish)
		})
	}
}

// TestStartingBMC: a service that is not up yet is no reason to give up.
func TestStartingBMC(t *testing.T) {
	f := newFake(t)
	b := f.connect()
	f.answer("GET /redfish/v1", http.StatusServiceUnavailable, "<html>starting</html>")
	_, err := b.Observer().Discover(t.Context())
	wantError(t, err, provider.Busy, provider.ReasonBusy)
	f.answer("GET /redfish/v1", http.StatusOK, `{"RedfishVersion":"1.1`)
	_, err = b.Observer().Discover(t.Context())
	wantError(t, err, provider.Transient, provider.ReasonProtocolError)
	f.handle("GET /redfish/v1", nil)
	if _, err = b.Observer().Discover(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRedirects: one that changes nothing but a trailing slash is followed by GET; all others are refused, and a write is
// never sent twice (B145).
func TestRedirects(t *testing.T) {
	elsewhere := newFake(t)
	f := newFake(t)
	system := f.docs["/redfish/v1/Systems/1"]
	f.handle("GET /redfish/v1/Systems/1", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusPermanentRedirect)
			return
		}
		f.send(w, system)
	})
	b := f.connect()
	observe(t, b)
	f.handle("POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.srv.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, err := b.Actor().PowerOn(t.Context(), fakeRef, provider.Expect{})
	wantError(t, err, provider.Terminal, provider.ReasonEndpointInvalid)
	for _, target := range []string{elsewhere.srv.URL + fakeSystemPath + "/", "/redfish/v1/Systems", "/"} {
		f.handle("GET /redfish/v1/Systems/1", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target, http.StatusFound)
		})
		wantError(t, lookFake(t, b), provider.Terminal, provider.ReasonEndpointInvalid)
	}
	equal(t, "POSTs", 1, len(f.got(http.MethodPost)))
	equal(t, "requests at the other host", 0, len(elsewhere.got("")))
}

// TestDeadlines: a BMC that never answers costs the request timeout, and a caller with less patience its own (B176, B231).
func TestDeadlines(t *testing.T) {
	hung := make(chan struct{})
	f := newFake(t)
	f.handle("GET /redfish/v1/Systems", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hung:
		case <-r.Context().Done():
		}
	})
	defer close(hung)
	b := f.connect(func(o *Options) { o.RequestTimeout = 50 * time.Millisecond })
	wantError(t, lookFake(t, b), provider.Transient, provider.ReasonTimeout)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := f.connect().Observer().Observe(ctx, fakeRef, provider.DepthState, "")
	wantError(t, err, provider.Transient, provider.ReasonTimeout)
}

// TestAnswersWithoutEnd: an answer that is too long or stops in the middle is no answer.
func TestAnswersWithoutEnd(t *testing.T) {
	f := newFake(t)
	b := f.connect()
	f.handle("GET /redfish/v1/Systems/1", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"Id":"`+strings.Repeat("x", maxBody)+`"}`)
	})
	wantError(t, lookFake(t, b), provider.Transient, provider.ReasonProtocolError)
	f.handle("GET /redfish/v1/Systems/1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"Id":`)
	})
	wantError(t, lookFake(t, b), provider.Transient, provider.ReasonUnreachable)
}

// TestNoConnection: nobody there, and nobody of that name.
func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	for _, url := range []string{"http://" + address, "http://no-such-host.invalid"} {
		wantError(t, lookFake(t, connect(t, Endpoint{URL: url})), provider.Transient, provider.ReasonUnreachable)
	}
}

// TestIdleConnectionsThatAreClosed: a BMC that closes every connection after its answer fails nobody (B133).
func TestIdleConnectionsThatAreClosed(t *testing.T) {
	f := newFake(t)
	b := f.connect()
	for range 20 {
		observe(t, b)
		f.srv.CloseClientConnections()
	}
}

// TestMetrics: requests and logins are counted, without a series per BMC and without anything secret.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	f := newFake(t)
	observe(t, f.connect(func(o *Options) { o.Registerer = registry }))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			seen[family.GetName()] += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			if strings.Contains(m.String(), canary) || strings.Contains(m.String(), f.srv.URL) {
				t.Errorf("%s tells too much: %s", family.GetName(), m)
			}
		}
	}
	equal(t, "metrics", map[string]float64{
		"holdfast_redfish_requests_total": 3, "holdfast_redfish_request_duration_seconds": 3, "holdfast_redfish_logins_total": 1,
	}, seen)
}
