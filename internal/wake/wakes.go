// SPDX-License-Identifier: Apache-2.0

package wake

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Wakes counts what wakes the controllers of one process.
type Wakes struct {
	total *prometheus.CounterVec
}

// New registers the counter. Where it is registered already, as by a second manager in one process, that one goes on.
func New(registerer prometheus.Registerer) (*Wakes, error) {
	total := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "holdfast_wakes_total",
		Help: "Wakes of a controller's objects, by the change that caused them.",
	}, []string{"controller", "cause"})
	if err := registerer.Register(total); err != nil {
		var registered prometheus.AlreadyRegisteredError
		if !errors.As(err, &registered) {
			return nil, fmt.Errorf("register wakes: %w", err)
		}
		existing, ok := registered.ExistingCollector.(*prometheus.CounterVec)
		if !ok {
			return nil, fmt.Errorf("register wakes: %w", err)
		}
		total = existing
	}
	return &Wakes{total: total}, nil
}

// On passes an update when one of changes moved, and creations, deletions and generic events always. Each event it passes
// counts once, for the first of changes that moved.
func (w *Wakes) On(controller string, changes ...Change) predicate.Predicate {
	count := func(cause Cause) bool {
		w.count(controller, cause, 1)
		return true
	}
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return count(CauseCreate) },
		DeleteFunc:  func(event.DeleteEvent) bool { return count(CauseDeletion) },
		GenericFunc: func(event.GenericEvent) bool { return count(CauseDependency) },
		UpdateFunc: func(update event.UpdateEvent) bool {
			cause, moved := First(update.ObjectOld, update.ObjectNew, changes...)
			return moved && count(cause)
		},
	}
}

// When passes the same events as On and counts nothing: for watches whose handler counts (Mapped).
func When(changes ...Change) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
		_, moved := First(update.ObjectOld, update.ObjectNew, changes...)
		return moved
	}}
}

func (w *Wakes) count(controller string, cause Cause, wakes int) {
	w.total.WithLabelValues(controller, string(cause)).Add(float64(wakes))
}
