// SPDX-License-Identifier: Apache-2.0

package wake_test

import (
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

var object = client.ObjectKey{Name: "rack1-u07"}

// TestPaceDelaysAndNeverDrops: however fast an object flips, its next wake is at most one token away.
func TestPaceDelaysAndNeverDrops(t *testing.T) {
	fake := testingclock.NewFakeClock(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	pace := wake.NewPace(fake, 6)
	for flip := range 6 {
		if delay := pace.Delay(object); delay != 0 {
			t.Fatalf("flip %d of a burst delayed by %s", flip, delay)
		}
	}
	for range 100 {
		if delay := pace.Delay(object); delay <= 0 || delay > 10*time.Second {
			t.Fatalf("delay %s, want within (0, 10s]", delay)
		}
		fake.Step(100 * time.Millisecond)
	}
	if delay := pace.Delay(client.ObjectKey{Name: "other"}); delay != 0 {
		t.Errorf("another object delayed by %s", delay)
	}
	fake.Step(2 * time.Minute)
	if delay := pace.Delay(object); delay != 0 {
		t.Errorf("delayed by %s after it came to rest", delay)
	}
}

// TestPacePassesThroughAtItsRate counts the wakes that a server causes which flips every second for ten minutes.
func TestPacePassesThroughAtItsRate(t *testing.T) {
	fake := testingclock.NewFakeClock(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	pace := wake.NewPace(fake, 6)
	wakes := map[time.Time]bool{} // moments at which a pass runs: the queue merges wakes of one moment
	for range 600 {
		wakes[fake.Now().Add(pace.Delay(object)).Truncate(time.Millisecond)] = true
		fake.Step(time.Second)
	}
	if len(wakes) < 60 || len(wakes) > 70 {
		t.Errorf("%d wakes in ten minutes, want about 6 a minute and a burst of 6", len(wakes))
	}
}

func TestPaceForgets(t *testing.T) {
	fake := testingclock.NewFakeClock(time.Now())
	pace := wake.NewPace(fake, 1)
	pace.Delay(object)
	if pace.Delay(object) == 0 {
		t.Fatal("second flip not delayed")
	}
	pace.Forget(object)
	if delay := pace.Delay(object); delay != 0 {
		t.Errorf("delayed by %s after it was forgotten", delay)
	}
}

// TestPacedDelaysFlipsOnly: a person's change and the ledger's go at once, also while the object flaps.
func TestPacedDelaysFlipsOnly(t *testing.T) {
	fake := testingclock.NewFakeClock(time.Now())
	handler := wake.Paced(wake.NewPace(fake, 1))
	take := func(e event.UpdateEvent) int {
		queue := newQueue(t, fake)
		handler.Update(t.Context(), e, queue)
		return queue.Len()
	}
	if take(update(flip)) != 1 {
		t.Error("first flip delayed")
	}
	if take(update(flip)) != 0 {
		t.Error("second flip within a minute not delayed")
	}
	ledger := func(s *v1alpha1.Server) { flip(s); s.Annotations[v1alpha1.LedgerPrefix+"intent"] = "{}" }
	if take(update(ledger)) != 1 {
		t.Error("ledger change delayed")
	}
	if take(update(func(s *v1alpha1.Server) { s.Generation++ })) != 1 {
		t.Error("spec change delayed")
	}
	queue := newQueue(t, fake)
	handler.Create(t.Context(), event.CreateEvent{Object: server(nil)}, queue)
	handler.Delete(t.Context(), event.DeleteEvent{Object: server(nil)}, queue)
	if queue.Len() != 1 {
		t.Errorf("creation and deletion: %d queued, want 1 object", queue.Len())
	}
	if take(update(flip)) != 1 {
		t.Error("delayed after a deletion: what was kept of the object outlived it")
	}
}

// TestPacedWakeArrives: the delayed wake comes when its time has passed.
func TestPacedWakeArrives(t *testing.T) {
	fake := testingclock.NewFakeClock(time.Now())
	handler := wake.Paced(wake.NewPace(fake, 1))
	queue := newQueue(t, fake)
	for range 10 {
		handler.Update(t.Context(), update(flip), queue)
	}
	if queue.Len() != 1 {
		t.Fatalf("%d queued at once, want 1", queue.Len())
	}
	request, _ := queue.Get()
	queue.Done(request)
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		queue.Get()
	}()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case <-arrived:
			return
		case <-deadline:
			t.Fatal("the delayed wake was dropped")
		case <-time.After(time.Millisecond):
			fake.Step(time.Second)
		}
	}
}
