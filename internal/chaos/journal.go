// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

// journal is the record of what is known without Holdfast: what tenants and people asked for, and what the simulators did.
type journal struct {
	drains []func() ([]judge.Event, error)

	mu     sync.Mutex
	asked  []*judge.Event
	events []judge.Event
	// rewritten is how often the past was brought back: what was asked for before and is not acknowledged yet may be asked for anew.
	rewritten int
}

// note records what happened now.
func (j *journal) note(e judge.Event) *judge.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.At.IsZero() {
		e.At = time.Now()
	}
	j.asked = append(j.asked, &e)
	return &e
}

// acked records that the API server has acknowledged what was asked for.
func (j *journal) acked(e *judge.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Acked = time.Now()
}

// rewrite records that the past was brought back.
func (j *journal) rewrite() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rewritten++
}

func (j *journal) rewrites() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rewritten
}

// ask records what is asked for just before it is first sent, through a gate that is closed while the past is brought back, and when it was
// acknowledged. What was sent and not acknowledged is sent again until it is, also where ctx ends meanwhile, for seeThrough: it may have been
// heard, and what nobody knows cannot be judged. What says how
// something is to be from now on is recorded once more where the past was brought back in between, because that may have said otherwise.
func (j *journal) ask(ctx context.Context, gate *sync.RWMutex, e judge.Event, send func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := outlasting(ctx, seeThrough)
	defer cancel()
	var noted []*judge.Event
	past := 0
	err := persist(ctx, func(ctx context.Context) error {
		gate.RLock()
		defer gate.RUnlock()
		if now := j.rewrites(); len(noted) == 0 || now != past && lasts(e.Kind) {
			past = now
			noted = append(noted, j.note(e))
		}
		return send(ctx)
	})
	if err == nil {
		for _, one := range noted {
			j.acked(one)
		}
	}
	return err
}

// lasts says that asking for it twice is asking for it once.
func lasts(kind judge.Kind) bool {
	switch kind {
	case judge.AskedRestart, judge.AskedRebuild, judge.ConsentedOff, judge.ConsentedBoot:
		return false
	}
	return true
}

// drain takes over what the simulators did since the last time. A gap in their logs is an error: nothing could be judged.
func (j *journal) drain() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var failures []error
	for _, drain := range j.drains {
		events, err := drain()
		j.events = append(j.events, events...)
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// all is the whole record, in no order.
func (j *journal) all() []judge.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := append([]judge.Event(nil), j.events...)
	for _, e := range j.asked {
		all = append(all, *e)
	}
	return all
}

// save writes the record into a folder, an event a line.
func (j *journal) save(dir string) error {
	file, err := os.Create(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(file)
	for _, e := range j.all() {
		if err := encoder.Encode(e); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return file.Close()
}

// outlasting is ctx for some time longer.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		pause(longer, by)
		cancel()
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// persist repeats a request until it succeeds or ctx ends.
func persist(ctx context.Context, send func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, requestDeadline)
		err := send(attempt)
		cancel()
		if err == nil || !pause(ctx, retryPause) {
			return err
		}
	}
}

const (
	requestDeadline = 10 * time.Second
	seeThrough      = time.Minute // longer than the API server is away for, at the end of the faults
	retryPause      = 250 * time.Millisecond
)

// pause waits, and tells whether ctx still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
