// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// suffering is a vendor's bench with an ailment on.
func suffering(t *testing.T, name, ailment string) *vendor {
	t.Helper()
	v := newVendor(t, name)
	if err := v.bmc.Suffer(ailment); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *vendor) switchOn(want int) answer {
	v.t.Helper()
	return v.do(http.MethodPost, v.path()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"}, want)
}

func (v *vendor) arm(boot map[string]any, want int) answer {
	v.t.Helper()
	return v.do(http.MethodPatch, v.bootPath(), map[string]any{"Boot": boot}, want)
}

var (
	pxeBare  = map[string]any{"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}
	disarmed = map[string]any{"BootSourceOverrideEnabled": "Disabled"}
)

func TestActionsWithIfMatchAreRefused(t *testing.T) { // B127
	v := suffering(t, "dell-idrac9", "actions-with-if-match-refused")
	v.header.Set("If-Match", "*")
	v.switchOn(http.StatusPreconditionFailed)
	v.do(http.MethodPatch, v.path(), map[string]any{"AssetTag": "x"}, http.StatusOK)
	v.header.Del("If-Match")
	v.switchOn(http.StatusNoContent)
}

func TestAnOverrideIsShownLate(t *testing.T) { // B097
	v := suffering(t, "dell-idrac9", "override-shows-late")
	v.arm(pxeBare, http.StatusOK)
	v.want("override at once", "", v.host().Status().Override)
	v.clock.Advance(10 * time.Second)
	v.want("override later", "Once Pxe", v.host().Status().Override)
}

func TestANewTaskIsNotFoundAtFirst(t *testing.T) { // B147
	v := suffering(t, "dell-idrac9", "new-task-not-found")
	monitor := v.arm(pxeBare, http.StatusAccepted).Header.Get("Location")
	v.do(http.MethodGet, monitor, nil, http.StatusNotFound)
	v.clock.Advance(2 * time.Second)
	v.do(http.MethodGet, monitor, nil, http.StatusAccepted)
	v.clock.Advance(3 * time.Second)
	v.do(http.MethodGet, monitor, nil, http.StatusNoContent)
	v.want("override", "Once Pxe", v.host().Status().Override)
}

func TestNoBootChangesDuringPOST(t *testing.T) {
	v := suffering(t, "hpe-ilo5", "no-boot-changes-in-post")
	v.arm(pxeBare, http.StatusOK)
	v.switchOn(http.StatusNoContent)
	refusal := v.arm(disarmed, http.StatusBadRequest)
	if !strings.Contains(string(refusal.Raw), "iLO.2.15.UnableToModifyDuringSystemPOST") {
		t.Errorf("%s", refusal.Raw)
	}
	v.do(http.MethodPatch, v.path(), map[string]any{"AssetTag": "x"}, http.StatusOK)
	v.clock.Advance(time.Hour)
	v.arm(disarmed, http.StatusOK)
}

func TestAPartOfTheInventoryIsRefused(t *testing.T) { // B162
	v := suffering(t, "hpe-ilo6", "part-of-inventory-refused")
	v.do(http.MethodGet, v.path()+"/EthernetInterfaces", nil, http.StatusBadRequest)
	v.get(v.path() + "/Memory")
}

func TestATaskThatFailsChangesNothing(t *testing.T) { // B142
	v := suffering(t, "lenovo-xcc", "tasks-that-fail")
	a := v.switchOn(http.StatusAccepted)
	v.clock.Advance(2 * time.Second)
	v.do(http.MethodGet, a.Header.Get("Location"), nil, http.StatusInternalServerError)
	v.wantPart(text(a.Body, "@odata.id"), map[string]any{"TaskState": "Exception", "TaskStatus": "Critical"})
	v.want("power", redfish.PowerOff, v.host().Power())
}

func TestMediaIsNotAttachedUnlessTold(t *testing.T) {
	v := suffering(t, "lenovo-xcc", "media-not-attached-unless-told")
	slot := v.slots()[0]
	v.insert(slot, map[string]any{"Image": image}, http.StatusNoContent)
	v.wantPart(slot, map[string]any{"Image": image, "Inserted": false})
	v.eject(slot)
	v.insert(slot, map[string]any{"Image": image, "Inserted": true}, http.StatusNoContent)
	v.wantPart(slot, map[string]any{"Image": image, "Inserted": true})
}

func TestABootChangeMustBeWhole(t *testing.T) { // B095, B110
	v := suffering(t, "supermicro-x13", "boot-change-must-be-whole")
	v.arm(pxeBare, http.StatusBadRequest)
	v.arm(disarmed, http.StatusBadRequest)
	v.arm(pxeOnce, http.StatusOK)
	v.want("override", "Once Pxe", v.host().Status().Override)
}

func TestAModeThatIsNotToldIsLegacy(t *testing.T) { // B094
	v := suffering(t, "supermicro-x13", "legacy-unless-told")
	mode := func() any { return v.get(v.path())["Boot"].(map[string]any)["BootSourceOverrideMode"] }
	v.arm(disarmed, http.StatusOK)
	v.want("mode where no target was named", any("UEFI"), mode())
	v.arm(pxeBare, http.StatusOK)
	v.want("mode", any("Legacy"), mode())
	v.arm(pxeOnce, http.StatusOK)
	v.want("mode that was told", any("UEFI"), mode())
}

func TestStaleTagsHideAChangeOfPower(t *testing.T) { // B037
	v := suffering(t, "gigabyte-megarac", "stale-entity-tags")
	tag := v.do(http.MethodGet, v.path(), nil, http.StatusOK).Header.Get("ETag")
	v.switchOn(http.StatusNoContent)
	v.clock.Advance(time.Hour)
	v.header.Set("If-None-Match", tag)
	v.do(http.MethodGet, v.path(), nil, http.StatusNotModified)
	v.do(http.MethodPatch, v.path(), map[string]any{"AssetTag": "x"}, http.StatusOK)
	v.do(http.MethodGet, v.path(), nil, http.StatusOK)
}

func TestNotNowAfterAReset(t *testing.T) {
	v := suffering(t, "gigabyte-megarac", "not-now-after-reset")
	v.arm(pxeBare, http.StatusOK)
	v.switchOn(http.StatusNoContent)
	if got := v.arm(disarmed, http.StatusServiceUnavailable).Header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
	v.do(http.MethodPost, v.path()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "GracefulShutdown"}, http.StatusServiceUnavailable)
	v.do(http.MethodPost, v.path()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "ForceOff"}, http.StatusNoContent)
	v.get(v.path())
	v.clock.Advance(5 * time.Second)
	v.arm(disarmed, http.StatusOK)
}

func TestATrayNeedsItsHost(t *testing.T) { // B130
	v := suffering(t, "nvidia-dgx-h100", "trays-need-power")
	tray := "/redfish/v1/Systems/HGX_Baseboard_0"
	v.do(http.MethodGet, tray, nil, http.StatusServiceUnavailable)
	v.switchOn(http.StatusNoContent)
	v.clock.Advance(time.Hour)
	v.wantPart(tray, map[string]any{"PowerState": "On"})
}

func TestMembersChangeTheirOrder(t *testing.T) { // B149, B158
	v := suffering(t, "nvidia-dgx-h100", "members-change-order")
	first, second := v.members("/redfish/v1/Systems"), v.members("/redfish/v1/Systems")
	if len(first) != 2 || first[0] != second[1] || first[1] != second[0] {
		t.Errorf("orders %v and %v", first, second)
	}
	v.bmc.Behave(func(b *redfish.Behaviour) { b.ShuffleMembers = false })
	v.want("order", []string{"DGX", "HGX_Baseboard_0"}, v.members("/redfish/v1/Systems"))
}

func TestNothingIsKnownOfAHostThatIsOff(t *testing.T) { // B141
	v := suffering(t, "openbmc", "nothing-known-while-off")
	if doc := v.get(v.path()); doc["UUID"] != nil || doc["SerialNumber"] != nil || pick(t, doc, "ProcessorSummary", "Count") != 0.0 {
		t.Errorf("off: %v", doc)
	}
	v.switchOn(http.StatusNoContent)
	v.clock.Advance(time.Hour)
	v.want("UUID", v.host().UUID(), text(v.get(v.path()), "UUID"))
}

func TestAChassisSaysOn(t *testing.T) { // B031
	v := suffering(t, "openbmc", "chassis-says-on")
	v.wantPart("/redfish/v1/Chassis/chassis", map[string]any{"PowerState": "On"})
	v.wantPart(v.path(), map[string]any{"PowerState": "Off"})
}

func TestATagOfACompressedAnswerDoesNotMatch(t *testing.T) { // B128
	v := newVendor(t, "conforming")
	v.bmc.Behave(func(b *redfish.Behaviour) { b.GzipTags = true })
	a := v.do(http.MethodGet, v.path(), nil, http.StatusOK)
	header := a.Header.Get("ETag")
	if !strings.HasSuffix(header, `-gzip"`) {
		t.Fatalf("tag %q", header)
	}
	v.header.Set("If-Match", header)
	v.do(http.MethodPatch, v.path(), map[string]any{"AssetTag": "x"}, http.StatusPreconditionFailed)
	v.header.Set("If-Match", text(a.Body, "@odata.etag"))
	v.do(http.MethodPatch, v.path(), map[string]any{"AssetTag": "x"}, http.StatusOK)
}

// An empty tag that is sent back is refused (B131).
func TestEmptyTagsMatchNothing(t *testing.T) {
	v := newVendor(t, "conforming")
	v.bmc.Behave(func(b *redfish.Behaviour) { b.EmptyTags = true })
	a := v.do(http.MethodGet, v.path(), nil, http.StatusOK)
	if tag, told := a.Body["@odata.etag"]; !told || tag != "" || a.Header.Get("ETag") != "" {
		t.Errorf("tags %v, %q", tag, a.Header.Get("ETag"))
	}
	v.header["If-Match"] = []string{""}
	v.do(http.MethodPatch, v.path(), map[string]any{"AssetTag": "x"}, http.StatusPreconditionFailed)
	v.header.Del("If-Match")
	v.do(http.MethodPatch, v.path(), map[string]any{"AssetTag": "x"}, http.StatusOK)
}

func TestControlSwitchesAilmentsOn(t *testing.T) {
	v := newVendor(t, "nvidia-dgx-h100", withControl)
	var known []redfish.Ailment
	v.control("GET", "/bmcs/rack1-u07/ailments", "", http.StatusOK, &known)
	v.want("ailments", len(v.profile.Ailments), len(known))
	v.control("POST", "/bmcs/*/ailments", `{"name": "trays-need-power"}`, http.StatusOK, nil)
	v.want("suffering", true, v.bmc.Behaviour().TraysNeedPower)
	v.control("POST", "/bmcs/rack1-u07/ailments", `{"name": "gout"}`, http.StatusBadRequest, nil)
}
