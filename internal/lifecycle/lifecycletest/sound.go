// SPDX-License-Identifier: Apache-2.0

package lifecycletest

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Sound checks the form of a decision, and the rules that hold for every one whatever the server is.
func Sound(rt *rapid.T, d lifecycle.Decision) {
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
	if step.Kind == lifecycle.StepHold {
		i := slices.IndexFunc(d.Gates, func(g lifecycle.Gate) bool { return g.Level == lifecycle.Stalled })
		if i < 0 || len(lifecycle.WaysOut(d.Gates[i].Reason)) == 0 {
			rt.Fatalf("%s holds without a way out: %+v", step.Clause, d.Gates)
		}
	}
	for _, p := range []*lifecycle.Patch{step.Patch, step.Record, step.Refused, step.Tried} {
		if p == nil {
			continue
		}
		if _, err := ledger.ParseServer(setEntries(p)); err != nil {
			rt.Fatalf("%s writes what it cannot read: %v", step.Clause, err)
		}
	}
}

// ComesToRest checks that, with the world standing still, patch follows patch only a few times, and that none changes nothing: what does
// not come to rest would write for ever (P8, I6).
func ComesToRest(rt *rapid.T, decide Decide, v lifecycle.ServerView) {
	var path []string
	for range 8 {
		d := decide(v)
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
}
