// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/status"
)

func expect(t *testing.T, metrics *status.Metrics, name, want string) {
	t.Helper()
	if err := testutil.CollectAndCompare(metrics, strings.NewReader(want), name); err != nil {
		t.Error(err)
	}
}

const conditionHead = `
# HELP status_condition Conditions by the status they have now: 1 for an object, or the number of objects where namespace and name are left out.
# TYPE status_condition gauge
`

func TestConditionsOfAKindThatOptedInAreALevel(t *testing.T) {
	metrics := status.NewMetrics(status.PerObject("Widget"))
	w := newWidget()
	commit(t, &server{}, nil, w, func(s *status.Session) { s.Progressing("Waiting", "") }, status.WithMetrics(metrics))
	expect(t, metrics, "status_condition", conditionHead+`
status_condition{kind="Widget",name="w",namespace="default",status="False",type="Ready"} 1
status_condition{kind="Widget",name="w",namespace="default",status="True",type="Reconciling"} 1
status_condition{kind="Widget",name="w",namespace="default",status="False",type="Stalled"} 1
`)
	commit(t, &server{}, nil, w, converged, status.WithMetrics(metrics))
	expect(t, metrics, "status_condition", conditionHead+`
status_condition{kind="Widget",name="w",namespace="default",status="True",type="Ready"} 1
status_condition{kind="Widget",name="w",namespace="default",status="False",type="Reconciling"} 1
status_condition{kind="Widget",name="w",namespace="default",status="False",type="Stalled"} 1
`)
}

func TestTheSeriesOfARemovedConditionGoes(t *testing.T) {
	metrics, w := status.NewMetrics(status.PerObject("Widget")), newWidget()
	commit(t, &server{}, nil, w, converged)
	report := func(s *status.Session) { // the last of the list
		s.Set("Other", yes, "R", "")
		converged(s)
	}
	commit(t, &server{}, nil, w, report, status.WithMetrics(metrics))
	if got := testutil.CollectAndCount(metrics, "status_condition"); got != 4 {
		t.Errorf("%d series, want 4", got)
	}
	commit(t, &server{}, nil, w, func(s *status.Session) { s.Remove("Other"); converged(s) }, status.WithMetrics(metrics))
	if got := testutil.CollectAndCount(metrics, "status_condition"); got != 3 {
		t.Errorf("%d series after the removal, want 3", got)
	}
}

func TestAKindThatDidNotOptInHasNoConditionSeries(t *testing.T) {
	metrics := status.NewMetrics(status.PerObject("Gadget"))
	commit(t, &server{}, nil, newWidget(), converged, status.WithMetrics(metrics))
	expect(t, metrics, "status_condition", "")
}

func TestAKindOfManyObjectsCanBeCounted(t *testing.T) {
	metrics := status.NewMetrics(status.PerKind("Widget"))
	for _, name := range []string{"a", "b", "c"} {
		w := newWidget()
		w.Name = name
		commit(t, &server{}, nil, w, func(s *status.Session) {
			if name == "c" {
				s.Stalled("BadSpec", "")
			}
			converged(s)
		}, status.WithMetrics(metrics))
	}
	expect(t, metrics, "status_condition", conditionHead+`
status_condition{kind="Widget",name="",namespace="",status="True",type="Ready"} 2
status_condition{kind="Widget",name="",namespace="",status="False",type="Ready"} 1
status_condition{kind="Widget",name="",namespace="",status="False",type="Reconciling"} 3
status_condition{kind="Widget",name="",namespace="",status="False",type="Stalled"} 2
status_condition{kind="Widget",name="",namespace="",status="True",type="Stalled"} 1
`)
}

func TestSeriesVanishWithTheObject(t *testing.T) {
	key := types.NamespacedName{Namespace: "default", Name: "w"}
	for name, vanish := range map[string]func(*status.Metrics){
		"the reconciler finds no object": func(m *status.Metrics) { m.Forget("Widget", key) },
		"the commit finds it gone": func(m *status.Metrics) {
			commit(t, &server{err: errNotFound}, nil, newWidget(), converged, status.WithMetrics(m))
		},
	} {
		t.Run(name, func(t *testing.T) {
			metrics := status.NewMetrics(status.PerObject("Widget"))
			commit(t, &server{}, nil, newWidget(), converged, status.WithMetrics(metrics))
			vanish(metrics)
			expect(t, metrics, "status_condition", "")
		})
	}
}

func TestCommitsAreCountedByOutcome(t *testing.T) {
	metrics, w := status.NewMetrics(), newWidget()
	for _, answer := range []error{nil, nil, errConflict, errNotFound, errRefused} {
		report := converged
		if answer != nil {
			report = func(s *status.Session) { s.Stalled("New", "") }
			w = settled(t, converged)
		}
		_, _ = try(&server{err: answer}, nil, w, report, status.WithMetrics(metrics)) // the counter tells
	}
	expect(t, metrics, "status_commits_total", `
# HELP status_commits_total Status commits by kind and outcome.
# TYPE status_commits_total counter
status_commits_total{kind="Widget",outcome="Failed"} 1
status_commits_total{kind="Widget",outcome="Gone"} 1
status_commits_total{kind="Widget",outcome="LostRace"} 1
status_commits_total{kind="Widget",outcome="Unchanged"} 1
status_commits_total{kind="Widget",outcome="Written"} 1
`)
}

func TestNilMetricsAreNone(t *testing.T) {
	commit(t, &server{}, nil, newWidget(), converged, status.WithMetrics(nil))
	var none *status.Metrics
	none.Forget("Widget", types.NamespacedName{})
}

func TestTheMetricsTakeAPrefixAndPassAPedanticRegistry(t *testing.T) {
	metrics := status.NewMetrics(status.PerObject("Widget"), status.PerKind("Gadget"))
	commit(t, &server{}, nil, newWidget(), converged, status.WithMetrics(metrics))
	registry := prometheus.NewPedanticRegistry() // refuses what a scrape would
	prometheus.WrapRegistererWithPrefix("example_", registry).MustRegister(metrics)
	for name, want := range map[string]int{"example_status_condition": 3, "example_status_commits_total": 1} {
		if got, err := testutil.GatherAndCount(registry, name); err != nil || got != want {
			t.Errorf("%s: %d series, want %d (%v)", name, got, want, err)
		}
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
