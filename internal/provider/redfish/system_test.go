// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const otherUUID = "11111111-2222-3333-4444-555555555555"

// twoSystems is a BMC with a second host behind it.
func twoSystems(t *testing.T) *fakeBMC {
	f := newFake(t)
	f.docs["/redfish/v1/Systems/2"] = fakeSystem("2", otherUUID)
	f.set("/redfish/v1/Systems", object{"Members": []any{link("/redfish/v1/Systems/1"), link("/redfish/v1/Systems/2")}})
	return f
}

func resets(f *fakeBMC) (paths []string) {
	for _, r := range f.got(http.MethodPost) {
		paths = append(paths, r.path)
	}
	return paths
}

// TestActsOnTheSystemMeant: whatever the order of members, which may change at any time, an act reaches the one system named (B149, B154).
func TestActsOnTheSystemMeant(t *testing.T) {
	f := twoSystems(t)
	action := "/redfish/v1/Systems/2/Actions/ComputerSystem.Reset"
	f.answer("POST "+action, http.StatusNoContent, "")
	for _, reversed := range []bool{false, true} {
		for _, ref := range []provider.SystemRef{{UUID: otherUUID}, {ID: "2"}, {UUID: strings.ToUpper(otherUUID), ID: "2"}} {
			members := []any{link("/redfish/v1/Systems/1"), link("/redfish/v1/Systems/2")}
			if reversed {
				slices.Reverse(members)
			}
			f.set("/redfish/v1/Systems", object{"Members": members})
			if _, err := f.connect().Actor().PowerOn(t.Context(), ref, provider.Expect{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	equal(t, "resets", slices.Repeat([]string{action}, 6), resets(f))
}

// TestSeveralSystemsAndNoneNamed is AmbiguousSystem, and nothing is done (B154); one that cannot be reset is no host and does not count.
func TestSeveralSystemsAndNoneNamed(t *testing.T) {
	f := twoSystems(t)
	b := f.connect()
	_, err := b.Observer().Observe(t.Context(), provider.SystemRef{}, provider.DepthState, "")
	e := wantedError(t, err, provider.Terminal, provider.ReasonAmbiguousSystem)
	if !strings.Contains(e.Message, "1, 2") {
		t.Errorf("the message does not name the systems: %s", e.Message)
	}
	_, err = b.Actor().ForceOff(t.Context(), provider.SystemRef{}, provider.Expect{})
	wantError(t, err, provider.Terminal, provider.ReasonAmbiguousSystem)
	equal(t, "resets", 0, len(resets(f)))

	f.set("/redfish/v1/Systems/2", object{"Actions": object{}})
	facts, err := b.Observer().Observe(t.Context(), provider.SystemRef{}, provider.DepthState, "")
	if err != nil || facts.ID != "1" {
		t.Errorf("got %q, %v", facts.ID, err)
	}
	found, err := b.Observer().Discover(t.Context())
	if err != nil || len(found.Systems) != 2 || found.Systems[1].CanReset {
		t.Errorf("got %+v, %v", found.Systems, err)
	}
}

// TestOneUUIDOnTwoSystems: neither is proven to be the one; an Id decides.
func TestOneUUIDOnTwoSystems(t *testing.T) {
	f := twoSystems(t)
	f.set("/redfish/v1/Systems/2", object{"UUID": fakeUUID})
	b := f.connect()
	wantError(t, lookFake(t, b), provider.Terminal, provider.ReasonAmbiguousSystem)
	facts, err := b.Observer().Observe(t.Context(), provider.SystemRef{UUID: fakeUUID, ID: "2"}, provider.DepthState, "")
	if err != nil || facts.ID != "2" {
		t.Errorf("got %q, %v", facts.ID, err)
	}
}

// TestDeadMember: a system that cannot be read hides the others from nobody (B130), and while there is one nothing is said not to exist (P10).
func TestDeadMember(t *testing.T) {
	f := twoSystems(t)
	f.set("/redfish/v1/Systems", object{"Members": []any{link("/redfish/v1/Systems/2"), link("/redfish/v1/Systems/1")}})
	f.answer("GET /redfish/v1/Systems/2", http.StatusServiceUnavailable, "")
	f.answer("POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset", http.StatusNoContent, "")
	b := f.connect()
	if _, err := b.Actor().PowerOn(t.Context(), fakeRef, provider.Expect{}); err != nil {
		t.Errorf("the living system cannot be switched on: %v", err)
	}
	_, err := b.Observer().Observe(t.Context(), provider.SystemRef{UUID: otherUUID}, provider.DepthState, "")
	wantError(t, err, provider.Busy, provider.ReasonBusy)
	_, err = b.Observer().Observe(t.Context(), provider.SystemRef{}, provider.DepthState, "")
	wantError(t, err, provider.Busy, provider.ReasonBusy)
	found, err := b.Observer().Discover(t.Context())
	if err != nil || len(found.Systems) != 1 || !slices.Contains(found.Gaps, "Systems/2") {
		t.Errorf("got %+v, %v", found, err)
	}
}

// TestCollections: pages, links, whole documents, relative links, Members null or missing, and pages that lead in a circle (B137).
func TestCollections(t *testing.T) {
	one, two := link("/redfish/v1/Systems/1"), link("/redfish/v1/Systems/2")
	for _, row := range []struct {
		name  string
		pages map[string]object
		want  []string
	}{
		{"one page", map[string]object{"": {"Members": []any{one, two}}}, []string{"1", "2"}},
		{"pages", map[string]object{
			"":         {"Members": []any{one}, "Members@odata.nextLink": "/redfish/v1/Systems?$skip=1"},
			"?$skip=1": {"Members": []any{two}},
		}, []string{"1", "2"}},
		{"relative next page", map[string]object{
			"":         {"Members": []any{one}, "Members@odata.nextLink": "?$skip=1"},
			"?$skip=1": {"Members": []any{two}},
		}, []string{"1", "2"}},
		{"a circle", map[string]object{
			"":         {"Members": []any{one}, "Members@odata.nextLink": "/redfish/v1/Systems?$skip=1"},
			"?$skip=1": {"Members": []any{two, one}, "Members@odata.nextLink": "/redfish/v1/Systems"},
		}, []string{"1", "2"}},
		{"a page that leads to itself", map[string]object{"": {"Members": []any{one}, "Members@odata.nextLink": "/redfish/v1/Systems"}}, []string{"1"}},
		{"relative and absolute links", map[string]object{"": {"Members": []any{link("Systems/1"), link("https://192.0.2.7/redfish/v1/Systems/2")}}}, []string{"2"}},
		{"relative to the collection", map[string]object{"": {"Members": []any{link("1"), link("2")}}}, []string{"1", "2"}},
		{"strings", map[string]object{"": {"Members": []any{"/redfish/v1/Systems/1"}}}, []string{"1"}},
		{"whole documents", map[string]object{"": {"Members": []any{object{"@odata.id": "/redfish/v1/Systems/1", "Id": "1", "Name": "x"}}}}, []string{"1"}},
		{"null entries", map[string]object{"": {"Members": []any{nil, one, object{}}}}, []string{"1"}},
		{"Members null", map[string]object{"": {"Members": nil}}, nil},
		{"no Members", map[string]object{"": {"Members@odata.count": 0}}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := twoSystems(t)
			for query, page := range row.pages {
				f.docs["/redfish/v1/Systems"+query] = page
			}
			found, err := f.connect().Observer().Discover(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, s := range found.Systems {
				ids = append(ids, s.ID)
			}
			equal(t, "systems", row.want, ids)
		})
	}
}

// TestEndlessCollections end.
func TestEndlessCollections(t *testing.T) {
	f := newFake(t)
	pages := 0
	f.handle("GET /redfish/v1/Systems", func(w http.ResponseWriter, _ *http.Request) {
		pages++
		f.send(w, object{"Members": []any{}, "Members@odata.nextLink": fmt.Sprintf("/redfish/v1/Systems?$skip=%d", pages)})
	})
	found, err := f.connect().Observer().Discover(t.Context())
	if err != nil || pages != maxPages || !slices.Contains(found.Gaps, "Systems (too long)") {
		t.Errorf("%d pages read, %v, %v", pages, found.Gaps, err)
	}
}

// TestUUIDInTheOtherByteOrder: firmware that swaps the first fields does not make another machine (B155).
func TestUUIDInTheOtherByteOrder(t *testing.T) {
	f := newFake(t, func(s object) { s["UUID"] = "55759438-4277-4834-3784-823347823834" })
	equal(t, "UUID", fakeUUID, observe(t, f.connect()).UUID)
	both := twoSystems(t)
	both.set("/redfish/v1/Systems/2", object{"UUID": "55759438-4277-4834-3784-823347823834"})
	equal(t, "the one that is written so comes first", "1", observe(t, both.connect()).ID)
}

// TestUUIDs: case and notation do not matter, placeholders are none, and so are other texts.
func TestUUIDs(t *testing.T) {
	for in, want := range map[string]string{
		strings.ToUpper(fakeUUID): fakeUUID, "urn:uuid:" + fakeUUID: fakeUUID, " " + fakeUUID + " ": fakeUUID, strings.ReplaceAll(fakeUUID, "-", ""): fakeUUID,
		"00000000-0000-0000-0000-7CC2559FAEFF": "00000000-0000-0000-0000-7cc2559faeff",
		"":                                     "", "x": "", "00000000-0000-0000-0000-000000000000": "", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF": "", "03000200-0400-0500-0006-000700080009": "",
	} {
		equal(t, in, want, normalUUID(in))
	}
}

// TestHostThatHidesItsUUIDWhenOff: known where it is, it is still the one; not known, it is not said to be gone (P10).
func TestHostThatHidesItsUUIDWhenOff(t *testing.T) {
	f := newFake(t)
	b := f.connect()
	observe(t, b)
	f.set("/redfish/v1/Systems/1", object{"UUID": nil})
	equal(t, "Id", "1", observe(t, b).ID)
	wantError(t, lookFake(t, f.connect()), provider.Transient, provider.ReasonProtocolError)
}

// TestSystemThatWasReplaced: another machine at the known place is not the one meant.
func TestSystemThatWasReplaced(t *testing.T) {
	f := newFake(t)
	b := f.connect()
	observe(t, b)
	f.set("/redfish/v1/Systems/1", object{"UUID": otherUUID})
	wantError(t, lookFake(t, b), provider.NotFound, provider.ReasonSystemNotFound)
	_, err := b.Actor().PowerOn(t.Context(), fakeRef, provider.Expect{})
	wantError(t, err, provider.NotFound, provider.ReasonSystemNotFound)
	equal(t, "resets", 0, len(resets(f)))
}

// TestSystemThatMoved: found again under another path.
func TestSystemThatMoved(t *testing.T) {
	f := newFake(t)
	b := f.connect()
	observe(t, b)
	f.docs["/redfish/v1/Systems/9"] = fakeSystem("9", fakeUUID)
	delete(f.docs, "/redfish/v1/Systems/1")
	f.set("/redfish/v1/Systems", object{"Members": []any{link("/redfish/v1/Systems/9")}})
	equal(t, "Id", "9", observe(t, b).ID)
}

// TestAtRestOneRequest: a known system costs one GET a look, and none of them writes.
func TestAtRestOneRequest(t *testing.T) {
	f := newFake(t)
	b := f.connect()
	observe(t, b)
	before := len(f.got(""))
	for range 10 {
		observe(t, b)
	}
	equal(t, "requests for ten looks", 10, len(f.got(""))-before)
}

// TestETags: asked conditionally only where the tag was seen to follow the facts, never where it did not (B037, B131).
func TestETags(t *testing.T) {
	f := newFake(t)
	tag, conditional := `"1"`, 0
	system := f.docs["/redfish/v1/Systems/1"].(object)
	f.handle("GET /redfish/v1/Systems/1", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			conditional++
		}
		w.Header().Set("ETag", tag)
		if tag != "" && r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		f.send(w, system)
	})
	b := f.connect()
	last := ""
	step := func(want bool) {
		t.Helper()
		before := conditional
		facts, err := b.Observer().Observe(t.Context(), fakeRef, provider.DepthState, last)
		if err != nil {
			t.Fatal(err)
		}
		if last = facts.ETag; (conditional > before) != want {
			t.Errorf("conditional %v, want %v", conditional > before, want)
		}
	}
	step(false)
	step(false) // nothing is known of its tags yet
	tag, system["AssetTag"] = `"1a"`, "x"
	step(false) // it changed with what was written, which proves nothing about power
	step(false)
	tag, system["PowerState"] = `"2"`, "On"
	step(false) // it changed with the facts
	for range checkEvery {
		step(true)
	}
	step(false) // from time to time the document is read all the same
	step(true)
	system["PowerState"] = "Off" // and the tag stays
	step(true)                   // the harm is done once
	b.known.tags["/redfish/v1/Systems/1"] = lastLook(b.known.tags["/redfish/v1/Systems/1"])
	step(false) // the check finds out
	for range 20 {
		step(false)
	}
	last, tag = "", ""
	step(false)
}

// A system that changed is read once: the answer to whether it changed is the system.
func TestWhatChangedIsReadOnce(t *testing.T) {
	f := newFake(t)
	tag, system := `"1"`, f.docs["/redfish/v1/Systems/1"].(object)
	f.handle("GET /redfish/v1/Systems/1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", tag)
		f.send(w, system)
	})
	b := f.connect()
	observe(t, b)
	tag, system["PowerState"] = `"2"`, "On"
	known := observe(t, b).ETag // the tag has proven to follow the power
	tag, system["PowerState"] = `"3"`, "Off"
	before := len(f.got(""))
	facts, err := b.Observer().Observe(t.Context(), fakeRef, provider.DepthState, known)
	if err != nil || facts.NotModified || facts.Power != provider.PowerOff || facts.ETag != tag {
		t.Errorf("%+v, %v", facts, err)
	}
	equal(t, "requests", 1, len(f.got(""))-before)
}

// lastLook makes the next look the one that reads the document.
func lastLook(r tagRecord) tagRecord {
	r.looks = checkEvery
	return r
}

// TestPowerIsTheSystems: the power of the chassis is another matter (B031).
func TestPowerIsTheSystems(t *testing.T) {
	f := newFake(t, func(s object) { s["Links"] = object{"Chassis": []any{link("/redfish/v1/Chassis/1")}} })
	f.docs["/redfish/v1/Chassis/1"] = object{"Id": "1", "PowerState": "On"}
	b := f.connect()
	equal(t, "power", provider.PowerOff, observe(t, b).Power)
	if err := b.Actor().ConfirmOff(t.Context(), fakeRef, provider.Expect{}); err != nil {
		t.Error(err)
	}
}
