// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
)

// goingOff is a machine that is On by its spec and is to be Off, as was announced this very minute.
var goingOff = lt.All(lt.On, lt.RememberedOn(ledger.BySpec, ""), lt.Announced(ledger.WhySpec, 0))

// B144: the task that a power-off became is in the ledger before the pass is over, so that any later process can follow it; and the
// effect is not asked for again meanwhile (R5), nor by a pass that the record itself wakes.
func TestATaskIsRememberedByThePassThatStartedIt(t *testing.T) {
	r := newRig(t, goingOff)
	r.outcome = provider.Outcome{Task: lt.TaskMonitor}
	r.pass()
	intent := r.ledger().Intent
	if intent == nil || intent.Task != lt.TaskMonitor || intent.Forced || intent.ID != "i-1" {
		t.Fatalf("intent %+v", intent)
	}
	r.passesFor(20 * time.Second)
	if !slices.Equal(r.calls, []lifecycle.Op{lifecycle.OpShutDown}) {
		t.Errorf("asked for %v", r.calls)
	}
	r.clock.SetTime(lt.Now.Add(r.Settings.GracePeriod + time.Second))
	r.outcome.Task = lt.TaskMonitor + "8"
	r.pass()
	if intent = r.ledger().Intent; intent.Task != lt.TaskMonitor+"8" || !intent.Forced {
		t.Errorf("after the cut: %+v", intent)
	}
}

// The monitor takes a picture of every new intent, and its write may come between an effect and its record. The task is not lost by that.
func TestATaskWhoseRecordLostARaceIsRememberedByALaterPass(t *testing.T) {
	r := newRig(t, goingOff)
	r.outcome = provider.Outcome{Task: lt.TaskMonitor}
	r.during = func() {
		pictured := r.server()
		pictured.Status.Observed.Intent = "i-1"
		if err := r.Client.Status().Update(t.Context(), pictured); err != nil {
			t.Fatal(err)
		}
	}
	if again := r.pass().RequeueAfter; again != pass.Again || r.ledger().Intent.Task != "" {
		t.Fatalf("the record was written over another's write: again after %s", again)
	}
	r.during = nil
	r.pass()
	if task := r.ledger().Intent.Task; task != lt.TaskMonitor || len(r.calls) != 1 {
		t.Errorf("task %q after %v", task, r.calls)
	}
}

// Nor by an API server that does not take it for longer than an effect is waited for: the BMC has begun, and is not asked to begin again (B144).
func TestATaskWhoseRecordWasRefusedIsRememberedByALaterPass(t *testing.T) {
	r := newRig(t, goingOff)
	r.outcome = provider.Outcome{Task: lt.TaskMonitor}
	r.unwritten()
	r.pass()
	if task := r.ledger().Intent.Task; task != lt.TaskMonitor || len(r.calls) != 1 {
		t.Errorf("task %q after %v", task, r.calls)
	}
}

// A change that became a task is done when it is asked for again and found done: nothing is recorded before (docs/decisions/0070).
func TestAnEffectThatGoesOnIsNotRecordedAsDone(t *testing.T) {
	r := newRig(t, lt.Running, lt.BootBy(v1alpha1.BootVirtualMedia), lt.InDrive(lt.Image))
	r.outcome = provider.Outcome{Task: lt.TaskMonitor}
	r.pass()
	if media := r.ledger().Boot.Media; media == "" || len(r.calls) != 1 {
		t.Fatalf("media %q after %v", media, r.calls)
	}
	r.outcome = provider.Outcome{Unchanged: true}
	r.clock.SetTime(lt.Now.Add(r.Settings.EffectDeadline))
	r.pass()
	if media := r.ledger().Boot.Media; media != "" || len(r.calls) != 2 {
		t.Errorf("media %q after %v", media, r.calls)
	}
}

// An operating system that does not listen is asked three times within the grace period, and then the power is cut, once an effect
// deadline at most.
func TestAnIgnoredShutdownIsRepeatedTwice(t *testing.T) {
	r := newRig(t, goingOff)
	r.passesFor(r.Settings.GracePeriod)
	if want := slices.Repeat([]lifecycle.Op{lifecycle.OpShutDown}, 3); !slices.Equal(r.calls, want) {
		t.Errorf("within the grace period: %v", r.calls)
	}
	r.calls = nil
	r.passesFor(time.Minute)
	if want := slices.Repeat([]lifecycle.Op{lifecycle.OpForceOff}, 2); !slices.Equal(r.calls, want) {
		t.Errorf("in the minute after it: %v", r.calls)
	}
}

// A pass in which an effect is not to be repeated yet (R5) does nothing that would rest on a live read, and makes none: each picture of a
// machine that boots wakes one.
func TestAPassThatWaitsForWhatItAskedReadsNothingLive(t *testing.T) {
	r := newRig(t, goingOff)
	r.pass()
	if r.live == 0 {
		t.Fatal("acted without a live read (P4)")
	}
	r.live = 0
	if again := r.pass().RequeueAfter; again <= 0 || len(r.calls) != 1 || r.live != 0 {
		t.Errorf("again after %s, %v was asked for, %d live reads", again, r.calls, r.live)
	}
	r.clock.SetTime(lt.Now.Add(r.Settings.GracePeriod))
	r.pass()
	if len(r.calls) != 2 || r.live == 0 {
		t.Errorf("after the grace period %v was asked for, on %d live reads", r.calls, r.live)
	}
}

// What a pass decided is not carried out later than one deadline after it began to read: whatever rests on what was recorded since (the rest
// after each Off) counts on that.
func TestAPassThatSleptSendsNothing(t *testing.T) {
	r := newRig(t, goingOff)
	r.reading = func() { r.clock.SetTime(lt.Now.Add(r.Settings.EffectDeadline)) }
	if again := r.pass().RequeueAfter; again != pass.Again || len(r.calls) != 0 || r.live == 0 {
		t.Errorf("again after %s, %v was asked for", again, r.calls)
	}
	r.reading = nil
	if r.pass(); len(r.calls) != 1 {
		t.Errorf("%v was asked for by the next pass", r.calls)
	}
}

// Credentials that were refused while they were being changed hold nothing up for longer than they were refused (B171); the provider sees to it
// that no account is locked.
func TestWhatWasDeniedIsTriedAgainSoon(t *testing.T) {
	r := newRig(t, goingOff)
	r.failure = &provider.Error{Class: provider.Denied, Reason: provider.ReasonCredentialsInvalid}
	r.passesFor(5 * time.Second)
	denied := len(r.calls)
	if denied < 2 {
		t.Errorf("%d tries within five seconds", denied)
	}
	r.failure = nil
	r.passesFor(5 * time.Second)
	if len(r.calls) != denied+1 {
		t.Errorf("%d tries in the five seconds after it was put right", len(r.calls)-denied)
	}
}

// Nothing was sent, so there is nothing to tell.
func TestAnEffectThatChangedNothingIsNoEvent(t *testing.T) {
	r := newRig(t, goingOff)
	r.outcome = provider.Outcome{Unchanged: true}
	r.pass()
	if told := r.events(); len(r.calls) != 1 || len(told) != 0 {
		t.Errorf("%v was told as %v", r.calls, told)
	}
	r = newRig(t, goingOff)
	r.pass()
	if told := r.events(); len(told) != 1 || !strings.Contains(told[0], "ShutDown") {
		t.Errorf("a shutdown that was sent was told as %v", told)
	}
}

// unwritten makes passes whose records the API server does not take, for longer than an effect is waited for.
func (r *rig) unwritten() {
	r.t.Helper()
	r.refusing = apierrors.NewServiceUnavailable("etcd is away")
	for range 3 {
		if _, err := r.Reconcile(r.t.Context(), requestFor(lt.ServerName)); err == nil {
			r.t.Fatal("the pass did not tell that its record was not written")
		}
		r.clock.SetTime(r.clock.Now().Add(2 * r.Settings.EffectDeadline))
	}
	r.refusing = nil
}

// unmade is a VM that is to be made.
func unmade(s *lt.Scene) {
	s.Ledger.ProviderID, s.Ledger.ProvisionedAt, s.Ledger.Image = "", nil, nil
	s.Server.Status.Observed.Instance, s.Server.Status.Observed.Ports = nil, nil
	s.Server.Status.Observed.PowerState = v1alpha1.ObservedUnknown
}

// making is where a VM is made, and the cloud tells that it was.
func making(t *testing.T) *rig {
	r := newRig(t, lt.Virtual, unmade)
	r.outcome = provider.Outcome{Made: &provider.Made{InstanceID: lt.VMID, ImageID: lt.ImageID}}
	return r
}

// madeOnce wants that the VM is remembered and was asked for once.
func madeOnce(r *rig) {
	r.t.Helper()
	if led := r.ledger(); led.ProviderID != lt.VMID || led.Image == nil || !slices.Equal(r.calls, []lifecycle.Op{lifecycle.OpCreateInstance}) {
		r.t.Errorf("ledger %+v after %v", led, r.calls)
	}
}

// What a cloud made is remembered by a later pass where its record lost a race, and is not asked for again: a creation takes seconds, and
// the monitor's picture comes in between.
func TestWhatACloudMadeIsRememberedByALaterPass(t *testing.T) {
	r := making(t)
	r.during = func() {
		pictured := r.server()
		pictured.Status.Observed.Ports = []v1alpha1.ObservedPort{{ID: "port-0"}}
		if err := r.Client.Status().Update(t.Context(), pictured); err != nil {
			t.Fatal(err)
		}
	}
	if again := r.pass().RequeueAfter; again != pass.Again || r.ledger().ProviderID != "" {
		t.Fatalf("the record was written over another's write: again after %s", again)
	}
	r.during = nil
	r.clock.SetTime(lt.Now.Add(pass.Again))
	r.pass()
	madeOnce(r)
}

// Nor is it asked for again where the API server does not take the record, for longer than an effect is waited for.
func TestWhatACloudMadeIsRememberedThoughItsRecordWasRefused(t *testing.T) {
	r := making(t)
	r.unwritten()
	r.pass()
	madeOnce(r)
}
