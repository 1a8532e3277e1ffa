// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"slices"
	"sync"
	"time"
)

// Clock tells the time. Its AfterFunc calls f once, after d, on any goroutine; stop reports whether it kept
// f from being called.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type wall struct{}

// Wall is the true time.
func Wall() Clock { return wall{} }

func (wall) Now() time.Time { return time.Now() }

func (wall) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// Manual stands still until it is told to advance: the clock of tests.
type Manual struct {
	mu     sync.Mutex
	now    time.Time
	timers []*manualTimer
}

type manualTimer struct {
	at time.Time
	f  func()
}

// NewManual returns a clock that shows start.
func NewManual(start time.Time) *Manual { return &Manual{now: start} }

// Now implements [Clock].
func (c *Manual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements [Clock]; f is called by Advance, never before it.
func (c *Manual) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &manualTimer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.timers, t)
		if i < 0 {
			return false
		}
		c.timers = slices.Delete(c.timers, i, i+1)
		return true
	}
}

// Advance moves the clock by d and calls what became due, earliest first, before it returns. What those
// calls make due within d is called as well.
func (c *Manual) Advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.mu.Unlock()
	for {
		t := c.popDue()
		if t == nil {
			return
		}
		t.f()
	}
}

func (c *Manual) popDue() *manualTimer {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := -1
	for i, t := range c.timers {
		if !t.at.After(c.now) && (first < 0 || t.at.Before(c.timers[first].at)) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	t := c.timers[first]
	c.timers = slices.Delete(c.timers, first, first+1)
	return t
}
