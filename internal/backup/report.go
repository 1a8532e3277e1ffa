// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"encoding/json"
	"io"
)

// Cluster is who will act on what is restored.
type Cluster struct {
	ID string `json:"id"`
	// From says how that is known.
	From string `json:"from"`
}

// Report is what a check found.
type Report struct {
	Cluster Cluster `json:"cluster"`
	// Objects by kind and name.
	Objects []Object `json:"objects"`
	// Findings are what is at odds within the backup.
	Findings []Finding `json:"findings,omitempty"`
	// Problems are what could not be read.
	Problems []Problem `json:"problems,omitempty"`
	// Others counts objects of kinds that are nothing of Holdfast's.
	Others int `json:"others"`
	// Summary counts the objects by verdict.
	Summary map[Verdict]int `json:"summary"`
}

// Object is what becomes of one object.
type Object struct {
	Kind string `json:"kind"`
	// Name is namespace/name for a claim.
	Name   string `json:"name"`
	Origin Origin `json:"origin"`
	// Made says that the object is in no file: it is made of the one at Origin.
	Made bool `json:"made,omitempty"`
	// Verdict is the worst of what is expected.
	Verdict Verdict `json:"verdict"`
	// Outcomes, one for each condition in which the machine may be found; the expected ones first.
	Outcomes []Outcome `json:"outcomes"`
}

// Expected is the outcome that the verdict is of.
func (o Object) Expected() Outcome {
	worst := o.Outcomes[0]
	for _, outcome := range o.Outcomes {
		if outcome.Expected && (!worst.Expected || worse(outcome.Verdict, worst.Verdict)) {
			worst = outcome
		}
	}
	return worst
}

// In is the outcome where the machine is found in a condition; false where that was not tried.
func (o Object) In(condition Condition) (Outcome, bool) {
	for _, outcome := range o.Outcomes {
		if outcome.Condition == condition {
			return outcome, true
		}
	}
	return Outcome{}, false
}

// Object finds the report on an object; false for none.
func (r Report) Object(kind, name string) (Object, bool) {
	for _, object := range r.Objects {
		if object.Kind == kind && object.Name == name {
			return object, true
		}
	}
	return Object{}, false
}

// Unreadable says that something of the backup could not be read, so that the report may be incomplete.
func (r Report) Unreadable() bool { return len(r.Problems) > 0 }

// Resumes says that each object goes on by itself, that nothing is lost, and that nothing is at odds.
func (r Report) Resumes() bool {
	for verdict := range r.Summary {
		if !verdict.Resumes() {
			return false
		}
	}
	for _, finding := range r.Findings {
		if finding.Level == Odd {
			return false
		}
	}
	return true
}

// summed counts objects by verdict.
func summed(objects []Object) map[Verdict]int {
	summary := map[Verdict]int{}
	for _, object := range objects {
		summary[object.Verdict]++
	}
	return summary
}

// WriteJSON writes the report as JSON.
func (r Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}
