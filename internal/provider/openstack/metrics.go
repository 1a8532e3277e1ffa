// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of all clouds of a pool together.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	logins   *prometheus.CounterVec
	held     *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_openstack_requests_total",
			Help: "Requests to clouds by service, method and status code; code 0 got no answer.",
		}, []string{"service", "method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "holdfast_openstack_request_duration_seconds",
			Help:    "Seconds until a cloud answered.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30},
		}, []string{"service", "method"}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_openstack_logins_total",
			Help: "Logins at clouds by result: accepted, refused or failed.",
		}, []string{"result"}),
		held: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_openstack_requests_held_total",
			Help: "Requests that were not sent, by cause: limit (our own rate limit) or pause (the cloud asked for one).",
		}, []string{"cause"}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.logins, m.held)
	}
	return m
}

func (m *metrics) request(service, method string, code int, took time.Duration) {
	m.requests.WithLabelValues(service, method, strconv.Itoa(code)).Inc()
	m.seconds.WithLabelValues(service, method).Observe(took.Seconds())
}

func (m *metrics) login(result string) { m.logins.WithLabelValues(result).Inc() }

func (m *metrics) hold(cause string) { m.held.WithLabelValues(cause).Inc() }
