// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// crawl fetches everything that can be reached by links from the root.
func (b *bench) crawl() map[string]map[string]any {
	b.t.Helper()
	seen := map[string]map[string]any{}
	todo := []string{"/redfish/v1"}
	for len(todo) > 0 {
		path := strings.TrimRight(todo[0], "/")
		todo = todo[1:]
		if _, ok := seen[path]; ok {
			continue
		}
		doc := b.get(path)
		seen[path] = doc
		todo = append(todo, linksIn(doc)...)
	}
	return seen
}

func linksIn(value any) []string {
	var found []string
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			if path, ok := item.(string); ok && (key == "@odata.id" || key == "@Redfish.ActionInfo" || strings.HasSuffix(key, "nextLink")) {
				found = append(found, path)
				continue
			}
			found = append(found, linksIn(item)...)
		}
	case []any:
		for _, item := range v {
			found = append(found, linksIn(item)...)
		}
	}
	return found
}

func TestEveryLinkLeadsToAResourceThatNamesItself(t *testing.T) {
	for name, edit := range map[string]func(*redfish.Config, *redfish.BMCSpec){
		"conforming":    withProfile(func(*redfish.Profile) {}),
		"two systems":   withMachines(redfish.MachineSpec{}, redfish.MachineSpec{ID: "node-2"}),
		"bare":          withProfile(func(p *redfish.Profile) { p.NoSessionService, p.NoEventService, p.NoETags = true, true, true }),
		"paged, linked": withProfile(func(p *redfish.Profile) { p.PageSize, p.ActionInfo = 2, true }),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, edit)
			docs := b.crawl()
			for path, doc := range docs {
				if id, _ := doc["@odata.id"].(string); strings.TrimRight(id, "/") != path && !strings.Contains(path, "?") {
					t.Errorf("%s names itself %q", path, id)
				}
				for _, key := range []string{"@odata.type", "Name"} {
					if s, _ := doc[key].(string); s == "" {
						t.Errorf("%s has no %s", path, key)
					}
				}
			}
			if len(docs) < 30 {
				t.Errorf("only %d resources reached", len(docs))
			}
		})
	}
}

func TestSystemTellsItsIdentityAndInventory(t *testing.T) {
	b := newBench(t, withMachines(redfish.MachineSpec{
		UUID: "38947555-7742-3448-3784-823347823834", Manufacturer: "Contoso", Model: "3500", SerialNumber: "S1", SKU: "K1", AssetTag: "rack 7",
		Hardware: &redfish.Hardware{
			Processors: []redfish.Processor{{Model: "P", Cores: 8, Threads: 16}, {Model: "P", Cores: 8, Threads: 16}},
			MemoryGiB:  []float64{16, 0.5}, NICs: []redfish.NIC{{MAC: "02:00:00:00:00:01", SpeedMbps: 1000, LinkDown: true}},
			Drives: []redfish.Drive{{Model: "D 1", Serial: "X", MediaType: "SSD", Protocol: "NVMe", Bytes: 1 << 40}},
		},
	}))
	doc := b.get(system)
	for key, want := range map[string]any{
		"UUID": "38947555-7742-3448-3784-823347823834", "Manufacturer": "Contoso", "Model": "3500", "SerialNumber": "S1", "SKU": "K1",
		"AssetTag": "rack 7", "PowerState": "Off", "IndicatorLED": "Off", "LocationIndicatorActive": false,
	} {
		if doc[key] != want {
			t.Errorf("%s is %v, want %v", key, doc[key], want)
		}
	}
	if got := pick(t, doc, "ProcessorSummary", "CoreCount"); got != 16.0 {
		t.Errorf("CoreCount %v", got)
	}
	if got := pick(t, doc, "MemorySummary", "TotalSystemMemoryGiB"); got != 16.5 {
		t.Errorf("TotalSystemMemoryGiB %v", got)
	}
	if got := b.get(system + "/Memory/2")["CapacityMiB"]; got != 512.0 {
		t.Errorf("CapacityMiB %v", got)
	}
	if nic := b.get(system + "/EthernetInterfaces/1"); nic["MACAddress"] != "02:00:00:00:00:01" || nic["LinkStatus"] != "LinkDown" {
		t.Errorf("NIC %v", nic)
	}
	if drive := b.get(system + "/Storage/1/Drives/1"); drive["CapacityBytes"] != float64(1<<40) || drive["SerialNumber"] != "X" {
		t.Errorf("drive %v", drive)
	}
	b.do("GET", system+"/Memory/3", nil, http.StatusNotFound)
}

func TestSameRackHasTheSameMachinesEveryTime(t *testing.T) {
	identity := func() string {
		doc := newBench(t).get(system)
		return fmt.Sprint(doc["UUID"], doc["SerialNumber"])
	}
	if a, b := identity(), identity(); a != b {
		t.Errorf("%s, then %s", a, b)
	}
}

func TestSystemWithoutUUID(t *testing.T) {
	b := newBench(t, withMachines(redfish.MachineSpec{NoUUID: true}))
	if uuid, ok := b.get(system)["UUID"]; ok {
		t.Errorf("UUID is %v", uuid)
	}
}

func TestCollectionsComeInPages(t *testing.T) { // B137
	machines := make([]redfish.MachineSpec, 5)
	b := newBench(t, withMachines(machines...), withProfile(func(p *redfish.Profile) { p.PageSize = 2 }))
	var pages []int
	found := map[string]bool{}
	for path := "/redfish/v1/Systems"; path != ""; {
		doc := b.get(path)
		if doc["Members@odata.count"] != 5.0 {
			t.Errorf("count %v", doc["Members@odata.count"])
		}
		members := doc["Members"].([]any)
		pages = append(pages, len(members))
		for _, m := range members {
			found[m.(map[string]any)["@odata.id"].(string)] = true
		}
		path, _ = doc["Members@odata.nextLink"].(string)
	}
	if fmt.Sprint(pages) != "[2 2 1]" || len(found) != 5 {
		t.Errorf("pages of %v, %d different members", pages, len(found))
	}
	b.do("GET", "/redfish/v1/Systems?$skip=x", nil, http.StatusBadRequest)
}

func TestActionInfoReplacesInlineValues(t *testing.T) { // B027
	b := newBench(t, withProfile(func(p *redfish.Profile) { p.ActionInfo, p.ResetTypes = true, []string{"On", "ForceOff"} }))
	action := pick(t, b.get(system), "Actions", "#ComputerSystem.Reset").(map[string]any)
	if _, inline := action["ResetType@Redfish.AllowableValues"]; inline {
		t.Error("values are inline as well")
	}
	info := b.get(action["@Redfish.ActionInfo"].(string))
	values := info["Parameters"].([]any)[0].(map[string]any)["AllowableValues"]
	if fmt.Sprint(values) != "[On ForceOff]" {
		t.Errorf("allowable values %v", values)
	}
	b.reset("GracefulShutdown", http.StatusBadRequest)
}

func TestProfileHasTheLastWordOnDocuments(t *testing.T) {
	b := newBench(t, withProfile(func(p *redfish.Profile) {
		p.Rewrite = func(path string, doc map[string]any) {
			if path == system {
				doc["PowerState"] = "Chassis Power is on"
			}
		}
	}))
	a := b.do("GET", system, nil, http.StatusOK)
	if a.Body["PowerState"] != "Chassis Power is on" {
		t.Errorf("PowerState %v", a.Body["PowerState"])
	}
	b.header.Set("If-Match", a.Header.Get("ETag"))
	b.do("PATCH", system, map[string]any{"AssetTag": "x"}, http.StatusOK)
}

func TestErrorsAreRedfishErrors(t *testing.T) {
	b := newBench(t)
	for _, a := range []answer{
		b.do("GET", "/redfish/v1/Nowhere", nil, http.StatusNotFound),
		b.do("GET", "/redfish/v1/Systems/2", nil, http.StatusNotFound),
		b.do("DELETE", system, nil, http.StatusMethodNotAllowed),
		b.do("GET", resetTarget, nil, http.StatusMethodNotAllowed),
		b.do("PATCH", system, "text", http.StatusBadRequest),
	} {
		if info, _ := pick(t, a.Body, "error", "@Message.ExtendedInfo").([]any); len(info) != 1 {
			t.Errorf("status %d without extended info: %s", a.Status, a.Raw)
		}
		if a.Header.Get("OData-Version") != "4.0" {
			t.Errorf("status %d without OData-Version", a.Status)
		}
	}
	if allow := b.do("DELETE", system, nil, http.StatusMethodNotAllowed).Header.Get("Allow"); allow != "GET, PATCH" {
		t.Errorf("Allow: %q", allow)
	}
}

func TestClockSkewIsSeenInTheManager(t *testing.T) {
	b := newBench(t)
	b.bmc.Behave(func(h *redfish.Behaviour) { h.ClockSkew = redfish.Duration(-3 * time.Hour) })
	if got, want := b.get("/redfish/v1/Managers/BMC")["DateTime"], "2026-03-01T09:00:00Z"; got != want {
		t.Errorf("DateTime %v, want %v", got, want)
	}
}

func TestManagerResetRestartsTheBMCOnly(t *testing.T) {
	b := newBench(t, running())
	b.do("POST", "/redfish/v1/Managers/BMC/Actions/Manager.Reset", map[string]any{"ResetType": "Explode"}, http.StatusBadRequest)
	b.do("POST", "/redfish/v1/Managers/BMC/Actions/Manager.Reset", map[string]any{"ResetType": "ForceRestart"}, http.StatusNoContent)
	b.clock.Advance(time.Second)
	if _, err := b.try("GET", system, nil); err == nil {
		t.Error("the BMC answers while it restarts")
	}
	b.clock.Advance(timing.BMCBoot)
	b.wantProgress("OSRunning")
}
