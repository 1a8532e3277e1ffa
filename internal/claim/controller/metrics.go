// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// conflicts counts the writes that lost a race, by the clause that wanted them.
var conflicts = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "holdfast_claim_conflicts_total",
	Help: "Writes of the claim controller that lost a race, by clause.",
}, []string{"clause"})

func init() { metrics.Registry.MustRegister(conflicts) }
