// SPDX-License-Identifier: Apache-2.0

package lifecycletest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Sections are the parts of a page that are generated from what Decide does, by name: each stands between the marks of its name.
type Sections map[string]string

// In gives the page with its sections as they are to be.
func (s Sections) In(t *testing.T, page string) string {
	t.Helper()
	for name, text := range s {
		page = section(t, page, name, text)
	}
	return page
}

// section replaces what stands between the marks of name.
func section(t *testing.T, page, name, text string) string {
	t.Helper()
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end: "+name+" -->"
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the page has no marks for %s", name)
	}
	return before + begin + text + end + after
}

// PhaseRow is a row of a phase table, for people.
type PhaseRow struct{ Number, Text, Phase string }

// PhaseTable is the table of phases as a page shows it.
func PhaseTable(rows []PhaseRow) string {
	var b strings.Builder
	b.WriteString("| rule | holds when | phase |\n|---|---|---|\n")
	b.WriteString("| 1 | being deleted, and somebody still has it: deletion waits, and says for whom | by the rules below |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Number, r.Text, r.Phase)
	}
	return b.String()
}

// ClauseList are the clauses of each phase in order, by phase.
func ClauseList(names []string) string {
	var order []string
	byPhase := map[string][]string{}
	for _, name := range names {
		phase, clause, _ := strings.Cut(name, ".")
		if byPhase[phase] == nil {
			order = append(order, phase)
		}
		byPhase[phase] = append(byPhase[phase], clause)
	}
	var b strings.Builder
	for _, phase := range order {
		fmt.Fprintf(&b, "- **%s**: `%s`\n", phase, strings.Join(byPhase[phase], "`, `"))
	}
	return b.String()
}

// Diagram is a picture of the phases that is drawn from what Decide does: every patch of every case is applied, and every event of the
// world is let loose on a server of every phase; where the phase changes, there is an arrow.
type Diagram struct {
	Decide Decide
	Cases  []Case
	// Scenes are a server of each phase.
	Scenes []Override
	// Events are what others do to a server.
	Events map[string]Override

	labels map[[2]string]map[string]bool
}

// String draws it for mermaid.
func (g *Diagram) String() string {
	g.labels = map[[2]string]map[string]bool{}
	for _, c := range g.Cases {
		g.ownSteps(c)
	}
	for _, scene := range g.Scenes {
		for name, event := range g.Events {
			g.note(g.Decide(View(scene)).Phase, g.Decide(View(scene, event)).Phase, name)
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> Initial\n")
	for _, edge := range slices.SortedFunc(maps.Keys(g.labels), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", edge[0], edge[1], strings.Join(slices.Sorted(maps.Keys(g.labels[edge])), ", "))
	}
	b.WriteString("    Deleting --> [*]\n```\n")
	return b.String()
}

func (g *Diagram) note(from, to v1alpha1.ServerPhase, label string) {
	if from == to || from == "" || to == "" {
		return
	}
	edge := [2]string{string(from), string(to)}
	if g.labels[edge] == nil {
		g.labels[edge] = map[string]bool{}
	}
	g.labels[edge][label] = true
}

// ownSteps applies what a case writes, and notes the phase that follows.
func (g *Diagram) ownSteps(c Case) {
	v := View(c.Given)
	d := g.Decide(v)
	p := patchOf(d.Step)
	if p == nil || p.RemoveFinalizer != "" {
		return
	}
	p.Apply(v.Server)
	if v.Server.Spec.ClaimRef == nil {
		v.Claim, v.BoundClaims = nil, nil
	}
	g.note(d.Phase, g.Decide(v).Phase, c.Clause[strings.LastIndex(c.Clause, ".")+1:])
}

// patchOf is what a step writes, at once or after its effect.
func patchOf(step lifecycle.Step) *lifecycle.Patch {
	if step.Patch != nil {
		return step.Patch
	}
	return step.Record
}
