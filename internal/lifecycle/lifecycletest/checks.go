// SPDX-License-Identifier: Apache-2.0

package lifecycletest

import (
	"slices"
	"testing"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Check looks at a decision.
type Check = func(*testing.T, lifecycle.Decision)

// And puts checks together.
func And(checks ...Check) Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		for _, check := range checks {
			check(t, d)
		}
	}
}

// Reason checks the first gate.
func Reason(want string) Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if len(d.Gates) == 0 || d.Gates[0].Reason != want {
			t.Errorf("gates %+v, want first %s", d.Gates, want)
		}
	}
}

// Live checks that the step is decided on a live view (P4, P10).
func Live(t *testing.T, d lifecycle.Decision) {
	t.Helper()
	if !d.Step.Live {
		t.Errorf("%s is not decided on a live view (P10)", d.Step.Clause)
	}
}

// Rule checks which row of the phase table held.
func Rule(want string) Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if d.Rule != want {
			t.Errorf("rule %q, want %q", d.Rule, want)
		}
	}
}

// Tells checks the Event that the patch leaves behind.
func Tells(event string) Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if d.Step.Event != event {
			t.Errorf("event %q, want %q", d.Step.Event, event)
		}
	}
}

// Does checks the effect.
func Does(op lifecycle.Op) Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		if d.Step.Effect == nil || d.Step.Effect.Op != op {
			t.Errorf("effect %+v, want %s", d.Step.Effect, op)
		}
	}
}

// Written is the patch of a step, or what is recorded after its effect, and as a ledger.
func Written(t *testing.T, d lifecycle.Decision) (*lifecycle.Patch, ledger.Server) {
	t.Helper()
	p := patchOf(d.Step)
	if p == nil {
		t.Fatalf("%s writes nothing", d.Step.Clause)
	}
	return p, parsed(t, p)
}

// parsed reads what a patch sets.
func parsed(t *testing.T, p *lifecycle.Patch) ledger.Server {
	t.Helper()
	led, err := ledger.ParseServer(setEntries(p))
	if err != nil {
		t.Fatal(err)
	}
	return led
}

func setEntries(p *lifecycle.Patch) map[string]string {
	entries := map[string]string{}
	for key, value := range p.Ledger {
		if value != "" {
			entries[key] = value
		}
	}
	return entries
}

// Sets checks that the patch sets entries, and no others.
func Sets(keys ...string) Check { return Changes(keys, nil) }

// Changes checks that the patch sets entries, and no others, and clears entries.
func Changes(sets, clears []string) Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		p, _ := Written(t, d)
		for key := range setEntries(p) {
			if !slices.Contains(sets, key) {
				t.Errorf("sets %s=%s, which is not expected", key, p.Ledger[key])
			}
		}
		for _, key := range sets {
			if p.Ledger[key] == "" {
				t.Errorf("does not set %s", key)
			}
		}
		for _, key := range clears {
			if value, said := p.Ledger[key]; !said || value != "" {
				t.Errorf("does not clear %s", key)
			}
		}
	}
}

// Removes checks that the patch removes consents.
func Removes(annotations ...string) Check {
	return func(t *testing.T, d lifecycle.Decision) {
		t.Helper()
		p, _ := Written(t, d)
		for _, a := range annotations {
			if !slices.Contains(p.Remove, a) {
				t.Errorf("removes %v, want %s among them", p.Remove, a)
			}
		}
	}
}
