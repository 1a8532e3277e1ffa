// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// WriteTable writes the report for people: an object a line, then what each kind of trouble means and the ways out of it, then what would
// be if machines are found otherwise.
func (r Report) WriteTable(w io.Writer) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "restored into the cluster %s (%s)\n\n", r.Cluster.ID, r.Cluster.From)
	r.writeObjects(&out)
	r.writeTrouble(&out)
	r.writeOtherwise(&out)
	section(&out, "at odds in the backup", r.lines(Odd))
	section(&out, "to know", r.lines(Note))
	var problems []string
	for _, p := range r.Problems {
		problems = append(problems, fmt.Sprintf("%s: %s", p.Origin, p.Text))
	}
	section(&out, "not read", problems)
	fmt.Fprintf(&out, "\n%s\n", r.total())
	_, err := w.Write(out.Bytes())
	return err
}

func (r Report) writeObjects(out *bytes.Buffer) {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "KIND\tNAME\tVERDICT\tWHY\tIF")
	for _, object := range r.Objects {
		kind, name := object.Kind, object.Name
		for _, line := range object.expected() {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", kind, name, line.Verdict, orDash(line.Reason), orDash(line.conditions))
			kind, name = "", ""
		}
	}
	_ = table.Flush() // into a buffer
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// line is an outcome that is expected, in one condition or in several.
type line struct {
	Outcome
	conditions string
}

// expected are the outcomes that differ among those that are expected.
func (o Object) expected() []line {
	var lines []line
	for _, outcome := range o.Outcomes {
		if !outcome.Expected {
			continue
		}
		at := slices.IndexFunc(lines, func(l line) bool { return l.Verdict == outcome.Verdict && l.Reason == outcome.Reason })
		if at < 0 {
			lines = append(lines, line{Outcome: outcome, conditions: string(outcome.Condition)})
			continue
		}
		lines[at].conditions += " or " + string(outcome.Condition)
	}
	if o.Made {
		lines[0].conditions += " (made by its BMC)"
	}
	return lines
}

// group are the objects of which the same is to be said.
type group struct {
	title    string
	names    []string
	messages []string
	advice   []string
}

type groups struct{ all []*group }

func (g *groups) add(title, name string) *group {
	at := slices.IndexFunc(g.all, func(known *group) bool { return known.title == title })
	if at < 0 {
		at, g.all = len(g.all), append(g.all, &group{title: title})
	}
	g.all[at].names = append(g.all[at].names, name)
	return g.all[at]
}

// mostNames is how many objects of a group are named.
const mostNames = 5

func (g *group) named() string {
	shown := strings.Join(g.names[:min(mostNames, len(g.names))], ", ")
	if more := len(g.names) - mostNames; more > 0 {
		return fmt.Sprintf("%s and %d more", shown, more)
	}
	return shown
}

// writeTrouble says of each reason for which something does not go on by itself what is missing and what a person can do.
func (r Report) writeTrouble(out *bytes.Buffer) {
	var found groups
	for _, object := range r.Objects {
		for _, e := range object.expected() {
			if !e.Verdict.Resumes() {
				found.trouble(object.Kind+" "+object.Name, e.Outcome)
			}
		}
	}
	for _, g := range found.all {
		section(out, g.title+": "+g.named(), append(g.messages, g.advice...))
	}
}

// trouble adds an object to those of the same verdict and reason.
func (g *groups) trouble(name string, o Outcome) {
	same := g.add(strings.TrimSpace(string(o.Verdict)+" "+o.Reason), name)
	if len(same.advice) == 0 {
		same.advice = advice(o)
	}
	if o.Message != "" && len(same.messages) < mostNames {
		same.messages = append(same.messages, name+": "+o.Message)
	}
}

// advice is what a person can do about an outcome.
func advice(o Outcome) []string {
	var lines []string
	if remedy, known := lifecycle.RemedyOf(o.Reason); known && len(o.WaysOut) > 0 {
		lines = append(lines, "Holdfast will not: "+remedy.WillNot)
	}
	for _, way := range o.WaysOut {
		lines = append(lines, "way out: "+way)
	}
	switch o.Verdict {
	case Begin:
		lines = append(lines, "it gets a machine as a new claim does: restore it with its ledger (the annotations ledger.holdfast.dev/…) to keep what it had")
	case PowerOff:
		lines = append(lines, "what was restored asks for it: see spec.power, and the claim's")
	}
	return lines
}

// writeOtherwise says what would be if machines are found otherwise than is expected.
func (r Report) writeOtherwise(out *bytes.Buffer) {
	var found groups
	for _, object := range r.Objects {
		for _, o := range object.Outcomes {
			if object.Kind != KindServer || o.Expected {
				continue
			}
			found.add(strings.TrimSpace(fmt.Sprintf("%s: %s %s", o.Condition, o.Verdict, o.Reason)), object.Name)
		}
	}
	slices.SortStableFunc(found.all, func(a, b *group) int { return strings.Compare(a.title, b.title) })
	lines := make([]string, len(found.all))
	for i, g := range found.all {
		lines[i] = fmt.Sprintf("%s (%s)", g.title, g.named())
	}
	section(out, "if it is found otherwise", lines)
}

func (r Report) lines(level Level) []string {
	var lines []string
	for _, f := range r.Findings {
		if f.Level == level {
			lines = append(lines, fmt.Sprintf("%s %s %s", f.Kind, f.Name, f.Text))
		}
	}
	return lines
}

func section(out *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(out, "  %s\n", line)
	}
}

// total is the last line: how many objects there are, by verdict.
func (r Report) total() string {
	if len(r.Objects) == 0 {
		return "no object of Holdfast's"
	}
	var counts []string
	for _, verdict := range severity {
		if n := r.Summary[verdict]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, verdict))
		}
	}
	return fmt.Sprintf("%d objects: %s", len(r.Objects), strings.Join(counts, ", "))
}
