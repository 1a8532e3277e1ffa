// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// rackBMC is a simulated BMC and a pool to it, on one clock.
type rackBMC struct {
	*sim.BMC
	rack  *sim.Rack
	clock *sim.ManualClock
	pool  *Pool
	t     *testing.T
}

func newRackBMC(t *testing.T, change ...func(*sim.Profile)) *rackBMC {
	t.Helper()
	clock := sim.NewManualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	rack, err := sim.NewRack(sim.Config{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	profile := sim.Conforming()
	for _, c := range change {
		c(&profile)
	}
	device, err := rack.AddBMC(sim.BMCSpec{Name: "bmc", Username: "root", Password: canary, Profile: &profile})
	if err != nil {
		t.Fatal(err)
	}
	pool := NewPool(Options{Clock: clock.Now})
	t.Cleanup(func() {
		_ = pool.Close(context.Background())
		_ = rack.Close()
	})
	return &rackBMC{BMC: device, rack: rack, clock: clock, pool: pool, t: t}
}

func (r *rackBMC) endpoint() Endpoint {
	return Endpoint{URL: r.Endpoint(), TLS: TLSConfig{CABundle: r.rack.CAPEM()}}
}

func (r *rackBMC) with(password, version string) *BMC {
	r.t.Helper()
	b, err := r.pool.BMC("bmc", r.endpoint(), Credentials{Username: "root", Password: password, Version: version})
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

func (r *rackBMC) ref() provider.SystemRef { return provider.SystemRef{UUID: r.Machine("1").UUID()} }

func (r *rackBMC) look(b *BMC) error {
	_, err := b.Observer().Observe(r.t.Context(), r.ref(), provider.DepthState, "")
	return err
}

func (r *rackBMC) mustLook(b *BMC) {
	r.t.Helper()
	if err := r.look(b); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rackBMC) stats(sessions, logins int) {
	r.t.Helper()
	if s := r.AuthStats(); s.Sessions != sessions || s.Logins != logins {
		r.t.Errorf("%d sessions open, %d ever; want %d, %d", s.Sessions, s.Logins, sessions, logins)
	}
}

func (r *rackBMC) count() int {
	n := 0
	for _, total := range r.rack.Totals() {
		n += total.Count
	}
	return n
}

// awaitRequest waits until the simulator has seen n requests that match.
func awaitRequest(t *testing.T, r *rackBMC, path string, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		requests, err := r.rack.Requests(sim.RequestFilter{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if len(requests) >= n {
			return
		}
	}
	t.Fatalf("the BMC never saw %d requests for %s", n, path)
}

func (r *rackBMC) loginAttempts() int {
	requests, err := r.rack.Requests(sim.RequestFilter{Method: http.MethodPost, Path: "Sessions"})
	if err != nil {
		r.t.Fatal(err)
	}
	return len(requests)
}
