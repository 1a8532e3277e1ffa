// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

var update = flag.Bool("update", false, "write the golden files anew")

// then is when all backups of the tests are restored.
var then = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func options(changes ...func(*Options)) Options {
	o := Options{Settings: lifecycle.DefaultSettings(""), Namespace: "holdfast-system", Now: then}
	for _, change := range changes {
		change(&o)
	}
	return o
}

func read(t *testing.T, paths ...string) *Set {
	t.Helper()
	set, err := Read(paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func checked(t *testing.T, set *Set, changes ...func(*Options)) Report {
	t.Helper()
	report, err := Check(t.Context(), set, options(changes...))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// What people read, for each way in which a backup is taken.
func TestReports(t *testing.T) {
	tests := map[string]struct {
		path    string
		change  func(*Options)
		json    bool
		resumes bool
	}{
		"velero":           {path: "velero", resumes: true},
		"velero-json":      {path: "velero", json: true, resumes: true},
		"velero-elsewhere": {path: "velero", change: into("new-cluster")},
		"velero-takeover": {path: "velero", resumes: true, change: func(o *Options) {
			o.Settings.ClusterID, o.Settings.TakeOver = "new-cluster", "0b1e7f9c-cluster"
		}},
		"velero-epoch":  {path: "velero", change: func(o *Options) { o.Settings.Epoch = "2026-11-30" }},
		"git":           {path: "git"},
		"git-elsewhere": {path: "git", change: secretsElsewhere},
		"odd":           {path: "odd"},
		"broken":        {path: "broken"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			change := test.change
			if change == nil {
				change = func(*Options) {}
			}
			report := checked(t, read(t, filepath.Join("testdata", test.path)), change)
			if report.Resumes() != test.resumes {
				t.Errorf("resumes %t, want %t", report.Resumes(), test.resumes)
			}
			var out bytes.Buffer
			write := report.WriteTable
			if test.json {
				write = report.WriteJSON
			}
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, name, out.Bytes())
		})
	}
}

func into(cluster string) func(*Options) {
	return func(o *Options) { o.Settings.ClusterID = cluster }
}

func secretsElsewhere(o *Options) { o.SecretsElsewhere = true }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("differs from %s (-update writes it anew):\n%s", path, diff)
	}
}
