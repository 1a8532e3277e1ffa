// SPDX-License-Identifier: Apache-2.0

package monitor

import "time"

// Cadence says how often is looked, how long a look may take, and what follows from failures.
type Cadence struct {
	// Slow is the pace of settled servers, give or take a tenth. After a start their first looks are spread over it.
	Slow time.Duration
	// Fast is the first rung of the ladder of unsettled ones: it doubles with each look up to Slow.
	Fast time.Duration
	// Discovery is the pace at which a BMC is asked what it is and what is behind it, where nothing asks for it sooner.
	Discovery time.Duration
	// Inventory is the pace at which the hardware of a server is read anew.
	Inventory time.Duration

	// LookDeadline bounds a look at the state of a system.
	LookDeadline time.Duration
	// ReadDeadline bounds discovery and inventory, which take many requests.
	ReadDeadline time.Duration
	// WriteDeadline bounds one write to the API server.
	WriteDeadline time.Duration

	// Clouds is how often clouds are looked at. Fast, WriteDeadline and what follows from failures are those above.
	Clouds CloudCadence

	// Visits is how many BMCs are visited at a time.
	Visits int
	// Patience is how long a visit counts among them. One that takes longer goes on beside them: there are never more visits
	// than Visits and those that hang.
	Patience time.Duration

	// Failures in a row make what was reachable unreachable.
	Failures int
	// RetryFirst and RetryLast bound the back-off after failures; it doubles with each.
	RetryFirst, RetryLast time.Duration
	// DeniedFirst and DeniedLast bound the back-off of refused credentials: repeating them locks accounts.
	DeniedFirst, DeniedLast time.Duration
}

// DefaultCadence are the defaults of the operator's flags.
func DefaultCadence() Cadence {
	return Cadence{
		Slow:      2 * time.Minute,
		Fast:      250 * time.Millisecond,
		Discovery: time.Hour,
		Inventory: 24 * time.Hour,

		LookDeadline:  10 * time.Second,
		ReadDeadline:  time.Minute,
		WriteDeadline: 10 * time.Second,

		Clouds: DefaultCloudCadence(),

		Visits:   64,
		Patience: time.Second,

		Failures:    3,
		RetryFirst:  time.Second,
		RetryLast:   5 * time.Minute,
		DeniedFirst: 5 * time.Minute,
		DeniedLast:  time.Hour,
	}
}

// rung returns the pause before the look after the given number of looks since the last change.
func (c Cadence) rung(looks int) time.Duration { return doubled(c.Fast, looks, c.Slow) }

// retry returns the pause after a failure. What the provider asked for is honoured, up to RetryLast: no BMC takes itself out
// of sight for longer.
func (c Cadence) retry(f failure, s strikes) time.Duration {
	if f.locking {
		return doubled(c.DeniedFirst, s.same-1, c.DeniedLast)
	}
	return min(max(doubled(c.RetryFirst, s.count-1, c.RetryLast), f.after), c.RetryLast)
}

// doubled returns first doubled times times, at most last.
func doubled(first time.Duration, times int, last time.Duration) time.Duration {
	for ; times > 0 && first < last; times-- {
		first *= 2
	}
	return min(first, last)
}

// jittered spreads a pause over a tenth to either side, so that what began together does not stay together.
func jittered(pause time.Duration, random func() float64) time.Duration {
	return time.Duration(float64(pause) * (0.9 + 0.2*random()))
}

// spread places a moment anywhere within a pause.
func spread(pause time.Duration, random func() float64) time.Duration {
	return time.Duration(float64(pause) * random())
}

// earlier returns the earlier of two moments; the zero time is no moment.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
