// SPDX-License-Identifier: Apache-2.0

package wake

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Pace delays the wakes of objects whose observed region flips more often than a few times a minute. It never drops one:
// the pass after the delay sees the latest picture.
type Pace struct {
	clock clock.PassiveClock
	limit rate.Limit
	burst int

	mu      sync.Mutex
	objects map[client.ObjectKey]*bucket
}

// bucket of one object. While a delayed wake is pending the flips that follow join it, so that the delay is never longer
// than the time of one token, however fast the object flips.
type bucket struct {
	limiter *rate.Limiter
	pending time.Time
}

// NewPace lets perMinute flips a minute through at once, in a burst or spread.
func NewPace(passive clock.PassiveClock, perMinute int) *Pace {
	return &Pace{
		clock:   passive,
		limit:   rate.Every(time.Minute / time.Duration(perMinute)),
		burst:   perMinute,
		objects: map[client.ObjectKey]*bucket{},
	}
}

// Delay is how long the next wake of an object has to wait, 0 mostly. It takes a token.
func (p *Pace) Delay(object client.ObjectKey) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, found := p.objects[object]
	if !found {
		b = &bucket{limiter: rate.NewLimiter(p.limit, p.burst)}
		p.objects[object] = b
	}
	now := p.clock.Now()
	if now.Before(b.pending) {
		return b.pending.Sub(now)
	}
	delay := b.limiter.ReserveN(now, 1).DelayFrom(now)
	b.pending = now.Add(delay)
	return delay
}

// Forget drops what is kept for an object.
func (p *Pace) Forget(object client.ObjectKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.objects, object)
}

// Paced enqueues the object of each event as handler.EnqueueRequestForObject does, but later where nothing but its observed
// region moved and that flips too often. A person's changes and the ledger's are never delayed.
func Paced(pace *Pace) handler.EventHandler { return &paced{pace: pace} }

type paced struct {
	handler.EnqueueRequestForObject

	pace *Pace
}

// Update implements handler.EventHandler.
func (p *paced) Update(ctx context.Context, update event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if cause, _ := First(update.ObjectOld, update.ObjectNew, All()...); cause == CauseObserved {
		key := client.ObjectKeyFromObject(update.ObjectNew)
		if delay := p.pace.Delay(key); delay > 0 {
			queue.AddAfter(reconcile.Request{NamespacedName: key}, delay)
			return
		}
	}
	p.EnqueueRequestForObject.Update(ctx, update, queue)
}

// Delete implements handler.EventHandler.
func (p *paced) Delete(ctx context.Context, deletion event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	p.pace.Forget(client.ObjectKeyFromObject(deletion.Object))
	p.EnqueueRequestForObject.Delete(ctx, deletion, queue)
}
