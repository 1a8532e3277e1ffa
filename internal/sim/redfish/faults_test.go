// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// noReuse has every request come on a connection of its own: the client would repeat what fails on an
// old one.
func (b *bench) noReuse() { b.client.Transport.(*http.Transport).DisableKeepAlives = true }

// tryReset asks for a reset and reports what the client saw and what the machine did.
func (b *bench) tryReset(kind string) (a answer, acted bool, err error) {
	b.t.Helper()
	before := len(b.events(redfish.EventReset))
	a, err = b.try("POST", resetTarget, map[string]any{"ResetType": kind})
	return a, len(b.events(redfish.EventReset)) > before, err
}

func TestFaultsBeforeAndAfterActing(t *testing.T) {
	for _, test := range []struct {
		fault  redfish.Fault
		status int // 0: no answer
		acted  bool
	}{
		{redfish.Fault{Kind: redfish.FaultDrop}, 0, false},
		{redfish.Fault{Kind: redfish.FaultDropReply}, 0, true},
		{redfish.Fault{Kind: redfish.FaultStatus}, 500, false},
		{redfish.Fault{Kind: redfish.FaultStatus, Status: 503, RetryAfter: 7}, 503, false},
		{redfish.Fault{Kind: redfish.FaultStatusAfter, Status: 502}, 502, true},
		{redfish.Fault{Kind: redfish.FaultUnauthorized}, 401, false},
		{redfish.Fault{Kind: redfish.FaultGarbage}, 200, false},
		{redfish.Fault{Kind: redfish.FaultGarbage, Status: 400}, 400, false}, // B125
		{redfish.Fault{Kind: redfish.FaultPretend}, 204, false},
		{redfish.Fault{Kind: redfish.FaultDelay, Delay: redfish.Duration(time.Millisecond)}, 204, true},
	} {
		t.Run(string(test.fault.Kind), func(t *testing.T) {
			b := newBench(t)
			b.noReuse()
			test.fault.Count = 1
			mustInject(t, b.bmc, test.fault)
			a, acted, err := b.tryReset("On")
			if (err != nil) != (test.status == 0) || a.Status != test.status || acted != test.acted {
				t.Errorf("status %d, error %v, acted %v; want %d, %v", a.Status, err, acted, test.status, test.acted)
			}
			if test.fault.RetryAfter != 0 && a.Header.Get("Retry-After") != "7" {
				t.Errorf("Retry-After: %q", a.Header.Get("Retry-After"))
			}
			b.get(system) // gone after one
			requests, err := b.rack.Requests(redfish.RequestFilter{Method: "POST"})
			if err != nil || len(requests) != 1 || requests[0].Fault != test.fault.Kind {
				t.Errorf("request log: %v %v", requests, err)
			}
		})
	}
}

func TestHangingRequestsAnswerNever(t *testing.T) {
	for kind, acted := range map[redfish.FaultKind]bool{redfish.FaultHang: false, redfish.FaultHangReply: true} {
		t.Run(string(kind), func(t *testing.T) {
			b := newBench(t)
			mustInject(t, b.bmc, redfish.Fault{Kind: kind, Method: "POST", Count: 1})
			b.giveUp(func(r redfish.Request) bool { return r.Fault == kind })
			if did := len(b.events(redfish.EventReset)) == 1; did != acted {
				t.Errorf("acted %v, want %v", did, acted)
			}
			b.get(system)
		})
	}
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// late is a delay that a busy machine does not sleep through. Tests that use it run beside each other.
const late = redfish.Duration(1500 * time.Millisecond)

func TestDelayedWriteIsCarriedOutThoughTheClientHasGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultDelay, Method: "POST", Delay: late})
	b.giveUp(arrived)
	b.eventually("the reset comes late", func() bool { return b.machine().Power() == redfish.PoweringOn })
}

// eventually waits for a fact.
func (b *bench) eventually(fact string, holds func() bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			b.t.Fatalf("not so within 10 s: %s", fact)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestTruncatedDocumentIsNotJSON(t *testing.T) {
	b := newBench(t)
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultTruncate, Path: "Systems/1$"})
	a := b.do("GET", system, nil, http.StatusOK)
	if json.Valid(a.Raw) || !strings.HasPrefix(string(a.Raw), "{") {
		t.Errorf("truncated to %q", a.Raw)
	}
}

func TestEndSessionFaultEndsAllSessions(t *testing.T) { // B169
	b := newBench(t)
	b.logIn()
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultEndSession, Count: 1})
	b.do("GET", system, nil, http.StatusUnauthorized)
	b.do("GET", system, nil, http.StatusUnauthorized)
	b.logIn()
	b.get(system)
}

func TestFaultsSelectByMethodPathSkipAndCount(t *testing.T) {
	b := newBench(t)
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultStatus, Method: "^GET$", Path: "/Systems/1$", Skip: 1, Count: 2})
	statuses := func(path string, n int) (got []int) {
		for range n {
			a, err := b.try("GET", path, nil)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, a.Status)
		}
		return got
	}
	if got := statuses("/redfish/v1/Systems", 2); got[0] != 200 || got[1] != 200 {
		t.Errorf("another path: %v", got)
	}
	if got := statuses(system, 4); got[0] != 200 || got[1] != 500 || got[2] != 500 || got[3] != 200 {
		t.Errorf("statuses %v, want 200 500 500 200", got)
	}
	if got := b.bmc.Faults(); len(got) != 0 {
		t.Errorf("still armed: %v", got)
	}
}

func TestFaultsAreClearedByIDOrAtOnce(t *testing.T) {
	b := newBench(t)
	id, err := b.bmc.Inject(redfish.Fault{Kind: redfish.FaultStatus})
	if err != nil {
		t.Fatal(err)
	}
	b.do("GET", system, nil, http.StatusInternalServerError)
	if !b.bmc.ClearFault(id) || b.bmc.ClearFault(id) {
		t.Error("an armed fault is cleared once")
	}
	b.get(system)
	mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultStatus})
	b.bmc.ClearFaults()
	b.get(system)
}

func TestRateStrikesAShareAndRepeats(t *testing.T) { // B039
	count := func() (struck int) {
		b := newBench(t)
		mustInject(t, b.bmc, redfish.Fault{Kind: redfish.FaultStatus, Rate: 0.2})
		for range 200 {
			if b.do("GET", "/redfish/v1", nil, 200, 500).Status == 500 {
				struck++
			}
		}
		return struck
	}
	first := count()
	if first < 20 || first > 60 {
		t.Errorf("%d of 200 struck at a rate of 0.2", first)
	}
	if again := count(); again != first {
		t.Errorf("the same seed struck %d, then %d times", first, again)
	}
}

func TestFaultsThatMakeNoSenseAreRefused(t *testing.T) {
	b := newBench(t)
	for _, fault := range []redfish.Fault{
		{}, {Kind: "meteor"}, {Kind: redfish.FaultDrop, Path: "("}, {Kind: redfish.FaultDrop, Method: "["}, {Kind: redfish.FaultStatus, Status: 42},
	} {
		if _, err := b.bmc.Inject(fault); err == nil {
			t.Errorf("%+v was taken", fault)
		}
	}
}
