// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/clock"
)

// Clock is the time that machines live by, shared with the other simulators.
type Clock = clock.Clock

// ManualClock stands still until it is told to advance: the clock of tests.
type ManualClock = clock.Manual

// NewManualClock returns a clock that shows start.
func NewManualClock(start time.Time) *ManualClock { return clock.NewManual(start) }

// Duration is a time.Duration that is written "1.5s" in JSON.
type Duration = clock.Duration

// enter takes the rack's lock, after everything that is due has been done. The returned function leaves:
//
//	defer r.enter()()
func (r *Rack) enter() (leave func()) { return r.agenda.Enter() }

// now is the clock as it was read on entering.
func (r *Rack) now() time.Time { return r.agenda.Now() }

// schedule has run called once the clock shows at, under the lock.
func (r *Rack) schedule(at time.Time, run func(at time.Time)) *clock.Appointment {
	return r.agenda.Schedule(at, run)
}

// cancel forgets an appointment; nil and kept ones are fine.
func (r *Rack) cancel(item *clock.Appointment) { r.agenda.Cancel(item) }
