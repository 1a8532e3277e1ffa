// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A place in the log is never within a line that is being written: who goes on from there reads whole lines.
func TestAPlaceIsAfterTheLastWholeLine(t *testing.T) {
	const line = "{}\n"
	for content, want := range map[string]int{
		"": 0, "{": 0, line: len(line), line + line: 2 * len(line), line + "{": len(line),
		line + strings.Repeat("x", 200_000): len(line), strings.Repeat("x", 200_000): 0,
	} {
		path := filepath.Join(t.TempDir(), "audit.log")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := (&Audit{path: path}).Now()
		if err != nil || got != Place(want) {
			t.Errorf("a log of %d bytes: place %d, %v, want %d", len(content), got, err, want)
		}
	}
}
