// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func TestETagChangesWithTheDocumentOnly(t *testing.T) {
	b := newBench(t)
	first := b.do("GET", system, nil, http.StatusOK)
	tag := first.Header.Get("ETag")
	if tag == "" || first.Body["@odata.etag"] != tag {
		t.Fatalf("header %q, body %v", tag, first.Body["@odata.etag"])
	}
	b.header.Set("If-None-Match", tag)
	if a := b.do("GET", system, nil, http.StatusNotModified); len(a.Raw) != 0 || a.Header.Get("ETag") != tag {
		t.Errorf("304 with body %q and tag %q", a.Raw, a.Header.Get("ETag"))
	}
	b.machine().SetDisk("something") // not told by the BMC
	b.do("GET", system, nil, http.StatusNotModified)
	b.reset("On", http.StatusNoContent)
	if a := b.do("GET", system, nil, http.StatusOK); a.Header.Get("ETag") == tag {
		t.Error("the tag did not change with the power state")
	}
}

func TestPatchHonoursIfMatch(t *testing.T) {
	b := newBench(t)
	tag := b.do("GET", system, nil, http.StatusOK).Header.Get("ETag")
	set := func(value string, want int) {
		t.Helper()
		b.do("PATCH", system, map[string]any{"AssetTag": value}, want)
	}
	b.header.Set("If-Match", tag)
	set("one", http.StatusOK)
	set("two", http.StatusPreconditionFailed)
	b.header.Set("If-Match", "*")
	set("three", http.StatusOK)
	b.header.Del("If-Match")
	set("four", http.StatusOK)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.RequireIfMatch = true })
	set("five", http.StatusPreconditionRequired)
	if got := b.get(system)["AssetTag"]; got != "four" {
		t.Errorf("AssetTag is %v", got)
	}
}

func TestPatchChangesAllOrNothing(t *testing.T) {
	b := newBench(t)
	bad := func(body map[string]any) {
		t.Helper()
		body["AssetTag"] = "must not stay"
		b.do("PATCH", system, body, http.StatusBadRequest)
	}
	bad(map[string]any{"Nonsense": 1})
	bad(map[string]any{"SerialNumber": "mine"})
	bad(map[string]any{"IndicatorLED": "Purple"})
	bad(map[string]any{"IndicatorLED": nil})
	bad(map[string]any{"LocationIndicatorActive": "yes"})
	bad(map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Floppy"}})
	bad(map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled": "Twice"}})
	bad(map[string]any{"Boot": map[string]any{"Nonsense": 1}})
	bad(map[string]any{"Boot": "Pxe"})
	b.do("PATCH", system, map[string]any{}, http.StatusBadRequest)
	b.do("PATCH", system, map[string]any{"AssetTag": 7}, http.StatusBadRequest)
	if got := b.get(system)["AssetTag"]; got != "" {
		t.Errorf("AssetTag is %v", got)
	}
	if got := b.events(); len(got) != 0 {
		t.Errorf("machine log: %v", got)
	}
}

func TestIndicatorIsOneUnderBothNames(t *testing.T) {
	b := newBench(t)
	b.do("PATCH", system, map[string]any{"LocationIndicatorActive": true}, http.StatusOK)
	if doc := b.get(system); doc["IndicatorLED"] != "Blinking" {
		t.Errorf("IndicatorLED %v", doc["IndicatorLED"])
	}
	b.do("PATCH", system, map[string]any{"IndicatorLED": "Off"}, http.StatusOK)
	if doc := b.get(system); doc["LocationIndicatorActive"] != false {
		t.Errorf("LocationIndicatorActive %v", doc["LocationIndicatorActive"])
	}
}

func TestDisablingTheOverride(t *testing.T) {
	for name, off := range map[string]map[string]any{
		"by Disabled":    {"BootSourceOverrideEnabled": "Disabled"},
		"by target None": {"BootSourceOverrideTarget": "None"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.setBoot(pxeOnce)
			b.setBoot(off)
			if boot := b.boot(); boot["BootSourceOverrideEnabled"] != "Disabled" || boot["BootSourceOverrideTarget"] != "None" {
				t.Errorf("override reads %v", boot)
			}
		})
	}
}

func TestAssetTagLimitsAndMoods(t *testing.T) {
	b := newBench(t, withProfile(func(p *redfish.Profile) { p.AssetTagMax = 20 }))
	set := func(value string, want int) {
		t.Helper()
		b.do("PATCH", system, map[string]any{"AssetTag": value}, want)
	}
	shown := func(want string) {
		t.Helper()
		if got := b.get(system)["AssetTag"]; got != want {
			t.Errorf("AssetTag is %v, want %v", got, want)
		}
	}
	stamp := "hf1:0123456789abcdef"
	set(stamp, http.StatusOK)
	shown(stamp)
	set(strings.Repeat("x", 21), http.StatusBadRequest)
	shown(stamp)

	mood := func(mode redfish.AssetTagMode) {
		b.bmc.Behave(func(h *redfish.Behaviour) { h.AssetTag, h.AssetTagLength = mode, 8 })
	}
	mood(redfish.AssetTagRefused)
	set("other", http.StatusBadRequest)
	mood(redfish.AssetTagIgnored)
	set("other", http.StatusOK)
	shown(stamp)
	mood(redfish.AssetTagTruncated)
	set("hf1:fedcba9876543210", http.StatusOK)
	shown("hf1:fedc")

	tags := b.events(redfish.EventAssetTag)
	if len(tags) != 2 || tags[0].To != stamp || tags[1].From != stamp || tags[1].To != "hf1:fedc" {
		t.Errorf("machine log: %v", tags)
	}
}
