// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
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

// A BMC to which the request was made, and that never carries it out, does not keep the cut away; nor one that offers no such request. What it says
// is told until then.
func TestARefusedShutdownDoesNotKeepTheCutAway(t *testing.T) {
	for name, failure := range map[string]*provider.Error{
		"no such request": {Class: provider.Terminal, Reason: provider.ReasonResetTypeMissing},
		"not now":         {Class: provider.Busy, Reason: provider.ReasonBusy, After: 20 * time.Second, Tried: true},
		"an error":        {Class: provider.Transient, Reason: provider.ReasonServerError, Tried: true},
		"no answer":       {Class: provider.Transient, Reason: provider.ReasonTimeout, Tried: true},
		"no privilege":    {Class: provider.Denied, Reason: provider.ReasonForbidden, Tried: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, goingOff)
			r.failure = failure
			r.pass()
			r.pass()
			if ready := meta.FindStatusCondition(r.server().Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Reason != v1alpha1.ReasonEffectFailed {
				t.Errorf("told as %+v", ready)
			}
			r.passesFor(r.Settings.GracePeriod - time.Second)
			if len(r.calls) == 0 || slices.Contains(r.calls, lifecycle.OpForceOff) {
				t.Errorf("within the grace period: %v", r.calls)
			}
			r.passesFor(30 * time.Second)
			if !slices.Contains(r.calls, lifecycle.OpForceOff) {
				t.Errorf("after it: %v", r.calls)
			}
		})
	}
}

// A record that the API server does not take costs the patience with a BMC that said "not now" nothing.
func TestARefusalThatIsNotRecordedIsWaitedOut(t *testing.T) {
	r := newRig(t, goingOff)
	r.failure = &provider.Error{Class: provider.Busy, Reason: provider.ReasonBusy, After: time.Minute, Tried: true}
	r.refusing = apierrors.NewServiceUnavailable("etcd is away")
	if _, err := r.Reconcile(t.Context(), requestFor(lt.ServerName)); err == nil {
		t.Fatal("the pass did not tell that its record was not written")
	}
	r.passesFor(30 * time.Second)
	if len(r.calls) != 1 {
		t.Errorf("asked for %v within the BMC's minute", r.calls)
	}
}

// A grace period that is shorter than an effect's deadline ends when it ends.
func TestAShortGraceIsNoLonger(t *testing.T) {
	r := newRig(t, goingOff, lt.Settings(func(s *lifecycle.Settings) { s.GracePeriod = 10 * time.Second }))
	r.passesFor(r.Settings.GracePeriod + 2*time.Second)
	if want := []lifecycle.Op{lifecycle.OpShutDown, lifecycle.OpForceOff}; !slices.Equal(r.calls, want) {
		t.Errorf("asked for %v, want %v", r.calls, want)
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
