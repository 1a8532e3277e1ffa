// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// TestActsOvertakeLooks: while one look is on the wire and others wait, an acting call is next, whole, with nothing in between (B236).
func TestActsOvertakeLooks(t *testing.T) {
	f := newFake(t, func(s object) { s["IndicatorLED"] = "Off" })
	system := f.docs[fakeSystemPath]
	b := f.connect()
	observe(t, b)
	arrived, answer := make(chan struct{}), make(chan struct{})
	var inside, worst atomic.Int32
	f.handle("GET "+fakeSystemPath, func(w http.ResponseWriter, _ *http.Request) {
		worst.Store(max(worst.Load(), inside.Add(1)))
		defer inside.Add(-1)
		arrived <- struct{}{}
		<-answer
		f.send(w, system)
	})
	before := len(f.got(""))
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { _ = lookFake(t, b) })
	}
	<-arrived // one look is on the wire
	awaitWaiting(t, b.gate, looking, 4)
	wg.Go(func() {
		if _, err := b.Actor().SetIndicator(t.Context(), fakeRef, provider.IndicatorLit, provider.Expect{}); err != nil {
			t.Error(err)
		}
	})
	awaitWaiting(t, b.gate, acting, 1)
	for range 5 {
		answer <- struct{}{}
		<-arrived
	}
	answer <- struct{}{}
	wg.Wait()
	var methods []string
	for _, r := range f.got("")[before:] {
		methods = append(methods, r.method)
	}
	equal(t, "requests", []string{"GET", "GET", "PATCH", "GET", "GET", "GET", "GET"}, methods)
	equal(t, "requests at a time", int32(1), worst.Load())
}

// awaitWaiting waits until so many wait in a queue of the gate.
func awaitWaiting(t *testing.T, g *gate, p priority, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		g.mu.Lock()
		waiting := len(g.waiting[p])
		g.mu.Unlock()
		if waiting == n {
			return
		}
	}
	t.Fatalf("never %d waiting", n)
}

// TestHangingBMCsCostTheOthersNothing: 50 of 500 BMCs hang, and the others are as quick as without them (B231).
func TestHangingBMCsCostTheOthersNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("500 BMCs")
	}
	const all, hanging, workers = 500, 50, 32
	rack, err := sim.NewRack(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	pool := NewPool(Options{RequestTimeout: 10 * time.Second})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = pool.Close(ctx)
		_ = rack.Close()
	})
	bmcs := make([]*BMC, all)
	for i := range bmcs {
		device, err := rack.AddBMC(sim.BMCSpec{Name: fmt.Sprintf("bmc-%03d", i), Username: "root", Password: canary})
		if err != nil {
			t.Fatal(err)
		}
		bmcs[i], err = pool.BMC(device.Name(), Endpoint{URL: device.Endpoint(), TLS: TLSConfig{CABundle: rack.CAPEM()}}, Credentials{Username: "root", Password: canary})
		if err != nil {
			t.Fatal(err)
		}
	}
	// A sweep is what the monitor does: some workers, one BMC each at a time, a hanging one set aside.
	sweep := func(of []*BMC) time.Duration {
		begun := time.Now()
		queue := make(chan *BMC)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for b := range queue {
					if _, err := b.Observer().Observe(t.Context(), provider.SystemRef{ID: "1"}, provider.DepthState, ""); err != nil {
						t.Errorf("%s: %v", b.name, err)
					}
				}
			})
		}
		for _, b := range of {
			queue <- b
		}
		close(queue)
		wg.Wait()
		return time.Since(begun)
	}
	first := sweep(bmcs)
	alone := sweep(bmcs[hanging:])
	ctx, cancel := context.WithCancel(t.Context())
	var hung sync.WaitGroup
	for _, b := range bmcs[:hanging] {
		if err := rack.BMC(b.name).SetReach(sim.ReachSilent); err != nil {
			t.Fatal(err)
		}
		hung.Go(func() {
			_, err := b.Observer().Observe(ctx, provider.SystemRef{ID: "1"}, provider.DepthState, "")
			if provider.ClassOf(err) != provider.Transient {
				t.Errorf("%s hangs: %v", b.name, err)
			}
		})
	}
	beside := sweep(bmcs[hanging:])
	cancel()
	hung.Wait()
	for _, b := range bmcs[:hanging] { // so that their sessions can be ended
		if err := rack.BMC(b.name).SetReach(sim.ReachUp); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d BMCs: first sweep with logins %s; %d of them at rest %s, and %s while %d others hang", all, first, all-hanging, alone, beside, hanging)
	if beside > 3*alone+2*time.Second {
		t.Errorf("%s with hanging BMCs, %s without", beside, alone)
	}
}
