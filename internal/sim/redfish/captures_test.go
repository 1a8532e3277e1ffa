// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// capturesDir is where captures of real BMCs lie beside the checkout.
const capturesDir = "../../../../shared/redfish-mockups"

var captures = map[string]string{
	"dell-idrac9": "dell-r750-idrac9", "hpe-ilo5": "hpe-dl385gen10plusv2-ilo5", "hpe-ilo6": "hpe-dl380agen11-ilo6",
	"lenovo-xcc": "lenovo-sr670v2-xcc", "supermicro-x13": "supermicro-sys821ge-x13", "supermicro-x10": "supermicro-x10-legacy",
	"gigabyte-megarac": "gigabyte-h262z63-megarac", "nvidia-dgx-h100": "nvidia-dgxh100-ami-hgx", "nvidia-bluefield3": "nvidia-bluefield3-dpu",
	"openbmc-evb-host-dark": "openbmc-palmetto",
}

// capture reads documents of a capture.
type capture struct {
	t   *testing.T
	dir string
}

func (c capture) get(path string) map[string]any {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(path), "index.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		c.t.Fatal(err)
	}
	return doc
}

// shape is what of a BMC a profile must have from its capture: words, and which members there are.
type shape struct {
	Vendor, Version, System, Manager, Firmware string
	Resets, ResetsLinked, Targets, Enabled     []string
	Members, BootMembers                       []string
	SystemMedia, ManagerMedia                  string
	Slots                                      []string
	SlotActions                                bool
}

var (
	shapeMembers = []string{
		"UUID", "Manufacturer", "Model", "SerialNumber", "AssetTag", "IndicatorLED", "LocationIndicatorActive", "PowerRestorePolicy", "BootProgress",
		"Storage", "EthernetInterfaces", "@Redfish.Settings",
	}
	shapeBoot = []string{
		"BootSourceOverrideMode", "HttpBootUri", "BootSourceOverrideEnabled@Redfish.AllowableValues",
		"BootSourceOverrideMode@Redfish.AllowableValues", "BootSourceOverrideTarget@Redfish.AllowableValues",
	}
)

func present(doc map[string]any, members []string) []string {
	var there []string
	for _, m := range members {
		if _, told := doc[m]; told {
			there = append(there, m)
		}
	}
	return there
}

func sorted(list any) []string {
	out := words(list)
	slices.Sort(out)
	return out
}

func shapeOf(t *testing.T, get func(path string) map[string]any, system, manager string) shape {
	t.Helper()
	root, sys, mgr := get("/redfish/v1"), get(system), get(manager)
	boot := sys["Boot"].(map[string]any)
	reset := pick(t, sys, "Actions", "#ComputerSystem.Reset").(map[string]any)
	s := shape{
		Vendor: text(root, "Vendor"), Version: text(root, "RedfishVersion"), System: text(sys, "Id"), Manager: text(mgr, "Id"), Firmware: text(mgr, "FirmwareVersion"),
		Resets: sorted(reset["ResetType@Redfish.AllowableValues"]), Targets: sorted(boot["BootSourceOverrideTarget@Redfish.AllowableValues"]),
		Enabled: sorted(boot["BootSourceOverrideEnabled@Redfish.AllowableValues"]),
		Members: present(sys, shapeMembers), BootMembers: present(boot, shapeBoot),
		SystemMedia: linkTo(sys, "VirtualMedia"), ManagerMedia: linkTo(mgr, "VirtualMedia"),
	}
	if info := text(reset, "@Redfish.ActionInfo"); info != "" {
		s.ResetsLinked = sorted(get(info)["Parameters"].([]any)[0].(map[string]any)["AllowableValues"])
	}
	at := s.SystemMedia
	if at == "" {
		at = s.ManagerMedia
	}
	if at == "" {
		return s
	}
	list, _ := get(at)["Members"].([]any)
	for _, m := range list {
		slot := text(m.(map[string]any), "@odata.id")
		s.Slots = append(s.Slots, slot[strings.LastIndex(slot, "/")+1:])
		_, s.SlotActions = get(slot)["Actions"]
	}
	slices.Sort(s.Slots)
	return s
}

// A profile is made from a capture: this compares the two where the capture is at hand.
func TestProfilesHaveTheShapeOfTheirCaptures(t *testing.T) {
	if _, err := os.Stat(capturesDir); err != nil {
		t.Skip("no captures beside this checkout")
	}
	for name, dir := range captures {
		t.Run(name, func(t *testing.T) {
			v := newVendor(t, name)
			manager := "/redfish/v1/Managers/" + v.profile.ManagerID
			want := shapeOf(t, capture{t, filepath.Join(capturesDir, dir)}.get, v.path(), manager)
			got := shapeOf(t, func(path string) map[string]any { return v.do(http.MethodGet, path, nil, http.StatusOK).Body }, v.path(), manager)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("shape (-capture +profile):\n%s", diff)
			}
		})
	}
	for name := range redfish.Profiles() {
		if captures[name] == "" && name != "conforming" && name != "openbmc" {
			t.Errorf("%s is made from no capture", name)
		}
	}
}
