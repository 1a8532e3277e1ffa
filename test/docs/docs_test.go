// SPDX-License-Identifier: Apache-2.0

// Package docs checks what the documents say of the tree: links lead somewhere, and make targets exist.
package docs

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

// documents returns all Markdown files of the tree with their content, code blocks taken out: what is in them is no link.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", ".holdfast", "testdata"}, name) {
			return fs.SkipDir
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var (
	fence = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	link  = regexp.MustCompile(`\[[^\]]*\]\(([^()\s]+)\)`)
)

// links returns the targets of a document's relative links.
func links(text string) []string {
	text = fence.ReplaceAllString(text, "")
	var targets []string
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		if parsed, err := url.Parse(match[1]); err != nil || parsed.Scheme == "" {
			targets = append(targets, match[1])
		}
	}
	return targets
}

// anchors are the names under which the headings of a document can be linked, as GitHub makes them.
func anchors(text string) []string {
	var names []string
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		heading := strings.TrimLeft(line, "#")
		if len(heading) == len(line) || !strings.HasPrefix(heading, " ") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, strings.TrimSpace(heading))
		names = append(names, name)
	}
	return names
}

// broken returns why a link of a document leads nowhere; nil where it does not.
func broken(documents map[string]string, from, target string) error {
	file, anchor, _ := strings.Cut(target, "#")
	to := from
	if file != "" {
		to = path.Join(path.Dir(from), file)
		if strings.HasPrefix(to, "..") {
			return fmt.Errorf("leaves the tree")
		}
		if _, err := os.Stat(filepath.Join(root, to)); err != nil {
			return fmt.Errorf("%s does not exist", to)
		}
	}
	text, isDocument := documents[to]
	if anchor != "" && isDocument && !slices.Contains(anchors(text), anchor) {
		return fmt.Errorf("%s has no heading %q", to, anchor)
	}
	return nil
}

func TestLinksLeadSomewhere(t *testing.T) {
	all := documents(t)
	checked := 0
	for name, text := range all {
		for _, target := range links(text) {
			checked++
			if err := broken(all, name, target); err != nil {
				t.Errorf("%s: link %s: %v", name, target, err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d links found: the test does not see them any more", checked)
	}
}

// Every document under docs/ is reachable from the list of documents, decisions by their folder.
func TestEveryDocumentIsListed(t *testing.T) {
	all := documents(t)
	listed := map[string]bool{}
	for _, target := range links(all["docs/README.md"]) {
		file, _, _ := strings.Cut(target, "#")
		listed[path.Join("docs", file)] = true
	}
	for name := range all {
		if strings.HasPrefix(name, "docs/") && name != "docs/README.md" && !listed[name] && !listed[path.Dir(name)] {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

var (
	target  = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	command = regexp.MustCompile("(?m)(?:^|`|run |&& )make ([a-z][a-z0-9 -]*)")
)

// What a reader is told to type exists. The commands of the binary are checked where they are, in cmd/holdfast.
func TestMakeTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, match := range target.FindAllStringSubmatch(string(makefile), -1) {
		known = append(known, match[1])
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "AGENTS.md", "docs/architecture.md"} {
		for _, match := range command.FindAllStringSubmatch(documents(t)[name], -1) {
			for _, word := range strings.Fields(match[1]) {
				if !slices.Contains(known, word) {
					t.Errorf("%s tells to make %s: there is no such target", name, word)
				}
			}
		}
	}
}

func TestBrokenLinksAreFound(t *testing.T) {
	all := map[string]string{
		"a.md":     "# One thing\n\n[x](b/c.md) [y](#one-thing) [z](https://example.com/q) [w](b/c.md#no-such) [v](../../../x)\n```\n[no](link)\n```\n",
		"b/c.md":   "## Who may: what?\n",
		"Makefile": "",
	}
	got := links(all["a.md"])
	if want := []string{"b/c.md", "#one-thing", "b/c.md#no-such", "../../../x"}; !slices.Equal(got, want) {
		t.Errorf("links %v, want %v", got, want)
	}
	if got := anchors(all["b/c.md"]); !slices.Equal(got, []string{"who-may-what"}) {
		t.Errorf("anchors %v", got)
	}
	for link, ok := range map[string]bool{"#one-thing": true, "#another": false, "no/such.md": false, "../../../x": false} {
		if err := broken(all, "a.md", link); (err == nil) != ok {
			t.Errorf("%s: %v", link, err)
		}
	}
}
