// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

var update = flag.Bool("update", false, "write the generated documents anew")

const runbook = "../../docs/runbook.md"

// TestEveryHoldHasAWayOut: the reasons of holds in the API have each a remedy with at least one way out, and say what is missing and
// what is not done meanwhile.
func TestEveryHoldHasAWayOut(t *testing.T) {
	reasons := holdReasonsOfTheAPI(t)
	if len(reasons) < 20 {
		t.Fatalf("found %d reasons of holds in the API only", len(reasons))
	}
	for _, reason := range append(reasons, lifecycle.HoldReasons()...) {
		r, ok := lifecycle.RemedyOf(reason)
		if !ok || r.Missing == "" || r.WillNot == "" || len(r.WaysOut) == 0 || slices.Contains(r.WaysOut, "") {
			t.Errorf("%s: no remedy, or not a whole one: %+v", reason, r)
		}
	}
	if got := lifecycle.WaysOut("Settled"); got != nil {
		t.Errorf("what holds nothing has ways out: %v", got)
	}
}

// holdReasonsOfTheAPI reads the constants under the comment "Reasons of holds".
func holdReasonsOfTheAPI(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1alpha1/conditions.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Doc == nil || !strings.HasPrefix(decl.Doc.Text(), "Reasons of holds") {
			continue
		}
		for _, s := range decl.Specs {
			value := s.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value
			reason, err := strconv.Unquote(value)
			if err != nil {
				t.Fatal(err)
			}
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// TestRunbook: docs/runbook.md is what the code knows. Write it anew with: go test ./internal/lifecycle -run Runbook -update
func TestRunbook(t *testing.T) {
	want := renderRunbook()
	if *update {
		if err := os.MkdirAll(filepath.Dir(runbook), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(runbook, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(runbook)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/runbook.md is not what the code knows; write it anew with -update\n%s", diff)
	}
}

func renderRunbook() string {
	var b strings.Builder
	b.WriteString(`# Runbook: what holds, and the ways out

An object that is held is ` + "`Stalled`" + `; the reason of its ` + "`Stalled`" + ` condition is one of these. ` + "`holdfast explain server NAME`" + ` and
` + "`holdfast explain claim NAMESPACE/NAME`" + ` tell the same, with the values filled in. A hold has no timer: it ends when a person takes one of
the ways out, or when the fact that is missing appears.

Consents are annotations on the object that holds. Each names what it consents to, so that it cannot be taken for another machine or
another claim; each is removed by the write that closes what it allowed. The identity of a server or a claim is its annotation
` + "`ledger.holdfast.dev/identity`" + `.

This page is generated from the code (` + "`internal/lifecycle/waysout.go`" + `), and a test compares the two.
`)
	for _, reason := range lifecycle.HoldReasons() {
		r, _ := lifecycle.RemedyOf(reason)
		fmt.Fprintf(&b, "\n## %s\n\nWhat is missing: %s.\n\nWhat Holdfast will not do: %s.\n\nWays out:\n\n", reason, r.Missing, r.WillNot)
		for _, way := range r.WaysOut {
			fmt.Fprintf(&b, "- %s\n", way)
		}
	}
	return b.String()
}
