// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"strings"
	"time"
)

// Violation is a rule that was broken.
type Violation struct {
	// Rule is the invariant's name.
	Rule    string `json:"rule"`
	How     string `json:"how"`
	Machine string `json:"machine,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	// Trace are the last events about that machine and tenant, the one that breaks the rule last.
	Trace []Event `json:"trace"`
}

// Report is what a history shows.
type Report struct {
	Violations []Violation `json:"violations"`
	// Excused are broken rules within a deliberate limit.
	Excused []Violation `json:"excused,omitempty"`
	// Counts are the events by kind.
	Counts map[Kind]int `json:"counts"`
	// Settled says that the history came to its end, and that the end was judged.
	Settled bool `json:"settled"`
}

// String tells a violation with its trace, for people.
func (v Violation) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s (machine %s, tenant %s)\n", v.Rule, v.How, orNone(v.Machine), orNone(v.Tenant))
	for _, e := range v.Trace {
		fmt.Fprintf(&out, "  %s\n", e)
	}
	return out.String()
}

// String is an event on a line.
func (e Event) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s", e.At.Format("15:04:05.000"), e.Kind)
	for _, part := range []struct{ name, value string }{
		{"machine", e.Machine}, {"tenant", e.Tenant}, {"identity", e.Identity}, {"arrived", clockTime(e.Arrived)}, {"acked", clockTime(e.Acked)},
	} {
		if part.value != "" {
			fmt.Fprintf(&out, " %s=%s", part.name, part.value)
		}
	}
	if e.Detail != "" {
		fmt.Fprintf(&out, " (%s)", e.Detail)
	}
	return out.String()
}

func clockTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("15:04:05.000")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
