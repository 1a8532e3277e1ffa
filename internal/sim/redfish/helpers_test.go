// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bench is a rack with one BMC on a clock that stands still, and a client.
type bench struct {
	t      *testing.T
	clock  *redfish.ManualClock
	rack   *redfish.Rack
	bmc    *redfish.BMC
	client *http.Client
	header http.Header     // sent with every request
	ctx    context.Context // of requests
}

// timing is as easy to add up as it can be.
var timing = redfish.Timing{
	PowerOn: 1 * time.Second, PowerOff: 2 * time.Second, Shutdown: 10 * time.Second, POST: 20 * time.Second,
	OSBoot: 30 * time.Second, Pause: 5 * time.Second, BMCBoot: 60 * time.Second,
}

var bootTime = timing.PowerOn + timing.POST + timing.OSBoot

func newRack(t *testing.T, config redfish.Config) *redfish.Rack {
	t.Helper()
	rack, err := redfish.NewRack(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rack.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return rack
}

// newBench makes a bench; edit may change the spec of its BMC.
func newBench(t *testing.T, edit ...func(*redfish.Config, *redfish.BMCSpec)) *bench {
	t.Helper()
	clock := redfish.NewManualClock(start)
	config := redfish.Config{Clock: clock, Timing: &timing, HTTPS: "0.0.0.0:0", HTTP: "0.0.0.0:0"}
	spec := redfish.BMCSpec{Name: "rack1-u07"}
	for _, e := range edit {
		e(&config, &spec)
	}
	rack := newRack(t, config)
	bmc, err := rack.AddBMC(spec)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, clock: clock, rack: rack, bmc: bmc, client: rack.Client(), header: http.Header{}, ctx: t.Context()}
	t.Cleanup(b.client.CloseIdleConnections)
	return b
}

func withProfile(edit func(*redfish.Profile)) func(*redfish.Config, *redfish.BMCSpec) {
	return func(_ *redfish.Config, spec *redfish.BMCSpec) {
		profile := redfish.Conforming()
		edit(&profile)
		spec.Profile = &profile
	}
}

func withMachines(machines ...redfish.MachineSpec) func(*redfish.Config, *redfish.BMCSpec) {
	return func(_ *redfish.Config, spec *redfish.BMCSpec) { spec.Systems = machines }
}

func running() func(*redfish.Config, *redfish.BMCSpec) {
	return withMachines(redfish.MachineSpec{Power: redfish.PowerOn, Disk: "debian"})
}

type answer struct {
	Status int
	Header http.Header
	Raw    []byte
	Body   map[string]any
}

// try sends a request with the bench's headers, and the BMC's credentials unless they are there already.
func (b *bench) try(method, path string, body any) (answer, error) {
	b.t.Helper()
	var payload io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(b.ctx, method, b.bmc.Endpoint()+path, payload)
	if err != nil {
		b.t.Fatal(err)
	}
	req.SetBasicAuth("admin", "password")
	for key, values := range b.header {
		req.Header[key] = values
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{Status: resp.StatusCode, Header: resp.Header, Raw: raw}
	_ = json.Unmarshal(raw, &a.Body)
	return a, nil
}

// giveUp sends a reset, waits until the request log shows it as far as seen wants it, and hangs up.
func (b *bench) giveUp(seen func(redfish.Request) bool) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	patient := *b
	patient.ctx = ctx
	done := make(chan error, 1)
	go func() {
		_, err := patient.try(http.MethodPost, resetTarget, map[string]any{"ResetType": "On"})
		done <- err
	}()
	b.eventually("the request is on its way", func() bool {
		posts := b.requests(redfish.RequestFilter{Method: http.MethodPost})
		return len(posts) == 1 && seen(posts[0])
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		b.t.Errorf("error %v, want that of hanging up: there was to be no answer", err)
	}
}

func arrived(redfish.Request) bool { return true }

// do is try for requests that must be answered with one of the statuses.
func (b *bench) do(method, path string, body any, want ...int) answer {
	b.t.Helper()
	a, err := b.try(method, path, body)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	for _, status := range want {
		if a.Status == status {
			return a
		}
	}
	b.t.Fatalf("%s %s: status %d, want %v\n%s", method, path, a.Status, want, a.Raw)
	return a
}

func (b *bench) get(path string) map[string]any {
	b.t.Helper()
	return b.do("GET", path, nil, http.StatusOK).Body
}

const (
	system      = "/redfish/v1/Systems/1"
	resetTarget = system + "/Actions/ComputerSystem.Reset"
)

func (b *bench) reset(kind string, want int) answer {
	b.t.Helper()
	return b.do("POST", resetTarget, map[string]any{"ResetType": kind}, want)
}

// machine is the one machine of the bench.
func (b *bench) machine() *redfish.Machine { return b.bmc.Machine("1") }

// wantPower compares what the BMC tells with what is.
func (b *bench) wantPower(want redfish.PowerState) {
	b.t.Helper()
	if got := b.get(system)["PowerState"]; got != string(want) {
		b.t.Errorf("PowerState is %v, want %v", got, want)
	}
	if got := b.machine().Power(); got != want {
		b.t.Errorf("the machine is %v, want %v", got, want)
	}
}

func (b *bench) wantProgress(want string) {
	b.t.Helper()
	if got := b.get(system)["BootProgress"].(map[string]any)["LastState"]; got != want {
		b.t.Errorf("BootProgress is %v, want %v", got, want)
	}
}

// events are the machine log's entries of these kinds, without sequence numbers.
func (b *bench) events(kinds ...redfish.EventKind) []redfish.Event {
	events := b.rack.MachineLog(redfish.EventFilter{Kinds: kinds})
	for i := range events {
		events[i].Seq, events[i].Request = 0, 0
		events[i].BMC, events[i].Machine, events[i].UUID = "", "", ""
	}
	return events
}

func pick(t *testing.T, doc map[string]any, path ...string) any {
	t.Helper()
	var value any = doc
	for _, key := range path {
		m, ok := value.(map[string]any)
		if !ok {
			t.Fatalf("no %v in %v", path, doc)
		}
		value = m[key]
	}
	return value
}

func mustInject(t *testing.T, bmc *redfish.BMC, fault redfish.Fault) {
	t.Helper()
	if _, err := bmc.Inject(fault); err != nil {
		t.Fatal(err)
	}
}
