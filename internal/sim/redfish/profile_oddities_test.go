// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// members are the last segments of a collection's members.
func (v *vendor) members(path string) []string {
	v.t.Helper()
	var ids []string
	list, _ := v.get(path)["Members"].([]any)
	for _, m := range list {
		at := text(m.(map[string]any), "@odata.id")
		ids = append(ids, at[strings.LastIndex(at, "/")+1:])
	}
	return ids
}

func (v *vendor) want(what string, want, got any) {
	v.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		v.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (v *vendor) wantPart(path string, want map[string]any) {
	v.t.Helper()
	doc := v.get(path)
	got := map[string]any{}
	for member := range want {
		if value, there := doc[member]; there {
			got[member] = value
		}
	}
	v.want(path, want, got)
}

func TestDellLightReadsLitAtRest(t *testing.T) {
	v := newVendor(t, "dell-idrac9")
	for _, step := range []struct{ write, truth, reads string }{
		{"", "Off", "Lit"}, {"Blinking", "Blinking", "Blinking"}, {"Lit", "Off", "Lit"}, {"Off", "Off", "Lit"},
	} {
		if step.write != "" {
			v.do(http.MethodPatch, v.path(), map[string]any{"IndicatorLED": step.write}, http.StatusOK)
		}
		v.want("truth after "+step.write, step.truth, v.host().Status().LED)
		v.want("IndicatorLED after "+step.write, any(step.reads), v.get(v.path())["IndicatorLED"])
	}
	v.do(http.MethodPatch, v.path(), map[string]any{"IndicatorLED": "Purple"}, http.StatusBadRequest)
}

func TestDellNamesPlaces(t *testing.T) {
	v := newVendor(t, "dell-idrac9")
	v.want("drives", "Disk.Bay.0:Enclosure.Internal.0-1", func() string {
		drives := v.get(v.path() + "/Storage/1")["Drives"].([]any)
		at := text(drives[0].(map[string]any), "@odata.id")
		v.get(at)
		return at[strings.LastIndex(at, "/")+1:]
	}())
	v.want("NICs", []string{"NIC.Embedded.1-1-1", "NIC.Integrated.1-1-1", "NIC.Slot.5-1"}, v.members(v.path()+"/EthernetInterfaces"))
	card := v.get(v.path() + "/EthernetInterfaces/NIC.Slot.5-1")
	if card["LinkStatus"] != nil || text(card, "MACAddress") == "" {
		t.Errorf("a card that tells its MAC and nothing else: %v", card)
	}
	boot := v.get(v.path())["Boot"].(map[string]any)
	if _, told := boot["HttpBootUri"]; told {
		t.Error("a URI to boot from is shown")
	}
	v.do(http.MethodPatch, v.path(), map[string]any{"Boot": map[string]any{"HttpBootUri": "http://x/a.efi"}}, http.StatusBadRequest)
	v.do(http.MethodPatch, v.path(), map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "UefiHttp"}}, http.StatusOK)
}

func TestHPEInventoryIsHalfEmpty(t *testing.T) {
	v := newVendor(t, "hpe-ilo6")
	v.want("memory slots", 16, len(v.members(v.path()+"/Memory")))
	v.wantPart(v.path()+"/Memory/16", map[string]any{"CapacityMiB": 0.0, "Status": map[string]any{"State": "Absent"}})
	v.wantPart(v.path()+"/EthernetInterfaces/1", map[string]any{"Name": "", "LinkStatus": nil, "SpeedMbps": nil})
	if model := text(v.get(v.path()+"/Processors/1"), "Model"); !strings.HasSuffix(model, "  ") {
		t.Errorf("processor %q", model)
	}
	v.want("processors", []string{"1", "2", "GPU1", "GPU2"}, v.members(v.path()+"/Processors"))
	absent := v.get(v.path() + "/Storage/1/Drives/3")
	if _, told := absent["CapacityBytes"]; told || absent["Status"].(map[string]any)["State"] != "Absent" {
		t.Errorf("an empty bay shows %v", absent)
	}
	v.want("UUID", strings.ToUpper(v.host().UUID()), text(v.get(v.path()), "UUID"))
	v.want("link with a slash", "/redfish/v1/Systems/", linkTo(v.get("/redfish/v1"), "Systems"))
	v.want("members by it", []string{"1"}, v.members("/redfish/v1/Systems/"))
}

func TestLenovoWritesOneUUIDInTwoCases(t *testing.T) {
	v := newVendor(t, "lenovo-xcc")
	system := text(v.get(v.path()), "UUID")
	v.want("system", v.host().UUID(), system)
	v.want("root", strings.ToUpper(system), text(v.get("/redfish/v1"), "UUID"))
	v.want("manager", strings.ToUpper(system), text(v.get("/redfish/v1/Managers/1"), "UUID"))
	v.want("NICs", []string{"ToManager", "NIC1", "NIC2"}, v.members(v.path()+"/EthernetInterfaces"))
	v.wantPart(v.path()+"/Processors/GPU8", map[string]any{"Model": nil, "Status": nil, "TotalCores": nil})
	v.wantPart(v.path()+"/Memory/16", map[string]any{"CapacityMiB": nil})
	v.do(http.MethodPatch, v.path(), map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "Pxe"}}, http.StatusBadRequest) // B098
	pending := v.path() + "/Pending"                                                                                                                                              // settings that are no place for the override
	if _, told := v.get(pending)["Boot"]; told {
		t.Error("pending settings show an override")
	}
	v.do(http.MethodPatch, pending, map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}}, http.StatusBadRequest)
}

func TestSupermicroX13SharesAUUIDOfItsMAC(t *testing.T) {
	v := newVendor(t, "supermicro-x13")
	uuid := text(v.get(v.path()), "UUID")
	if !strings.HasPrefix(uuid, "00000000-0000-0000-0000-02") {
		t.Errorf("UUID %q", uuid)
	}
	v.want("manager", uuid, text(v.get("/redfish/v1/Managers/1"), "UUID"))
	v.want("root", uuid, text(v.get("/redfish/v1"), "UUID"))
	boot := v.get(v.path())["Boot"].(map[string]any)
	v.want("override", "Disabled Pxe", text(boot, "BootSourceOverrideEnabled")+" "+text(boot, "BootSourceOverrideTarget"))
	v.want("truth", "", v.host().Status().Override)
	drive := v.get("/redfish/v1/Chassis/1/Drives/Disk.Bay.0")
	if _, told := drive["MediaType"]; told || drive["CapacityBytes"] == nil {
		t.Errorf("drive %v", drive)
	}
	v.do(http.MethodGet, v.path()+"/Storage/1/Drives/Disk.Bay.0", nil, http.StatusNotFound)
	mac := text(v.get(v.path()+"/EthernetInterfaces/1"), "MACAddress")
	v.want("MAC", strings.ToLower(mac), mac)
	inBand := text(v.get(v.path()+"/EthernetInterfaces/ToManager"), "MACAddress")
	v.want("in-band MAC", strings.ToUpper(inBand), inBand)
}

func TestSupermicroX10IsOld(t *testing.T) {
	v := newVendor(t, "supermicro-x10")
	v.wantPart(v.path(), map[string]any{"SerialNumber": "          ", "SKU": "To be filled by O.E.M."})
	if system, manager := text(v.get(v.path()), "UUID"), text(v.get("/redfish/v1/Managers/1"), "UUID"); system == manager || !strings.HasPrefix(system, "00000000-0000-0000-0000-") {
		t.Errorf("UUIDs %q and %q", system, manager)
	}
	if list, there := v.get("/redfish/v1/Managers/1/VM1")["Members"]; there {
		t.Errorf("members %v", list)
	}
	v.wantPart("/redfish/v1/Managers/1/VM1", map[string]any{"Members@odata.count": 0.0})
	v.do(http.MethodPatch, v.path(), map[string]any{"Boot": map[string]any{"BootSourceOverrideMode": "UEFI"}}, http.StatusBadRequest) // B101
	for target, want := range map[string]string{"UefiHdd": "Boot Hdd debian", "UefiCd": "BootFailed UefiCd Once"} {
		v := newVendor(t, "supermicro-x10")
		v.do(http.MethodPatch, v.path(), map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": target}}, http.StatusOK)
		v.do(http.MethodPost, v.path()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"}, http.StatusNoContent)
		v.clock.Advance(timing.PowerOn + timing.POST)
		v.want(target, want, v.booted()[0])
	}
}

func TestGigabyteFillsInPlaceholders(t *testing.T) {
	v := newVendor(t, "gigabyte-megarac")
	v.wantPart(v.path(), map[string]any{"SKU": "01234567890123456789AB", "AssetTag": "Free form asset tag", "Manufacturer": "GIGABYTE"})
	v.want("vendor", "AMI", text(v.get("/redfish/v1"), "Vendor"))
	v.want("mode", any("Legacy"), v.get(v.path())["Boot"].(map[string]any)["BootSourceOverrideMode"])
	first := text(v.get(v.path()+"/EthernetInterfaces/EthernetInterface0"), "MACAddress")
	v.want("MACs", first, text(v.get(v.path()+"/EthernetInterfaces/EthernetInterface1"), "MACAddress"))
	v.do(http.MethodGet, "/redfish/v1/Systems/Capabilities", nil, http.StatusNotFound)
	if _, told := v.get("/redfish/v1/Managers/Self/VirtualMedia/CD1")["MediaTypes"]; told {
		t.Error("the slot tells its types")
	}
}

func TestDGXHasATrayAndKeepsTheOverrideInItsSettings(t *testing.T) {
	v := newVendor(t, "nvidia-dgx-h100")
	v.want("systems", []string{"DGX", "HGX_Baseboard_0"}, v.members("/redfish/v1/Systems"))
	tray := "/redfish/v1/Systems/HGX_Baseboard_0"
	for _, member := range []string{"Actions", "Boot", "Model", "SerialNumber"} {
		if value, told := v.get(tray)[member]; told {
			t.Errorf("the tray shows %s %v", member, value)
		}
	}
	v.do(http.MethodPost, tray+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"}, http.StatusNotFound)
	v.do(http.MethodPatch, tray, map[string]any{"AssetTag": "x"}, http.StatusNotFound)

	pxe := map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}}
	refusal := v.do(http.MethodPatch, v.path(), pxe, http.StatusBadRequest) // B092
	if !strings.Contains(string(refusal.Raw), v.path()+"/SD") {
		t.Errorf("the refusal does not name the settings: %s", refusal.Raw)
	}
	settings := v.path() + "/SD"
	v.want("settings", settings, linkTo(v.get(v.path())["@Redfish.Settings"].(map[string]any), "SettingsObject"))
	v.want("mode", any(nil), v.get(settings)["Boot"].(map[string]any)["BootSourceOverrideMode"])
	v.do(http.MethodPatch, settings, map[string]any{"AssetTag": "x"}, http.StatusBadRequest)
	v.do(http.MethodPatch, settings, map[string]any{}, http.StatusBadRequest)
	tag := text(v.get(settings), "@odata.etag")
	v.header.Set("If-Match", tag)
	v.do(http.MethodPatch, settings, pxe, http.StatusOK)
	v.do(http.MethodPatch, settings, pxe, http.StatusPreconditionFailed)
	v.header.Del("If-Match")
	v.want("truth", "Once Pxe", v.host().Status().Override)
	v.want("at the settings", any("Pxe"), v.get(settings)["Boot"].(map[string]any)["BootSourceOverrideTarget"])
	v.want("at the system", any("None"), v.get(v.path())["Boot"].(map[string]any)["BootSourceOverrideTarget"])

	storage := v.get(v.path() + "/Storage")
	if _, told := storage["Members"]; told {
		t.Errorf("the storage collection has members: %v", storage)
	}
	v.want("devices", []string{"1", "2", "3"}, v.members(v.path()+"/SimpleStorage"))
	device := v.get(v.path() + "/SimpleStorage/3")["Devices"].([]any)[0].(map[string]any)
	v.want("the stick's capacity", any(nil), device["CapacityBytes"])
	v.do(http.MethodGet, v.path()+"/SimpleStorage/4", nil, http.StatusNotFound)
}

func TestAnUnknownHostTellsNothing(t *testing.T) {
	v := newVendor(t, "openbmc-evb-host-dark")
	doc := v.get(v.path())
	for _, member := range []string{"UUID", "Manufacturer", "Model", "SerialNumber", "BiosVersion", "EthernetInterfaces"} {
		if value, told := doc[member]; told {
			t.Errorf("%s is told: %v", member, value)
		}
	}
	v.want("memory", any(0.0), pick(t, doc, "MemorySummary", "TotalSystemMemoryGiB"))
}

func TestAnIdOfATrayIsTaken(t *testing.T) {
	profile := redfish.NVIDIADGXH100()
	rack := newRack(t, redfish.Config{})
	_, err := rack.AddBMC(redfish.BMCSpec{Name: "dgx", Profile: &profile, Systems: []redfish.MachineSpec{{}, {ID: "HGX_Baseboard_0"}}})
	if err == nil {
		t.Error("a machine has the Id of a tray")
	}
}

func TestBlueFieldIsNoServer(t *testing.T) {
	v := newVendor(t, "nvidia-bluefield3")
	v.wantPart(v.path(), map[string]any{"Manufacturer": "https://www.mellanox.com"})
	boot := v.get(v.path())["Boot"].(map[string]any)
	v.want("override", "Disabled UefiHttp", text(boot, "BootSourceOverrideEnabled")+" "+text(boot, "BootSourceOverrideTarget"))
	v.want("URI", any(""), boot["HttpBootUri"])
	if list, told := v.get(v.path() + "/Storage")["Members"]; !told || list != nil {
		t.Errorf("members %v, want null", list)
	}
	v.wantPart(v.path()+"/EthernetInterfaces/oob0", map[string]any{"@odata.id": bluefieldNICs + "oob0"})
	v.do(http.MethodGet, bluefieldNICs+"oob0", nil, http.StatusNotFound)
	v.switchOn(http.StatusNoContent)
	v.clock.Advance(time.Hour)
	progress := v.get(v.path())["BootProgress"].(map[string]any)
	v.want("progress", "OEM OsIsRunning", text(progress, "LastState")+" "+text(progress, "OemLastState"))
}
