// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/holdfast-dev/holdfast"

// root is the module's folder, seen from this package.
const root = "../.."

// importGraph maps our own packages, by import path, to what they import outside
// of tests.
type importGraph map[string][]string

// loadGraph asks the go command, with -e: a package that does not build is the
// compiler's finding, and its imports are known all the same.
func loadGraph(t *testing.T) importGraph {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", "./...")
	list.Dir = root
	var stderr bytes.Buffer
	list.Stderr = &stderr
	output, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, stderr.String())
	}
	graph := importGraph{}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for {
		var listed struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			return graph
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		graph[listed.ImportPath] = listed.Imports
	}
}

// matches tells whether a package is what a pattern of the go command names:
// "a/b" is one package, "a/b/..." is it and all below it, "..." is every one.
func matches(pattern, path string) bool {
	if pattern == "..." {
		return true
	}
	if below, all := strings.CutSuffix(pattern, "/..."); all {
		return path == below || strings.HasPrefix(path, below+"/")
	}
	return path == pattern
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, path) })
}

// packages returns our packages that match one of the patterns, which are written
// without the module's path.
func (g importGraph) packages(patterns, except []string) []string {
	var found []string
	for _, path := range slices.Sorted(maps.Keys(g)) {
		name := own(path)
		if matchesAny(patterns, name) && !matchesAny(except, name) {
			found = append(found, path)
		}
	}
	return found
}

// own is the path of one of our packages without the module's.
func own(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

// reached is an import, with the chain of our packages that leads to it.
type reached struct {
	path  string
	chain []string
}

// reach walks from a package through our own packages and returns everything they
// import, ours and others'. What others' packages import in turn is not walked:
// apimachinery knows contexts and loggers, and a type that embeds ObjectMeta is
// none the worse for it. The walk does not enter the packages of the boundary.
func (g importGraph) reach(from string, boundary []string) []reached {
	var found []reached
	seen := map[string]bool{from: true}
	queue := []reached{{path: from}}
	for len(queue) > 0 {
		current := queue[0]
		queue = queue[1:]
		chain := append(slices.Clone(current.chain), current.path)
		for _, imported := range g[current.path] {
			if seen[imported] {
				continue
			}
			seen[imported] = true
			next := reached{path: imported, chain: chain}
			found = append(found, next)
			if _, ours := g[imported]; ours && !matchesAny(boundary, own(imported)) {
				queue = append(queue, next)
			}
		}
	}
	return found
}

func (r reached) String() string {
	names := make([]string, 0, len(r.chain)+1)
	for _, path := range append(slices.Clone(r.chain), r.path) {
		name := own(path)
		if path == module {
			name = "."
		}
		names = append(names, name)
	}
	return strings.Join(names, " → ")
}

// standard tells whether an import is of the standard library.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
