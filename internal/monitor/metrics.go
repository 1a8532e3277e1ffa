// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Kinds of looks: values of the metric's label.
const (
	lookDiscovery = "discovery"
	lookState     = "state"
	lookInventory = "inventory"
	lookMedia     = "media"
	lookTask      = "task"

	lookCloud       = "cloud"       // what a cloud is
	lookInstances   = "instances"   // listing of all VMs
	lookChanges     = "changes"     // listing of VMs that changed
	lookPorts       = "ports"       // listing
	lookFloatingIPs = "floatingIPs" // listing
	lookInstance    = "instance"    // one by id
	lookPort        = "port"        // one by id
	lookFloatingIP  = "floatingIP"  // one by id
)

// Outcomes of looks beside the classes of errors.
const (
	outcomeOK          = "OK"
	outcomeNotModified = "NotModified"
)

// freshnessBounds are in seconds, around the slow pace: a fleet in good health is below the second minute or so.
var freshnessBounds = []float64{1, 5, 15, 30, 60, 120, 150, 300, 600, 1800, 3600}

// metrics of one monitor. How fresh pictures are is told here and nowhere in the objects: a heartbeat there would be a write for
// every look.
type metrics struct {
	census func() census

	looks      *prometheus.HistogramVec
	cloudCalls prometheus.Histogram
	writes     *prometheus.CounterVec
	freshness  *prometheus.Desc
	depth      *prometheus.Desc
	visits     *prometheus.Desc
}

func newMetrics(registerer prometheus.Registerer, counted func() census) (*metrics, error) {
	m := &metrics{
		census: counted,
		looks: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "holdfast_monitor_look_duration_seconds",
			Help:    "Looks at BMCs, at systems behind them and at clouds, by what was read and how it ended.",
			Buckets: []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60},
		}, []string{"look", "outcome"}),
		cloudCalls: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "holdfast_monitor_cloud_calls",
			Help: "Calls that one look at a cloud took, pages of a listing not counted.",
			// A look is three listings. What is above was missing from them and asked for by id.
			Buckets: []float64{3, 4, 5, 8, 16, 32, 64},
		}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_monitor_pictures_total",
			Help: "Pictures compared with status.observed, by kind and by what became of them; none means nothing differed.",
		}, []string{"kind", "result"}),
		freshness: prometheus.NewDesc("holdfast_monitor_freshness_seconds",
			"How many servers were looked at with success within so many seconds.", nil, nil),
		depth: prometheus.NewDesc("holdfast_monitor_queue_depth",
			"BMCs and clouds that are due and wait for a visit.", nil, nil),
		visits: prometheus.NewDesc("holdfast_monitor_visits",
			"Visits to BMCs and clouds under way, those that hang included.", nil, nil),
	}
	for _, collector := range []prometheus.Collector{m.looks, m.cloudCalls, m.writes, m} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("register the monitor's metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) looked(look, outcome string, took time.Duration) {
	m.looks.WithLabelValues(look, outcome).Observe(took.Seconds())
}

func (m *metrics) wrote(kind string, result writeResult) {
	m.writes.WithLabelValues(kind, string(result)).Inc()
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- m.freshness
	descriptions <- m.depth
	descriptions <- m.visits
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(samples chan<- prometheus.Metric) {
	census := m.census()
	buckets := make(map[float64]uint64, len(freshnessBounds))
	var sum float64
	for _, age := range census.ages {
		sum += age.Seconds()
		for _, bound := range freshnessBounds {
			if age.Seconds() <= bound {
				buckets[bound]++
			}
		}
	}
	samples <- prometheus.MustNewConstHistogram(m.freshness, uint64(len(census.ages)), sum, buckets)
	samples <- prometheus.MustNewConstMetric(m.depth, prometheus.GaugeValue, float64(census.waiting))
	samples <- prometheus.MustNewConstMetric(m.visits, prometheus.GaugeValue, float64(census.visiting))
}

// census is the fleet counted.
type census struct {
	ages     []time.Duration // since the last look that succeeded, a server each; those never seen by this process are left out
	waiting  int
	visiting int
}

// census counts BMCs and clouds together.
func (m *Monitor) census() census {
	now := m.now()
	bmcs, clouds := m.fleet.census(now), m.clouds.census(now)
	return census{
		ages:    slices.Concat(bmcs.ages, clouds.ages),
		waiting: bmcs.waiting + clouds.waiting, visiting: bmcs.visiting + clouds.visiting,
	}
}

func (f *fleet) census(now time.Time) census {
	f.mu.Lock()
	defer f.mu.Unlock()
	var c census
	for _, e := range f.bmcs {
		switch {
		case e.visiting != nil:
			c.visiting++
		case e.index >= 0 && !e.at.After(now):
			c.waiting++
		}
		for _, m := range e.machines {
			if !m.seen.IsZero() {
				c.ages = append(c.ages, now.Sub(m.seen))
			}
		}
	}
	return c
}
