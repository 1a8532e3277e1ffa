// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

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

func TestTasksAreToldInManyWays(t *testing.T) {
	const monitor = "/redfish/v1/TaskService/TaskMonitors/1"
	for name, c := range map[string]struct {
		mood     redfish.Behaviour
		location string
		bare     bool
		done     int
	}{
		"a path":                   {redfish.Behaviour{}, monitor, false, http.StatusNoContent},
		"a URL by another name":    {redfish.Behaviour{TaskLocation: redfish.LocationURL}, "https://rack1-u07.bmc.invalid" + monitor, false, http.StatusNoContent},
		"the body alone":           {redfish.Behaviour{TaskLocation: redfish.LocationNone}, "", false, http.StatusNoContent},
		"the header alone (B144)":  {redfish.Behaviour{TaskBare: true}, monitor, true, http.StatusNoContent},
		"elsewhere at last (B145)": {redfish.Behaviour{TaskSeeOther: true}, monitor, false, http.StatusSeeOther},
		"gone when done":           {redfish.Behaviour{TaskVanishes: true}, monitor, false, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			c.mood.AsyncReset, c.mood.TaskDuration = true, redfish.Duration(time.Second)
			b.bmc.Behave(func(h *redfish.Behaviour) { *h = c.mood })
			a := b.reset("On", http.StatusAccepted)
			if got := a.Header.Get("Location"); got != c.location || (len(a.Raw) == 0) != c.bare {
				t.Errorf("location %q, body %q", got, a.Raw)
			}
			b.do(http.MethodGet, monitor, nil, http.StatusAccepted)
			b.clock.Advance(time.Second)
			last := b.do(http.MethodGet, monitor, nil, c.done)
			if c.done == http.StatusSeeOther {
				if got := b.get(last.Header.Get("Location"))["TaskState"]; got != "Completed" {
					t.Errorf("task state %v", got)
				}
			}
			b.wantPower(redfish.PoweringOn)
		})
	}
}
