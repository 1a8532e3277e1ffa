// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// NewConflicts registers the counter of writes that lost a race, by the clause that wanted them.
func NewConflicts(registerer prometheus.Registerer) (*prometheus.CounterVec, error) {
	conflicts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "holdfast_claim_conflicts_total",
		Help: "Writes of the claim controller that lost a race, by clause.",
	}, []string{"clause"})
	if err := registerer.Register(conflicts); err != nil {
		return nil, fmt.Errorf("register the conflicts of claims: %w", err)
	}
	return conflicts, nil
}
