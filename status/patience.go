// SPDX-License-Identifier: Apache-2.0

package status

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PutOffRequeue is for how long a report may be put off, see Patience: short for a person, and longer than most steps that follow
// upon each other.
const PutOffRequeue = time.Second

// Patience puts off reports of objects that are on their way and stay so, the first report included, for PutOffRequeue at most: where one step follows upon another
// within moments, each with a reason and a message of its own, nobody could have read what was in between, and each would have been a write
// and an Event. What a person or a tool waits for is told at once: that an object is ready, or is no more, that it needs a person, or does no
// more.
//
// Nothing is lost with it: a process that ends meanwhile reports after its next start. One is for all objects of a controller, and safe for use
// by several goroutines. The zero value is ready for use.
type Patience struct {
	mu    sync.Mutex
	since map[client.ObjectKey]time.Time
}

// WithPatience lets the session put off its report. Nil means that it never does.
func WithPatience(patience *Patience) Option {
	return func(s *Session) { s.patience = patience }
}

// Forget drops what is kept for an object that is no more. Nil has nothing.
func (p *Patience) Forget(object client.ObjectKey) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, object)
}

// flicker is for how long a report that was put off counts after the object was as last reported again: what keeps coming back for less than
// PutOffRequeue, such as why the same step is done over and over, is told all the same.
const flicker = 10 * PutOffRequeue

// nothingNew says that the object is as last reported.
func (p *Patience) nothingNew(object client.ObjectKey, now time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since[object]) > flicker {
		delete(p.since, object)
	}
}

// putsOff says whether a report of the object can wait: it has not waited for long enough yet.
func (p *Patience) putsOff(object client.ObjectKey, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	since, waits := p.since[object]
	if !waits {
		if p.since == nil {
			p.since = map[client.ObjectKey]time.Time{}
		}
		p.since[object] = now
		return true
	}
	return now.Sub(since) < PutOffRequeue
}

// canWait says that the report only tells how an object is on its way, of one that was neither ready nor in need of a person by the last
// report, or had none.
func (s *Session) canWait() bool {
	return s.level == LevelProgressing && !holds(s.persisted, ReadyCondition) && !holds(s.persisted, StalledCondition)
}

func holds(conditions []metav1.Condition, conditionType string) bool {
	condition := find(conditions, conditionType)
	return condition != nil && condition.Status == metav1.ConditionTrue
}
