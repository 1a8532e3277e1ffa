// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// secondChance is how long a machine has that was asked late: two thirds of the grace period.
const secondChance = 200 * time.Second

// B025: a manager that was away since a power-off was announced asks first, whatever time it is, and remembers that it did.
func TestAManagerThatComesLateAsksFirst(t *testing.T) {
	r := newRig(t, lt.On, lt.RememberedOn(ledger.BySpec, ""), lt.Announced(ledger.WhySpec, 24*60))
	r.passesFor(secondChance - time.Second)
	if want := slices.Repeat([]lifecycle.Op{lifecycle.OpShutDown}, 2); !slices.Equal(r.calls, want) {
		t.Errorf("asked for %v, want %v", r.calls, want)
	}
	if asked := r.ledger().Intent.Asked; !asked.Equal(lt.Now) {
		t.Errorf("remembers %s, want the first request", asked)
	}
	r.passesFor(30 * time.Second)
	if last := r.calls[len(r.calls)-1]; last != lifecycle.OpForceOff {
		t.Errorf("asked for %v, want a cut at the end", r.calls)
	}
}

// The same of a BMC that could not be reached until the grace period was over: that nobody answered is no request.
func TestABMCThatComesBackLateIsAskedFirst(t *testing.T) {
	r := newRig(t, goingOff)
	r.failure = &provider.Error{Class: provider.Transient, Reason: provider.ReasonUnreachable}
	r.passesFor(time.Hour)
	if slices.Contains(r.calls, lifecycle.OpForceOff) || !r.ledger().Intent.Asked.IsZero() {
		t.Fatalf("asked for %v, remembers %+v", r.calls, r.ledger().Intent)
	}
	r.failure, r.calls = nil, nil
	r.passesFor(longestPatience + secondChance + 30*time.Second)
	if cut := slices.Index(r.calls, lifecycle.OpForceOff); cut != 2 {
		t.Errorf("asked for %v, want two shutdowns and then a cut", r.calls)
	}
}

// A BMC that offers no graceful shutdown is not asked for longer than the grace period, and one that never has time for it not for much longer.
func TestARefusedShutdownDoesNotKeepTheCutAway(t *testing.T) {
	for name, c := range map[string]struct {
		failure error
		over    time.Duration // past the grace period
	}{
		"no such request": {&provider.Error{Class: provider.Terminal, Reason: provider.ReasonResetTypeMissing}, 30 * time.Second},
		"not now":         {&provider.Error{Class: provider.Busy, Reason: provider.ReasonBusy, After: 20 * time.Second}, secondChance + 50*time.Second},
		"an error":        {&provider.Error{Class: provider.Transient, Reason: provider.ReasonServerError}, longestPatience + secondChance + 30*time.Second},
		"no answer":       {&provider.Error{Class: provider.Transient, Reason: provider.ReasonTimeout}, longestPatience + secondChance + 30*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, goingOff)
			r.failure = c.failure
			r.passesFor(r.Settings.GracePeriod - time.Second)
			if len(r.calls) == 0 || slices.Contains(r.calls, lifecycle.OpForceOff) {
				t.Errorf("within the grace period: %v", r.calls)
			}
			r.passesFor(c.over)
			if !slices.Contains(r.calls, lifecycle.OpForceOff) {
				t.Errorf("after it: %v", r.calls)
			}
		})
	}
}

// The record of a request may lose a race with the monitor's picture. It is written by the next pass, and nobody is asked again for that.
func TestARequestWhoseRecordLostARaceIsNotRepeated(t *testing.T) {
	r := newRig(t, lt.On, lt.RememberedOn(ledger.BySpec, ""), lt.Announced(ledger.WhySpec, 3))
	r.during = func() {
		pictured := r.server()
		pictured.Status.Observed.Intent = "i-1"
		if err := r.Client.Status().Update(t.Context(), pictured); err != nil {
			t.Fatal(err)
		}
	}
	r.pass()
	if !r.ledger().Intent.Asked.IsZero() {
		t.Fatal("the record was written over another's write")
	}
	r.during = nil
	r.pass()
	r.pass()
	if asked := r.ledger().Intent.Asked; asked.IsZero() || len(r.calls) != 1 {
		t.Errorf("remembers %s after %v", asked, r.calls)
	}
}
