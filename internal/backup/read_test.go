// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// An archive says what the directory in it says; one that was cut off says what is whole in it, and that it was cut off.
func TestAnArchiveReadsAsItsDirectory(t *testing.T) {
	whole := archive(t, filepath.Join("testdata", "velero"))
	path := filepath.Join(t.TempDir(), "nightly.tar.gz")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	want, got := checked(t, read(t, filepath.Join("testdata", "velero"))), checked(t, read(t, path))
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Object{}, "Origin")); diff != "" {
		t.Errorf("archive (+) and directory (-) differ:\n%s", diff)
	}
	if origin := got.Objects[0].Origin.String(); !strings.HasPrefix(origin, path+"!resources/") {
		t.Errorf("origin %s", origin)
	}
	if err := os.WriteFile(path, whole[:len(whole)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	if cut := read(t, path); len(cut.Items) == 0 || len(cut.Problems) != 1 || !strings.Contains(cut.Problems[0].Text, "before its end") {
		t.Errorf("%d items, problems %v", len(cut.Items), cut.Problems)
	}
	if err := os.WriteFile(path, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if none := read(t, path); len(none.Items) != 0 || len(none.Problems) != 1 {
		t.Errorf("%d items, problems %v", len(none.Items), none.Problems)
	}
}

func archive(t *testing.T, dir string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	writer := tar.NewWriter(zipped)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := writer.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = writer.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What comes through a pipe is read as a file is; a path that is not there is an error, and not an empty backup.
func TestStdinAndMissingPaths(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("testdata", "odd", "list.json"))
	if err != nil {
		t.Fatal(err)
	}
	piped, err := Read([]string{Stdin}, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(read(t, filepath.Join("testdata", "odd", "list.json")).Items); len(piped.Items) != want || piped.Items[0].Origin.File != "stdin" {
		t.Errorf("%d items from %s, want %d", len(piped.Items), piped.Items[0].Origin, want)
	}
	if _, err := Read([]string{filepath.Join(t.TempDir(), "none")}, nil); err == nil {
		t.Error("a path that is not there was read")
	}
}

// No credential is kept, told or written: of secrets there is metadata, and not what kubectl apply keeps in an annotation.
func TestSecretsAreNotRead(t *testing.T) {
	set, err := Read([]string{Stdin}, strings.NewReader(`
apiVersion: v1
kind: Secret
metadata:
  name: rack1-u01
  namespace: holdfast-system
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"stringData":{"password":"hunter2"}}'}
stringData: {password: hunter2}
---
apiVersion: v1
kind: Secret
metadata: hunter2
`))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report := checked(t, set)
	if err := report.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String() + cmp.Diff(nil, set.Items[0].Object) + cmp.Diff(nil, set.Problems); strings.Contains(text, "hunter2") {
		t.Errorf("a password is told: %s", text)
	}
	if len(set.Items) != 1 || len(set.Problems) != 1 {
		t.Errorf("%d items, problems %v", len(set.Items), set.Problems)
	}
}

// Each thing that cannot be read is named by its line, and takes nothing else along.
func TestProblemsNameTheirLine(t *testing.T) {
	set := read(t, filepath.Join("testdata", "broken"))
	var got []string
	for _, p := range set.Problems {
		got = append(got, strings.TrimPrefix(p.Origin.String(), filepath.Join("testdata", "broken")+"/"))
	}
	want := []string{"cut.json:1", "list.yaml:12", "list.yaml:18", "list.yaml:27", "list.yaml:36", "list.yaml:38", "list.yaml:45", "list.yaml:52"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems:\n%s", diff)
	}
	var names []string
	for _, item := range set.Items {
		names = append(names, item.Name())
	}
	if diff := cmp.Diff([]string{"default/db", "rack1-u01", "rack1-u03"}, names); diff != "" {
		t.Errorf("items:\n%s", diff)
	}
}
