// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// TestWithoutAuthorityNothingChanges: whatever the user wrote is handed on byte for byte, known or not, sound or not (B218).
func TestWithoutAuthorityNothingChanges(t *testing.T) {
	given := map[string]string{
		"nothing": "", "white space": " \n", "Talos": "version: v1alpha1\n", "PowerShell": "#ps1_sysnative\n", "Ignition": theirIgnition,
		"Ignition 2": `{"ignition":{"version":"2.3.0"}}`, "broken Ignition": `{"ignition":`, "gzip": gzipped(t, script), "cut gzip": gzipped(t, script)[:20],
		"base64": base64ed(script), "bytes": "\x00\xff\xfe",
	}
	for name, row := range forms {
		given[name] = row.data
	}
	for name, data := range given {
		t.Run(name, func(t *testing.T) {
			got := rendered(t, data, nil)
			if string(got.Data) != data || got.Compressed {
				t.Errorf("changed to %q", got.Data)
			}
		})
	}
}

// TestFormsAreRecognised below base64 and gzip in any order, and each becomes the first of three parts or is merged.
func TestFormsAreRecognised(t *testing.T) {
	layers := map[string]func(string) string{
		"plain":               func(s string) string { return s },
		"gzip":                func(s string) string { return gzipped(t, s) },
		"base64":              base64ed,
		"base64 in lines":     wrapped,
		"base64 of gzip":      func(s string) string { return base64ed(gzipped(t, s)) },
		"gzip of base64":      func(s string) string { return gzipped(t, base64ed(s)) },
		"base64 of base64":    func(s string) string { return base64ed(wrapped(s)) },
		"gzip of gzip, twice": func(s string) string { return gzipped(t, gzipped(t, s)) },
	}
	for name, row := range forms {
		plain := rendered(t, row.data, staff(t))
		for layer, wrap := range layers {
			t.Run(name+", "+layer, func(t *testing.T) {
				got := rendered(t, wrap(row.data), staff(t))
				if got.Form != row.form {
					t.Errorf("form %s, want %s", got.Form, row.form)
				}
				if diff := cmp.Diff(string(plain.Data), string(got.Data)); diff != "" {
					t.Errorf("another result than without layers (-plain +%s):\n%s", layer, diff)
				}
			})
		}
	}
}

// TestUnsuitable: what an authority cannot be added to is refused, with a reason and without a word of the user's.
func TestUnsuitable(t *testing.T) {
	const secret = "canary"
	for name, row := range map[string]struct {
		data string
		want Reason
	}{
		"another agent's":           {"version: v1alpha1\ntoken: " + secret, ReasonFormUnknown},
		"PowerShell":                {"#ps1_sysnative\n" + secret, ReasonFormUnknown},
		"JSON of another":           {`{"` + secret + `":1}`, ReasonFormUnknown},
		"no object":                 {`["ignition","` + secret + `"]`, ReasonFormUnknown},
		"script of bytes":           {"#!/bin/sh\n\xff" + secret, ReasonMalformed},
		"a document with a message": {"key: |\n  MIME-Version: 1.0\n\n  " + secret, ReasonFormUnknown},
		"base64 of something":       {base64ed(secret + secret), ReasonFormUnknown},
		"layers without end":        {base64ed(base64ed(base64ed(base64ed(base64ed(secret))))), ReasonFormUnknown},
		"cut gzip":                  {gzipped(t, script+secret)[:25], ReasonMalformed},
		"only the magic of gzip":    {"\x1f\x8b", ReasonMalformed},
		"MIME of bytes":             {"MIME-Version: 1.0\n\n\xff" + secret, ReasonMalformed},
		"gzip that explodes":        {gzipped(t, "#!/bin/sh\n"+strings.Repeat(secret, maxUnwrapped)), ReasonTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Render([]byte(row.data), staff(t))
			if reason := reasonOf(t, err); reason != row.want {
				t.Fatalf("%q (%v), want %q; rendered %q", reason, err, row.want, got.Data)
			}
			if strings.Contains(err.Error(), secret) || got.Data != nil {
				t.Errorf("shows what the user wrote: %v, %q", err, got.Data)
			}
		})
	}
}

// TestSizeIsThatOfBase64: the limit is of what the compute API takes, to the byte, and known before anything is made (B213).
func TestSizeIsThatOfBase64(t *testing.T) {
	const largest = 49149 // of bytes: 65532 characters
	agent := noise(largest + 1)
	if got := rendered(t, agent[:largest], nil); got.EncodedLen() != 65532 {
		t.Errorf("%d characters", got.EncodedLen())
	}
	_, err := Render([]byte(agent), nil)
	if reasonOf(t, err) != ReasonTooLarge || !strings.Contains(err.Error(), "65536") || !strings.Contains(err.Error(), "65535") {
		t.Errorf("got %v, want the size and the limit", err)
	}
	for name, row := range map[string]struct {
		data        string
		authorities []Authority
		want        Reason
		compressed  bool
	}{
		"fits, ours added":                  {"#!/bin/sh\n" + noise(30000), staff(t), "", false},
		"fits when compressed":              {"#!/bin/sh\n" + strings.Repeat("true\n", 20000), staff(t), "", true},
		"fits when compressed, no CA":       {"#!/bin/sh\n" + strings.Repeat("true\n", 20000), nil, "", true},
		"compressed by the user, ours too":  {gzipped(t, "#!/bin/sh\n"+strings.Repeat("true\n", 20000)), staff(t), "", true},
		"fits alone and not with ours":      {"#!/bin/sh\n" + noise(largest*4/3-3000), nil, "", true},
		"compression does not help":         {"#!/bin/sh\n" + noise(90000), staff(t), ReasonTooLarge, false},
		"compression does not help, no CA":  {"#!/bin/sh\n" + noise(90000), nil, ReasonTooLarge, false},
		"another agent's is not compressed": {strings.Repeat("x: y\n", 20000), nil, ReasonTooLarge, false},
		"base64 is not compressed":          {base64ed("#!/bin/sh\n" + strings.Repeat("true\n", 20000)), nil, ReasonTooLarge, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Render([]byte(row.data), row.authorities)
			if reason := reasonOf(t, err); reason != row.want {
				t.Fatalf("%q, want %q: %v", reason, row.want, err)
			}
			if got.Compressed != row.compressed || got.EncodedLen() > MaxEncoded {
				t.Errorf("compressed %t, %d characters", got.Compressed, got.EncodedLen())
			}
			if row.compressed && row.authorities == nil {
				if back, err := decompress(got.Data); err != nil || string(back) != row.data {
					t.Error("cannot be decompressed to what it was")
				}
			}
		})
	}
}

// TestSameInputSameOutput: whatever the order of authorities and maps, so that what a server was given can be compared.
func TestSameInputSameOutput(t *testing.T) {
	authorities := withPrincipals(t)
	for name, row := range forms {
		first := rendered(t, row.data, authorities)
		slices.Reverse(authorities)
		if again := rendered(t, row.data, authorities); !bytes.Equal(first.Data, again.Data) {
			t.Errorf("%s: %s", name, cmp.Diff(string(first.Data), string(again.Data)))
		}
	}
}

// TestBoundaryIsInNoPart, also when a part knows the boundary that would be made of it.
func TestBoundaryIsInNoPart(t *testing.T) {
	parts := []entity{entity("a"), entity("b")}
	first := boundary(parts)
	if first == boundary(parts[:1]) {
		t.Error("the boundary is not made of the parts")
	}
	again := rendered(t, "#!/bin/sh\n# "+first, staff(t))
	if !bytes.Contains(again.Data, []byte(first)) {
		t.Fatal("the part is changed")
	}
	// A part cannot hold the hash of itself, so the loop is tried on its condition.
	if !containsAny(parts, "b") || containsAny(parts, first) {
		t.Error("containsAny is wrong")
	}
}

// TestGolden shows what servers are given, for people to read.
func TestGolden(t *testing.T) {
	for name, row := range map[string]struct {
		data        string
		authorities []Authority
	}{
		"nothing.eml":      {"", withPrincipals(t)},
		"cloud-config.eml": {cloudConfig, staff(t)},
		"script.eml":       {script, staff(t)},
		"mime.eml":         {theirMIME, staff(t)},
		"ignition.json":    {theirIgnition, withPrincipals(t)},
	} {
		t.Run(name, func(t *testing.T) {
			got := rendered(t, row.data, row.authorities)
			path := filepath.Join("testdata", "golden", name)
			if *update {
				if err := os.WriteFile(path, got.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got.Data)); diff != "" {
				t.Errorf("-golden +rendered (-update to write):\n%s", diff)
			}
		})
	}
}
