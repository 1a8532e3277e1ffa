// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func TestRefusalsComeInManyShapes(t *testing.T) { // B138
	for shape, want := range map[redfish.ErrorShape]string{
		redfish.ErrorProper:   `"@Message.ExtendedInfo":[{`,
		redfish.ErrorText:     `{"error":"The property AssetTagg`,
		redfish.ErrorNoInfo:   `{"error":{"code":"Base.1.18.PropertyUnknown"`,
		redfish.ErrorOneInfo:  `"@Message.ExtendedInfo":{`,
		redfish.ErrorTextInfo: `"@Message.ExtendedInfo":["The property`,
		redfish.ErrorBare:     `{"@Message.ExtendedInfo":[{`,
		redfish.ErrorEmpty:    `{}`,
		redfish.ErrorNothing:  ``,
	} {
		b := newBench(t)
		b.bmc.Behave(func(h *redfish.Behaviour) { h.ErrorShape = shape })
		raw := string(b.do(http.MethodPatch, system, map[string]any{"AssetTagg": "x"}, http.StatusBadRequest).Raw)
		if !strings.Contains(raw, want) || want == "" && raw != "" {
			t.Errorf("%q: %s, want %s in it", shape, raw, want)
		}
		b.get(system) // what is no refusal stays as it is
	}
}

func TestTheLastPageNamesItself(t *testing.T) { // B137
	b := newBench(t, withProfile(func(p *redfish.Profile) { p.PageSize = 5 }))
	memory := system + "/Memory"
	b.bmc.Behave(func(h *redfish.Behaviour) { h.PagesLoop = true })
	first := text(b.get(memory), "Members@odata.nextLink")
	last := text(b.get(first), "Members@odata.nextLink")
	if first != memory+"?$skip=5" || last != first {
		t.Errorf("next pages %q and %q", first, last)
	}
}

func TestNumbersAreTexts(t *testing.T) { // B135
	b := newBench(t)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.NumbersAsText = true })
	doc := b.get(system)
	if got := pick(t, doc, "MemorySummary", "TotalSystemMemoryGiB"); got != "512" {
		t.Errorf("memory %v", got)
	}
	if got := b.get(system + "/Processors")["Members@odata.count"]; got != "2" {
		t.Errorf("count %v", got)
	}
}
