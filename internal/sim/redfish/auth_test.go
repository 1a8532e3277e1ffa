// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

const sessions = "/redfish/v1/SessionService/Sessions"

var right = map[string]any{"UserName": "admin", "Password": "password"}

// logIn opens a session and has the bench use it.
func (b *bench) logIn() (location string) {
	b.t.Helper()
	b.anonymous()
	a := b.do("POST", sessions, right, http.StatusCreated)
	b.header.Set("X-Auth-Token", a.Header.Get("X-Auth-Token"))
	return a.Header.Get("Location")
}

func (b *bench) anonymous() { b.header = http.Header{"Authorization": nil} }

func TestOnlyTheFrontDoorIsOpen(t *testing.T) {
	b := newBench(t)
	b.anonymous()
	for _, path := range []string{"/redfish", "/redfish/v1", "/redfish/v1/", "/redfish/v1/odata", "/redfish/v1/$metadata"} {
		b.do("GET", path, nil, http.StatusOK)
	}
	root := b.get("/redfish/v1")
	for _, key := range []string{"UUID", "Vendor", "Product", "RedfishVersion"} {
		if s, _ := root[key].(string); s == "" {
			t.Errorf("the root has no %s", key)
		}
	}
	for _, path := range []string{system, "/redfish/v1/Systems", sessions, "/redfish/v1/Nowhere", "/redfish/v1/AccountService"} {
		if a := b.do("GET", path, nil, http.StatusUnauthorized); a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: 401 without WWW-Authenticate", path)
		}
	}
	b.do("POST", resetTarget, map[string]any{"ResetType": "On"}, http.StatusUnauthorized)
	b.wantNothingDone()
}

func (b *bench) wantNothingDone() {
	b.t.Helper()
	if got := b.events(); len(got) != 0 {
		b.t.Errorf("machine log: %v", got)
	}
}

func TestSessionLivesUntilItIsDeleted(t *testing.T) {
	b := newBench(t)
	location := b.logIn()
	b.get(system)
	if doc := b.get(location); doc["UserName"] != "admin" || doc["Password"] != nil {
		t.Errorf("session reads %v", doc)
	}
	if got := b.get(sessions)["Members@odata.count"]; got != 1.0 {
		t.Errorf("%v sessions", got)
	}
	b.do("DELETE", location, nil, http.StatusNoContent)
	b.do("GET", system, nil, http.StatusUnauthorized)
	if got, want := b.bmc.AuthStats(), (redfish.AuthStats{Logins: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestSessionEndsAfterIdleTimeButNotBefore(t *testing.T) { // B165
	b := newBench(t, withProfile(func(p *redfish.Profile) { p.SessionIdleSeconds = 30 }))
	b.logIn()
	for range 3 {
		b.clock.Advance(29 * time.Second)
		b.get(system)
	}
	b.clock.Advance(30 * time.Second)
	b.do("GET", system, nil, http.StatusUnauthorized)
}

func TestSessionLimitIs503UntilOneGoes(t *testing.T) { // B163
	b := newBench(t, withProfile(func(p *redfish.Profile) { p.SessionLimit = 2 }))
	b.logIn()
	location := b.logIn()
	b.do("POST", sessions, right, http.StatusServiceUnavailable)
	b.do("DELETE", location, nil, http.StatusNoContent)
	b.logIn()
}

func TestSessionsEndWithTheBMC(t *testing.T) { // B169
	for name, end := range map[string]func(*bench){
		"ended":   func(b *bench) { b.bmc.EndSessions() },
		"restart": func(b *bench) { b.bmc.Reboot(); b.clock.Advance(timing.BMCBoot) },
		"power cut": func(b *bench) {
			b.bmc.CutPower()
			b.bmc.ReturnPower()
			b.clock.Advance(timing.BMCBoot)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.logIn()
			end(b)
			b.do("GET", system, nil, http.StatusUnauthorized)
		})
	}
}

func TestWrongCredentialsAreCountedAndLockTheAccount(t *testing.T) {
	b := newBench(t, withProfile(func(p *redfish.Profile) { p.LockoutAfter, p.LockoutSeconds = 3, 300 }))
	wrong := map[string]any{"UserName": "admin", "Password": "guess"}
	b.anonymous()
	b.do("POST", sessions, wrong, http.StatusUnauthorized)
	b.do("POST", sessions, wrong, http.StatusUnauthorized)
	for range 3 {
		b.do("POST", sessions, right, http.StatusCreated) // resets the count
		b.do("POST", sessions, wrong, http.StatusUnauthorized)
	}
	b.do("POST", sessions, wrong, http.StatusUnauthorized)
	b.do("POST", sessions, wrong, http.StatusUnauthorized)
	b.do("POST", sessions, right, http.StatusUnauthorized) // locked
	b.clock.Advance(300 * time.Second)
	b.do("POST", sessions, right, http.StatusCreated)
	if got := b.bmc.AuthStats().Failures; got != 8 {
		t.Errorf("%d failures counted, want 8", got)
	}
	b.do("POST", sessions, map[string]any{"UserName": "admin"}, http.StatusBadRequest)
}

func TestCredentialsRotate(t *testing.T) { // B173
	b := newBench(t)
	b.do("PATCH", "/redfish/v1/AccountService/Accounts/1", map[string]any{"Password": "next"}, http.StatusNoContent)
	b.do("GET", system, nil, http.StatusUnauthorized)
	b.bmc.SetCredentials("admin", "password")
	b.get(system)
}

func TestBMCsWithOneWayIn(t *testing.T) {
	t.Run("basic only", func(t *testing.T) { // B166
		b := newBench(t, withProfile(func(p *redfish.Profile) { p.NoSessionService = true }))
		b.get(system)
		if _, ok := b.get("/redfish/v1")["SessionService"]; ok {
			t.Error("the root links to a SessionService")
		}
		b.do("POST", sessions, right, http.StatusNotFound)
	})
	t.Run("sessions only", func(t *testing.T) {
		b := newBench(t, withProfile(func(p *redfish.Profile) { p.NoBasicAuth = true }))
		b.do("GET", system, nil, http.StatusUnauthorized)
		b.logIn()
		b.get(system)
	})
}
