// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxLines is what fits a reader's head. Most files are far shorter.
const maxLines = 400

const licenceLine = "// SPDX-License-Identifier: Apache-2.0"

// localPlaces finds what is true on one machine only. The expressions are written
// so that they do not find themselves.
var localPlaces = []*regexp.Regexp{
	regexp.MustCompile(`(^|[^\w.~-])/wor[k]/`),
	regexp.MustCompile(`/tmp/brie[f]`),
	regexp.MustCompile(`/hom[e]/[a-z]+/(go|src|work)`),
	regexp.MustCompile(`/root/(g[o]|\.cach[e])`),
	regexp.MustCompile(`shared/desig[n]`),
}

// treeFiles returns all files of the checkout, by path from the root, without what
// is built or ignored.
func treeFiles(t *testing.T) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", ".holdfast"}, name) {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && name != ".git" { // a file in a linked worktree
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func goFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(treeFiles(t), func(name string) bool { return !strings.HasSuffix(name, ".go") })
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// generatedLine is the form the go command asks for, before the package clause.
var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func generated(t *testing.T, name string) bool {
	t.Helper()
	head, _, _ := bytes.Cut(content(t, name), []byte("\npackage "))
	return generatedLine.Match(head)
}

func TestGoFilesAreShortAndLicensed(t *testing.T) {
	for _, name := range goFiles(t) {
		if generated(t, name) {
			continue
		}
		text := content(t, name)
		if lines := bytes.Count(text, []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it by subject", name, lines, maxLines)
		}
		if first, _, _ := strings.Cut(string(text), "\n"); first != licenceLine {
			t.Errorf("%s does not begin with %q", name, licenceLine)
		}
	}
}

func TestFilesNameNoPlaceOfOneMachine(t *testing.T) {
	for _, name := range treeFiles(t) {
		text := content(t, name)
		if !utf8.Valid(text) {
			continue
		}
		for number, line := range localLines(text) {
			t.Errorf("%s:%d names a place of one machine: %s", name, number, line)
		}
	}
}

// localLines returns the lines that name a place of one machine, by number.
func localLines(text []byte) map[int]string {
	found := map[int]string{}
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, len(text)+1)
	for number := 1; scanner.Scan(); number++ {
		line := scanner.Text()
		if slices.ContainsFunc(localPlaces, func(place *regexp.Regexp) bool { return place.MatchString(line) }) {
			found[number] = line
		}
	}
	return found
}

func TestLocalPlacesAreFound(t *testing.T) {
	text := "fine: ~/wor" + "k/x and docs/wor" + "k/y\nbad: see /wor" + "k/main/x\nfine\n\"/ro" + "ot/go/pkg\"\n/ro" + "ot/.ssh/authorized_keys\n"
	found := localLines([]byte(text))
	if len(found) != 2 || found[2] == "" || found[4] == "" {
		t.Errorf("found %v, want lines 2 and 4", found)
	}
}
