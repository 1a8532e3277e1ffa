// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// longestPatience bounds the back-off of an effect that is refused again and again, longestSilence that of one which gets no answer, in effect
// deadlines: with the defaults both are five minutes.
const (
	longestPatience = 5 * time.Minute
	longestSilence  = 10
)

// patience is how long an effect that failed is not asked for again: least after the first time, twice as long after each further one, up to
// longest.
type patience struct{ least, longest time.Duration }

func (p patience) after(failures int) time.Duration {
	return max(p.least, min(p.least<<min(failures, 16), p.longest))
}

// efforts remembers what was asked of each machine lately, so that an effect is not repeated before it could show (R5). It is an
// optimisation: forgetting it is safe, for every effect is idempotent and names what it relies on.
type efforts struct {
	mu    sync.Mutex
	tried map[string]effort // by server name
}

type effort struct {
	what     string
	notUntil time.Time
	failures int      // in a row, of one patience
	patience patience // what failed for want of an answer says nothing of how long a refusal lasts
	// owed is what the effect became (a task, a request for a shutdown, something made at a cloud) where its record is still to be written; nil for nothing.
	owed *provider.Outcome
	// refusal is how the last try failed; nil where it did not. It is reported until the next try: a pass in between knows no better.
	refusal *lifecycle.Gate
}

// keyOf tells one effort from another: the object, the clause and the intent it carries out; at a cloud also what is asked for, so that an
// edit or a consent is tried at once, however patient the efforts before it had become.
func keyOf(server *v1alpha1.Server, step lifecycle.Step) string {
	key := string(server.UID) + "/" + step.Clause + "/" + string(step.Effect.Op) + "/" + step.Effect.Intent
	if virtual := step.Effect.Virtual; virtual != nil {
		if asked, err := json.Marshal(virtual); err == nil { // plain fields always render
			key += "/" + string(asked)
		}
	}
	return key
}

// wait is how long the same effect must still wait, and how its last try failed; nil where it did not. 0: go.
func (e *efforts) wait(server *v1alpha1.Server, step lifecycle.Step, now time.Time) (time.Duration, *lifecycle.Gate) {
	e.mu.Lock()
	defer e.mu.Unlock()
	last, ok := e.tried[server.Name]
	if !ok || last.what != keyOf(server, step) {
		return 0, nil
	}
	return max(0, last.notUntil.Sub(now)), last.refusal
}

// succeeded notes that the effect was accepted.
func (e *efforts) succeeded(server *v1alpha1.Server, step lifecycle.Step, now time.Time, interval time.Duration) {
	e.note(server.Name, effort{what: keyOf(server, step), notUntil: now.Add(interval)})
}

// owes notes that the effect was done and could not be recorded.
func (e *efforts) owes(server *v1alpha1.Server, step lifecycle.Step, now time.Time, interval time.Duration, outcome provider.Outcome) {
	e.note(server.Name, effort{what: keyOf(server, step), notUntil: now.Add(interval), owed: &outcome})
}

// recorded notes that what an effect became is written: it is asked for again at its own pace.
func (e *efforts) recorded(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if last, ok := e.tried[name]; ok {
		last.owed = nil
		e.tried[name] = last
	}
}

// unrecorded is what the same effect became when it was asked for last, where its record is owed; nil where none is.
func (e *efforts) unrecorded(server *v1alpha1.Server, step lifecycle.Step) *provider.Outcome {
	e.mu.Lock()
	defer e.mu.Unlock()
	if last, ok := e.tried[server.Name]; ok && last.what == keyOf(server, step) {
		return last.owed
	}
	return nil
}

// failed notes how the effect failed and returns how long to wait.
func (e *efforts) failed(server *v1alpha1.Server, step lifecycle.Step, now time.Time, p patience, refusal lifecycle.Gate) time.Duration {
	e.mu.Lock()
	failures := 0
	if last := e.tried[server.Name]; last.what == keyOf(server, step) && last.patience == p {
		failures = last.failures + 1
	}
	e.mu.Unlock()
	wait := p.after(failures)
	e.note(server.Name, effort{what: keyOf(server, step), notUntil: now.Add(wait), failures: failures, patience: p, refusal: &refusal})
	return wait
}

// asked notes for how long the provider itself asked to be left alone: that is no failure, and patience does not grow by it.
func (e *efforts) asked(server *v1alpha1.Server, step lifecycle.Step, now time.Time, wait time.Duration, refusal lifecycle.Gate) time.Duration {
	e.note(server.Name, effort{what: keyOf(server, step), notUntil: now.Add(wait), refusal: &refusal})
	return wait
}

func (e *efforts) note(name string, last effort) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tried == nil {
		e.tried = map[string]effort{}
	}
	e.tried[name] = last
}

// forget drops what is known of a server that is no more (B011).
func (e *efforts) forget(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.tried, name)
}
