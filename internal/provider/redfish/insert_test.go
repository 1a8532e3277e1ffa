// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestEjectLag: what was just ejected and still shows is not believed: the same image is inserted anew (B113), and nothing is ejected twice.
func TestEjectLag(t *testing.T) {
	f := newFake(t)
	f.drive(func(slot object) { maps.Copy(slot, object{"Image": iso, "Inserted": true, "ConnectedVia": "URI"}) })
	f.answer("POST "+ejectPath, http.StatusNoContent, "")
	now := noon()
	b := f.connect(func(o *Options) { o.Clock = func() time.Time { return now } })
	if _, err := b.Actor().EjectMedia(t.Context(), fakeRef, iso, provider.Expect{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "inserted, right after", false, media(t, b)[0].Inserted)
	if out, err := insertISO(t, b); err != nil || out.Unchanged {
		t.Fatalf("got %+v, %v", out, err)
	}
	equal(t, "sent", []string{"VirtualMedia.EjectMedia {}", minimalInsert}, f.posts())
	equal(t, "inserted, as told after the insertion", true, media(t, b)[0].Inserted)

	if _, err := b.Actor().EjectMedia(t.Context(), fakeRef, iso, provider.Expect{}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(ejectLag)
	equal(t, "inserted, long after an ejection", true, media(t, b)[0].Inserted)
}

// TestInsertWhileEjecting: 500 and "not now" are patience, and the next passes get there (B114).
func TestInsertWhileEjecting(t *testing.T) {
	f := newFake(t)
	f.drive(func(slot object) { maps.Copy(slot, object{"Image": otherISO, "Inserted": true, "ConnectedVia": "URI"}) })
	answers := []int{http.StatusInternalServerError, http.StatusConflict, http.StatusServiceUnavailable, 0}
	f.handle("POST "+insertPath, func(w http.ResponseWriter, r *http.Request) {
		next := answers[0]
		if answers = answers[1:]; next != 0 {
			w.WriteHeader(next)
			return
		}
		f.insert(w, r)
	})
	b := f.connect()
	for _, class := range []provider.Class{provider.Transient, provider.Busy, provider.Busy, ""} {
		_, err := insertISO(t, b)
		equal(t, "class", class, provider.ClassOf(err))
	}
	equal(t, "sent", []string{"VirtualMedia.EjectMedia {}", minimalInsert, minimalInsert, minimalInsert, minimalInsert}, f.posts())
}

// TestInsertLadder: parameters are added that a refusal names, in whatever shape; all where it names nothing; none that it does not want (B117, B119).
func TestInsertLadder(t *testing.T) {
	missing := func(name string) string {
		return redfishError("ActionParameterMissing", "The action requires the parameter "+name+" to be present.", "VirtualMedia.InsertMedia", name)
	}
	for name, row := range map[string]struct {
		wants   []string
		refusal func(missing string) string
	}{
		"named by argument, one by one": {[]string{"Inserted", "TransferMethod", "WriteProtected"}, missing},
		"named in the text": {[]string{"TransferProtocolType"}, func(m string) string {
			return `{"error":{"@Message.ExtendedInfo":[{"MessageId":"Base.1.4.PropertyMissing","Message":"The property '` + m + `' is required."}]}}`
		}},
		"named in a string":  {[]string{"Inserted"}, func(m string) string { return `{"error":"missing ` + m + `"}` }},
		"named by nobody":    {[]string{"Inserted", "TransferProtocolType"}, func(string) string { return "" }},
		"nothing is missing": {nil, missing},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.drive()
			f.handle("POST "+insertPath, func(w http.ResponseWriter, r *http.Request) {
				raw := f.got(http.MethodPost)[len(f.got(http.MethodPost))-1].body
				for _, want := range row.wants {
					if !strings.Contains(raw, `"`+want+`"`) {
						w.WriteHeader(http.StatusBadRequest)
						_, _ = w.Write([]byte(row.refusal(want)))
						return
					}
				}
				f.insert(w, r)
			})
			if _, err := insertISO(t, f.connect()); err != nil {
				t.Fatal(err)
			}
			equal(t, "image", any(iso), f.docs[slotPath].(object)["Image"])
			if name != "named by nobody" {
				equal(t, "attempts", len(row.wants)+1, len(f.posts()))
			}
		})
	}
}

// TestInsertThatCannotBe is Terminal with the BMC's own reason, and never something else in its place.
func TestInsertThatCannotBe(t *testing.T) {
	f := newFake(t)
	b := f.connect()
	_, err := insertISO(t, b)
	wantError(t, err, provider.Terminal, provider.ReasonMediaMissing)
	f.drive()
	f.answer("POST "+insertPath, http.StatusBadRequest, redfishError("ActionParameterValueFormatError", canary, iso, "Image"))
	_, err = insertISO(t, b)
	if e := wantedError(t, err, provider.Terminal, provider.ReasonMediaRefused); !strings.Contains(e.Message, "ActionParameterValueFormatError") {
		t.Errorf("got %s", e.Message)
	}
	equal(t, "attempts", 1, len(f.posts()))
	f.handle("POST "+insertPath, func(w http.ResponseWriter, r *http.Request) { // B122: no query strings
		if sent := f.got(http.MethodPost); strings.Contains(sent[len(sent)-1].body, "?") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		f.insert(w, r)
	})
	_, err = b.Actor().InsertMedia(t.Context(), fakeRef, iso+"?token=x", provider.Expect{})
	wantError(t, err, provider.Terminal, provider.ReasonMediaRefused)
	if _, err = insertISO(t, b); err != nil {
		t.Errorf("a plain path is refused: %v", err)
	}
	for _, image := range []string{"", "nfs://server/x.iso", "/x.iso", "http:///x.iso"} {
		_, err = b.Actor().InsertMedia(t.Context(), fakeRef, image, provider.Expect{})
		wantError(t, err, provider.Terminal, provider.ReasonMediaRefused)
	}
	equal(t, "override", any("Disabled"), f.override()["BootSourceOverrideEnabled"])
}

// TestUnwantedParameters: a refusal that names what it does not know is no request for it.
func TestUnwantedParameters(t *testing.T) {
	f := newFake(t)
	f.drive()
	f.answer("POST "+insertPath, http.StatusBadRequest, redfishError("ActionParameterUnknown", "unknown parameter Inserted", "Inserted"))
	_, err := insertISO(t, f.connect())
	wantError(t, err, provider.Terminal, provider.ReasonMediaRefused)
	equal(t, "sent", []string{minimalInsert}, f.posts())
}

// TestEjectThatIsRefused: a drive that keeps another image is not given ours; one that is empty by now is (B111).
func TestEjectThatIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		left  object
		class provider.Class
		sent  int
	}{
		"and the image stays": {object{}, provider.Terminal, 1},
		"by an empty drive":   {object{"Image": nil, "Inserted": false}, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.drive(func(slot object) { maps.Copy(slot, object{"Image": otherISO, "Inserted": true, "ConnectedVia": "URI"}) })
			f.handle("POST "+ejectPath, func(w http.ResponseWriter, _ *http.Request) {
				f.set(slotPath, row.left)
				w.WriteHeader(http.StatusBadRequest)
			})
			_, err := insertISO(t, f.connect())
			equal(t, "class", row.class, provider.ClassOf(err))
			equal(t, "writes", row.sent, len(f.posts()))
		})
	}
}

// TestInsertThatDoesNotShow is Transient: nothing may boot from it yet.
func TestInsertThatDoesNotShow(t *testing.T) {
	f := newFake(t)
	f.drive()
	f.answer("POST "+insertPath, http.StatusOK, "")
	b := f.connect()
	_, err := insertISO(t, b)
	wantError(t, err, provider.Transient, provider.ReasonProtocolError)
	f.set(slotPath, object{"Image": iso, "Inserted": true, "ConnectedVia": "URI"})
	if out, err := insertISO(t, b); err != nil || !out.Unchanged {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestInsertAsTask: the task is handed out, and while it runs the insertion is not sent again; when it failed, it is (B142).
func TestInsertAsTask(t *testing.T) {
	f := newFake(t)
	f.drive()
	const task = "/redfish/v1/TaskService/Tasks/7"
	f.handle("POST "+insertPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", task)
		w.WriteHeader(http.StatusAccepted)
	})
	f.docs[task] = object{"TaskState": "Running"}
	b := f.connect()
	out, err := insertISO(t, b)
	if err != nil || out.Task != task {
		t.Fatalf("got %+v, %v", out, err)
	}
	_, err = insertISO(t, b)
	wantError(t, err, provider.Busy, provider.ReasonBusy)
	equal(t, "insertions", 1, len(f.posts()))
	f.set(task, object{"TaskState": "Exception"})
	_, err = insertISO(t, b)
	wantError(t, err, provider.Transient, provider.ReasonServerError)
	f.set(task, object{"TaskState": "Running"})
	if _, err = insertISO(t, b); err != nil {
		t.Fatal(err)
	}
	equal(t, "insertions", 2, len(f.posts()))
	f.set(task, object{"TaskState": "Completed"})
	f.set(slotPath, object{"Image": iso, "Inserted": true, "ConnectedVia": "URI"})
	if out, err = insertISO(t, b); err != nil || !out.Unchanged {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestRefusalsAfterReset: what a BMC refuses in vague words while the machine is in POST or was just reset is waited out by time; a
// complaint about the request is not, and nor is one in quiet times.
func TestRefusalsAfterReset(t *testing.T) {
	vague, form, state := redfishError("GeneralError", ""), redfishError("ActionParameterUnknown", ""), redfishError("InvalidOperationForSystemState", "")
	for name, row := range map[string]struct {
		change func(f *fakeBMC, b *BMC)
		body   string
		class  provider.Class
	}{
		"in quiet times":                  {nil, vague, provider.Terminal},
		"in quiet times, about the state": {nil, state, provider.Busy},
		"in POST": {func(f *fakeBMC, _ *BMC) {
			f.set(fakeSystemPath, object{"BootProgress": object{"LastState": "MemoryInitializationStarted"}})
		}, vague, provider.Busy},
		"on its way on":                    {func(f *fakeBMC, _ *BMC) { f.set(fakeSystemPath, object{"PowerState": "PoweringOn"}) }, vague, provider.Busy},
		"after a reset":                    {reset, vague, provider.Busy},
		"after a reset, about the request": {reset, form, provider.Terminal},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.drive()
			f.answer("POST "+insertPath, http.StatusBadRequest, row.body)
			f.answer("PATCH "+fakeSystemPath, http.StatusBadRequest, row.body)
			b := f.connect()
			if row.change != nil {
				row.change(f, b)
			}
			_, err := b.Actor().InsertMedia(t.Context(), fakeRef, iso, provider.Expect{})
			equal(t, "class of a refused insertion", row.class, provider.ClassOf(err))
			_, err = b.Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{})
			equal(t, "class of a refused override", row.class, provider.ClassOf(err))
		})
	}
}

func reset(f *fakeBMC, b *BMC) {
	var once sync.Once
	f.handle("POST "+fakeSystemPath+"/Actions/ComputerSystem.Reset", func(w http.ResponseWriter, _ *http.Request) {
		once.Do(func() { w.WriteHeader(http.StatusNoContent) })
	})
	if _, err := b.Actor().PowerOn(f.t.Context(), fakeRef, provider.Expect{}); err != nil {
		f.t.Fatal(err)
	}
}

// TestPatienceEnds: a machine that tells for ever that it is in POST does not make every refusal one that passes.
func TestPatienceEnds(t *testing.T) {
	f := newFake(t, func(s object) { s["BootProgress"] = object{"LastState": "SystemHardwareInitializationComplete"} })
	f.answer("PATCH "+fakeSystemPath, http.StatusBadRequest, "")
	now := noon()
	b := f.connect(func(o *Options) { o.Clock = func() time.Time { return now } })
	for now.Sub(noon()) <= postTime {
		want := provider.Busy
		if now.Sub(noon()) == postTime {
			want = provider.Terminal
		}
		_, err := b.Actor().SetBootOverride(t.Context(), fakeRef, pxe, provider.Expect{})
		equal(t, "class after "+now.Sub(noon()).String(), want, provider.ClassOf(err))
		now = now.Add(5 * time.Minute)
	}
}
