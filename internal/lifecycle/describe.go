// SPDX-License-Identifier: Apache-2.0

package lifecycle

// Description is a decision in words and as data: what `holdfast explain` shows.
type Description struct {
	Phase      string            `json:"phase"`
	Rule       string            `json:"rule"`
	RuleText   string            `json:"ruleText,omitempty"`
	Step       StepDescription   `json:"step"`
	Gates      []GateDescription `json:"gates,omitempty"`
	Conditions []Condition       `json:"conditions,omitempty"`
}

// StepDescription is the next step.
type StepDescription struct {
	Kind    StepKind `json:"kind"`
	Clause  string   `json:"clause"`
	Message string   `json:"message"`
	Effect  Op       `json:"effect,omitempty"`
}

// GateDescription is one reason why the object is not ready, with what a person can do about it.
type GateDescription struct {
	Level   string   `json:"level"`
	Reason  string   `json:"reason"`
	Message string   `json:"message"`
	WaysOut []string `json:"waysOut,omitempty"`
}

// String names the level.
func (l Level) String() string {
	switch l {
	case Progressing:
		return "Progressing"
	case Stalled:
		return "Stalled"
	default:
		return "Converged"
	}
}

// Describe puts a decision into words. Ways out are given for what stalls.
func Describe(d Decision) Description {
	out := Description{
		Phase: string(d.Phase), Rule: d.Rule, Conditions: d.Conditions,
		Step: StepDescription{Kind: d.Step.Kind, Clause: d.Step.Clause, Message: d.Step.Message},
	}
	if d.Step.Effect != nil {
		out.Step.Effect = d.Step.Effect.Op
	}
	for _, gate := range d.Gates {
		g := GateDescription{Level: gate.Level.String(), Reason: gate.Reason, Message: gate.Message}
		if gate.Level == Stalled {
			g.WaysOut = WaysOut(gate.Reason)
		}
		out.Gates = append(out.Gates, g)
	}
	return out
}
