// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

func withOwnListeners(config *redfish.Config, _ *redfish.BMCSpec) { config.OwnListeners = true }

func (b *bench) reach(to redfish.Reach) {
	b.t.Helper()
	if err := b.bmc.SetReach(to); err != nil {
		b.t.Fatal(err)
	}
}

func TestBMCOfItsOwnListenerRefusesConnectionsWhenDown(t *testing.T) {
	b := newBench(t, withOwnListeners)
	b.get(system)
	endpoint := b.bmc.Endpoint()
	b.reach(redfish.ReachRefused)
	b.client.CloseIdleConnections()
	if _, err := b.try("GET", system, nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error %v, want connection refused", err)
	}
	b.reach(redfish.ReachUp)
	b.get(system)
	if b.bmc.Endpoint() != endpoint {
		t.Errorf("endpoint went from %s to %s", endpoint, b.bmc.Endpoint())
	}
}

func TestBMCOfASharedListenerResetsConnectionsWhenDown(t *testing.T) {
	b := newBench(t)
	b.get(system)
	b.reach(redfish.ReachRefused)
	if _, err := b.try("GET", system, nil); err == nil || isTimeout(err) {
		t.Errorf("error %v, want one at once", err)
	}
	b.reach(redfish.ReachUp)
	b.get(system)
}

func TestSilentBMCSwallowsAndNeverActs(t *testing.T) {
	for name, edit := range map[string]func(*redfish.Config, *redfish.BMCSpec){
		"shared listener": func(*redfish.Config, *redfish.BMCSpec) {}, "own listener": withOwnListeners,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, edit)
			for _, reuse := range []bool{true, false} {
				if reuse {
					b.get(system) // an open connection falls silent
				} else {
					b.client.CloseIdleConnections()
				}
				b.reach(redfish.ReachSilent)
				b.client.Timeout = 100 * time.Millisecond
				if _, _, err := b.tryReset("On"); !isTimeout(err) {
					t.Errorf("reuse %v: error %v, want a timeout", reuse, err)
				}
				b.client.Timeout = 0
				b.reach(redfish.ReachUp)
				b.wantPower(redfish.PowerOff)
			}
		})
	}
}

func TestSilentConnectionsEndWhenTheBMCIsBack(t *testing.T) {
	b := newBench(t)
	host := strings.TrimPrefix(b.bmc.PlainEndpoint(), "http://")
	before, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = before.Close() }()
	if _, err := fmt.Fprint(before, "GET /redfish HTTP/1.1\r\nHost: bmc\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.ReadResponse(bufio.NewReader(before), nil); err != nil || resp.Body.Close() != nil {
		t.Fatal(err)
	}
	b.reach(redfish.ReachSilent)
	during, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = during.Close() }()
	for _, conn := range []net.Conn{before, during} {
		if _, err := fmt.Fprint(conn, "GET /redfish HTTP/1.1\r\nHost: bmc\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); n != 0 || !isTimeout(err) {
			t.Errorf("%d bytes, %v from a silent BMC", n, err)
		}
	}
	b.reach(redfish.ReachUp)
	for _, conn := range []net.Conn{before, during} {
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil || isTimeout(err) {
			t.Errorf("%d bytes, %v; want the end of the connection", n, err)
		}
	}
}

func TestCutCableLosesTheReplyNotTheEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultDelay, Method: "POST", Delay: late})
	done := make(chan error, 1)
	go func() {
		_, err := b.try("POST", resetTarget, map[string]any{"ResetType": "On"})
		done <- err
	}()
	b.eventually("the request has arrived", func() bool {
		requests, err := b.rack.Requests(redfish.RequestFilter{Method: "POST"})
		return err == nil && len(requests) == 1
	})
	b.reach(redfish.ReachRefused)
	if err := <-done; err == nil {
		t.Error("answered through a cut cable")
	}
	b.eventually("the machine is switched on all the same", func() bool { return b.machine().Power() == redfish.PoweringOn })
}

func TestRestartingBMCComesBackByItself(t *testing.T) { // B082
	for name, edit := range map[string]func(*redfish.Config, *redfish.BMCSpec){
		"shared listener": func(*redfish.Config, *redfish.BMCSpec) {}, "own listener": withOwnListeners,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, edit, running())
			b.bmc.Reboot()
			if _, err := b.try("GET", system, nil); err == nil {
				t.Error("it answers while it restarts")
			}
			b.clock.Advance(timing.BMCBoot)
			b.wantPower(redfish.PowerOn)
		})
	}
}

func TestRequestInProgressDiesWithItsBMC(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultDelay, Method: "POST", Delay: late})
	done := make(chan error, 1)
	go func() {
		_, err := b.try("POST", resetTarget, map[string]any{"ResetType": "On"})
		done <- err
	}()
	b.eventually("the request has arrived", func() bool {
		requests, err := b.rack.Requests(redfish.RequestFilter{Method: "POST"})
		return err == nil && len(requests) == 1
	})
	b.bmc.Reboot()
	if err := <-done; err == nil {
		t.Error("a BMC that has gone answered")
	}
	b.clock.Advance(timing.BMCBoot) // and it is back before the delay is over
	b.eventually("the request is done with", func() bool {
		requests, err := b.rack.Requests(redfish.RequestFilter{Method: "POST"})
		return err == nil && requests[0].Fault == redfish.FaultDelay
	})
	b.wantPower(redfish.PowerOff)
}

func TestEachBMCIsAtItsOwnAddress(t *testing.T) {
	b := newBench(t)
	second, err := b.rack.AddBMC(redfish.BMCSpec{Name: "other", Address: "127.9.9.9"})
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Address().String(); got != "127.9.9.9" {
		t.Errorf("address %s", got)
	}
	first := b.get(system)["UUID"]
	b.bmc = second
	if other := b.get(system)["UUID"]; other == first {
		t.Error("both answer as the same machine")
	}
	for _, bad := range []redfish.BMCSpec{
		{}, {Name: "other"}, {Name: "a", Address: "127.9.9.9"}, {Name: "a", Address: "192.0.2.1"}, {Name: "a", Address: "::1"}, {Name: "a", Address: "x"},
		{Name: "a", Systems: []redfish.MachineSpec{{ID: "1"}, {ID: "1"}}},
	} {
		if _, err := b.rack.AddBMC(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestAddressWithoutABMCAnswersNothing(t *testing.T) {
	b := newBench(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.bmc.PlainEndpoint(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Host = "127.200.0.1:" + req.URL.Port()
	if resp, err := b.client.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Errorf("status %d", resp.StatusCode)
	}
}
