// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// TestOneSessionForAll: observer and actor, at the same time and over and over, share one session (B163, B165, B228).
func TestOneSessionForAll(t *testing.T) {
	r := newRackBMC(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			b := r.with(canary, "1")
			if err := r.look(b); err != nil {
				t.Error(err)
			}
			if err := b.Actor().ConfirmOff(t.Context(), r.ref(), provider.Expect{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r.stats(1, 1)
}

// TestSessionThatEndedIsOpenedAnewOnce: an expired or invalidated session costs one login and no error (B165, B169, B177).
func TestSessionThatEndedIsOpenedAnewOnce(t *testing.T) {
	r := newRackBMC(t)
	b := r.with(canary, "1")
	r.mustLook(b)
	r.EndSessions()
	r.mustLook(b)
	r.stats(1, 2)
	r.clock.Advance(2 * time.Hour) // past any idle timeout
	if _, err := b.Actor().PowerOn(t.Context(), r.ref(), provider.Expect{}); err != nil {
		t.Fatal(err)
	}
	r.stats(1, 3)
}

// TestFullSessionTable: a full table leads to basic authentication for a while, never to a login with each request (B163).
func TestFullSessionTable(t *testing.T) {
	r := newRackBMC(t, func(p *sim.Profile) { p.SessionLimit = 4 })
	client := r.rack.Client()
	defer client.CloseIdleConnections()
	for range 4 { // others, who never log out
		resp, err := client.Post(r.Endpoint()+"/redfish/v1/SessionService/Sessions", "application/json",
			strings.NewReader(`{"UserName":"root","Password":"`+canary+`"}`))
		if err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatal(resp, err)
		}
		_ = resp.Body.Close()
	}
	b := r.with(canary, "1")
	for range 50 {
		if err := r.look(b); provider.ClassOf(err) == provider.Denied {
			t.Fatalf("a full table is taken for refused credentials: %v", err)
		}
	}
	r.mustLook(b)
	equal(t, "mode", authBasic, b.auth.mode)
	if n := r.loginAttempts(); n > 2+4 {
		t.Errorf("%d logins tried", n-4)
	}
	r.EndSessions()
	r.clock.Advance(sessionRetry)
	r.mustLook(b)
	equal(t, "mode once there is room", authSession, b.auth.mode)
}

// TestFullSessionTableWithoutBasic: where nothing is left, it is Busy and not Denied, and not asked all the time.
func TestFullSessionTableWithoutBasic(t *testing.T) {
	f := newFake(t)
	f.set("/redfish/v1", object{"Links": object{"Sessions": link("/redfish/v1/SessionService/Sessions")}})
	f.answer("POST /redfish/v1/SessionService/Sessions", http.StatusBadRequest, redfishError("SessionLimitExceeded", "full"))
	f.answer("GET /redfish/v1/Systems", http.StatusUnauthorized, "")
	b := f.connect(func(o *Options) { o.Clock = noon })
	for range 10 {
		_, err := b.Observer().Discover(t.Context())
		if e := wantedError(t, err, provider.Busy, provider.ReasonBusy); e.After <= 0 {
			t.Error("it does not say how long to wait")
		}
	}
	if n := len(f.got("POST")); n != 1 {
		t.Errorf("%d logins, want 1", n)
	}
}

// TestNoDowngradeOnTrouble: a broken login never leads to basic authentication, a clear "not supported" does (B166, B168).
func TestNoDowngradeOnTrouble(t *testing.T) {
	f := newFake(t)
	f.set("/redfish/v1", object{"SessionService": link("/redfish/v1/SessionService")})
	login := "POST /redfish/v1/SessionService/Sessions"
	b := f.connect()
	for name, broken := range map[string]http.HandlerFunc{
		"dropped": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"500":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"503":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	} {
		f.handle(login, broken)
		if _, err := b.Observer().Discover(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, r := range f.got("") {
		if r.header.Get("Authorization") != "" {
			t.Fatalf("%s %s had basic credentials", r.method, r.path)
		}
	}
	f.answer(login, http.StatusNotFound, "")
	if _, err := b.Observer().Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "mode", authBasic, b.auth.mode)
}

// TestRefusedCredentialsAreLeftAlone: after a refusal nothing is tried until a growing time has passed (B165, B173).
func TestRefusedCredentialsAreLeftAlone(t *testing.T) {
	r := newRackBMC(t)
	b := r.with("wrong", "1")
	for refusals, pause := 1, firstLockout; refusals <= 4; refusals, pause = refusals+1, pause*2 {
		for range 5 {
			wantError(t, r.look(b), provider.Denied, provider.ReasonCredentialsInvalid)
		}
		equal(t, "refused logins", refusals, r.AuthStats().Failures)
		r.clock.Advance(pause - time.Millisecond)
		wantError(t, r.look(b), provider.Denied, provider.ReasonCredentialsInvalid)
		equal(t, "refused logins before the pause is over", refusals, r.AuthStats().Failures)
		r.clock.Advance(time.Millisecond)
	}
}

// TestChangedCredentialsAreTriedAtOnce: new ones are tried at once, the old session is ended, and there is never a second one (B171, B180).
func TestChangedCredentialsAreTriedAtOnce(t *testing.T) {
	r := newRackBMC(t)
	wantError(t, r.look(r.with("wrong", "1")), provider.Denied, provider.ReasonCredentialsInvalid)
	second := r.with(canary, "2")
	r.mustLook(second)
	r.stats(1, 1)
	if r.with(canary, "2") != second {
		t.Error("the same credentials are another connection")
	}
	third := r.with(canary, "3") // written again: the same content, another version
	r.mustLook(third)
	r.stats(1, 2)
	wantError(t, r.look(second), provider.Transient, provider.ReasonUnreachable)
	r.stats(1, 2)
}

// TestOldSessionEndsFirst: new credentials log in only once the old session is deleted, also while a look is still on the wire (B163).
func TestOldSessionEndsFirst(t *testing.T) {
	f := newFake(t)
	f.set("/redfish/v1", object{"Links": object{"Sessions": link("/redfish/v1/SessionService/Sessions")}})
	f.handle("POST /redfish/v1/SessionService/Sessions", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Auth-Token", "t")
		w.Header().Set("Location", "/redfish/v1/SessionService/Sessions/1")
		w.WriteHeader(http.StatusCreated)
	})
	f.answer("DELETE /redfish/v1/SessionService/Sessions/1", http.StatusNoContent, "")
	pool := NewPool(Options{})
	defer func() { _ = pool.Close(context.Background()) }()
	with := func(version string) *BMC {
		b, err := pool.BMC("bmc", Endpoint{URL: f.srv.URL}, Credentials{Username: "root", Password: canary, Version: version})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := with("1")
	observe(t, first)
	arrived, answer := make(chan struct{}), make(chan struct{})
	system := f.docs[fakeSystemPath]
	f.handle("GET "+fakeSystemPath, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-answer
		f.send(w, system)
	})
	before := len(f.got(""))
	var wg sync.WaitGroup
	wg.Go(func() { _ = lookFake(t, first) })
	<-arrived
	second := with("2")
	wg.Go(func() { _ = lookFake(t, second) })
	awaitWaiting(t, second.gate, looking, 1)
	answer <- struct{}{}
	<-arrived
	answer <- struct{}{}
	wg.Wait()
	var methods []string
	for _, r := range f.got("")[before:] {
		methods = append(methods, r.method)
	}
	equal(t, "requests", []string{"GET", "DELETE", "GET", "POST", "GET", "GET"}, methods)
}

// TestRotationCostsOneRefusal: while the BMC has the new password and the secret the old one, it is shown once (B173).
func TestRotationCostsOneRefusal(t *testing.T) {
	r := newRackBMC(t)
	b := r.with(canary, "1")
	r.mustLook(b)
	r.SetCredentials("root", "new")
	r.EndSessions()
	for range 30 {
		r.clock.Advance(time.Second)
		_ = r.look(b)
	}
	if n := r.AuthStats().Failures; n > 2 { // the ended session's token, and one login
		t.Errorf("%d refusals", n)
	}
	r.mustLook(r.with("new", "2"))
}

// TestForgetTouchesTheBMCNoMore: the session is ended, work under way is broken off, and then there is silence (B059).
func TestForgetTouchesTheBMCNoMore(t *testing.T) {
	r := newRackBMC(t)
	b := r.with(canary, "1")
	r.mustLook(b)
	if _, err := r.Inject(sim.Fault{Kind: sim.FaultHang, Method: "GET", Path: "Systems"}); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { failed <- r.look(b) }()
	awaitRequest(t, r, "Systems/1", 2) // one that was answered, and the one that hangs
	r.pool.Forget(t.Context(), "bmc")
	wantError(t, <-failed, provider.Transient, provider.ReasonUnreachable)
	r.stats(0, 1)
	before := r.count()
	wantError(t, r.look(b), provider.Transient, provider.ReasonUnreachable)
	_, err := b.Actor().PowerOn(t.Context(), r.ref(), provider.Expect{})
	wantError(t, err, provider.Transient, provider.ReasonUnreachable)
	equal(t, "requests after Forget", before, r.count())
	r.ClearFaults()
	r.mustLook(r.with(canary, "1")) // registered again, it is served again
}

// TestCloseEndsAllSessions: a graceful stop leaves no session behind (B163).
func TestCloseEndsAllSessions(t *testing.T) {
	r := newRackBMC(t)
	for i := range 10 {
		name := "more-" + strconv.Itoa(i)
		device, err := r.rack.AddBMC(sim.BMCSpec{Name: name, Username: "root", Password: canary})
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.pool.BMC(name, Endpoint{URL: device.Endpoint(), TLS: TLSConfig{CABundle: r.rack.CAPEM()}}, Credentials{Username: "root", Password: canary})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Observer().Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.pool.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, device := range r.rack.BMCs() {
		equal(t, device.Name()+": sessions", 0, device.AuthStats().Sessions)
	}
	if _, err := r.pool.BMC("bmc", r.endpoint(), Credentials{Username: "root", Password: canary}); err == nil {
		t.Error("a closed pool gives connections")
	}
}

func lookFake(t *testing.T, b *BMC) error {
	_, err := b.Observer().Observe(t.Context(), fakeRef, provider.DepthState, "")
	return err
}

// TestMissingCredentials are named as such, before anything is sent.
func TestMissingCredentials(t *testing.T) {
	pool := NewPool(Options{})
	for _, cred := range []Credentials{{}, {Username: "root"}, {Password: "x"}} {
		_, err := pool.BMC("bmc", Endpoint{URL: "https://192.0.2.1"}, cred)
		wantError(t, err, provider.Denied, provider.ReasonCredentialsMissing)
	}
}

// TestRootThatAsksForCredentials: a service root behind authentication is read once logged in.
func TestRootThatAsksForCredentials(t *testing.T) {
	f := newFake(t)
	root := f.docs["/redfish/v1"]
	f.handle("GET /redfish/v1", func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); !ok {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		f.send(w, root)
	})
	facts, err := f.connect().Observer().Discover(t.Context())
	if err != nil || len(facts.Systems) != 1 {
		t.Fatalf("got %+v, %v", facts, err)
	}
}
