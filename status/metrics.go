// SPDX-License-Identifier: Apache-2.0

package status

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Metrics is a prometheus collector of what sessions report:
//
//	status_condition{kind,namespace,name,type,status}   which conditions are in which status
//	status_commits_total{kind,outcome}                  commits by Outcome
//
// Register it once, under a prefix with prometheus.WrapRegistererWithPrefix, and give it to the sessions
// with WithMetrics. Conditions are a level: a series is there, with the value 1, for the status a condition
// has now, and for no other. Kinds opt in, see PerObject and PerKind.
type Metrics struct {
	commits   *prometheus.CounterVec
	condition *prometheus.Desc
	kinds     map[string]grain

	mu      sync.Mutex
	objects map[objectKey][]level
}

// grain is how finely a kind's conditions are reported.
type grain int

const (
	perObject grain = iota + 1
	perKind
)

type objectKey struct {
	kind string
	types.NamespacedName
}

type level struct {
	conditionType string
	status        metav1.ConditionStatus
}

// MetricsOption lets kinds opt in to the condition metric.
type MetricsOption func(*Metrics)

// PerObject reports each condition of each object of the kinds as a series of its own.
func PerObject(kinds ...string) MetricsOption { return optIn(perObject, kinds) }

// PerKind reports, for kinds with very many objects, how many objects have a condition in a status:
// namespace and name are left out, the value is the count.
func PerKind(kinds ...string) MetricsOption { return optIn(perKind, kinds) }

func optIn(g grain, kinds []string) MetricsOption {
	return func(m *Metrics) {
		for _, kind := range kinds {
			m.kinds[kind] = g
		}
	}
}

// NewMetrics returns the collector, for the caller to register.
func NewMetrics(options ...MetricsOption) *Metrics {
	m := &Metrics{
		commits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "status_commits_total",
			Help: "Status commits by kind and outcome.",
		}, []string{"kind", "outcome"}),
		condition: prometheus.NewDesc("status_condition",
			"Conditions by the status they have now: 1 for an object, or the number of objects where namespace and name are left out.",
			[]string{"kind", "namespace", "name", "type", "status"}, nil),
		kinds:   map[string]grain{},
		objects: map[objectKey][]level{},
	}
	for _, option := range options {
		option(m)
	}
	return m
}

// Forget drops the series of an object that is no more. A reconciler calls it where its read finds no
// object; a commit with the outcome Gone does it too. Nil metrics forget nothing.
func (m *Metrics) Forget(kind string, object types.NamespacedName) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, objectKey{kind, object})
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	m.commits.Describe(descriptions)
	descriptions <- m.condition
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(metrics chan<- prometheus.Metric) {
	m.commits.Collect(metrics)
	for labels, count := range m.levels() {
		metrics <- prometheus.MustNewConstMetric(m.condition, prometheus.GaugeValue, count,
			labels.kind, labels.Namespace, labels.Name, labels.conditionType, string(labels.status))
	}
}

type series struct {
	objectKey
	level
}

func (m *Metrics) levels() map[series]float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[series]float64, len(m.objects))
	for key, levels := range m.objects {
		if m.kinds[key.kind] == perKind {
			key.NamespacedName = types.NamespacedName{}
		}
		for _, l := range levels {
			all[series{key, l}]++
		}
	}
	return all
}

// publish records the conditions of an object if its kind opted in. Unchanged ones cost no allocation.
func (m *Metrics) publish(kind string, object types.NamespacedName, conditions []metav1.Condition) {
	if m.kinds[kind] == 0 {
		return
	}
	key := objectKey{kind, object}
	m.mu.Lock()
	defer m.mu.Unlock()
	if same(m.objects[key], conditions) {
		return
	}
	levels := make([]level, len(conditions))
	for i, c := range conditions {
		levels[i] = level{c.Type, c.Status}
	}
	m.objects[key] = levels
}

func same(levels []level, conditions []metav1.Condition) bool {
	if len(levels) != len(conditions) {
		return false
	}
	for i, c := range conditions {
		if levels[i] != (level{c.Type, c.Status}) {
			return false
		}
	}
	return true
}

func (m *Metrics) countCommit(kind string, outcome Outcome) {
	m.commits.WithLabelValues(kind, string(outcome)).Inc()
}
