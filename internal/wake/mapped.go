// SPDX-License-Identifier: Apache-2.0

package wake

import (
	"context"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Mapped enqueues what toRequests makes of an event of another kind, and counts each request as one wake. An update is mapped
// from both its states: what was used before wakes as well as what is used now.
func (w *Wakes) Mapped(controller string, cause Cause, toRequests handler.MapFunc) handler.EventHandler {
	counted := func(ctx context.Context, object client.Object) []reconcile.Request {
		requests := toRequests(ctx, object)
		w.count(controller, cause, len(requests))
		return requests
	}
	return &mapped{
		EventHandler: handler.EnqueueRequestsFromMapFunc(counted),
		toRequests:   toRequests,
		count:        func(wakes int) { w.count(controller, cause, wakes) },
	}
}

type mapped struct {
	handler.EventHandler

	toRequests handler.MapFunc
	count      func(wakes int)
}

// Update implements handler.EventHandler. The two states mostly map to the same requests, which are one wake each.
func (m *mapped) Update(ctx context.Context, update event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	requests := sets.New(m.toRequests(ctx, update.ObjectOld)...).Insert(m.toRequests(ctx, update.ObjectNew)...).UnsortedList()
	m.count(len(requests))
	union := func(context.Context, client.Object) []reconcile.Request { return requests }
	handler.EnqueueRequestsFromMapFunc(union).Update(ctx, update, queue)
}
