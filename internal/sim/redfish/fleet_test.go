// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

const fleetSize = 500

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc + stats.StackInuse
}

func newFleet(t testing.TB, config redfish.Config, size int) *redfish.Rack {
	t.Helper()
	rack, err := redfish.NewRack(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rack.Close() })
	for i := range size {
		if _, err := rack.AddBMC(redfish.BMCSpec{Name: fmt.Sprintf("bmc-%05d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	return rack
}

// TestFleetAtRestCostsNothing is the reason for one listener and one timer: 500 BMCs have no goroutine
// and a few kilobytes each, before and after all of them were used.
func TestFleetAtRestCostsNothing(t *testing.T) {
	clock := redfish.NewManualClock(start)
	goroutines, before := runtime.NumGoroutine(), heap()
	rack := newFleet(t, redfish.Config{Clock: clock, RequestLog: 1000}, fleetSize)
	atRest := heap()
	client := rack.Client()
	client.Transport.(*http.Transport).DisableKeepAlives = true

	began := time.Now()
	everyBMC(t, rack, func(b *redfish.BMC) error {
		if err := expect(client, b, "PATCH", "", `{"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}}`, 200); err != nil {
			return err
		}
		return expect(client, b, "POST", "/Actions/ComputerSystem.Reset", `{"ResetType": "On"}`, 204)
	})
	clock.Advance(time.Hour)
	everyBMC(t, rack, func(b *redfish.BMC) error { return expect(client, b, "GET", "", "", 200) })
	took := time.Since(began)

	for _, b := range rack.BMCs() {
		if got := b.Machine("1").Status(); got.Progress != "OSRunning" || got.Disk == "" {
			t.Fatalf("%s: %+v", b.Name(), got)
		}
	}
	installs := rack.MachineLog(redfish.EventFilter{Kinds: []redfish.EventKind{redfish.EventInstall}})
	if len(installs) != fleetSize {
		t.Errorf("%d installs, want %d", len(installs), fleetSize)
	}
	waitFor(t, func() bool { return runtime.NumGoroutine() <= goroutines+10 })
	after := heap()
	perBMC := func(bytes uint64) uint64 { return (bytes - min(bytes, before)) / fleetSize / 1024 }
	t.Logf("%d BMCs: %d goroutines more than before; %d KiB a BMC at rest, %d KiB after use with certificate and machine log; %d TLS requests on new connections in %v",
		fleetSize, runtime.NumGoroutine()-goroutines, perBMC(atRest), perBMC(after), 3*fleetSize, took.Round(time.Millisecond))
	if perBMC(atRest) > 16 || perBMC(after) > 64 {
		t.Errorf("%d and %d KiB a BMC, want at most 16 and 64", perBMC(atRest), perBMC(after))
	}
}

func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !holds() {
		select {
		case <-deadline:
			t.Fatal("not so within 10 s")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func everyBMC(t *testing.T, rack *redfish.Rack, do func(*redfish.BMC) error) {
	t.Helper()
	work := make(chan *redfish.BMC)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for b := range work {
				if err := do(b); err != nil {
					t.Errorf("%s: %v", b.Name(), err)
				}
			}
		})
	}
	for _, b := range rack.BMCs() {
		work <- b
	}
	close(work)
	wg.Wait()
}

// expect sends a request about the first system.
func expect(client *http.Client, b *redfish.BMC, method, path, body string, want int) error {
	req, err := http.NewRequest(method, b.Endpoint()+system+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.SetBasicAuth("admin", "password")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != want {
		return fmt.Errorf("%s %s: status %d", method, path, resp.StatusCode)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func BenchmarkReadSystem(b *testing.B) {
	rack := newFleet(b, redfish.Config{HTTP: "0.0.0.0:0"}, 1)
	client, bmc := rack.Client(), rack.BMCs()[0]
	defer client.CloseIdleConnections()
	b.ReportAllocs()
	for b.Loop() {
		if err := expect(client, bmc, "GET", "", "", 200); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddBMC(b *testing.B) {
	rack := newFleet(b, redfish.Config{HTTP: "0.0.0.0:0"}, 0)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := rack.AddBMC(redfish.BMCSpec{Name: fmt.Sprint(i), Address: fmt.Sprintf("127.%d.%d.%d", 2+i>>16, i>>8&0xFF, i&0xFF)}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
