// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// recent is what this connection did a moment ago, as far as BMCs take a moment to show it. By path; bounded by the resources there are.
type recent struct {
	resets    map[string]time.Time
	ejections map[string]ejection
	work      map[string]work
	refusals  map[string]refusals
}

// refusals are a row of vague refusals.
type refusals struct{ first, last time.Time }

type ejection struct {
	image string
	at    time.Time
}

// work is the task that a change became.
type work struct {
	task  string
	since time.Time
}

func (k *knowledge) noteReset(path string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.recent.resets == nil {
		k.recent.resets = map[string]time.Time{}
	}
	k.recent.resets[path] = now
}

func (k *knowledge) resetLately(path string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, known := k.recent.resets[path]
	return known && now.Sub(at) < settleTime
}

// refusedFor is how long vague refusals have come for the resource at path. A silence longer than any pause between two tries of the same
// effect ends the row.
func (k *knowledge) refusedFor(path string, now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.recent.refusals == nil {
		k.recent.refusals = map[string]refusals{}
	}
	row, known := k.recent.refusals[path]
	if !known || now.Sub(row.last) > rowSilence {
		row.first = now
	}
	row.last = now
	k.recent.refusals[path] = row
	return now.Sub(row.first)
}

// noteTaken ends such a row.
func (k *knowledge) noteTaken(path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.recent.refusals, path)
}

func (k *knowledge) noteEjection(slot, image string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.recent.ejections == nil {
		k.recent.ejections = map[string]ejection{}
	}
	k.recent.ejections[slot] = ejection{image: image, at: now}
}

// ejectedLately says that the slot may only seem to hold what it shows: that was ejected a moment ago.
func (k *knowledge) ejectedLately(slot mediaSlot, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	last, known := k.recent.ejections[slot.path]
	shown := provider.MediaSlot{Image: slot.Image, Inserted: true}
	return known && now.Sub(last.at) < ejectLag && shown.Holds(last.image)
}

// noteInsertion ends the doubt about what the slot shows.
func (k *knowledge) noteInsertion(slot string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.recent.ejections, slot)
}

// noteWork keeps the task that a change of the resource at path became; "" forgets it.
func (k *knowledge) noteWork(path, task string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if task == "" {
		delete(k.recent.work, path)
		return
	}
	if k.recent.work == nil {
		k.recent.work = map[string]work{}
	}
	k.recent.work[path] = work{task: task, since: now}
}

// workAt is that task, and how long it is waited for: jobs that wait for the next reset may do so for ever, so settleTime ends it.
func (k *knowledge) workAt(path string, now time.Time) (task string, left time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.recent.work[path]
	if left = settleTime - now.Sub(w.since); left > 0 {
		return w.task, left
	}
	return "", 0
}

// underWay looks at the task that an earlier change of the same resource became: while it runs nothing is sent on top of it. That it
// failed is told once, and then the change may be tried again.
func (t turn) underWay(ctx context.Context, path, what string) error {
	task, left := t.known.workAt(path, t.opts.Clock())
	if task == "" {
		return nil
	}
	state, err := t.lookAtTask(ctx, t, task)
	if err != nil {
		return err
	}
	if state.Phase == provider.TaskRunning {
		e := fail(provider.Busy, provider.ReasonBusy, "the BMC is "+what, nil)
		e.After = max(min(state.After, left), time.Second)
		return e
	}
	t.known.noteWork(path, "", time.Time{})
	if state.Phase == provider.TaskFailed {
		return fail(provider.Transient, provider.ReasonServerError, shorten("the BMC failed while "+what+": "+state.Message), nil)
	}
	return nil
}
