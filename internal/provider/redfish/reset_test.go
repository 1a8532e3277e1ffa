// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestPatienceWithResetsEnds: no state of a machine lasts half an hour; what is refused for longer needs a person, who is given the BMC's word
// for it. A refused reset is none, and excuses nothing that is refused after it; one that was taken begins anew.
func TestPatienceWithResetsEnds(t *testing.T) {
	f := newFake(t, func(s object) { s["IndicatorLED"] = "Off" })
	refuse := func() { f.answer("POST "+fakeReset, http.StatusBadRequest, redfishError("GeneralError", canary)) }
	refuse()
	f.answer("PATCH "+fakeSystemPath, http.StatusBadRequest, "")
	now := noon()
	a := f.connect(func(o *Options) { o.Clock = func() time.Time { return now } }).Actor()
	for _, class := range []provider.Class{provider.Busy, provider.Busy, provider.Terminal} {
		err := powerOn(t, a)
		equal(t, "class after "+now.Sub(noon()).String(), class, provider.ClassOf(err))
		if !strings.Contains(err.Error(), "GeneralError") {
			t.Errorf("it does not say the BMC's word: %v", err)
		}
		now = now.Add(postTime / 2)
	}
	_, err := a.SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{})
	wantError(t, err, provider.Terminal, provider.ReasonRefused)
	f.answer("POST "+fakeReset, http.StatusNoContent, "")
	if err := powerOn(t, a); err != nil {
		t.Fatal(err)
	}
	refuse()
	equal(t, "class after one that was taken", provider.Busy, provider.ClassOf(powerOn(t, a)))
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
