// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// recent is what this connection did a moment ago, as far as BMCs take a moment to show it. By path; bounded by the resources there are.
type recent struct {
	resets     map[string]time.Time
	ejections  map[string]ejection
	insertions map[string]insertion
}

type ejection struct {
	image string
	at    time.Time
}

// insertion is one that became a task.
type insertion struct{ image, task string }

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

func (k *knowledge) noteEjection(slot, image string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.recent.ejections == nil {
		k.recent.ejections = map[string]ejection{}
	}
	k.recent.ejections[slot] = ejection{image: image, at: now}
	delete(k.recent.insertions, slot)
}

// ejectedLately says that the slot may only seem to hold what it shows: that was ejected a moment ago.
func (k *knowledge) ejectedLately(slot mediaSlot, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	last, known := k.recent.ejections[slot.path]
	shown := provider.MediaSlot{Image: slot.Image, Inserted: true}
	return known && now.Sub(last.at) < ejectLag && slot.Image != "" && shown.Holds(last.image)
}

// noteInsertion ends the doubt about what the slot shows, and keeps the task that the insertion became, if it did.
func (k *knowledge) noteInsertion(slot, image, task string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.recent.insertions == nil {
		k.recent.insertions = map[string]insertion{}
	}
	delete(k.recent.insertions, slot)
	delete(k.recent.ejections, slot)
	if task != "" {
		k.recent.insertions[slot] = insertion{image: image, task: task}
	}
}

func (k *knowledge) insertionTask(slot, image string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := k.recent.insertions[slot]; last.image == image {
		return last.task
	}
	return ""
}
