// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// TestForbidden: B169, B159, B162. A 403 of a session that has ended is a new login; any other is about what was asked: it is told as it is,
// is sent once, costs no session, and keeps nothing else from being asked.
func TestForbidden(t *testing.T) {
	r := newRackBMC(t)
	b := r.with(canary, "1")
	r.mustLook(b)
	for path, count := range map[string]int{"Systems": 2, "Sessions/": 1} { // the session has ended: nothing is answered to it
		if _, err := r.Inject(sim.Fault{Kind: sim.FaultStatus, Status: http.StatusForbidden, Method: http.MethodGet, Path: path, Count: count}); err != nil {
			t.Fatal(err)
		}
	}
	r.mustLook(b)
	r.stats(1, 2)
	if _, err := r.Inject(sim.Fault{Kind: sim.FaultStatus, Status: http.StatusForbidden, Method: http.MethodPatch}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err := b.Actor().SetIndicator(t.Context(), r.ref(), provider.IndicatorLit, provider.Expect{})
		wantError(t, err, provider.Denied, provider.ReasonForbidden)
		r.mustLook(b)
	}
	r.stats(1, 2)
	patches, err := r.rack.Requests(sim.RequestFilter{Method: http.MethodPatch})
	if err != nil || len(patches) != 3 {
		t.Errorf("%d PATCHes, %v; want one a call", len(patches), err)
	}
}

// TestForbiddenByWords: B159, B162. Whatever words a BMC has for it, and however it is asked for credentials.
func TestForbiddenByWords(t *testing.T) {
	login := "POST /redfish/v1/SessionService/Sessions"
	opened := func(location string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Auth-Token", "t")
			if location != "" {
				w.Header().Set("Location", location)
			}
			w.WriteHeader(http.StatusCreated)
		}
	}
	for name, session := range map[string]http.HandlerFunc{
		"basic": nil, "a session that can be read": opened("/redfish/v1/SessionService/Sessions/1"),
		"a session that cannot": opened("/redfish/v1/SessionService/Sessions/2"), "a session without an address": opened(""),
	} {
		for word, body := range map[string]string{
			"no word": "", "a licence": redfishError("LicenseKeyRequired", canary), "no privilege": redfishError("InsufficientPrivilege", canary),
		} {
			t.Run(name+", "+word, func(t *testing.T) {
				f := newFake(t, func(s object) { s["IndicatorLED"] = "Off" })
				if session != nil {
					f.set("/redfish/v1", object{"SessionService": link("/redfish/v1/SessionService")})
					f.handle(login, session)
					f.docs["/redfish/v1/SessionService/Sessions/1"] = object{"Id": "1"}
				}
				f.answer("PATCH /redfish/v1/Systems/1", http.StatusForbidden, body)
				b := f.connect()
				for range 3 {
					_, err := b.Actor().SetIndicator(t.Context(), fakeRef, provider.IndicatorLit, provider.Expect{})
					wantError(t, err, provider.Denied, provider.ReasonForbidden)
					if err := lookFake(t, b); err != nil {
						t.Fatalf("it keeps the BMC from being read: %v", err)
					}
				}
				equal(t, "PATCHes for three calls", 3, len(f.got("PATCH")))
				if n := len(f.got("POST")); n > 1 {
					t.Errorf("%d logins", n)
				}
			})
		}
	}
	t.Run("and nothing else is answered", func(t *testing.T) {
		f := newFake(t, func(s object) { s["IndicatorLED"] = "Off" })
		f.answer("PATCH /redfish/v1/Systems/1", http.StatusForbidden, "")
		b := f.connect()
		if err := lookFake(t, b); err != nil {
			t.Fatal(err)
		}
		f.answer("GET /redfish/v1/Systems", http.StatusServiceUnavailable, "")
		for range 3 { // whose credentials were taken a moment ago, for the look before
			_, err := b.Actor().SetIndicator(t.Context(), fakeRef, provider.IndicatorLit, provider.Expect{})
			wantError(t, err, provider.Denied, provider.ReasonForbidden)
		}
	})
	t.Run("wrong credentials", func(t *testing.T) {
		f := newFake(t)
		f.answer("GET /redfish/v1/Systems", http.StatusForbidden, "")
		f.answer("GET /redfish/v1/Systems/1", http.StatusForbidden, "")
		b := f.connect()
		for range 5 {
			wantError(t, lookFake(t, b), provider.Denied, provider.ReasonCredentialsInvalid)
		}
		if n := len(f.got("GET")); n > 3 {
			t.Errorf("%d requests with credentials that are refused", n)
		}
	})
}
