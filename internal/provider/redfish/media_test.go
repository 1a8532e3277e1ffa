// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

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

// TestMediaChangedMeanwhile: a precondition demanded by a slot is met for the content that was seen, and for no other.
func TestMediaChangedMeanwhile(t *testing.T) {
	f := newFake(t)
	f.linkSlots(fakeSystemPath, slotPath)
	f.docs[slotPath] = object{"Id": "CD", "MediaTypes": []any{"CD"}, "Image": nil, "Inserted": false, "@odata.etag": `"e1"`}
	f.handle("PATCH "+slotPath, func(w http.ResponseWriter, _ *http.Request) {
		f.set(slotPath, object{"Image": otherISO, "Inserted": true})
		w.WriteHeader(http.StatusPreconditionFailed)
	})
	_, err := insertISO(t, f.connect())
	wantError(t, err, provider.Mismatch, provider.ReasonStateMismatch)
	equal(t, "writes", 1, len(f.got(http.MethodPatch)))
}

// TestNextSlot: a slot that refuses the image is passed over for the next; where all do, the first one's reason is told.
func TestNextSlot(t *testing.T) {
	f := newFake(t)
	f.drive()
	first := fakeSystemPath + "/VirtualMedia/0"
	f.docs[first] = emptySlot(first)
	f.linkSlots(fakeSystemPath, first, slotPath)
	f.answer("POST "+first+"/Actions/VirtualMedia.InsertMedia", http.StatusBadRequest, redfishError("ActionNotSupported", ""))
	if _, err := insertISO(t, f.connect()); err != nil {
		t.Fatal(err)
	}
	equal(t, "image in the second slot", any(iso), f.docs[slotPath].(object)["Image"])
	equal(t, "sent", []string{minimalInsert, minimalInsert}, f.posts())
	f.set(slotPath, object{"Image": nil, "Inserted": false})
	f.answer("POST "+insertPath, http.StatusBadRequest, redfishError("PropertyValueFormatError", ""))
	_, err := insertISO(t, f.connect())
	if e := wantedError(t, err, provider.Terminal, provider.ReasonMediaRefused); !strings.Contains(e.Message, "ActionNotSupported") {
		t.Errorf("got %s", e.Message)
	}
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
