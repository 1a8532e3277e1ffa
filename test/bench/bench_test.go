// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// run is one run: what was planned, and where it is told.
type run struct {
	plan     plan
	document Document
	telling  sync.Mutex
	failures []string
	// reactions and troubles are the two parts of table 5, as far as they are measured.
	reactions, troubles *Table
}

// TestBenchmarks takes the tables that were asked for. A table is written as soon as it is measured: what fails later loses nothing.
func TestBenchmarks(t *testing.T) {
	if os.Getenv(envSize) == "" {
		t.Skip("not part of the test run: make bench-tiny takes every path, make bench-quick and make bench measure")
	}
	p, err := planned()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{plan: p, document: Document{Path: p.out, Run: p.told()}}
	if p.takes(6) {
		t.Run("status", r.status)
	}
	t.Run("counts", r.counts)
	r.fleets(t)
	for _, failure := range r.failures {
		t.Error(failure)
	}
}

// counts takes the tables that count or compare like with like, beside each other: most of the time they wait for machines.
func (r *run) counts(t *testing.T) {
	for table, take := range map[int]func(*testing.T){1: r.lives, 2: r.rest, 5: r.trouble} {
		if r.plan.takes(table) {
			t.Run(fmt.Sprintf("table %d", table), func(t *testing.T) {
				t.Parallel()
				take(t)
			})
		}
	}
}

// tell prints a table and writes it, and keeps what is to fail the run: a count that misses its aim. Failing at once would print all objects
// there are.
func (r *run) tell(t *testing.T, table Table) {
	t.Helper()
	r.telling.Lock()
	defer r.telling.Unlock()
	t.Logf("\n%s", table.Markdown())
	if err := r.document.Write(t.Context(), table); err != nil {
		t.Error(err)
	}
	r.failures = append(r.failures, table.failures()...)
}

// tellReactions tells table 5 with the parts of it that there are.
func (r *run) tellReactions(t *testing.T) {
	t.Helper()
	table := Table{Number: 5, Title: "From a fact to what follows, and beside whom"}
	for _, part := range []*Table{r.reactions, r.troubles} {
		if part != nil {
			table.Aims, table.Grids, table.Notes = append(table.Aims, part.Aims...), append(table.Grids, part.Grids...), append(table.Notes, part.Notes...)
		}
	}
	r.tell(t, table)
}

// lively are machines that take seconds, as the simulator has them by default, in runs of the sizes named; in others they are the
// harness', which live in blinks.
func (r *run) lively(sizes ...string) sim.Config {
	if !slices.Contains(sizes, r.plan.name) {
		return sim.Config{}
	}
	timing, program := sim.DefaultTiming(), sim.DefaultProgram()
	return sim.Config{Timing: &timing, Netboot: &program}
}

// suite starts a control plane and a rack for one stage.
func (r *run) suite(t *testing.T, rack sim.Config) *harness.Suite {
	t.Helper()
	suite, err := harness.Start(t.Context(), harness.Options{Rack: rack})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := suite.Close(); err != nil {
			t.Error(err)
		}
	})
	return suite
}

// manager starts one with the flags of the plan, and some more.
func (r *run) manager(k *harness.Kit, flags ...string) *harness.Process {
	k.T.Helper()
	return k.StartProcess(append(slices.Clone(r.plan.flags), flags...)...)
}

// progress says what a run is at: some of them take minutes.
func progress(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Logf("%s "+format, append([]any{time.Now().UTC().Format("15:04:05")}, args...)...)
}

// keep keeps a profile of a manager, where profiles were asked for.
func (r *run) keep(t *testing.T, manager *harness.Process, profile, name string) {
	t.Helper()
	if r.plan.profiles == "" {
		return
	}
	if err := os.MkdirAll(r.plan.profiles, 0o750); err != nil {
		t.Error(err)
		return
	}
	for begun := time.Now(); ; {
		err := manager.Profile(profile, filepath.Join(r.plan.profiles, name))
		if err == nil || time.Since(begun) > starting {
			if err != nil {
				t.Errorf("profile %s: %v", name, err)
			}
			return
		}
		<-time.After(100 * time.Millisecond)
	}
}

// keepCPU takes a profile of processor time over the next seconds beside what goes on.
func (r *run) keepCPU(t *testing.T, manager *harness.Process, name string) (done func()) {
	t.Helper()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.keep(t, manager, fmt.Sprintf("profile?seconds=%d", profiled/time.Second), name)
	}()
	wait := func() { <-finished }
	t.Cleanup(wait) // it reports to a test, which must not be over before it, however that ends
	return wait
}

const (
	profiled = 15 * time.Second
	// starting is how long a manager may take until it serves profiles.
	starting = 10 * time.Second
)

// seconds is a duration for tables.
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
