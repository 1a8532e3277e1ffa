// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of all BMCs of a pool together: a series per BMC would be thousands.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	logins   *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_redfish_requests_total",
			Help: "Requests to BMCs by method and status code; code 0 got no answer.",
		}, []string{"method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "holdfast_redfish_request_duration_seconds",
			Help:    "Seconds until a BMC answered.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30},
		}, []string{"method"}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_redfish_logins_total",
			Help: "Logins at BMCs by result: session, basic, refused or failed.",
		}, []string{"result"}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.logins)
	}
	return m
}

func (m *metrics) request(method string, code int, took time.Duration) {
	m.requests.WithLabelValues(method, strconv.Itoa(code)).Inc()
	m.seconds.WithLabelValues(method).Observe(took.Seconds())
}

func (m *metrics) login(result string) { m.logins.WithLabelValues(result).Inc() }
