// SPDX-License-Identifier: Apache-2.0

package status

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every Go block of the guide is a passage of code that is compiled and run.
func TestTheGuideShowsCodeThatRuns(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	guide, err := os.ReadFile(filepath.Join(root, "docs", "guides", "status.md"))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range []string{
		"status/example_test.go", "status/statustest/widget/types.go",
		"test/integration/status/naive_test.go", "test/integration/status/holdfast_test.go",
	} {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		code.Write(data)
	}
	blocks := strings.Split(string(guide), "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("no Go blocks found")
	}
	for _, block := range blocks {
		passage, _, _ := strings.Cut(block, "```")
		if !strings.Contains(code.String(), passage) {
			t.Errorf("not in the code:\n%s", passage)
		}
	}
}
