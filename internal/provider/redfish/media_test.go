// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	iso      = "http://images.example/debian-12.iso"
	otherISO = "http://images.example/rescue.iso"

	slotPath   = fakeSystemPath + "/VirtualMedia/CD"
	insertPath = slotPath + "/Actions/VirtualMedia.InsertMedia"
	ejectPath  = slotPath + "/Actions/VirtualMedia.EjectMedia"
)

// emptySlot is a slot with both actions at that path.
func emptySlot(path string) object {
	return object{
		"Id": lastSegment(path), "MediaTypes": []any{"CD", "DVD"}, "Image": nil, "Inserted": false, "ConnectedVia": "NotConnected",
		"Actions": object{
			"#VirtualMedia.InsertMedia": object{"target": path + "/Actions/VirtualMedia.InsertMedia"},
			"#VirtualMedia.EjectMedia":  object{"target": path + "/Actions/VirtualMedia.EjectMedia"},
		},
	}
}

// drive gives the fake one slot, with change made to it, that works by its actions.
func (f *fakeBMC) drive(change ...func(slot object)) {
	slot := emptySlot(slotPath)
	for _, c := range change {
		c(slot)
	}
	f.linkSlots(fakeSystemPath, slotPath)
	f.docs[slotPath] = slot
	f.handle("POST "+insertPath, func(w http.ResponseWriter, r *http.Request) { f.insert(w, r) })
	f.handle("POST "+ejectPath, func(w http.ResponseWriter, _ *http.Request) {
		f.set(slotPath, object{"Image": nil, "Inserted": false, "ConnectedVia": "NotConnected"})
		w.WriteHeader(http.StatusNoContent)
	})
}

// linkSlots makes the document at path link to a collection of these slots.
func (f *fakeBMC) linkSlots(path string, slots ...string) {
	var members []any
	for _, s := range slots {
		members = append(members, link(s))
	}
	f.set(path, object{"VirtualMedia": link(path + "/VirtualMedia")})
	f.docs[path+"/VirtualMedia"] = object{"Members": members}
}

// insert does what InsertMedia asks for.
func (f *fakeBMC) insert(w http.ResponseWriter, r *http.Request) {
	var body object
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		f.t.Error(err)
	}
	f.set(slotPath, object{"Image": body["Image"], "Inserted": true, "ConnectedVia": "URI"})
	w.WriteHeader(http.StatusNoContent)
}

// posts are the paths and bodies of the actions sent, without the path of the system.
func (f *fakeBMC) posts() []string {
	var out []string
	for _, r := range f.got(http.MethodPost) {
		out = append(out, lastSegment(r.path)+" "+r.body)
	}
	return out
}

const minimalInsert = `VirtualMedia.InsertMedia {"Image":"` + iso + `"}`

func insertISO(t *testing.T, b *BMC) (provider.Outcome, error) {
	t.Helper()
	return b.Actor().InsertMedia(t.Context(), fakeRef, iso, provider.Expect{Power: provider.PowerOff})
}

func media(t *testing.T, b *BMC) []provider.MediaSlot {
	t.Helper()
	facts, err := b.Observer().Observe(t.Context(), fakeRef, provider.DepthMedia, "")
	if err != nil {
		t.Fatal(err)
	}
	return facts.Media
}

// TestInsertMedia: the smallest body, once, and the image shows; ejecting sends an empty object (B117, B120).
func TestInsertMedia(t *testing.T) {
	f := newFake(t)
	f.drive()
	b := f.connect()
	equal(t, "media before", []provider.MediaSlot{{Slot: "CD"}}, media(t, b))
	if out, err := insertISO(t, b); err != nil || out.Unchanged {
		t.Fatalf("got %+v, %v", out, err)
	}
	equal(t, "media", []provider.MediaSlot{{Slot: "CD", Image: iso, Inserted: true}}, media(t, b))
	if out, err := insertISO(t, b); err != nil || !out.Unchanged {
		t.Errorf("again: %+v, %v", out, err)
	}
	for _, image := range []string{otherISO, iso, iso} {
		if _, err := b.Actor().EjectMedia(t.Context(), fakeRef, image, provider.Expect{}); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "sent", []string{minimalInsert, "VirtualMedia.EjectMedia {}"}, f.posts())
}

// TestOccupiedSlot: what is inserted is ejected first; a leftover that is not inserted counts as empty (B111, B113).
func TestOccupiedSlot(t *testing.T) {
	eject := "VirtualMedia.EjectMedia {}"
	for name, row := range map[string]struct {
		slot object
		sent []string
	}{
		"another image inserted":   {object{"Image": otherISO, "Inserted": true, "ConnectedVia": "URI"}, []string{eject, minimalInsert}},
		"an image left over":       {object{"Image": otherISO, "Inserted": false, "ConnectedVia": "URI"}, []string{eject, minimalInsert}},
		"ours, left over":          {object{"Image": iso, "Inserted": false}, []string{eject, minimalInsert}},
		"ours, but not connected":  {object{"Image": iso, "Inserted": true, "ConnectedVia": "NotConnected"}, []string{eject, minimalInsert}},
		"ours":                     {object{"Image": iso, "Inserted": true, "ConnectedVia": "URI"}, nil},
		"ours, without a scheme":   {object{"Image": "images.example/debian-12.iso", "Inserted": true, "ConnectedVia": "URI"}, nil},
		"ours, by its name alone":  {object{"Image": nil, "ImageName": "debian-12.iso", "Inserted": true, "ConnectedVia": "URI"}, nil},
		"ours, Inserted not told":  {object{"Image": iso, "Inserted": nil, "ConnectedVia": "URI"}, nil},
		"the word None":            {object{"Image": "None", "ImageName": "None", "ConnectedVia": "NotConnected"}, []string{minimalInsert}},
		"another of the same name": {object{"Image": "http://elsewhere.example/debian-12.iso", "Inserted": true, "ConnectedVia": "URI"}, []string{eject, minimalInsert}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.drive(func(slot object) { maps.Copy(slot, row.slot) })
			if _, err := insertISO(t, f.connect()); err != nil {
				t.Fatal(err)
			}
			equal(t, "sent", row.sent, f.posts())
		})
	}
}

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
	for _, image := range []string{"", "nfs://server/x.iso", "/x.iso", "http:///x.iso"} {
		_, err = b.Actor().InsertMedia(t.Context(), fakeRef, image, provider.Expect{})
		wantError(t, err, provider.Terminal, provider.ReasonMediaRefused)
	}
	equal(t, "override", any("Disabled"), f.override()["BootSourceOverrideEnabled"])
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

// TestMediaByPatch: slots without actions are patched, with the ETag of the slot where one is demanded (Lenovo XCC, DMTF); a slot that refuses
// is passed over.
func TestMediaByPatch(t *testing.T) {
	f := newFake(t)
	upload, ours := fakeSystemPath+"/VirtualMedia/RDOC1", fakeSystemPath+"/VirtualMedia/EXT1"
	f.linkSlots(fakeSystemPath, upload, ours)
	for _, path := range []string{upload, ours} {
		f.docs[path] = object{"Id": lastSegment(path), "MediaTypes": []any{"DVD"}, "Image": nil, "Inserted": false, "@odata.etag": `"e1"`}
	}
	f.answer("PATCH "+upload, http.StatusBadRequest, redfishError("PropertyNotWritable", "", "Image"))
	f.handle("PATCH "+ours, func(w http.ResponseWriter, r *http.Request) {
		var body object
		switch _ = json.NewDecoder(r.Body).Decode(&body); {
		case r.Header.Get("If-Match") != `"e1"`:
			w.WriteHeader(http.StatusPreconditionRequired)
		default:
			f.set(ours, object{"Image": body["Image"], "Inserted": body["Image"] != nil})
			w.WriteHeader(http.StatusOK)
		}
	})
	b := f.connect()
	if _, err := insertISO(t, b); err != nil {
		t.Fatal(err)
	}
	equal(t, "media", []provider.MediaSlot{{Slot: "RDOC1"}, {Slot: "EXT1", Image: iso, Inserted: true}}, media(t, b))
	if _, err := b.Actor().EjectMedia(t.Context(), fakeRef, iso, provider.Expect{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "image", nil, f.docs[ours].(object)["Image"])
}

// TestOtherDrives: firmware told to boot the CD takes any drive, so other images are ejected from all of them, and from no drive that takes no disc (B116).
func TestOtherDrives(t *testing.T) {
	f := newFake(t)
	f.drive()
	second, floppy := fakeSystemPath+"/VirtualMedia/DVD", fakeSystemPath+"/VirtualMedia/Floppy"
	f.linkSlots(fakeSystemPath, floppy, slotPath, second)
	for path, types := range map[string][]any{second: {"DVD"}, floppy: {"Floppy", "USBStick"}} {
		f.docs[path] = emptySlot(path)
		f.set(path, object{"MediaTypes": types, "Image": otherISO, "Inserted": true, "ConnectedVia": "URI"})
	}
	f.handle("POST "+second+"/Actions/VirtualMedia.EjectMedia", func(w http.ResponseWriter, _ *http.Request) {
		f.set(second, object{"Image": nil, "Inserted": false})
	})
	if _, err := insertISO(t, f.connect()); err != nil {
		t.Fatal(err)
	}
	equal(t, "sent", []string{"VirtualMedia.EjectMedia {}", minimalInsert}, f.posts())
	equal(t, "image in the second drive", nil, f.docs[second].(object)["Image"])
	equal(t, "image in the floppy drive", any(otherISO), f.docs[floppy].(object)["Image"])
}

// TestDrivesOfTheManager: found by ManagedBy, else at the sole manager (B152); a manager of several systems lends its drive to none.
func TestDrivesOfTheManager(t *testing.T) {
	const manager = "/redfish/v1/Managers/BMC"
	for name, row := range map[string]struct {
		managedBy bool
		managers  []any
		servers   []any
		found     bool
	}{
		"named by the system":  {true, []any{link(manager), link("/redfish/v1/Managers/Other")}, []any{link(fakeSystemPath)}, true},
		"the sole one":         {false, []any{link(manager)}, nil, true},
		"one of several":       {false, []any{link(manager), link("/redfish/v1/Managers/Other")}, nil, false},
		"shared between hosts": {true, []any{link(manager)}, []any{link(fakeSystemPath), link("/redfish/v1/Systems/2")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(s object) {
				if row.managedBy {
					s["Links"] = object{"ManagedBy": []any{link(manager)}}
				}
			})
			f.docs["/redfish/v1/Managers"] = object{"Members": row.managers}
			f.docs[manager] = object{"Id": "BMC", "FirmwareVersion": "1", "Links": object{"ManagerForServers": row.servers}}
			f.linkSlots(manager, manager+"/VirtualMedia/CD1")
			f.docs[manager+"/VirtualMedia/CD1"] = object{"Id": "CD1", "Name": "virtual CD1", "Image": "None", "Inserted": false} // no media types: MegaRAC
			var want []provider.MediaSlot
			if want = []provider.MediaSlot{}; row.found {
				want = []provider.MediaSlot{{Slot: "CD1"}}
			}
			equal(t, "media", want, media(t, f.connect()))
		})
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

// TestDrivesNotReadable: slots that cannot be read are a gap to who looks, and an error to who acts: never "no drive" (P10).
func TestDrivesNotReadable(t *testing.T) {
	f := newFake(t)
	f.drive()
	f.answer("GET "+fakeSystemPath+"/VirtualMedia", http.StatusInternalServerError, "")
	b := f.connect()
	facts, err := b.Observer().Observe(t.Context(), fakeRef, provider.DepthMedia, "")
	if err != nil || facts.Media != nil || !slices.Contains(facts.Gaps, "VirtualMedia") {
		t.Errorf("got %+v, %v", facts, err)
	}
	_, err = insertISO(t, b)
	wantError(t, err, provider.Transient, provider.ReasonServerError)
	_, err = b.Actor().EjectMedia(t.Context(), fakeRef, iso, provider.Expect{})
	wantError(t, err, provider.Transient, provider.ReasonServerError)
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
