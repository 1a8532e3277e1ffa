// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// Scripts rely on the exit code: 0 all resume, 1 something would hold, 2 not checked or not all read.
func TestBackupCheckExitCodes(t *testing.T) {
	dir := func(name string) string { return filepath.Join("..", "..", "internal", "backup", "testdata", name) }
	tests := map[string]struct {
		arguments []string
		code      int
		said      string
	}{
		"healthy":           {[]string{dir("velero")}, 0, "9 objects: 9 resume"},
		"as json":           {[]string{dir("velero"), "-o", "json"}, 0, `"verdict": "resume"`},
		"another cluster":   {[]string{dir("velero"), "--cluster-id", "other"}, 1, "hold"},
		"taken over":        {[]string{dir("velero"), "--cluster-id", "other", "--take-over", "0b1e7f9c-cluster"}, 0, "re-stamp"},
		"snapshot":          {[]string{dir("velero"), "--after-restore", "e1"}, 1, "RestoredSnapshot"},
		"at odds":           {[]string{dir("odd")}, 1, "at odds in the backup"},
		"broken":            {[]string{dir("broken")}, 2, "not read"},
		"nothing there":     {[]string{filepath.Join(t.TempDir(), "none")}, 2, ""},
		"no such output":    {[]string{dir("velero"), "-o", "xml"}, 2, ""},
		"no such flag":      {[]string{dir("velero"), "--frobnicate"}, 2, ""},
		"files and cluster": {[]string{dir("velero"), "--context", "production"}, 2, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			command := root()
			var out bytes.Buffer
			command.SetOut(&out)
			command.SetErr(&out)
			command.SetArgs(append([]string{"backup-check"}, test.arguments...))
			err := command.ExecuteContext(t.Context())
			code := 0
			if err != nil {
				code = exitCode(err)
			}
			if code != test.code || !strings.Contains(out.String(), test.said) {
				t.Errorf("exit code %d (%v), want %d and %q in:\n%s", code, err, test.code, test.said, out.String())
			}
		})
	}
}
