// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const image = "http://images.example/debian.iso"

// slots are the slots a client finds by links from the system, else from the manager.
func (v *vendor) slots() []string {
	v.t.Helper()
	at := linkTo(v.get(v.path()), "VirtualMedia")
	if at == "" {
		at = linkTo(v.get("/redfish/v1/Managers/"+v.profile.ManagerID), "VirtualMedia")
	}
	if at == "" {
		return nil
	}
	var slots []string
	list, _ := v.get(at)["Members"].([]any)
	for _, member := range list {
		slots = append(slots, text(member.(map[string]any), "@odata.id"))
	}
	return slots
}

// insert puts the image in, by action or by PATCH, and wants a status.
func (v *vendor) insert(slot string, body map[string]any, want int) {
	v.t.Helper()
	if v.profile.Media.ByPatch {
		v.do(http.MethodPatch, slot, body, want)
		return
	}
	v.do(http.MethodPost, slot+"/Actions/VirtualMedia.InsertMedia", body, want)
}

func (v *vendor) eject(slot string) {
	v.t.Helper()
	if v.profile.Media.ByPatch {
		v.do(http.MethodPatch, slot, map[string]any{"Image": nil}, http.StatusNoContent)
		return
	}
	v.do(http.MethodPost, slot+"/Actions/VirtualMedia.EjectMedia", map[string]any{}, http.StatusNoContent)
}

func TestProfilesHangVirtualMediaInTheirPlace(t *testing.T) {
	for name, want := range map[string]struct {
		slot  string // the first that takes a CD
		slots int
		empty any // Image where there is none
	}{
		"dell-idrac9":      {"/redfish/v1/Systems/System.Embedded.1/VirtualMedia/1", 2, nil},
		"hpe-ilo5":         {"/redfish/v1/Managers/1/VirtualMedia/2", 2, ""},
		"hpe-ilo6":         {"/redfish/v1/Managers/1/VirtualMedia/2", 2, ""},
		"lenovo-xcc":       {"/redfish/v1/Systems/1/VirtualMedia/EXT1", 10, nil},
		"supermicro-x13":   {"/redfish/v1/Managers/1/VirtualMedia/VirtualMedia1", 3, nil},
		"supermicro-x10":   {"", 0, nil},
		"gigabyte-megarac": {"/redfish/v1/Managers/Self/VirtualMedia/CD1", 1, "None"},
		"nvidia-dgx-h100":  {"", 0, nil},
		"openbmc":          {"", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t, name)
			slots := v.slots()
			if len(slots) != want.slots {
				t.Fatalf("slots %v, want %d", slots, want.slots)
			}
			if want.slot == "" {
				return
			}
			if got := v.get(want.slot)["Image"]; got != want.empty {
				t.Errorf("an empty slot shows the image %v, want %v", got, want.empty)
			}
			v.insert(want.slot, map[string]any{"Image": image}, http.StatusNoContent)
			if got := v.get(want.slot); got["Inserted"] != true || got["Image"] != image {
				t.Errorf("the slot shows %v", got)
			}
			for _, other := range slots {
				if other != want.slot && v.get(other)["Inserted"] == true {
					t.Errorf("%s shows the image too", other)
				}
			}
			v.insert(want.slot, map[string]any{"Image": image}, http.StatusConflict)
			v.do(http.MethodPatch, v.bootPath(), map[string]any{"Boot": map[string]any{
				"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd",
			}}, http.StatusOK)
			v.do(http.MethodPost, v.path()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"}, http.StatusNoContent)
			v.clock.Advance(time.Hour)
			v.wantBooted("Boot Cd Once "+image, "Install "+image, "Boot Hdd "+image, "Running "+image)
			v.eject(want.slot)
			if got := v.get(want.slot); got["Inserted"] != false || got["Image"] != want.empty {
				t.Errorf("the slot shows %v after the eject", got)
			}
		})
	}
}

func TestASlotForSticksDoesNotBootAsCD(t *testing.T) {
	v := newVendor(t, "hpe-ilo5")
	stick := v.slots()[0]
	v.insert(stick, map[string]any{"Image": image}, http.StatusNoContent)
	v.eject(v.slots()[1]) // an empty slot has nothing to eject
	v.do(http.MethodPatch, v.path(), map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Cd"}}, http.StatusOK)
	v.do(http.MethodPost, v.path()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"}, http.StatusNoContent)
	v.clock.Advance(time.Hour)
	v.wantBooted("BootFailed Cd Once", "Boot Hdd debian", "Running debian")
	if got := v.host().Status().Media; got != image {
		t.Errorf("media %q", got)
	}
}

func TestSlotsWithoutActionsAreWritten(t *testing.T) {
	v := newVendor(t, "lenovo-xcc")
	slots := v.slots()
	slot := slots[0]
	if _, told := v.get(slot)["Actions"]; told {
		t.Error("the slot has actions")
	}
	v.want("Allow", "GET, HEAD, PATCH", v.do(http.MethodGet, slot, nil, http.StatusOK).Header.Get("Allow"))
	v.do(http.MethodPost, slot+"/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": image}, http.StatusNotFound)
	v.do(http.MethodPost, slot+"/Actions/VirtualMedia.EjectMedia", map[string]any{}, http.StatusNotFound)
	v.insert(slots[4], map[string]any{"Image": image}, http.StatusBadRequest) // Remote1: for people
	v.insert(slot, map[string]any{"Image": 7}, http.StatusBadRequest)
	v.insert(slot, map[string]any{"WriteProtected": true}, http.StatusBadRequest)
	if err := v.bmc.Suffer("if-match-demanded"); err != nil {
		t.Fatal(err)
	}
	v.insert(slot, map[string]any{"Image": image}, http.StatusPreconditionRequired)
	v.header.Set("If-Match", `"stale"`)
	v.insert(slot, map[string]any{"Image": image}, http.StatusPreconditionFailed)
	v.header.Set("If-Match", text(v.get(slot), "@odata.etag"))
	v.insert(slot, map[string]any{"Image": image}, http.StatusNoContent)
	v.header.Del("If-Match")
	if got := v.get(strings.Replace(slot, "Systems", "Managers", 1))["Image"]; got != image {
		t.Errorf("the manager's slot shows %v", got)
	}
	other := newVendor(t, "hpe-ilo5")
	other.do(http.MethodPatch, other.slots()[1], map[string]any{"Image": image}, http.StatusMethodNotAllowed)
}

func TestInsertsAreRefusedForTheirForm(t *testing.T) {
	v := newVendor(t, "gigabyte-megarac")
	slot := v.slots()[0]
	if err := v.bmc.Suffer("media-needs-transfer"); err != nil { // B119
		t.Fatal(err)
	}
	v.insert(slot, map[string]any{"Image": image}, http.StatusBadRequest)
	v.insert(slot, map[string]any{"Image": image, "TransferProtocolType": "HTTP"}, http.StatusNoContent)
	v.do(http.MethodPost, slot+"/Actions/VirtualMedia.EjectMedia", nil, http.StatusNoContent)
	if err := v.bmc.Suffer("empty-body-refused"); err != nil { // B120
		t.Fatal(err)
	}
	v.do(http.MethodPost, slot+"/Actions/VirtualMedia.EjectMedia", nil, http.StatusUnsupportedMediaType)

	v = newVendor(t, "supermicro-x13")
	slot = v.slots()[0]
	if err := v.bmc.Suffer("media-takes-only-image"); err != nil { // B117
		t.Fatal(err)
	}
	v.insert(slot, map[string]any{"Image": image, "Inserted": true}, http.StatusBadRequest)
	v.insert(slot, map[string]any{"Image": image}, http.StatusNoContent)

	v = newVendor(t, "hpe-ilo6")
	slot = v.slots()[1]
	if err := v.bmc.Suffer("media-url-with-query-refused"); err != nil { // B122
		t.Fatal(err)
	}
	v.insert(slot, map[string]any{"Image": image + "?boot=1"}, http.StatusBadRequest)
	v.insert(slot, map[string]any{"Image": image, "Inserted": "yes"}, http.StatusBadRequest)
	v.insert(slot, map[string]any{"Image": image}, http.StatusNoContent)
}
