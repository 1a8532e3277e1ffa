// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// capturesDir is where payloads of real machines lie beside the checkout; tests skip where they are not there.
func capturesDir(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	captures := filepath.Join(dir, "..", "shared", "redfish-mockups")
	if _, err := os.Stat(captures); err != nil {
		t.Skip("the captures of real BMCs are not beside this checkout (../shared/redfish-mockups)")
	}
	return captures
}

// captured is a capture's expected.json, as far as it is compared.
type captured struct {
	Service struct {
		UUID string `json:"uuid"`
	} `json:"service"`
	Primary  string                    `json:"primary_system"`
	Systems  map[string]capturedSystem `json:"systems"`
	Firmware string                    `json:"bmc_firmware_version"`
}

type capturedSystem struct {
	Manufacturer string `json:"manufacturer"`
	Model        string `json:"model"`
	SKU          string `json:"sku"`
	Serial       string `json:"serial_number"`
	UUID         string `json:"uuid"`
	Power        string `json:"power_state"`
	BIOS         string `json:"bios_version"`
	Memory       int64  `json:"memory_total_bytes"`
	Processors   struct {
		Sockets int    `json:"sockets"`
		Cores   int    `json:"cores"`
		Threads int    `json:"threads"`
		Model   string `json:"model"`
	} `json:"processors"`
	Others    map[string]int `json:"other_processors"`
	Indicator struct {
		LED    string `json:"indicator_led"`
		Active *bool  `json:"location_indicator_active"`
	} `json:"indicator"`
	Resets []string `json:"supported_reset_types"`
	Boot   *struct {
		Target  string   `json:"target"`
		Enabled string   `json:"enabled"`
		Mode    string   `json:"mode"`
		Targets []string `json:"supported_targets"`
	} `json:"boot"`
	NICs []struct {
		MAC string `json:"mac"`
	} `json:"nics"`
	Drives []struct {
		Capacity int64  `json:"capacity_bytes"`
		Media    string `json:"media_type"`
	} `json:"drives"`
}

func loadCaptured(t *testing.T, dir string) captured {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c captured
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// serveCapture serves a capture over TLS as its BMC would: sessions, and nothing but the root without one.
func serveCapture(t *testing.T, dir string) (ep Endpoint, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/Sessions") {
			w.Header().Set("X-Auth-Token", "token")
			w.Header().Set("Location", "/redfish/v1/SessionService/Sessions/1")
			w.WriteHeader(http.StatusCreated)
			return
		}
		if r.URL.Path != servicePath && r.Header.Get("X-Auth-Token") != "token" {
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
	t.Cleanup(srv.Close)
	return Endpoint{URL: srv.URL, TLS: TLSConfig{InsecureSkipVerify: true}}, requests
}

// TestCaptures reads what real machines sent, and compares it with what a person read in the same documents.
func TestCaptures(t *testing.T) {
	dir := capturesDir(t)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		ran++
		t.Run(e.Name(), func(t *testing.T) { compareCapture(t, filepath.Join(dir, e.Name())) })
	}
	if ran < 11 {
		t.Errorf("%d captures read, expected 11 at least", ran)
	}
}

func compareCapture(t *testing.T, dir string) {
	want := loadCaptured(t, dir)
	ep, requests := serveCapture(t, dir)
	pool := NewPool(Options{})
	t.Cleanup(func() { _ = pool.Close(context.Background()) })
	bmc, err := pool.BMC("captured", ep, Credentials{Username: "root", Password: "calvin"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := bmc.Observer().Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compareDiscovery(t, want, found)
	discovery := requests.Load()
	facts := 0
	for uri, system := range want.Systems {
		got, err := bmc.Observer().Observe(t.Context(), provider.SystemRef{ID: lastSegment(uri)}, provider.DepthInventory, "")
		if err != nil {
			t.Fatal(err)
		}
		facts += compareSystem(t, system, got, found.Vendor)
		t.Logf("%s: not told: %v", lastSegment(uri), got.Gaps)
	}
	t.Logf("%d facts equal, %d requests to discover, %d for inventories; quirks %v", facts, discovery, requests.Load()-discovery, found.Quirks)
}

func compareDiscovery(t *testing.T, want captured, got provider.BMCFacts) {
	t.Helper()
	equal(t, "firmware", want.Firmware, got.Firmware)
	if want.Service.UUID != "" {
		equal(t, "service UUID", strings.ToLower(want.Service.UUID), got.UUID)
	}
	equal(t, "auth", "Session", got.AuthMode)
	var wanted, found []provider.SystemSummary
	for uri, s := range want.Systems {
		wanted = append(wanted, provider.SystemSummary{
			ID: lastSegment(uri), UUID: strings.ToLower(s.UUID), Serial: s.Serial, CanReset: len(s.Resets) > 0,
		})
	}
	found = append(found, got.Systems...)
	byID := func(a, b provider.SystemSummary) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(wanted, byID)
	slices.SortFunc(found, byID)
	equal(t, "systems", wanted, found)
}

// compareSystem returns how many facts were compared.
func compareSystem(t *testing.T, want capturedSystem, got provider.SystemFacts, vendor string) int {
	t.Helper()
	hw := got.Hardware
	n := 0
	check := func(what string, want, got any) { t.Helper(); n++; equal(t, what, want, got) }
	check("manufacturer", want.Manufacturer, hw.Manufacturer)
	check("model", want.Model, hw.Model)
	check("SKU", want.SKU, hw.SKU)
	check("serial", want.Serial, hw.Serial)
	check("UUID", strings.ToLower(want.UUID), got.UUID)
	check("power", want.Power, string(got.Power))
	check("BIOS", want.BIOS, hw.BIOSVersion)
	check("memory", want.Memory, hw.MemoryBytes)
	check("sockets", want.Processors.Sockets, len(hw.Processors))
	cores, threads := 0, 0
	for _, p := range hw.Processors {
		cores, threads = cores+p.Cores, threads+p.Threads
		check("processor model", want.Processors.Model, p.Model)
	}
	check("cores", want.Processors.Cores, cores)
	check("threads", want.Processors.Threads, threads)
	others := 0
	for _, count := range want.Others {
		others += count
	}
	check("accelerators", others, len(hw.Accelerators))
	check("indicator", wantedIndicator(want, vendor), got.Indicator)
	check("reset types", sorted(want.Resets), sorted(got.Capabilities.ResetTypes))
	if want.Boot != nil {
		check("boot", provider.BootOverride{Target: provider.BootTarget(want.Boot.Target), Enabled: provider.BootEnabled(want.Boot.Enabled), Mode: want.Boot.Mode},
			provider.BootOverride{Target: got.Boot.Target, Enabled: got.Boot.Enabled, Mode: got.Boot.Mode})
		check("boot targets", sorted(want.Boot.Targets), sorted(got.Capabilities.BootTargets))
	}
	var wantMACs, macs, wantDrives, drives []string
	for _, nic := range want.NICs {
		wantMACs = append(wantMACs, strings.ToLower(nic.MAC))
	}
	for _, nic := range hw.NICs {
		macs = append(macs, nic.MAC)
	}
	check("MACs", slices.Compact(sorted(wantMACs)), macs)
	for _, d := range want.Drives {
		wantDrives = append(wantDrives, driveKey(d.Capacity, d.Media))
	}
	for _, d := range hw.Drives {
		drives = append(drives, driveKey(d.CapacityBytes, d.MediaType))
	}
	check("drives", sorted(wantDrives), sorted(drives))
	return n
}

// wantedIndicator says what the light's properties, as captured, mean.
func wantedIndicator(want capturedSystem, vendor string) provider.IndicatorLED {
	switch {
	case want.Indicator.LED == "Lit" && vendor == "Dell": // its normal state
		return provider.IndicatorOff
	case want.Indicator.LED != "":
		return provider.IndicatorLED(want.Indicator.LED)
	case want.Indicator.Active == nil:
		return ""
	case *want.Indicator.Active:
		return provider.IndicatorLit
	}
	return provider.IndicatorOff
}

func driveKey(capacity int64, media string) string {
	raw, _ := json.Marshal([]any{capacity, media})
	return string(raw)
}

func sorted(s []string) []string {
	out := slices.Clone(s)
	slices.Sort(out)
	return out
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" && !(isEmptyList(want) && isEmptyList(got)) {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func isEmptyList(v any) bool {
	s, ok := v.([]string)
	return ok && len(s) == 0
}
