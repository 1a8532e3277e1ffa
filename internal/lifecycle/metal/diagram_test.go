// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
)

var update = flag.Bool("update", false, "write the generated documents anew")

const conceptPage = "../../../docs/concepts/lifecycle.md"

// TestConceptPage: the diagram and the tables of docs/concepts/lifecycle.md are what Decide does. Write them anew with:
// go test ./internal/lifecycle/metal -run ConceptPage -update
func TestConceptPage(t *testing.T) {
	page, err := os.ReadFile(conceptPage)
	if err != nil {
		t.Fatal(err)
	}
	want := string(page)
	for name, text := range map[string]string{"diagram": diagram(), "phases": phaseTable(), "clauses": clauseList()} {
		want = section(t, want, name, text)
	}
	if *update {
		if err := os.WriteFile(conceptPage, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("docs/concepts/lifecycle.md is not what Decide does; write it anew with -update\n%s", diff)
	}
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

func phaseTable() string {
	var b strings.Builder
	b.WriteString("| rule | holds when | phase |\n|---|---|---|\n")
	b.WriteString("| 1 | being deleted, and somebody still has it: deletion waits, and says for whom | by the rules below |\n")
	for _, r := range metal.Rows() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Number, r.Text, r.Phase)
	}
	return b.String()
}

// clauseList are the clauses of each phase in order, by phase.
func clauseList() string {
	var order []string
	byPhase := map[string][]string{}
	for _, name := range metal.ClauseNames() {
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

// diagram is drawn from what Decide does: every patch of every case is applied, and every event of the world is let loose on a server of
// every phase; where the phase changes, there is an arrow.
func diagram() string {
	labels := map[[2]string]map[string]bool{}
	note := func(from, to v1alpha1.ServerPhase, label string) {
		if from == to || from == "" || to == "" {
			return
		}
		edge := [2]string{string(from), string(to)}
		if labels[edge] == nil {
			labels[edge] = map[string]bool{}
		}
		labels[edge][label] = true
	}
	for _, c := range cases() {
		ownSteps(c, note)
	}
	for _, scene := range scenes() {
		for name, event := range worldEvents {
			from := metal.Decide(lt.View(scene)).Phase
			note(from, metal.Decide(lt.View(scene, event)).Phase, name)
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> Initial\n")
	for _, edge := range slices.SortedFunc(maps.Keys(labels), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", edge[0], edge[1], strings.Join(slices.Sorted(maps.Keys(labels[edge])), ", "))
	}
	b.WriteString("    Deleting --> [*]\n```\n")
	return b.String()
}

// ownSteps applies what a case writes, and notes the phase that follows.
func ownSteps(c decided, note func(from, to v1alpha1.ServerPhase, label string)) {
	v := lt.View(c.given)
	d := metal.Decide(v)
	p := d.Step.Patch
	if p == nil {
		p = d.Step.Record
	}
	if p == nil || p.RemoveFinalizer != "" {
		return
	}
	p.Apply(v.Server)
	if v.Server.Spec.ClaimRef == nil {
		v.Claim, v.BoundClaims = nil, nil
	}
	label := c.clause[strings.LastIndex(c.clause, ".")+1:]
	note(d.Phase, metal.Decide(v).Phase, label)
}

// scenes are a server of each phase.
func scenes() []lt.Override {
	return []lt.Override{
		given(undiscovered), given(), given(lt.Claimed), lt.Running, given(lt.Running, lt.ClaimDeleting, lt.Announced(ledger.WhyReleased, 1)),
		given(lt.InMaintenance(v1alpha1.PowerKeep)), given(lt.Running, lt.InMaintenance(v1alpha1.PowerKeep)),
		given(lt.Claimed, lt.Ledger(func(l *ledger.Server) { l.Released = &ledger.Released{Claim: lt.ClaimID, At: lt.Before(5)} })),
		given(lt.Ledger(func(l *ledger.Server) { l.DirtySince = lt.Before(5) }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.Cleaning = "Wipe" })),
	}
}

// worldEvents are what others do to a server.
var worldEvents = map[string]lt.Override{
	"a claim binds": func(s *lt.Scene) {
		if s.Server.Spec.ClaimRef == nil && metal.Available(s.View().Server, s.Settings) {
			lt.Claimed(s)
		}
	},
	"its claim is deleted": func(s *lt.Scene) {
		if s.Claim != nil {
			lt.ClaimDeleting(s)
		}
	},
	"claimRef cleared by a person": lt.RefCleared,
	"a maintenance begins":         lt.InMaintenance(v1alpha1.PowerKeep),
	"the maintenance ends": func(s *lt.Scene) {
		if s.Server.Spec.MaintenanceRef == nil {
			return
		}
		s.Server.Spec.MaintenanceRef, s.Maintenance = nil, nil
		if s.Server.Spec.ClaimRef == nil {
			s.Ledger.DiscoveredAt = time.Time{}
		}
	},
	"deleted": func(s *lt.Scene) { t := metav1.NewTime(lt.Now); s.Server.DeletionTimestamp = &t },
	"restored or moved": func(s *lt.Scene) {
		if s.Server.DeletionTimestamp == nil {
			s.Server.UID = "uid-after-the-restore"
		}
	},
	"cleaning set to None": lt.Spec(func(s *v1alpha1.ServerSpec) { s.Cleaning = v1alpha1.CleaningNone }),
}
