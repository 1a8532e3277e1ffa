// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

const detail = servers + "/detail"

// Below 2.26 a listing by tag is one of everything; and "tags" of a new server are unknown below 2.52.
func TestTagsByMicroversion(t *testing.T) {
	b := newBench(t)
	mine := b.create("mine", with("tags", []string{"holdfast:1", "holdfast-owner:c"}))
	other := b.create("other")
	for version, want := range map[string][]string{"2.25": {mine, other}, "2.26": {mine}, "2.93": {mine}} {
		slices.Sort(want)
		got := b.at(version).rows(detail+"?tags=holdfast:1", "servers", "id")
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", version, diff)
		}
	}
	for query, want := range map[string][]string{
		"tags=holdfast:1,holdfast-owner:c": {mine}, "tags=holdfast:1,x": {}, "not-tags=holdfast:1": {other}, "tags-any=x,holdfast:1": {mine},
		"name=^mi": {mine}, "status=build&image=" + b.cloud.ImageID("debian-12") + "&tags=holdfast:1": {mine}, "status=ACTIVE": {}, "nonesuch=1": {mine, other},
	} {
		got := b.rows(servers+"?"+query, "servers", "id")
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	b.at("2.93").do("GET", detail+"?nonesuch=1", nil, http.StatusBadRequest)
	b.do("GET", detail+"?all_tenants=1", nil, http.StatusForbidden)
	b.at("2.51").do("POST", servers, b.newServer("x", with("tags", []string{"a"})), http.StatusBadRequest)
	b.at("2.25").do("GET", servers+"/"+mine+"/tags", nil, http.StatusNotFound)
	if s := pick(t, b.at("2.25").get(servers+"/"+mine), "server").(obj); s["tags"] != nil {
		t.Errorf("tags below 2.26: %v", s)
	}
}

// changes-since tells of deleted servers, without tags and metadata; with tags it tells of none of them.
func TestChangesSince(t *testing.T) {
	b := newBench(t)
	old := b.running("old", with("tags", []string{"t"}))
	gone := b.running("gone", with("tags", []string{"t"}), with("metadata", obj{"k": "v"}))
	b.clock.Advance(30 * time.Minute)
	since := url.QueryEscape(b.clock.Now().Format(time.RFC3339))
	b.do("DELETE", servers+"/"+gone, nil, http.StatusNoContent)
	b.clock.Advance(time.Minute)

	page := b.get(detail + "?changes-since=" + since)["servers"].([]any)
	if len(page) != 1 {
		t.Fatalf("%d rows, want the deleted server alone", len(page))
	}
	row := page[0].(obj)
	if row["id"] != gone || row["status"] != "DELETED" || len(row["tags"].([]any)) != 0 || len(row["metadata"].(obj)) != 0 || row["OS-SRV-USG:terminated_at"] == nil {
		t.Errorf("%v", row)
	}
	if got := b.rows(detail+"?tags=t&changes-since="+since, "servers", "id"); len(got) != 0 {
		t.Errorf("with tags: %v", got)
	}
	b.act(old, "os-stop", nil, http.StatusAccepted)
	if got := b.rows(detail+"?tags=t&changes-since="+since, "servers", "id"); !cmp.Equal(got, []string{old}) {
		t.Errorf("a changed one: %v", got)
	}
	if got := b.rows(detail+"?deleted=true", "servers", "id"); !cmp.Equal(got, []string{old}) {
		t.Errorf("deleted=true of a member: %v", got)
	}
	b.do("GET", detail+"?changes-since=yesterday", nil, http.StatusBadRequest)
}

// A full page has a next one, even where that is empty; the newest server comes first.
func TestServersByPages(t *testing.T) {
	b := newBench(t)
	b.cloud.Behave(func(h *openstack.Behaviour) { h.PageSize = 3 })
	var all []string
	for i := range 6 {
		all = append(all, b.create(fmt.Sprintf("web-%d", i)))
		b.clock.Advance(time.Second)
	}
	slices.Reverse(all)
	var got []string
	pages := 0
	for path := detail + "?limit=100&name=web"; path != ""; pages++ {
		page := b.get(path)
		for _, row := range page["servers"].([]any) {
			got = append(got, row.(obj)["id"].(string))
		}
		path = ""
		if links, more := page["servers_links"].([]any); more {
			path = links[0].(obj)["href"].(string)[len(b.base()):]
		}
	}
	if diff := cmp.Diff(all, got); diff != "" || pages != 3 {
		t.Errorf("%d pages: %s", pages, diff)
	}
	b.do("GET", detail+"?marker=nope", nil, http.StatusBadRequest)
	b.do("GET", detail+"?limit=x", nil, http.StatusBadRequest)

	// a marker that the filter does not pass is a place all the same
	if got := b.rows(servers+"?name=web-0&marker="+all[2], "servers", "id"); !cmp.Equal(got, all[5:]) {
		t.Errorf("after a marker that is filtered out: %v", got)
	}
}

// A row can be missing from a listing while a GET by id finds the server: absence there is not evidence (B184).
func TestRowsThatAreMissing(t *testing.T) {
	b := newBench(t)
	id := b.running("web", with("tags", []string{"t"}))
	if err := b.cloud.HideServer(id); err != nil {
		t.Fatal(err)
	}
	if got := b.rows(detail+"?tags=t", "servers", "id"); len(got) != 0 {
		t.Errorf("rows %v", got)
	}
	b.wantStatus(id, "ACTIVE")
	if err := b.cloud.ShowServer(id); err != nil {
		t.Fatal(err)
	}
	if got := b.rows(detail+"?tags=t", "servers", "id"); len(got) != 1 {
		t.Errorf("rows %v", got)
	}

	b.cloud.CellDown(id)
	if got := b.rows(detail, "servers", "id"); len(got) != 0 {
		t.Errorf("rows of a cell that is down at 2.52: %v", got)
	}
	b.do("GET", servers+"/"+id, nil, http.StatusInternalServerError)
	b.do("DELETE", servers+"/"+id, nil, http.StatusInternalServerError)
	newer := b.at("2.69")
	if got := newer.rows(detail, "servers", "status"); !cmp.Equal(got, []string{"UNKNOWN"}) {
		t.Errorf("rows of a cell that is down at 2.69: %v", got)
	}
	if s := newer.server(id); s["status"] != "UNKNOWN" || s["name"] != nil {
		t.Errorf("%v", s)
	}
	b.cloud.CellDown()
	b.wantStatus(id, "ACTIVE")

	if err := b.cloud.LoseServer(id); err != nil {
		t.Fatal(err)
	}
	b.do("GET", servers+"/"+id, nil, http.StatusNotFound)
	if got := b.rows(detail+"?changes-since=2026-01-01T00:00:00Z", "servers", "id"); len(got) != 0 {
		t.Errorf("a lost one leaves no trace: %v", got)
	}
}

func TestMicroversions(t *testing.T) {
	b := newBench(t)
	version := pick(t, b.at("").get("/compute/v2.1"), "version").(obj)
	if version["version"] != "2.93" || version["min_version"] != "2.1" {
		t.Errorf("%v", version)
	}
	for asked, want := range map[string]string{"": "2.1", "2.52": "2.52", "latest": "2.93"} {
		a := b.at(asked).do("GET", servers, nil, http.StatusOK)
		if got := a.Header.Get("X-OpenStack-Nova-API-Version"); got != want {
			t.Errorf("%q: %q, want %q", asked, got, want)
		}
	}
	b.at("2.94").do("GET", servers, nil, http.StatusNotAcceptable)
	b.at("two").do("GET", servers, nil, http.StatusBadRequest)
	b.cloud.Behave(func(h *openstack.Behaviour) { h.MaxMicroversion = "2.38" })
	a := b.do("GET", servers, nil, http.StatusNotAcceptable)
	if got := pick(t, a.Body, "computeFault", "message"); got != "Version 2.52 is not supported by the API. Minimum is 2.1 and maximum is 2.38." {
		t.Errorf("%v", got)
	}
}

func TestImagesAreFoundByNameTagAndPage(t *testing.T) {
	b := newBench(t)
	twin := b.cloud.AddImage(openstack.Image{Name: "debian-12", Tags: []string{"debian", "daily"}})
	b.cloud.AddImage(openstack.Image{Name: "queued", Status: "queued"})
	images := func(query string) []string {
		got := b.rows("/image/v2/images?"+query, "images", "id")
		slices.Sort(got)
		return got
	}
	first := b.cloud.ImageID("debian-12")
	for query, want := range map[string][]string{
		"name=debian-12": {first, twin}, "tag=debian&tag=daily": {twin}, "name=nope": {}, "id=in:" + twin + ",x": {twin}, "status=queued&tag=debian": {},
	} {
		slices.Sort(want)
		if diff := cmp.Diff(want, images(query)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	b.cloud.Behave(func(h *openstack.Behaviour) { h.ImagePage = 2 })
	page := b.get("/image/v2/images?name=debian-12")
	if page["next"] == nil || page["first"] != "/v2/images?name=debian-12" {
		t.Errorf("%v", page)
	}
	b.do("GET", "/image/v2/images/nope", nil, http.StatusNotFound)
	b.do("POST", servers, b.newServer("x", with("imageRef", b.cloud.ImageID("queued"))), http.StatusBadRequest)
	if !b.cloud.RemoveImage(twin) || b.cloud.RemoveImage(twin) {
		t.Error("an image is removed once")
	}
}
