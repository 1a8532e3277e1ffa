// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/cloudinit"
)

const (
	keyOne = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"
	keyTwo = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIE5dw6o98YAYe1dOFFbQiu95J7RtonTNuBh54SsQ6xs"

	caManifest = "apiVersion: holdfast.dev/v1alpha1\nkind: SSHCertificateAuthority\nmetadata:\n  name: staff\nspec:\n  publicKeys:\n  - " + keyOne +
		"\n  principals:\n  - login: debian\n    principals: [ops]\n"
)

// ran is what a command wrote and how it ended.
type ran struct {
	out, notes string
	err        error
}

func renderedWith(input string, args ...string) ran {
	command := root()
	var out, notes bytes.Buffer
	command.SetIn(strings.NewReader(input))
	command.SetOut(&out)
	command.SetErr(&notes)
	command.SetArgs(append([]string{"userdata", "render"}, args...))
	err := command.ExecuteContext(context.Background())
	return ran{out.String(), notes.String(), err}
}

// TestRenderIsWhatAServerGets: the command prints what the operator's own code makes, in each form of output; notes are not part of it.
func TestRenderIsWhatAServerGets(t *testing.T) {
	const script = "#!/bin/sh\ntrue\n"
	large := "#!/bin/sh\n" + strings.Repeat("true\n", 20000)
	keys := write(t, "staff.pub", "# two\n"+keyOne+" a\n\n"+keyTwo+"\n")
	authorities := []cloudinit.Authority{{Name: "staff", PublicKeys: []string{keyOne, keyTwo}}}
	small, err := cloudinit.Render([]byte(script), authorities)
	if err != nil {
		t.Fatal(err)
	}
	compressed, err := cloudinit.Render([]byte(large), authorities)
	if err != nil || !compressed.Compressed {
		t.Fatalf("not compressed: %v", err)
	}
	for name, row := range map[string]struct {
		input string
		args  []string
		want  string
		notes string
	}{
		"text":             {script, []string{"-f", "-", "--ca", keys}, string(small.Data), "user data: script; authorities: 1;"},
		"raw":              {script, []string{"-f", "-", "--ca", keys, "-o", "raw"}, string(small.Data), ""},
		"base64":           {script, []string{"-f", "-", "--ca", keys, "-o", "base64"}, base64.StdEncoding.EncodeToString(small.Data) + "\n", ""},
		"compressed, raw":  {large, []string{"-f", "-", "--ca", keys, "-o", "raw"}, string(compressed.Data), "bytes, compressed,"},
		"nothing":          {"", nil, "", "user data: none; authorities: 0; sent: 0 bytes, 0 of 65535"},
		"another agent's":  {"\x00\xff", []string{"-f", "-"}, "\x00\xff", "user data: unknown"},
		"no authority":     {script, []string{"-f", "-"}, script, ""},
		"from a file":      {"", []string{"-f", write(t, "x", script), "--ca", keys}, string(small.Data), ""},
		"keys from stdin":  {keyOne, []string{"--ca", "-", "-o", "base64"}, "", "authorities: 1"},
		"compressed, text": {large, []string{"-f", "-", "--ca", keys}, "", "bytes, compressed,"},
	} {
		t.Run(name, func(t *testing.T) {
			got := renderedWith(row.input, row.args...)
			if got.err != nil {
				t.Fatal(got.err)
			}
			if row.want != "" {
				if diff := cmp.Diff(row.want, got.out); diff != "" {
					t.Error(diff)
				}
			}
			if !strings.Contains(got.notes, row.notes) {
				t.Errorf("notes: %s", got.notes)
			}
			if name == "compressed, text" && (!strings.HasPrefix(got.out, "MIME-Version:") || !strings.Contains(got.out, large)) {
				t.Errorf("not what the server reads: %.80q", got.out)
			}
		})
	}
}

// TestRenderTakesManifests, several in a file and beside files of keys, with their names and principals.
func TestRenderTakesManifests(t *testing.T) {
	second := strings.ReplaceAll(strings.Replace(caManifest, "staff", "robots", 1), keyOne, keyTwo)
	path := write(t, "ca.yaml", "# ours\n---\n"+caManifest+"---\n"+second+"---\n")
	got := renderedWith("", "--ca", path)
	if got.err != nil {
		t.Fatal(got.err)
	}
	for _, want := range []string{keyOne + " staff\n", keyTwo + " robots\n", "AuthorizedPrincipalsFile", "principals/debian"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in:\n%s", want, got.out)
		}
	}
	if !strings.Contains(got.notes, "authorities: 2") {
		t.Error(got.notes)
	}
}

// TestRenderRefuses: a mistake ends with an error that names it, and nothing is printed that could be taken for user data (B213, B218).
func TestRenderRefuses(t *testing.T) {
	keys := write(t, "keys", keyOne)
	for name, row := range map[string]struct {
		input string
		args  []string
		says  string
	}{
		"too large":                {strings.Repeat("x", 49150), []string{"-f", "-"}, "TooLarge: the user data with all that is added are 65536 characters"},
		"another agent's":          {"version: v1\n", []string{"-f", "-", "--ca", keys}, "FormUnknown"},
		"broken Ignition":          {`{"ignition":{"version":"3.3.0"},"storage":{"files":[{"path":"x"}]}}`, []string{"-f", "-", "--ca", keys}, "path not absolute"},
		"no such file":             {"", []string{"-f", "/nonexistent"}, "user data"},
		"no such authority":        {"", []string{"--ca", "/nonexistent"}, "authorities"},
		"no key":                   {"# none\n", []string{"--ca", "-"}, "no public key"},
		"no key at all":            {"hello\n", []string{"--ca", "-"}, "AuthorityInvalid"},
		"two standard inputs":      {"", []string{"-f", "-", "--ca", "-"}, "standard input"},
		"another output":           {"", []string{"-o", "yaml"}, "yaml"},
		"an argument":              {"", []string{"file"}, "unknown command"},
		"another kind":             {strings.Replace(caManifest, "SSHCert", "Cert", 1), []string{"--ca", "-"}, "CertificateAuthority is no SSHCertificateAuthority"},
		"another group":            {strings.Replace(caManifest, "holdfast.dev", "example.org", 1), []string{"--ca", "-"}, "example.org/v1alpha1"},
		"a member that is unknown": {strings.Replace(caManifest, "publicKeys", "keys", 1), []string{"--ca", "-"}, "unknown field"},
		"no YAML":                  {"kind: [\n", []string{"--ca", "-"}, "yaml"},
		"only comments of YAML":    {"---\n---\n# kind\n---\nkind: \n", []string{"--ca", "-"}, "is no SSHCertificateAuthority"},
	} {
		t.Run(name, func(t *testing.T) {
			got := renderedWith(row.input, row.args...)
			if got.err == nil || !strings.Contains(got.err.Error(), row.says) {
				t.Errorf("got %v, want %q", got.err, row.says)
			}
			if got.out != "" {
				t.Errorf("printed %q", got.out)
			}
		})
	}
}

// TestRenderSparesTerminals: bytes that are no text are not written to one.
func TestRenderSparesTerminals(t *testing.T) {
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, output := range []string{outputText, outputRaw, outputBase64} {
		asked := rendering{file: "-", output: output}
		if err := asked.run(strings.NewReader("\x1b[2J"), terminal, new(bytes.Buffer)); (err == nil) != (output == outputBase64) {
			t.Errorf("-o %s to a terminal: %v", output, err)
		}
		if err := asked.run(strings.NewReader("\x1b[2J"), file, new(bytes.Buffer)); err != nil {
			t.Errorf("-o %s to a file: %v", output, err)
		}
		if err := asked.run(strings.NewReader("größe\t\r\n"), terminal, new(bytes.Buffer)); err != nil {
			t.Errorf("-o %s of text: %v", output, err)
		}
	}
}
