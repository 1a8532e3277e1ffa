// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"sync"
	"time"
)

const (
	// resolutionTTL is how long a name is taken to stand for what it stood for: a thousand servers of one class ask once a minute, and
	// an image that was published anew is used soon (B012).
	resolutionTTL = time.Minute
	// maxResolutions bounds the memory of them.
	maxResolutions = 1024
)

// resolutions remembers for a short time what names stood for. What was missing or ambiguous is not remembered.
type resolutions struct {
	clock func() time.Time

	mu    sync.Mutex
	known map[string]resolution
}

type resolution struct {
	id    string
	until time.Time
}

func newResolutions(clock func() time.Time) *resolutions {
	return &resolutions{clock: clock, known: map[string]resolution{}}
}

func (r *resolutions) get(key string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.known[key]
	if !ok || !r.clock().Before(found.until) {
		return "", false
	}
	return found.id, true
}

func (r *resolutions) put(key, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxResolutions {
		clear(r.known)
	}
	r.known[key] = resolution{id: id, until: r.clock().Add(resolutionTTL)}
}

// forget is called where the cloud refused what was resolved: something may have gone since.
func (r *resolutions) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.known)
}
