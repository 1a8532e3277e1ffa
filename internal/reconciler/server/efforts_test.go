// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

var (
	start   = time.Unix(0, 0)
	machine = &v1alpha1.Server{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a"}}
	refusal = lifecycle.Gate{Level: lifecycle.Stalled, Reason: v1alpha1.ReasonEffectFailed, Message: "denied"}
)

func stepOf(clause string) lifecycle.Step {
	return lifecycle.Step{Kind: lifecycle.StepAct, Clause: clause, Effect: &lifecycle.Effect{Op: lifecycle.OpPowerOn}}
}

// P9: a pass between two tries reports what the last one met. Else each wake in between would say that all goes well, and each try that it
// does not: two writes and two Events every time.
func TestARefusalIsToldUntilTheNextTry(t *testing.T) {
	var e efforts
	e.failed(machine, stepOf("On"), start, patience{time.Minute, longestPatience}, refusal)
	if wait, told := e.wait(machine, stepOf("On"), start.Add(time.Second)); wait != 59*time.Second || told == nil || *told != refusal {
		t.Errorf("wait %s, told %v; want 59s and the refusal", wait, told)
	}
	if wait, told := e.wait(machine, stepOf("Off"), start); wait != 0 || told != nil {
		t.Errorf("another step waits %s and tells %v", wait, told)
	}
	e.succeeded(machine, stepOf("On"), start, time.Second)
	if wait, told := e.wait(machine, stepOf("On"), start); wait != time.Second || told != nil {
		t.Errorf("after a success: wait %s, told %v", wait, told)
	}
}

// R5: each try that fails is twice as patient as the one before it, up to a bound, and never less than its class asks for.
func TestPatienceDoublesUpToABound(t *testing.T) {
	var e efforts
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, longestPatience, longestPatience} {
		if got := e.failed(machine, stepOf("On"), start, patience{time.Minute, longestPatience}, refusal); got != want {
			t.Errorf("try %d waits %s, want %s", i, got, want)
		}
	}
	if got := e.failed(machine, stepOf("On"), start, patience{time.Hour, longestPatience}, refusal); got != time.Hour {
		t.Errorf("a BMC that asks for an hour gets %s", got)
	}
}

// Who gets no answer because effects have too little time, as on a machine that is too busy, waits in proportion to that time.
func TestPatienceWithSilenceIsInEffectDeadlines(t *testing.T) {
	silence := &provider.Error{Class: provider.Transient, Reason: provider.ReasonTimeout}
	for deadline, want := range map[time.Duration]time.Duration{30 * time.Second: longestPatience, time.Second: 10 * time.Second} {
		if got := patienceWith(silence, lifecycle.Settings{EffectDeadline: deadline}).after(100); got != want {
			t.Errorf("waits %s at most with effects that have %s, want %s", got, deadline, want)
		}
	}
}

// Timeouts say nothing of how long a refusal lasts: a quota that is full is asked about at its own pace, however often there was no answer
// before.
func TestPatienceIsOfOneKind(t *testing.T) {
	var e efforts
	for range 5 {
		e.failed(machine, stepOf("Create"), start, patience{time.Second, longestPatience}, refusal)
	}
	for i, want := range []time.Duration{10 * time.Second, 20 * time.Second} {
		if got := e.failed(machine, stepOf("Create"), start, patience{10 * time.Second, longestPatience}, refusal); got != want {
			t.Errorf("refusal %d waits %s, want %s", i, got, want)
		}
	}
}

// An edit of what a VM is made of, or a consent, is another effort: nobody waits for the patience that the last one had come to.
func TestAnEditAtACloudIsTriedAtOnce(t *testing.T) {
	var e efforts
	asks := func(image string) lifecycle.Step {
		step := stepOf("Create")
		claim := "" // a pointer of its own each time
		step.Effect.Virtual = &lifecycle.VirtualEffect{Expect: provider.InstanceExpect{Claim: &claim}, Spec: provider.InstanceSpec{Image: provider.Selector{Name: image}}}
		return step
	}
	e.failed(machine, asks("debain-12"), start, patience{time.Minute, longestPatience}, refusal)
	if wait, _ := e.wait(machine, asks("debain-12"), start); wait != time.Minute {
		t.Errorf("the same again waits %s", wait)
	}
	if wait, told := e.wait(machine, asks("debian-12"), start); wait != 0 || told != nil {
		t.Errorf("the edited one waits %s and tells %v", wait, told)
	}
}
