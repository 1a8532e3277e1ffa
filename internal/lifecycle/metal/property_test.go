// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
)

// TestEveryPhaseAnswers: the last clause of every phase applies always, so that Decide is total by construction.
func TestEveryPhaseAnswers(t *testing.T) {
	for phase, ok := range metal.LastAlwaysApplies() {
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
		d := metal.Decide(scene.View())
		sound(rt, d)
		if diff := cmp.Diff(d, metal.Decide(scene.View())); diff != "" {
			rt.Fatalf("two decisions on one view differ:\n%s", diff)
		}
		v := scene.View()
		v.Server.Status.Phase = v1alpha1.PhaseReleasing
		v.Server.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True"}}
		v.Server.Status.ObservedGeneration = 99
		if diff := cmp.Diff(d, metal.Decide(v)); diff != "" {
			rt.Fatalf("the reconciler's own status changed the decision:\n%s", diff)
		}
		metal.Available(v.Server, v.Settings)
		metal.Unsettled(v.Server)
		metal.Describe(v)
	})
}

// sound checks the form of a decision, and the rules that hold for every one.
func sound(rt *rapid.T, d lifecycle.Decision) {
	step := d.Step
	if d.Phase == "" || d.Rule == "" || step.Clause == "" || step.Message == "" {
		rt.Fatalf("incomplete: %+v", d)
	}
	if (step.Kind == lifecycle.StepPatch) != (step.Patch != nil) || (step.Kind == lifecycle.StepAct) != (step.Effect != nil) {
		rt.Fatalf("fields do not fit the kind: %+v", step)
	}
	if step.Kind == lifecycle.StepAct && !step.Live {
		rt.Fatalf("%s acts without a live view (P4)", step.Clause)
	}
	if step.Kind == lifecycle.StepWait && step.After <= 0 {
		rt.Fatalf("%s waits without a timer", step.Clause)
	}
	if e := step.Effect; e != nil && e.Op.Destructive() && (e.Intent == "" || e.Expect.Power == "" || e.Expect.AssetTag == nil) {
		rt.Fatalf("%s: %s without its intent, or without what it relies on (P6): %+v", step.Clause, e.Op, e)
	}
	if step.Kind == lifecycle.StepHold {
		i := slices.IndexFunc(d.Gates, func(g lifecycle.Gate) bool { return g.Level == lifecycle.Stalled })
		if i < 0 || len(lifecycle.WaysOut(d.Gates[i].Reason)) == 0 {
			rt.Fatalf("%s holds without a way out: %+v", step.Clause, d.Gates)
		}
	}
	for _, p := range []*lifecycle.Patch{step.Patch, step.Record, step.Refused} {
		soundPatch(rt, step.Clause, p)
	}
}

// TestPatchesComeToRest: with the world standing still, patch follows patch only a few times, and none changes nothing. What does not
// come to rest would write for ever (P8, I6).
func TestPatchesComeToRest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := anyScene(rt).View()
		var path []string
		for range 8 {
			d := metal.Decide(v)
			path = append(path, d.Step.Clause)
			if d.Step.Kind != lifecycle.StepPatch || d.Step.Patch.RemoveFinalizer != "" {
				return
			}
			before := v.Server.DeepCopy()
			d.Step.Patch.Apply(v.Server)
			if cmp.Equal(before, v.Server) {
				rt.Fatalf("%s writes what stands there already: %+v", d.Step.Clause, d.Step.Patch)
			}
			v.Server.ResourceVersion += "0"
		}
		rt.Fatalf("does not come to rest: %v", path)
	})
}

// soundPatch: what is written can be read again.
func soundPatch(rt *rapid.T, clause string, p *lifecycle.Patch) {
	if p == nil {
		return
	}
	written := map[string]string{}
	for key, value := range p.Ledger {
		if value != "" {
			written[key] = value
		}
	}
	if _, err := ledger.ParseServer(written); err != nil {
		rt.Fatalf("%s writes what it cannot read: %v", clause, err)
	}
}
