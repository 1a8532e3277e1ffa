// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestPatienceWithResetsEnds: no state of a machine lasts half an hour; what is refused for longer needs a person, who is given the BMC's word
// for it. One that was taken begins anew, and so does one after a silence.
func TestPatienceWithResetsEnds(t *testing.T) {
	f := newFake(t)
	refuse := func() { f.answer("POST "+fakeReset, http.StatusBadRequest, redfishError("GeneralError", canary)) }
	refuse()
	now := noon()
	a := f.connect(func(o *Options) { o.Clock = func() time.Time { return now } }).Actor()
	const pause = 5 * time.Minute
	for tried := time.Duration(0); tried < 4*postTime; tried += pause {
		want := provider.Busy
		if tried >= postTime {
			want = provider.Terminal
		}
		err := powerOn(t, a)
		equal(t, "class after "+tried.String(), want, provider.ClassOf(err))
		if !strings.Contains(err.Error(), "GeneralError") {
			t.Errorf("it does not say the BMC's word: %v", err)
		}
		now = now.Add(pause)
	}
	f.answer("POST "+fakeReset, http.StatusNoContent, "")
	if err := powerOn(t, a); err != nil {
		t.Fatal(err)
	}
	refuse()
	equal(t, "class after one that was taken", provider.Busy, provider.ClassOf(powerOn(t, a)))
	now = now.Add(postTime)
	equal(t, "class after a silence", provider.Busy, provider.ClassOf(powerOn(t, a)))
}

// TestARefusedResetExcusesNothing: only a machine that was reset may refuse what it takes at other times.
func TestARefusedResetExcusesNothing(t *testing.T) {
	for _, row := range []struct {
		status int
		class  provider.Class
	}{{http.StatusBadRequest, provider.Terminal}, {http.StatusNoContent, provider.Busy}, {http.StatusGatewayTimeout, provider.Busy}} {
		f := newFake(t)
		f.answer("POST "+fakeReset, row.status, "")
		f.answer("PATCH "+fakeSystemPath, http.StatusBadRequest, "")
		a := f.connect(func(o *Options) { o.Clock = noon }).Actor()
		_ = powerOn(t, a)
		_, err := a.SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{})
		equal(t, "class after "+http.StatusText(row.status), row.class, provider.ClassOf(err))
	}
}

// TestAPowerOnThatIsATask: while its task runs nothing is sent on top of it; that it failed is told once, in the BMC's word, and then it is
// sent again (B142). A power-off in between ends the wait for it.
func TestAPowerOnThatIsATask(t *testing.T) {
	f := newFake(t)
	f.handle("POST "+fakeReset, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", taskPath)
		w.WriteHeader(http.StatusAccepted)
	})
	f.answer("GET "+taskPath, http.StatusAccepted, "")
	a := f.connect().Actor()
	if err := powerOn(t, a); err != nil {
		t.Fatal(err)
	}
	wantError(t, powerOn(t, a), provider.Busy, provider.ReasonBusy)
	equal(t, "resets while it runs", 1, len(resets(f)))
	f.handle("GET "+taskPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusAccepted)
	})
	if e := wantedError(t, powerOn(t, a), provider.Busy, provider.ReasonBusy); e.After > settleTime {
		t.Errorf("it is waited for %s", e.After)
	}
	f.answer("GET "+taskPath, http.StatusOK, `{"TaskState":"Exception","Messages":[{"MessageId":"Vendor.1.0.PSUFault"}]}`)
	if err := powerOn(t, a); err == nil || !strings.Contains(err.Error(), "PSUFault") {
		t.Errorf("told: %v", err)
	}
	if err := powerOn(t, a); err != nil {
		t.Errorf("it is not asked for again: %v", err)
	}
	f.answer("GET "+taskPath, http.StatusAccepted, "")
	f.set(fakeSystemPath, object{"PowerState": "On"})
	if _, err := a.ForceOff(t.Context(), fakeRef, provider.Expect{}); err != nil {
		t.Fatal(err)
	}
	f.set(fakeSystemPath, object{"PowerState": "Off"})
	if err := powerOn(t, a); err != nil {
		t.Errorf("after a power-off: %v", err)
	}
	equal(t, "resets", 4, len(resets(f)))
}

// TestResetThatIsRefusedForTheState: a machine that got there in the meantime is a success, one that did not is waited for; only
// a complaint about the request itself is final (B033).
func TestResetThatIsRefusedForTheState(t *testing.T) {
	for _, row := range []struct {
		name   string
		status int
		body   string
		after  string
		class  provider.Class // "" is success
	}{
		{"409, got there", 409, "", "On", ""},
		{"400, got there", 400, redfishError("GeneralError", ""), "On", ""},
		{"500 with a word about the state, got there", 500, redfishError("InvalidOperationForSystemState", ""), "On", ""},
		{"409, not there", 409, "", "Off", provider.Busy},
		{"400, not there", 400, redfishError("GeneralError", ""), "Off", provider.Busy},
		{"503, not there", 503, "", "Off", provider.Busy},
		{"400 about the parameter", 400, redfishError("ActionParameterValueNotInList", ""), "Off", provider.Terminal},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			f.handle("POST "+fakeReset, func(w http.ResponseWriter, _ *http.Request) {
				f.set(fakeSystemPath, object{"PowerState": row.after})
				w.WriteHeader(row.status)
				_, _ = w.Write([]byte(row.body))
			})
			err := powerOn(t, f.connect().Actor())
			if class := provider.ClassOf(err); class != row.class {
				t.Errorf("got %v, want class %q", err, row.class)
			}
			equal(t, "resets", 1, len(resets(f)))
		})
	}
}

// TestAShutdownThatWasTried: whoever waits for a machine to go down has to know whether it was asked, whatever came of it (B025).
func TestAShutdownThatWasTried(t *testing.T) {
	const reset, look = "POST " + fakeReset, "GET " + fakeSystemPath
	for name, row := range map[string]struct {
		of     string
		status int
		tried  bool
	}{
		"not now":            {reset, http.StatusServiceUnavailable, true},
		"not in this state":  {reset, http.StatusConflict, true},
		"a complaint":        {reset, http.StatusBadRequest, true},
		"no privilege":       {reset, http.StatusForbidden, true},
		"no such action":     {reset, http.StatusNotFound, true},
		"its own error":      {reset, http.StatusInternalServerError, true},
		"a look: not now":    {look, http.StatusServiceUnavailable, false},
		"a look: error":      {look, http.StatusInternalServerError, false},
		"a look: a redirect": {look, http.StatusFound, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(system object) { system["PowerState"] = "On" })
			f.answer(row.of, row.status, "")
			_, err := f.connect().Actor().ShutDown(t.Context(), fakeRef, provider.Expect{})
			var e *provider.Error
			if !errors.As(err, &e) || e.Tried != row.tried {
				t.Errorf("%+v, want tried: %t", e, row.tried)
			}
		})
	}
}
