// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/provider/redfish"
)

var update = flag.Bool("update", false, "write the golden table of captures")

// capturesDir is where payloads of real machines lie beside the checkout; tests skip where they are not there.
const capturesDir = "../../../shared/redfish-mockups"

// capture serves what a real BMC sent: sessions, and nothing but the root without one. It notes what changes something.
type capture struct {
	*httptest.Server
	mu     sync.Mutex
	writes []string
}

func serveCapture(t *testing.T, dir string) *capture {
	t.Helper()
	c := &capture{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session := strings.Contains(r.URL.Path, "/SessionService/Sessions")
		switch {
		case r.Method == http.MethodPost && session:
			w.Header().Set("X-Auth-Token", "token")
			w.Header().Set("Location", "/redfish/v1/SessionService/Sessions/1")
			w.WriteHeader(http.StatusCreated)
			return
		case r.Method != http.MethodGet && !session:
			c.mu.Lock()
			c.writes = append(c.writes, r.Method+" "+r.URL.Path)
			c.mu.Unlock()
		case r.URL.Path != "/redfish/v1/" && r.Header.Get("X-Auth-Token") != "token":
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path.Clean("/"+r.URL.Path)), "index.json"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(raw)
	}))
	t.Cleanup(c.Close)
	return c
}

func observer(t *testing.T, url string) provider.Observer {
	t.Helper()
	pool := redfish.NewPool(redfish.Options{})
	t.Cleanup(func() { _ = pool.Close(t.Context()) })
	bmc, err := pool.BMC("inspected", redfish.Endpoint{URL: url}, redfish.Credentials{Username: "root", Password: "calvin"})
	if err != nil {
		t.Fatal(err)
	}
	return bmc.Observer()
}

// expected is a capture's expected.json, as far as it is compared.
type expected struct {
	Systems map[string]struct {
		Manufacturer, Model, SKU string
		Serial                   string   `json:"serial_number"`
		UUID                     string   `json:"uuid"`
		Power                    string   `json:"power_state"`
		BIOS                     string   `json:"bios_version"`
		Memory                   int64    `json:"memory_total_bytes"`
		Resets                   []string `json:"supported_reset_types"`
		Processors               struct{ Sockets, Cores, Threads int }
		Boot                     *struct {
			Target, Enabled, Mode string
			Targets               []string `json:"supported_targets"`
		}
		NICs   []struct{ MAC string }
		Drives []struct {
			Capacity int64 `json:"capacity_bytes"`
		}
	}
	Firmware string `json:"bmc_firmware_version"`
}

// TestCaptures inspects every capture of a real BMC: the report's facts are those that a person read in the same documents, nothing is
// written, and what Holdfast can do is a table that is looked at when it changes.
func TestCaptures(t *testing.T) {
	entries, err := os.ReadDir(capturesDir)
	if err != nil {
		t.Skip("the captures of real BMCs are not beside this checkout (../shared/redfish-mockups)")
	}
	var rows bytes.Buffer
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CAPTURE\tSYSTEM\tBMC\tPOWER\tCPU\tCORES\tMEMORY\tNICS\tDRIVES\tON\tSHUTDOWN\tOFF\tPXE\tHTTP\tMEDIA\tSTAMP\tLIGHT\tVERDICT")
	for _, e := range entries {
		if e.IsDir() {
			t.Run(e.Name(), func(t *testing.T) {
				report := inspectCapture(t, filepath.Join(capturesDir, e.Name()))
				for _, s := range report.Systems {
					fmt.Fprintln(table, tableRow(e.Name(), report, s))
				}
			})
		}
	}
	_ = table.Flush()
	t.Logf("\n%s", rows.String())
	golden(t, "testdata/captures.txt", rows.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s, to be written by -update (-want +got):\n%s", name, diff)
	}
}

func tableRow(name string, report Report, s System) string {
	cores := 0
	for _, p := range s.Processors {
		cores += p.Cores
	}
	cells := []string{
		name, s.ID, report.BMC.Firmware, s.Power, fmt.Sprint(len(s.Processors)), fmt.Sprint(cores), size(s.MemoryBytes),
		fmt.Sprint(len(s.NICs)), fmt.Sprint(len(s.Drives)),
	}
	for _, ability := range []string{AbilityPowerOn, AbilityShutDown, AbilityCutPower, AbilityPXE, AbilityHTTP, AbilityMedia, AbilityStamp, AbilityIndicator} {
		cells = append(cells, string(can(s.Abilities, ability)))
	}
	return strings.Join(append(cells, string(report.Verdict)), "\t")
}

func inspectCapture(t *testing.T, dir string) Report {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want expected
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	server := serveCapture(t, dir)
	report := Inspect(t.Context(), server.URL, observer(t, server.URL), provider.SystemRef{})
	if report.Error != nil {
		t.Fatalf("%+v", report.Error)
	}
	equal(t, "firmware", want.Firmware, report.BMC.Firmware)
	equal(t, "writes", 0, len(server.writes))
	hosts := 0
	for uri, s := range want.Systems {
		if len(s.Resets) == 0 {
			equal(t, "a system that is no host", true, slices.Contains(report.BMC.Others, path.Base(uri)))
			continue
		}
		hosts++
		i := slices.IndexFunc(report.Systems, func(got System) bool { return got.ID == path.Base(uri) })
		if i < 0 {
			t.Errorf("system %s is not in the report", uri)
			continue
		}
		got := report.Systems[i]
		equal(t, "manufacturer", s.Manufacturer, got.Manufacturer)
		equal(t, "model", s.Model, got.Model)
		equal(t, "SKU", s.SKU, got.SKU)
		equal(t, "serial", s.Serial, got.Serial)
		equal(t, "UUID", strings.ToLower(s.UUID), got.UUID)
		equal(t, "power", s.Power, got.Power)
		equal(t, "BIOS", s.BIOS, got.BIOS)
		equal(t, "memory", s.Memory, got.MemoryBytes)
		equal(t, "sockets", s.Processors.Sockets, len(got.Processors))
		equal(t, "drives", len(s.Drives), len(got.Drives))
		equal(t, "reset types", sorted(s.Resets), sorted(got.ResetTypes))
		if s.Boot != nil {
			equal(t, "boot", Boot{Target: s.Boot.Target, Enabled: s.Boot.Enabled, Mode: s.Boot.Mode}, Boot{Target: got.Boot.Target, Enabled: got.Boot.Enabled, Mode: got.Boot.Mode})
			equal(t, "boot targets", sorted(s.Boot.Targets), sorted(got.BootTargets))
		}
		var macs []string
		for _, n := range s.NICs {
			macs = append(macs, strings.ToLower(n.MAC))
		}
		equal(t, "NICs", len(slices.Compact(sorted(macs))), len(got.NICs))
		compareText(t, report, got)
	}
	equal(t, "hosts", hosts, len(report.Systems))
	return report
}

// compareText wants the facts in the table for people, too.
func compareText(t *testing.T, report Report, s System) {
	t.Helper()
	var text bytes.Buffer
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, fact := range []string{s.Manufacturer, s.Model, s.Serial, s.UUID, s.Power, s.BIOS, report.BMC.Firmware, size(s.MemoryBytes)} {
		if fact != "0 B" && !strings.Contains(text.String(), fact) {
			t.Errorf("the table lacks %q", fact)
		}
	}
}

func sorted(s []string) []string {
	out := append([]string{}, s...)
	slices.Sort(out)
	return out
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
