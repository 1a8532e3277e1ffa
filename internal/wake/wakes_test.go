// SPDX-License-Identifier: Apache-2.0

package wake_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

func diffObjects(got, want any) string { return cmp.Diff(want, got) }

func newWakes(t *testing.T) (*wake.Wakes, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	wakes, err := wake.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	return wakes, registry
}

// causes returns what the registry counted, by cause.
func causes(t *testing.T, registry *prometheus.Registry) map[wake.Cause]int {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[wake.Cause]int{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "cause" {
					counted[wake.Cause(label.GetValue())] = int(metric.GetCounter().GetValue())
				}
			}
		}
	}
	return counted
}

func update(change func(*v1alpha1.Server)) event.UpdateEvent {
	return event.UpdateEvent{ObjectOld: server(nil), ObjectNew: server(change)}
}

func flip(s *v1alpha1.Server) { s.Status.Observed.PowerState = v1alpha1.ObservedOn }

func TestOnPassesAndCounts(t *testing.T) {
	wakes, registry := newWakes(t)
	on := wakes.On("server", wake.All()...)
	passed := map[string]bool{
		"creation":   on.Create(event.CreateEvent{Object: server(nil)}),
		"deletion":   on.Delete(event.DeleteEvent{Object: server(nil)}),
		"generic":    on.Generic(event.GenericEvent{Object: server(nil)}),
		"observed":   on.Update(update(flip)),
		"spec":       on.Update(update(func(s *v1alpha1.Server) { s.Generation++; flip(s) })),
		"own status": on.Update(update(func(s *v1alpha1.Server) { s.Status.Phase = v1alpha1.PhaseReserved })),
	}
	want := map[string]bool{"creation": true, "deletion": true, "generic": true, "observed": true, "spec": true, "own status": false}
	if diff := cmp.Diff(want, passed); diff != "" {
		t.Errorf("passed: %s", diff)
	}
	counted := map[wake.Cause]int{wake.CauseCreate: 1, wake.CauseDeletion: 1, wake.CauseDependency: 1, wake.CauseObserved: 1, wake.CauseSpec: 1}
	if diff := cmp.Diff(counted, causes(t, registry)); diff != "" {
		t.Errorf("counted: %s", diff)
	}
}

// TestOnlyTheChangesAskedFor: a controller that does not match by labels is not woken by them.
func TestOnlyTheChangesAskedFor(t *testing.T) {
	wakes, _ := newWakes(t)
	relabelled := update(func(s *v1alpha1.Server) { s.Labels = nil })
	for name, p := range map[string]predicate.Predicate{"On": wakes.On("server", wake.Spec, wake.Ledger), "When": wake.When(wake.Spec, wake.Ledger)} {
		if p.Update(relabelled) {
			t.Errorf("%s passed a change of labels", name)
		}
		if !p.Update(update(func(s *v1alpha1.Server) { s.Generation++ })) {
			t.Errorf("%s held back a change of spec", name)
		}
		if !p.Create(event.CreateEvent{Object: server(nil)}) {
			t.Errorf("%s held back a creation", name)
		}
	}
}

func TestSecondRegistrationCountsOn(t *testing.T) {
	first, registry := newWakes(t)
	second, err := wake.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	first.On("server").Create(event.CreateEvent{Object: server(nil)})
	second.On("server").Create(event.CreateEvent{Object: server(nil)})
	if got := causes(t, registry)[wake.CauseCreate]; got != 2 {
		t.Errorf("counted %d, want 2", got)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}

func newQueue(t *testing.T, fake *testingclock.FakeClock) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request](),
		workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Clock: fake})
	t.Cleanup(queue.ShutDown)
	return queue
}

// TestMapped: an update that leaves the mapping as it is wakes once, one that moves it wakes both sides.
func TestMapped(t *testing.T) {
	wakes, registry := newWakes(t)
	queue := newQueue(t, testingclock.NewFakeClock(time.Now()))
	byRack := func(_ context.Context, object client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: object.GetLabels()["rack"]}}}
	}
	mapped := wakes.Mapped("server", wake.CauseClaim, byRack)
	mapped.Update(t.Context(), update(nil), queue)
	if got := causes(t, registry)[wake.CauseClaim]; got != 1 || queue.Len() != 1 {
		t.Errorf("same mapping: counted %d, queued %d, want 1 and 1", got, queue.Len())
	}
	mapped.Update(t.Context(), update(func(s *v1alpha1.Server) { s.Labels = map[string]string{"rack": "r2"} }), queue)
	if got := causes(t, registry)[wake.CauseClaim]; got != 3 || queue.Len() != 2 {
		t.Errorf("moved mapping: counted %d, queued %d, want 3 and 2", got, queue.Len())
	}
	mapped.Create(t.Context(), event.CreateEvent{Object: server(nil)}, queue)
	mapped.Delete(t.Context(), event.DeleteEvent{Object: server(nil)}, queue)
	if got := causes(t, registry)[wake.CauseClaim]; got != 5 {
		t.Errorf("creation and deletion: counted %d, want 5", got)
	}
}
