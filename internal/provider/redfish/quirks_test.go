// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated part of docs/redfish.md")

// TestQuirks: each quirk of the table is detected on a payload that shows it, and on no conforming one.
func TestQuirks(t *testing.T) {
	const reset = `"AssetTag":"","UUID":"` + fakeUUID + `","Actions":{"#ComputerSystem.Reset":{"target":"/reset"}}`
	seen := map[string]bool{}
	for _, row := range []struct{ vendor, payload, want string }{
		{"Contoso", `{` + reset + `,"IndicatorLED":"Lit","Boot":{"BootSourceOverrideTarget@Redfish.AllowableValues":["Cd","Hdd","UsbCd"]},"BootProgress":{"LastState":"None"}}`, ""},
		{"Dell", `{` + reset + `,"IndicatorLED":"Lit"}`, quirkLitIsNormal},
		{"Dell", `{` + reset + `,"LocationIndicatorActive":true}`, ""},
		{"AMI", `{` + reset + `,"@Redfish.Settings":{"SettingsObject":{"@odata.id":"/redfish/v1/Systems/DGX/SD"}},"Boot":{}}`, quirkPendingBoot},
		{"Lenovo", `{` + reset + `,"@Redfish.Settings":{"SettingsObject":{"@odata.id":"/x"}},"Boot":{"BootSourceOverrideTarget@Redfish.AllowableValues":["Cd"]}}`, ""},
		{"Supermicro", `{` + reset + `,"Boot":{"BootSourceOverrideTarget@Redfish.AllowableValues":["None","Pxe","Hdd","CD/DVD","UsbCd"]}}`, quirkOtherWords},
		{"Supermicro", `{"UUID":"` + fakeUUID + `","Actions":{"#ComputerSystem.Reset":{"target":"/reset"}}}`, quirkNoAssetTag},
		{"Nvidia", `{"AssetTag":"","UUID":null,"Actions":{"#ComputerSystem.Reset":{"target":"/reset"}}}`, quirkNoUUID},
		{"Nvidia", `{` + reset + `,"BootProgress":{"LastState":"OEM","OemLastState":"OsIsRunning"}}`, quirkProgressWord},
		{"Nvidia", `{"AssetTag":null}`, ""}, // no host
	} {
		d, _ := parse(t, row.payload)
		got := quirksOf(row.vendor, []*system{(&BMC{}).newSystem("/redfish/v1/Systems/1", d, nil)})
		if strings.Join(got, ",") != row.want {
			t.Errorf("%s %s: got %v, want %q", row.vendor, row.payload, got, row.want)
		}
		seen[row.want] = true
	}
	for _, q := range quirks {
		if !seen[q.name] || q.detection == "" || q.behaviour == "" || q.evidence == "" {
			t.Errorf("%s: not shown by a payload, or not described", q.name)
		}
	}
}

// TestQuirksPage: the table in the documentation is the table in the code.
func TestQuirksPage(t *testing.T) {
	const page, begin, end = "../../../docs/redfish.md", "<!-- generated: quirks -->\n", "<!-- end -->"
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(raw), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", page)
	}
	want := head + begin + quirksTable() + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(raw) != want {
		t.Errorf("%s is out of date: go test ./internal/provider/redfish -run TestQuirksPage -update", page)
	}
}

func quirksTable() string {
	var b strings.Builder
	b.WriteString("| quirk | found by | what the BMC does, what Holdfast does | seen at |\n|---|---|---|---|\n")
	for _, q := range quirks {
		b.WriteString("| `" + q.name + "` | " + q.detection + " | " + q.behaviour + " | " + q.evidence + " |\n")
	}
	return b.String()
}
