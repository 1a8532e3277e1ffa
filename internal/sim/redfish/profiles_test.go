// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// vendor is a bench whose BMC is of a profile.
type vendor struct {
	*bench
	profile redfish.Profile
}

// newVendor makes one with a machine that has something installed.
func newVendor(t *testing.T, name string, edit ...func(*redfish.Config, *redfish.BMCSpec)) *vendor {
	t.Helper()
	profile, known := redfish.Profiles()[name]
	if !known {
		t.Fatalf("no profile %q", name)
	}
	edit = append([]func(*redfish.Config, *redfish.BMCSpec){
		func(_ *redfish.Config, spec *redfish.BMCSpec) {
			spec.Profile, spec.Systems = &profile, []redfish.MachineSpec{{Disk: "debian"}}
		},
	}, edit...)
	return &vendor{bench: newBench(t, edit...), profile: profile}
}

func eachVendor(t *testing.T, run func(t *testing.T, v *vendor)) {
	for _, name := range slices.Sorted(maps.Keys(redfish.Profiles())) {
		t.Run(name, func(t *testing.T) { run(t, newVendor(t, name)) })
	}
}

func (v *vendor) host() *redfish.Machine { return v.bmc.Machines()[0] }

func (v *vendor) path() string { return "/redfish/v1/Systems/" + v.host().ID() }

// bootPath is where the boot override is written and read.
func (v *vendor) bootPath() string {
	if v.profile.BootAtSettings {
		return v.path() + "/" + v.profile.Settings
	}
	return v.path()
}

// text is a member of a document as a string, empty where it is missing or null.
func text(doc map[string]any, member string) string {
	s, _ := doc[member].(string)
	return s
}

// linkTo is where a member links to.
func linkTo(doc map[string]any, member string) string {
	to, _ := doc[member].(map[string]any)
	return text(to, "@odata.id")
}

// dangling are the links that models have and do not answer for.
var dangling = map[string][]string{
	"supermicro-x10":    {"/redfish/v1/Systems/1/Storage"},
	"nvidia-bluefield3": {bluefieldNICs + "eth0", bluefieldNICs + "eth1", bluefieldNICs + "oob0"},
}

// bluefieldNICs is where a BlueField's NICs say they are, and are not.
const bluefieldNICs = "/redfish/v1/Managers/Bluefield_BMC/EthernetInterfaces/"

func TestProfilesAnswerForTheirLinks(t *testing.T) {
	eachVendor(t, func(t *testing.T, v *vendor) {
		name := t.Name()[strings.LastIndex(t.Name(), "/")+1:]
		seen := map[string]bool{}
		var walk func(value any)
		visit := func(path string) {
			path = strings.TrimSuffix(path, "/")
			if seen[path] || strings.Contains(path, "#") || strings.HasSuffix(path, "/Capabilities") {
				return
			}
			seen[path] = true
			if slices.Contains(dangling[name], path) {
				v.do(http.MethodGet, path, nil, http.StatusNotFound)
				return
			}
			a := v.do(http.MethodGet, path, nil, http.StatusOK)
			if got := strings.TrimSuffix(text(a.Body, "@odata.id"), "/"); got != path && !strings.HasPrefix(got, bluefieldNICs) {
				t.Errorf("%s calls itself %q", path, got)
			}
			walk(a.Body)
		}
		walk = func(value any) {
			switch value := value.(type) {
			case map[string]any:
				for member, child := range value {
					if path, isText := child.(string); isText && (member == "@odata.id" || member == "@Redfish.ActionInfo") && !strings.HasSuffix(path, "SSE") {
						visit(path)
					}
					walk(child)
				}
			case []any:
				for _, child := range value {
					walk(child)
				}
			}
		}
		visit("/redfish/v1")
		if !seen[v.path()] || !seen["/redfish/v1/Managers/"+v.profile.ManagerID] && v.profile.ManagerID != "" {
			t.Errorf("system and manager are not found by links: %v", slices.Sorted(maps.Keys(seen)))
		}
	})
}

// resetTypes are those a client finds, inline or by ActionInfo.
func (v *vendor) resetTypes() []string {
	v.t.Helper()
	action, _ := pick(v.t, v.get(v.path()), "Actions", "#ComputerSystem.Reset").(map[string]any)
	told, inline := action["ResetType@Redfish.AllowableValues"].([]any)
	if info := text(action, "@Redfish.ActionInfo"); info != "" {
		told = v.get(info)["Parameters"].([]any)[0].(map[string]any)["AllowableValues"].([]any)
	} else if !inline {
		v.t.Fatal("reset types are told nowhere")
	}
	return words(told)
}

func words(list any) []string {
	var out []string
	told, _ := list.([]any)
	for _, w := range told {
		out = append(out, w.(string))
	}
	return out
}

func TestProfilesTakeTheResetsTheyTell(t *testing.T) {
	eachVendor(t, func(t *testing.T, v *vendor) {
		told := v.resetTypes()
		if diff := cmp.Diff(v.profile.ResetTypes, told); diff != "" {
			t.Errorf("reset types (-profile +told):\n%s", diff)
		}
		target := pick(t, v.get(v.path()), "Actions", "#ComputerSystem.Reset", "target").(string)
		for _, kind := range []string{"ForceOn", "PowerCycle", "GracefulRestart", "Nmi"} {
			if !slices.Contains(told, kind) {
				v.do(http.MethodPost, target, map[string]any{"ResetType": kind}, http.StatusBadRequest)
			}
		}
		v.do(http.MethodPost, target, map[string]any{"ResetType": "On"}, http.StatusNoContent)
		v.clock.Advance(time.Hour)
		if got := v.host().Status(); got.Power != redfish.PowerOn || got.Running != "debian" {
			t.Errorf("the machine is %+v", got)
		}
		if got := v.get(v.path())["PowerState"]; got != "On" {
			t.Errorf("PowerState %v", got)
		}
	})
}

func TestProfilesBootFromTheNetworkOnce(t *testing.T) {
	eachVendor(t, func(t *testing.T, v *vendor) {
		boot := v.get(v.bootPath())["Boot"].(map[string]any)
		if diff := cmp.Diff(v.profile.BootTargets, words(boot["BootSourceOverrideTarget@Redfish.AllowableValues"])); diff != "" {
			t.Errorf("boot targets (-profile +told):\n%s", diff)
		}
		v.do(http.MethodPatch, v.bootPath(), map[string]any{"Boot": map[string]any{
			"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe",
		}}, http.StatusOK)
		v.do(http.MethodPatch, v.bootPath(), map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Carrier-Pigeon"}}, http.StatusBadRequest)
		v.do(http.MethodPost, v.path()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"}, http.StatusNoContent)
		v.clock.Advance(time.Hour)
		v.wantBooted("Boot Pxe Once netboot", "Install netboot", "Boot Hdd netboot", "Running netboot")
		if got := v.get(v.bootPath())["Boot"].(map[string]any)["BootSourceOverrideEnabled"]; got != "Disabled" {
			t.Errorf("the override reads %v after the boot that took it", got)
		}
	})
}

func TestProfilesWithoutAMemberDoNotTakeIt(t *testing.T) {
	values := map[string]any{
		"AssetTag": "x", "IndicatorLED": "Blinking", "LocationIndicatorActive": true, "PowerRestorePolicy": "AlwaysOn",
	}
	eachVendor(t, func(t *testing.T, v *vendor) {
		for member, value := range values {
			_, shown := v.get(v.path())[member]
			if lacks := slices.Contains(v.profile.Without, member); lacks == shown {
				t.Errorf("%s: shown %v, lacking %v", member, shown, lacks)
			}
			want := http.StatusOK
			if !shown {
				want = http.StatusBadRequest
			}
			v.do(http.MethodPatch, v.path(), map[string]any{member: value}, want)
		}
	})
}

func TestProfilesTagTheirDocumentsInTheirWay(t *testing.T) {
	eachVendor(t, func(t *testing.T, v *vendor) {
		a := v.do(http.MethodGet, v.path(), nil, http.StatusOK)
		header, inBody := a.Header.Get("ETag"), text(a.Body, "@odata.etag")
		if v.profile.NoETags {
			if header != "" || inBody != "" {
				t.Errorf("tags %q and %q on a BMC that has none", header, inBody)
			}
			return
		}
		if weak := strings.HasPrefix(header, "W/"); header == "" || weak != v.profile.WeakETags || (inBody == header) == v.profile.HeaderETags {
			t.Errorf("tags: header %q, body %q", header, inBody)
		}
		v.header.Set("If-None-Match", header)
		v.do(http.MethodGet, v.path(), nil, http.StatusNotModified)
		v.header.Del("If-None-Match")
		light := map[string]any{"LocationIndicatorActive": true}
		if slices.Contains(v.profile.Without, "LocationIndicatorActive") {
			light = map[string]any{"IndicatorLED": "Blinking"}
		}
		if slices.Contains(v.profile.Without, "IndicatorLED") && slices.Contains(v.profile.Without, "LocationIndicatorActive") {
			light = map[string]any{"PowerRestorePolicy": "AlwaysOn"}
		}
		v.header.Set("If-Match", header)
		v.do(http.MethodPatch, v.path(), light, http.StatusOK)
		v.do(http.MethodPatch, v.path(), light, http.StatusPreconditionFailed)
	})
}

func TestAilmentsHaveNamesAndCanBeSuffered(t *testing.T) {
	eachVendor(t, func(t *testing.T, v *vendor) {
		healthy := v.bmc.Behaviour()
		seen := map[string]bool{}
		for _, a := range v.bmc.Ailments() {
			if seen[a.Name] {
				t.Errorf("%s is listed twice", a.Name)
			}
			seen[a.Name] = true
			if err := v.bmc.Suffer(a.Name); err != nil {
				t.Errorf("%s: %v", a.Name, err)
			}
			if cmp.Equal(healthy, v.bmc.Behaviour()) && len(v.bmc.Faults()) == 0 {
				t.Errorf("%s changes nothing", a.Name)
			}
			v.bmc.Behave(func(b *redfish.Behaviour) { *b = healthy })
			v.bmc.ClearFaults()
		}
		if err := v.bmc.Suffer("gout"); err == nil {
			t.Error("an ailment nobody knows was suffered")
		}
	})
}
