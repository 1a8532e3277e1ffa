// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Write writes the report as plain text.
func (r Report) Write(w io.Writer) error {
	var out bytes.Buffer
	r.Render(&out)
	_, err := w.Write(out.Bytes())
	return err
}

// Render appends the report as plain text.
func (r Report) Render(out *bytes.Buffer) {
	fmt.Fprintf(out, "%s %s\n", r.Kind, r.Name)
	if r.Phase != "" { // what is only used has none
		rule := r.Rule
		if r.RuleText != "" {
			rule += ": " + r.RuleText
		}
		field(out, "phase", fmt.Sprintf("%s (%s)", r.Phase, rule))
		field(out, "next step", r.next())
	}
	for _, fact := range r.Facts {
		field(out, fact.Name, fact.Text)
	}
	renderEdges(out, "uses", r.Uses)
	renderEdges(out, "used by", r.UsedBy)
	r.renderGates(out)
	section(out, "conditions", len(r.Conditions))
	for _, c := range r.Conditions {
		fmt.Fprintf(out, "    %-18s %-8s %-20s %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	section(out, "memory", len(r.Memory))
	for _, entry := range r.Memory {
		fmt.Fprintf(out, "    %-14s %s\n", entry.Name, entry.Text)
	}
	section(out, "not looked at", len(r.Notes))
	for _, note := range r.Notes {
		fmt.Fprintf(out, "    %s\n", note)
	}
	if r.Server != nil {
		fmt.Fprintln(out)
		r.Server.Render(out)
	}
}

func renderEdges(out *bytes.Buffer, title string, edges []Edge) {
	section(out, title, len(edges))
	for _, edge := range edges {
		fmt.Fprintf(out, "    %-23s %s (%s)\n", edge.Kind, edge.Name, edge)
	}
}

func field(out *bytes.Buffer, name, text string) { fmt.Fprintf(out, "  %-12s %s\n", name, text) }

func section(out *bytes.Buffer, title string, lines int) {
	if lines > 0 {
		fmt.Fprintf(out, "  %s\n", title)
	}
}

// next says the next step in a line.
func (r Report) next() string {
	kind := string(r.Step.Kind)
	if r.Step.Effect != "" {
		kind += " " + string(r.Step.Effect)
	}
	message := r.Step.Message
	if r.Step.Kind == lifecycle.StepHold {
		message = "nothing is done until a person consents or a fact changes" // why is said below, with the ways out
	}
	return fmt.Sprintf("%s: %s [%s]", kind, message, r.Step.Clause)
}

// renderGates shows what stands in the way; a decision without an objection has nothing to show.
func (r Report) renderGates(out *bytes.Buffer) {
	for _, gate := range r.Gates {
		if gate.Level == lifecycle.Converged.String() {
			continue
		}
		field(out, strings.ToLower(gate.Level), gate.Reason+": "+gate.Message)
		remedy, held := lifecycle.RemedyOf(gate.Reason)
		if !held || gate.Level != lifecycle.Stalled.String() {
			continue
		}
		fmt.Fprintf(out, "    missing      %s\n    will not     %s\n", remedy.Missing, remedy.WillNot)
		for i, way := range gate.WaysOut {
			label := "ways out"
			if i > 0 {
				label = ""
			}
			fmt.Fprintf(out, "    %-12s - %s\n", label, way)
		}
	}
}
