// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command says what it does, and can be asked for help: that alone finds flags that are defined twice.
func TestCommandsHelp(t *testing.T) {
	for _, command := range root().Commands() {
		t.Run(command.Name(), func(t *testing.T) {
			var out bytes.Buffer
			top := root()
			top.SetOut(&out)
			top.SetArgs([]string{command.Name(), "--help"})
			if err := top.Execute(); err != nil {
				t.Fatal(err)
			}
			if command.Short == "" || !strings.Contains(out.String(), "Usage:") {
				t.Errorf("help of %s: %q", command.Name(), out.String())
			}
		})
	}
}

// mention finds commands of the binary in a document: in code, after a name of the binary.
var mention = regexp.MustCompile("(?m)(?:`|^\\$ |^)(?:bin/)?holdfast ([a-z][a-z-]*)")

// Documents tell to type commands that exist.
func TestDocumentedCommandsExist(t *testing.T) {
	documents, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range append(append(documents, more...), "../../README.md", "../../CONTRIBUTING.md", "../../AGENTS.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range mention.FindAllStringSubmatch(string(text), -1) {
			found++
			if !has(root(), match[1]) {
				t.Errorf("%s tells to type holdfast %s: there is no such command", name, match[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d mentions found: the test does not see them any more", found)
	}
}

func has(top *cobra.Command, name string) bool {
	for _, command := range top.Commands() {
		if command.Name() == name {
			return true
		}
	}
	return false
}

func TestArgumentsAreChecked(t *testing.T) {
	for _, args := range [][]string{
		{"explain"},
		{"explain", "pod", "x", "--kubeconfig", "/nonexistent"},
		{"dev", "--tour", "--fresh"},
		{"dev", "--tour", "--state-dir", "x"},
		{"manager", "now"},
	} {
		top := root()
		top.SetOut(new(bytes.Buffer))
		top.SetErr(new(bytes.Buffer))
		top.SetArgs(args)
		if err := top.Execute(); err == nil {
			t.Errorf("holdfast %s: accepted", strings.Join(args, " "))
		}
	}
}
