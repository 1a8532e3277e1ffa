// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/holdfast-dev/holdfast/config"
)

func TestPoliciesNameTheOperatorTheyAreGiven(t *testing.T) {
	as := func(users ...string) string {
		policies, err := config.Policies(users...)
		if err != nil {
			t.Fatal(err)
		}
		return content(t, policies)
	}
	if text := as(); !strings.Contains(text, "request.userInfo.username in ['"+config.OperatorUsername+"']") {
		t.Error("as installed: does not name the service account")
	}
	text := as("alice", "bob@example.com")
	if !strings.Contains(text, "request.userInfo.username in ['alice', 'bob@example.com']") || strings.Contains(text, config.OperatorUsername) {
		t.Error("does not name alice and bob alone")
	}
	regions, err := config.StatusRegionPolicies("alice", "bob")
	if err != nil {
		t.Fatal(err)
	}
	text = content(t, regions)
	if !strings.Contains(text, "in ['alice']") || !strings.Contains(text, "in ['bob']") || strings.Contains(text, "holdfast-system") {
		t.Error("does not name alice and bob, each in its place")
	}
}

// A user name is written into an expression: one that would end the literal is refused, not escaped.
func TestPoliciesRefuseNamesThatAreNoLiterals(t *testing.T) {
	for _, name := range []string{"", "a'] || true || x in ['b", `a\b`, "a\nb", `a"b`} {
		if _, err := config.Policies(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

func content(t *testing.T, files fs.FS) string {
	t.Helper()
	names, err := fs.Glob(files, "*.yaml")
	if err != nil || len(names) != 1 {
		t.Fatalf("files: %v, %v", names, err)
	}
	text, err := fs.ReadFile(files, names[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
