// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"strings"
)

// Table is one of the six: what was aimed at and what was measured, then the figures behind it.
type Table struct {
	Number int
	Title  string
	Aims   []Aim
	Grids  []Grid
	Notes  []string
}

// Aim is one line of a table.
type Aim struct {
	What, Aim, Measured string
	Met                 Verdict
	// Count says that the figure does not depend on the machine: one that misses its aim fails the run.
	Count bool
}

// Verdict says whether an aim was met. Some figures have none, or are too small a run to tell.
type Verdict string

// The verdicts.
const (
	Met    Verdict = "yes"
	Missed Verdict = "**no**"
	NoAim  Verdict = "–"
)

// Verdict of an aim.
func verdict(met bool) Verdict {
	if met {
		return Met
	}
	return Missed
}

// Grid is a table of figures.
type Grid struct {
	Head []string
	Rows [][]string
}

// Row adds a row, of anything that prints itself.
func (g *Grid) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	g.Rows = append(g.Rows, row)
}

// Markdown is the table for documents.
func (t Table) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "## %d. %s\n\n", t.Number, t.Title)
	aims := Grid{Head: []string{"what", "aim", "measured", "met"}}
	for _, a := range t.Aims {
		aims.Row(a.What, a.Aim, a.Measured, a.Met)
	}
	aims.write(&out)
	for i := range t.Grids {
		t.Grids[i].write(&out)
	}
	for _, note := range t.Notes {
		fmt.Fprintf(&out, "%s\n\n", note)
	}
	return out.String()
}

func (g *Grid) write(out *strings.Builder) {
	if len(g.Rows) == 0 {
		return
	}
	line := func(cells []string) {
		escaped := make([]string, len(cells))
		for i, cell := range cells {
			escaped[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(escaped, " | "))
	}
	line(g.Head)
	fmt.Fprintf(out, "|%s\n", strings.Repeat("---|", len(g.Head)))
	for _, row := range g.Rows {
		line(row)
	}
	fmt.Fprintln(out)
}

// failures are the counts that missed their aim.
func (t Table) failures() []string {
	var found []string
	for _, a := range t.Aims {
		if a.Count && a.Met == Missed {
			found = append(found, fmt.Sprintf("table %d: %s: %s, want %s", t.Number, a.What, a.Measured, a.Aim))
		}
	}
	return found
}
