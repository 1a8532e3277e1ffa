// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample(number int, title string) Table {
	grid := Grid{Head: []string{"phase", "writes"}}
	grid.Row("a|b", 3)
	return Table{
		Number: number, Title: title, Grids: []Grid{grid}, Notes: []string{"A note."},
		Aims: []Aim{
			{What: "writes", Aim: "≤ 2", Measured: "3", Met: Missed, Count: true},
			{What: "time", Aim: "< 1 s", Measured: "2 s", Met: Missed},
		},
	}
}

func TestATableIsMarkdown(t *testing.T) {
	want := `## 1. Life

| what | aim | measured | met |
|---|---|---|---|
| writes | ≤ 2 | 3 | **no** |
| time | < 1 s | 2 s | **no** |

| phase | writes |
|---|---|
| a\|b | 3 |

A note.

`
	if diff := cmp.Diff(want, sample(1, "Life").Markdown()); diff != "" {
		t.Error(diff)
	}
}

// A time depends on the machine and fails nothing; a count does.
func TestOnlyCountsFailARun(t *testing.T) {
	if got := sample(1, "Life").failures(); len(got) != 1 || !strings.Contains(got[0], "writes: 3, want ≤ 2") {
		t.Errorf("failures: %v", got)
	}
}

// What a run does not measure stays as it was, and tables stay in order whatever order they are measured in.
func TestADocumentKeepsWhatIsNotMeasured(t *testing.T) {
	d := Document{Path: filepath.Join(t.TempDir(), "docs", "benchmarks.md"), Run: "small"}
	for _, table := range []Table{sample(4, "Fleet"), sample(1, "Life"), sample(4, "Fleet anew")} {
		if err := d.Write(t.Context(), table); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	life, fleet := strings.Index(text, "## 1. Life"), strings.Index(text, "## 4. Fleet anew")
	if life < 0 || fleet < life || strings.Contains(text, "## 4. Fleet\n") || !strings.HasPrefix(text, preamble) {
		t.Error(text)
	}
	if n := strings.Count(text, "*small, "); n != 2 {
		t.Errorf("%d lines of origin in\n%s", n, text)
	}
}
