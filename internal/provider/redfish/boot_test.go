// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

var pxe = provider.BootOverride{Target: provider.BootPXE, Enabled: provider.BootOnce}

// override is the Boot object of the fake's system.
func (f *fakeBMC) override() object {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.docs[fakeSystemPath].(object)["Boot"].(object)
}

// pickyAbout refuses PATCHes of the system that accept does not like, with 400, and takes the others.
func (f *fakeBMC) pickyAbout(accept func(boot object) bool) {
	f.handle("PATCH "+fakeSystemPath, func(w http.ResponseWriter, r *http.Request) {
		var patch object
		if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
			f.t.Error(err)
		}
		boot := patch["Boot"].(object)
		if !accept(boot) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(redfishError("PropertyMissing", "")))
			return
		}
		raw, _ := json.Marshal(patch)
		f.merge(f.docs[fakeSystemPath].(object), raw)
		w.WriteHeader(http.StatusNoContent)
	})
}

// TestBootOverrideForms: BMCs differ in what they want to be told, and the machine ends armed as wanted all the same.
func TestBootOverrideForms(t *testing.T) {
	has := func(keys ...string) func(object) bool {
		return func(boot object) bool {
			for _, key := range keys {
				if boot["BootSourceOverride"+key] == nil {
					return false
				}
			}
			return true
		}
	}
	for _, row := range []struct {
		name   string
		change func(boot object)
		accept func(boot object) bool
		want   provider.BootOverride
		shows  object
	}{
		{"all three demanded (B110)", nil, has("Enabled", "Target", "Mode"), pxe, object{"Target": "Pxe", "Enabled": "Once", "Mode": "UEFI"}},
		{"mode not writable", nil, func(b object) bool { return b["BootSourceOverrideMode"] == nil }, pxe, object{"Target": "Pxe", "Enabled": "Once", "Mode": "UEFI"}},
		{"no mode at all (B101)", func(b object) { delete(b, "BootSourceOverrideMode") }, func(b object) bool { return b["BootSourceOverrideMode"] == nil }, pxe,
			object{"Target": "Pxe", "Enabled": "Once", "Mode": nil}},
		{"target and Enabled not together (B091)", nil, func(b object) bool {
			return (b["BootSourceOverrideTarget"] == nil) != (b["BootSourceOverrideEnabled"] == nil) && b["BootSourceOverrideMode"] == nil
		}, pxe, object{"Target": "Pxe", "Enabled": "Once", "Mode": "UEFI"}},
		{"mode asked for", func(b object) { b["BootSourceOverrideMode"] = "Legacy" }, nil,
			provider.BootOverride{Target: provider.BootPXE, Enabled: provider.BootOnce, Mode: "UEFI"}, object{"Target": "Pxe", "Enabled": "Once", "Mode": "UEFI"}},
		{"only Once is known (B098)", func(b object) { b["BootSourceOverrideEnabled@Redfish.AllowableValues"] = []any{"Once", "Disabled"} }, nil,
			provider.BootOverride{Target: provider.BootPXE, Enabled: provider.BootContinuous}, object{"Target": "Pxe", "Enabled": "Once", "Mode": "UEFI"}},
		{"a CD by another word", func(b object) { b["BootSourceOverrideTarget@Redfish.AllowableValues"] = []any{"None", "CD/DVD"} }, nil,
			provider.BootOverride{Target: provider.BootCD, Enabled: provider.BootOnce}, object{"Target": "CD/DVD", "Enabled": "Once", "Mode": "UEFI"}},
		{"HTTP boot", func(b object) { b["HttpBootUri"] = nil }, nil,
			provider.BootOverride{Target: provider.BootHTTP, Enabled: provider.BootOnce, HTTPURI: "http://192.0.2.1/boot.efi"},
			object{"Target": "UefiHttp", "Enabled": "Once", "Mode": "UEFI"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			if row.change != nil {
				row.change(f.override())
			}
			if row.accept != nil {
				f.pickyAbout(row.accept)
			}
			b := f.connect()
			if _, err := b.Actor().SetBootOverride(t.Context(), fakeRef, row.want, provider.Expect{}); err != nil {
				t.Fatal(err)
			}
			for key, want := range row.shows {
				equal(t, key, want, f.override()["BootSourceOverride"+key])
			}
			seen := observe(t, b).Boot
			equal(t, "target seen", row.want.Target, seen.Target)
			equal(t, "URI seen", row.want.HTTPURI, seen.HTTPURI)
			out, err := b.Actor().SetBootOverride(t.Context(), fakeRef, row.want, provider.Expect{})
			if err != nil || !out.Unchanged {
				t.Errorf("armed again: %+v, %v", out, err)
			}
		})
	}
}

// TestClearingForms: an override is cleared also where the BMC wants its values repeated (B095).
func TestClearingForms(t *testing.T) {
	for name, accept := range map[string]func(boot object) bool{
		"Disabled alone":      func(b object) bool { return b["BootSourceOverrideTarget"] == nil },
		"mode demanded":       func(b object) bool { return b["BootSourceOverrideMode"] != nil },
		"the present target":  func(b object) bool { return b["BootSourceOverrideTarget"] == "Pxe" },
		"the target None":     func(b object) bool { return b["BootSourceOverrideTarget"] == "None" },
		"everything accepted": func(object) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.override()["BootSourceOverrideEnabled"], f.override()["BootSourceOverrideTarget"] = "Once", "Pxe"
			f.pickyAbout(accept)
			if _, err := f.connect().Actor().ClearBootOverride(t.Context(), fakeRef, provider.Expect{}); err != nil {
				t.Fatal(err)
			}
			equal(t, "enabled", any("Disabled"), f.override()["BootSourceOverrideEnabled"])
		})
	}
}

// TestSettingsResource: an override the system itself does not take goes to its pending settings, announced or named in the
// refusal, with an ETag of that resource (B092, B128).
func TestSettingsResource(t *testing.T) {
	const settings = fakeSystemPath + "/SD"
	for name, announced := range map[string]bool{"announced": true, "named in the refusal": false} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			if announced {
				f.set(fakeSystemPath, object{"@Redfish.Settings": object{"SettingsObject": link(settings)}})
			}
			f.docs[settings] = object{"@odata.etag": `"sd"`, "Boot": object{}}
			f.answer("PATCH "+fakeSystemPath, http.StatusBadRequest, redfishError("PropertyNotWritable", "Use "+settings+" instead.", settings))
			var matches []string
			f.handle("PATCH "+settings, func(w http.ResponseWriter, r *http.Request) {
				matches = append(matches, r.Header.Get("If-Match"))
				if len(matches) == 1 {
					w.WriteHeader(http.StatusPreconditionRequired)
					return
				}
				f.override()["BootSourceOverrideEnabled"], f.override()["BootSourceOverrideTarget"] = "Once", "Pxe"
				w.WriteHeader(http.StatusNoContent)
			})
			if _, err := f.connect().Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{Power: provider.PowerOff}); err != nil {
				t.Fatal(err)
			}
			equal(t, "If-Match", []string{"", `"sd"`}, matches)
		})
	}
}

// TestPendingOverride: where the system tells no boot targets, its pending settings do, and an override that waits there is armed (B103).
func TestPendingOverride(t *testing.T) {
	const settings = fakeSystemPath + "/Settings"
	f := newFake(t, func(s object) { s["@Redfish.Settings"] = object{"SettingsObject": link(settings)} })
	f.docs[settings] = object{"Boot": object{allowedTargetsKey: []any{"None", "Pxe"}, "BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None"}}
	f.answer("PATCH "+fakeSystemPath, http.StatusMethodNotAllowed, "")
	b := f.connect()
	if _, err := b.Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "armed", true, observe(t, b).Boot.Armed())
	equal(t, "armed for who never saw it written", true, observe(t, f.connect()).Boot.Armed())
	_, err := b.Actor().SetBootOverride(t.Context(), fakeRef, provider.BootOverride{Target: provider.BootDisk, Enabled: provider.BootOnce}, provider.Expect{})
	wantError(t, err, provider.Terminal, provider.ReasonBootTargetMissing)
}

// TestOverrideThatDoesNotShow is Transient: nothing may rely on it yet (B097).
func TestOverrideThatDoesNotShow(t *testing.T) {
	f := newFake(t)
	f.answer("PATCH "+fakeSystemPath, http.StatusNoContent, "")
	b := f.connect()
	_, err := b.Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{})
	wantError(t, err, provider.Transient, provider.ReasonProtocolError)
	equal(t, "writes", 1, len(f.got(http.MethodPatch)))
	f.override()["BootSourceOverrideEnabled"], f.override()["BootSourceOverrideTarget"] = "Once", "Pxe"
	out, err := b.Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{})
	if err != nil || !out.Unchanged {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestOverrideAsTask: while the task runs the override is not sent again; once the task has failed, it is (B097, B142).
func TestOverrideAsTask(t *testing.T) {
	f := newFake(t)
	const task = "/redfish/v1/TaskService/Tasks/JID_1"
	f.handle("PATCH "+fakeSystemPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", task)
		w.WriteHeader(http.StatusAccepted)
	})
	f.docs[task] = object{"TaskState": "Running"}
	now := noon()
	b := f.connect(func(o *Options) { o.Clock = func() time.Time { return now } })
	arm := func() error {
		_, err := b.Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{})
		return err
	}
	for range 3 {
		wantError(t, arm(), provider.Busy, provider.ReasonBusy)
	}
	equal(t, "writes", 1, len(f.got(http.MethodPatch)))
	_, err := b.Actor().WriteAssetTag(t.Context(), fakeRef, "hf1:x", provider.Expect{AssetTag: new("")})
	wantError(t, err, provider.Busy, provider.ReasonBusy)
	f.set(task, object{"TaskState": "Exception"})
	wantError(t, arm(), provider.Transient, provider.ReasonServerError)
	f.set(task, object{"TaskState": "Running"})
	wantError(t, arm(), provider.Busy, provider.ReasonBusy)
	equal(t, "writes", 2, len(f.got(http.MethodPatch)))
	now = now.Add(settleTime)
	wantError(t, arm(), provider.Busy, provider.ReasonBusy)
	equal(t, "writes, after a job that waits for the next reset", 3, len(f.got(http.MethodPatch)))
	f.set(task, object{"TaskState": "Completed"})
	f.override()["BootSourceOverrideEnabled"], f.override()["BootSourceOverrideTarget"] = "Once", "Pxe"
	equal(t, "error", nil, arm())
}

// TestOverridesThatCannotBe are Terminal, in the machine's own words, and nothing is written; HTTP boot never becomes PXE.
func TestOverridesThatCannotBe(t *testing.T) {
	f := newFake(t)
	f.override()["BootSourceOverrideTarget@Redfish.AllowableValues"] = []any{"None", "Pxe", "UefiHttp"}
	b := f.connect()
	for _, want := range []provider.BootOverride{
		{Target: provider.BootCD, Enabled: provider.BootOnce},
		{Target: provider.BootHTTP, Enabled: provider.BootOnce, HTTPURI: "http://192.0.2.1/x"}, // no HttpBootUri
	} {
		_, err := b.Actor().SetBootOverride(t.Context(), fakeRef, want, provider.Expect{})
		wantError(t, err, provider.Terminal, provider.ReasonBootTargetMissing)
	}
	equal(t, "writes", 0, len(f.got(http.MethodPatch)))
}

// TestRefusalsOfAllForms end in the reason the system itself gave.
func TestRefusalsOfAllForms(t *testing.T) {
	f := newFake(t)
	f.set(fakeSystemPath, object{"@Redfish.Settings": object{"SettingsObject": link(fakeSystemPath + "/Settings")}})
	reasons := []string{"PropertyNotWritable", "PropertyMissing", "GeneralError"} // of the whole form, of the lesser ones
	f.handle("PATCH "+fakeSystemPath, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(redfishError(reasons[0], canary)))
		reasons = append(reasons[1:], reasons[len(reasons)-1])
	})
	_, err := f.connect().Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{})
	if e := wantedError(t, err, provider.Terminal, provider.ReasonRefused); !strings.Contains(e.Message, "PropertyNotWritable") {
		t.Errorf("got %s", e.Message)
	}
}

// TestBootIsReadLeniently: an override armed in any spelling is armed, and a target while Disabled is not (captures of X13, BlueField).
func TestBootIsReadLeniently(t *testing.T) {
	for _, row := range []struct {
		boot  any
		armed bool
	}{
		{object{"BootSourceOverrideEnabled": "once", "BootSourceOverrideTarget": "Pxe"}, true},
		{object{"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "Hdd"}, true},
		{object{"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "Pxe"}, false},
		{object{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "None"}, false},
		{object{"BootSourceOverrideEnabled": nil, "BootSourceOverrideTarget": nil}, false},
		{nil, false}, {"odd", false},
	} {
		f := newFake(t, func(s object) { s["Boot"] = row.boot })
		equal(t, "armed", row.armed, observe(t, f.connect()).Boot.Armed())
	}
}

// TestUEFIIsKept: where an override that comes without a mode is one for legacy boot, the mode is written by itself; where even that is of no use
// the override is taken back: a machine that boots in another mode than it was installed in is a broken one (B094).
func TestUEFIIsKept(t *testing.T) {
	for name, modeAlone := range map[string]bool{"by a write of its own": true, "not at all": false} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.handle("PATCH "+fakeSystemPath, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("If-Match") == "" {
					w.WriteHeader(http.StatusPreconditionRequired)
					return
				}
				var patch struct{ Boot object }
				if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
					t.Error(err)
				}
				target, mode := patch.Boot["BootSourceOverrideTarget"], patch.Boot["BootSourceOverrideMode"]
				if mode != nil && (target != nil || !modeAlone) {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				if target != nil {
					patch.Boot["BootSourceOverrideMode"] = "Legacy"
				}
				raw, _ := json.Marshal(object{"Boot": patch.Boot})
				f.merge(f.docs[fakeSystemPath].(object), raw)
				w.WriteHeader(http.StatusNoContent)
			})
			_, err := f.connect().Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{Boot: &provider.BootExpect{}})
			if modeAlone {
				equal(t, "error", nil, err)
				equal(t, "mode", any("UEFI"), f.override()["BootSourceOverrideMode"])
				equal(t, "enabled", any("Once"), f.override()["BootSourceOverrideEnabled"])
				return
			}
			wantError(t, err, provider.Terminal, provider.ReasonBootTargetMissing)
			equal(t, "enabled", any("Disabled"), f.override()["BootSourceOverrideEnabled"])
		})
	}
}
