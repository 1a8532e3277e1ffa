// SPDX-License-Identifier: Apache-2.0

package virtual_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// TestEveryPhaseAnswers: the last clause of every phase applies always, so that Decide is total by construction.
func TestEveryPhaseAnswers(t *testing.T) {
	for phase, ok := range virtual.LastAlwaysApplies() {
		if !ok {
			t.Errorf("the last clause of %s does not always apply", phase)
		}
	}
}

// TestDecideIsTotalDeterministicAndBlind: for any view an answer of a sound form, the same twice, whatever the reconciler's own part
// of status says (P1, P5).
func TestDecideIsTotalDeterministicAndBlind(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scene := anyScene(rt)
		d := virtual.Decide(scene.View())
		lt.Sound(rt, d)
		if diff := cmp.Diff(d, virtual.Decide(scene.View())); diff != "" {
			rt.Fatalf("two decisions on one view differ:\n%s", diff)
		}
		v := scene.View()
		v.Server.Status.Phase = v1alpha1.PhaseReleasing
		v.Server.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True"}}
		v.Server.Status.ObservedGeneration = 99
		if diff := cmp.Diff(d, virtual.Decide(v)); diff != "" {
			rt.Fatalf("the reconciler's own status changed the decision:\n%s", diff)
		}
		virtual.Confirmed(v.Server, v.Settings)
		virtual.Unsettled(v.Server)
		virtual.Describe(v)
	})
}

// TestPatchesComeToRest: see lt.ComesToRest (P8, I6).
func TestPatchesComeToRest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { lt.ComesToRest(rt, virtual.Decide, anyScene(rt).View()) })
}

// TestRecordsAreSound: whatever an effect tells, what is recorded of it can be read again.
func TestRecordsAreSound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := anyScene(rt).View()
		d := virtual.Decide(v)
		if d.Step.Kind != lifecycle.StepAct {
			return
		}
		made := provider.Made{}
		if rapid.Bool().Draw(rt, "told") {
			made = provider.Made{InstanceID: "vm-3", ImageID: "img-13", SecurityGroups: [][]string{{"sg"}}, FloatingIP: "fip"}
		}
		before := d.Step.Record
		p := virtual.Recorded(v.Server, d.Step, &made)
		if before == nil {
			if p != nil {
				rt.Fatalf("%s records %+v without being asked to", d.Step.Clause, p)
			}
			return
		}
		p.Apply(v.Server)
		if _, err := ledger.ParseServer(v.Server.Annotations); err != nil {
			rt.Fatalf("%s records what it cannot read: %v", d.Step.Clause, err)
		}
	})
}

// TestNothingFollowsFromAnotherProject: while the Cloud leads to another project than the one a server is in, nothing is asked of it,
// nothing of the server's memory changes, and it goes for a person's consent alone (I3, P10).
func TestNothingFollowsFromAnotherProject(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scene := anyScene(rt)
		elsewhereAt(scene)
		v := scene.View()
		led, err := ledger.ParseServer(v.Server.Annotations)
		if err != nil || led.Project == "" || v.Facts().ProjectID == led.Project {
			return
		}
		step := virtual.Decide(v).Step
		if step.Kind != lifecycle.StepHold && step.Kind != lifecycle.StepSettled && step.Clause != "First.Abandon" {
			rt.Fatalf("%s %s: %s", step.Kind, step.Clause, step.Message)
		}
	})
}
