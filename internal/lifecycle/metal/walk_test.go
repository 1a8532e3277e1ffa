// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// walk is a machine, its server and its claim: one pass after another, each on a fresh picture.
type walk struct {
	t       *testing.T
	now     time.Time
	scene   *lifecycletest.Scene
	machine provider.SystemFacts
	imaged  int // network boots
	boots   int // boots from disk
	writes  int // patches of the server
	clauses []string
	version int
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	w := &walk{t: t, now: lifecycletest.Now, scene: lifecycletest.New(lifecycletest.Unseen)}
	w.scene.Ledger = ledger.Server{}
	w.scene.Server.Finalizers = nil
	w.machine = provider.SystemFacts{Power: provider.PowerOff, AssetTag: "shelf 7"}
	return w
}

// look is the monitor: the picture bears the intent that was open before.
func (w *walk) look() {
	since := metav1.NewTime(w.now)
	old := w.scene.Server.Status.Observed
	if old != nil && old.PowerState == v1alpha1.ObservedPower(w.machine.Power) {
		since = *old.Since
	}
	seen := &v1alpha1.ServerObserved{
		Reachable: true, SystemUUID: lifecycletest.SystemUUID, PowerState: v1alpha1.ObservedPower(w.machine.Power), Since: &since,
		AssetTag: w.machine.AssetTag, Hardware: &v1alpha1.Hardware{SerialNumber: "S-1"},
		BootOverride: &v1alpha1.ObservedBootOverride{Target: string(w.machine.Boot.Target), Enabled: string(w.machine.Boot.Enabled)},
	}
	if w.machine.Power == provider.PowerOn {
		seen.BootProgress = "OSRunning"
	}
	led, err := ledger.ParseServer(w.scene.Server.Annotations)
	if err != nil {
		w.t.Fatal(err)
	}
	if led.Intent != nil {
		seen.Intent = led.Intent.ID
	}
	w.scene.Server.Status.Observed = seen
}

// view is the scene as it stands; memory lives in the annotations.
func (w *walk) view() lifecycle.ServerView {
	w.scene.Ledger = ledger.Server{Identity: w.scene.Server.Annotations[ledger.KeyIdentity]}
	v := w.scene.View()
	v.Now, v.Live = w.now, true
	return v
}

// pass does one step and tells whether it did anything.
func (w *walk) pass() bool {
	w.t.Helper()
	d := metal.Decide(w.view())
	w.clauses = append(w.clauses, d.Step.Clause)
	switch d.Step.Kind {
	case lifecycle.StepPatch:
		w.write(*d.Step.Patch)
	case lifecycle.StepAct:
		w.effect(*d.Step.Effect)
		if d.Step.Record != nil {
			w.write(*d.Step.Record)
		}
	default:
		return false
	}
	return true
}

func (w *walk) write(p lifecycle.Patch) {
	p.Apply(w.scene.Server)
	w.version++
	w.writes++
	w.scene.Server.ResourceVersion = fmt.Sprint(w.version)
}

func (w *walk) effect(e lifecycle.Effect) {
	w.t.Helper()
	if e.Expect.Power != "" && e.Expect.Power != w.machine.Power {
		w.t.Fatalf("%s expects %s of a machine that is %s", e.Op, e.Expect.Power, w.machine.Power)
	}
	if e.Expect.AssetTag != nil && *e.Expect.AssetTag != w.machine.AssetTag {
		w.t.Fatalf("%s expects the tag %q of a machine that bears %q", e.Op, *e.Expect.AssetTag, w.machine.AssetTag)
	}
	switch e.Op {
	case lifecycle.OpPowerOn:
		w.powerOn()
	case lifecycle.OpShutDown, lifecycle.OpForceOff:
		w.machine.Power = provider.PowerOff
	case lifecycle.OpSetBootOverride:
		w.machine.Boot = e.Override
	case lifecycle.OpClearBootOverride:
		w.machine.Boot = provider.BootOverride{}
	case lifecycle.OpWriteAssetTag:
		w.machine.AssetTag = e.AssetTag
	}
}

func (w *walk) powerOn() {
	if w.machine.Power == provider.PowerOn {
		return
	}
	w.machine.Power = provider.PowerOn
	if w.machine.Boot.Armed() {
		w.imaged++
		w.machine.Boot = provider.BootOverride{}
		return
	}
	w.boots++
}

// settle looks and passes until nothing is left to do.
func (w *walk) settle() lifecycle.Decision {
	w.t.Helper()
	for range 60 {
		w.look()
		if !w.pass() {
			d := metal.Decide(w.view())
			if d.Step.Kind != lifecycle.StepWait || d.Step.After >= time.Minute {
				return d
			}
			w.now = w.now.Add(d.Step.After)
		}
	}
	w.t.Fatalf("does not settle: %v", w.clauses)
	return lifecycle.Decision{}
}

func (w *walk) bind() {
	lifecycletest.Claimed(w.scene)
	w.version++
}

func (w *walk) mustBe(phase v1alpha1.ServerPhase, kind lifecycle.StepKind) {
	w.t.Helper()
	d := w.settle()
	if d.Phase != phase || d.Step.Kind != kind {
		w.t.Fatalf("phase %s, step %s %s (%s); want %s, %s\npath: %v", d.Phase, d.Step.Kind, d.Step.Clause, d.Step.Message, phase, kind, w.clauses)
	}
}

// TestLifeOfAServer runs one machine through a whole life: enrolled, claimed, booted once from the network, powered off by its tenant
// and on again from its disk, restarted, released, free again, with its asset tag as it was; and counts the writes.
func TestLifeOfAServer(t *testing.T) {
	w := newWalk(t)
	w.mustBe(v1alpha1.PhaseAvailable, lifecycle.StepSettled)
	if w.writes > 2 {
		t.Errorf("%d writes of the server until Available, want 2 at most: %v", w.writes, w.clauses)
	}
	w.writes = 0
	w.now = w.now.Add(time.Minute)
	w.bind()
	w.mustBe(v1alpha1.PhaseReserved, lifecycle.StepWait) // for the claim's bound
	lifecycletest.Bound(w.scene)
	w.mustBe(v1alpha1.PhaseReserved, lifecycle.StepSettled)
	if w.imaged != 1 || w.machine.Power != provider.PowerOn || !ledger.IsStamp(w.machine.AssetTag) {
		t.Fatalf("imaged %d times, power %s, tag %q", w.imaged, w.machine.Power, w.machine.AssetTag)
	}
	if w.writes > 3 {
		t.Errorf("%d writes of the server until booted, want 3 at most: %v", w.writes, w.clauses)
	}

	w.machine.Power = provider.PowerOff // the tenant powers itself off
	w.writes = 0
	w.mustBe(v1alpha1.PhaseReserved, lifecycle.StepSettled)
	if w.imaged != 1 || w.boots != 1 || w.writes != 0 {
		t.Errorf("after the tenant's own power-off: imaged %d, from disk %d, writes %d", w.imaged, w.boots, w.writes)
	}

	w.now = w.now.Add(time.Hour)
	asked := metav1.NewTime(w.now)
	w.scene.Claim.Spec.RestartedAt = &asked
	w.mustBe(v1alpha1.PhaseReserved, lifecycle.StepSettled)
	if w.imaged != 1 || w.boots != 2 {
		t.Errorf("after a restart: imaged %d, from disk %d", w.imaged, w.boots)
	}

	w.writes = 0
	gone := metav1.NewTime(w.now)
	w.scene.Claim.DeletionTimestamp = &gone
	w.mustBe(v1alpha1.PhaseAvailable, lifecycle.StepSettled)
	if w.machine.Power != provider.PowerOff || w.machine.AssetTag != "shelf 7" || w.writes > 2 {
		t.Errorf("after the release: power %s, tag %q, writes %d", w.machine.Power, w.machine.AssetTag, w.writes)
	}
}
