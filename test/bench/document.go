// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// Document is where tables are written. A run that takes some of them leaves the others as they are, with their own date and commit.
type Document struct {
	// Path of the file; "" for none.
	Path string
	// Run tells how large the run is.
	Run string
}

const preamble = `# Benchmarks

Measured by ` + "`make bench`" + ` on one machine on which the API server, etcd, the simulators, the manager and those who look share the processors: times say what this
machine does, counts and ratios say what Holdfast does. ` + "`TABLES=4 N=1000 make bench`" + ` takes a part, ` + "`make bench-quick`" + ` takes all of it small. This page is written by the run.
`

// Write puts a table in its place.
func (d Document) Write(ctx context.Context, t Table) error {
	if d.Path == "" {
		return nil
	}
	before, err := os.ReadFile(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(d.Path), 0o750); err != nil {
		return err
	}
	section := fmt.Sprintf("%s*%s, %s, commit %s, on %s*\n", t.Markdown(), d.Run, time.Now().UTC().Format("2006-01-02 15:04 MST"), commit(ctx), machine())
	return os.WriteFile(d.Path, []byte(splice(string(before), t.Number, section)), 0o644) //nolint:gosec // a document for everybody
}

// sections finds the marks around tables.
var sections = regexp.MustCompile(`(?s)<!-- table (\d) -->\n.*?<!-- end -->\n`)

// splice replaces a section of a document, or puts it where it belongs by its number.
func splice(document string, number int, section string) string {
	found := map[int]string{}
	for _, match := range sections.FindAllStringSubmatch(document, -1) {
		found[int(match[1][0]-'0')] = match[0]
	}
	found[number] = fmt.Sprintf("<!-- table %d -->\n%s<!-- end -->\n", number, section)
	var out strings.Builder
	out.WriteString(preamble)
	for n := range 10 {
		if text, is := found[n]; is {
			out.WriteString("\n" + text)
		}
	}
	return out.String()
}

// commit that is checked out, and whether anything differs from it.
func commit(ctx context.Context) string {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(head))
	if changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", "*.go", "*go.mod").Output(); err == nil && len(changed) > 0 {
		name += " with changes"
	}
	return name
}

// machine describes what the run was made on.
func machine() string {
	model := "unknown processor"
	if content, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(content)) {
			if name, is := strings.CutPrefix(line, "model name"); is {
				model = strings.Trim(name, "\t :\n")
				break
			}
		}
	}
	memory := ""
	if content, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kilobytes int
		if _, err := fmt.Sscanf(string(content), "MemTotal: %d kB", &kilobytes); err == nil {
			memory = fmt.Sprintf(", %.0f GiB", float64(kilobytes)/(1<<20))
		}
	}
	// Who else uses the processors is part of what a time says.
	load := ""
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		one, _, _ := strings.Cut(string(content), " ")
		load = ", load average " + one
	}
	return fmt.Sprintf("%d cores of %s%s, %s%s", runtime.NumCPU(), model, memory, runtime.Version(), load)
}
