// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Environment variables of a run. GOGC and GOMEMLIMIT reach the manager as they are.
const (
	envSize   = "BENCH"     // tiny, quick, full; none: nothing is measured
	envTables = "TABLES"    // numbers of tables, comma-separated; none: all
	envN      = "N"         // instead of the fleets of tables 3, 4 and 5, one of so many BMCs
	envOut    = "BENCH_OUT" // the document, from the module's root
	envPprof  = "PROFILE"   // folder that gets profiles of the manager, likewise
)

// plan says how large everything is.
type plan struct {
	name   string
	tables []int
	// fleets of table 4. Claims are as many as the fleet, where that is at most claims.
	fleets []int
	claims int
	// restart is the fleet of table 3, wakes that of table 5.
	restart, wakes int
	// samples of wakes, and the pace of looking meanwhile: every fact waits for a look, so the pace bounds how long the run takes.
	samples int
	poll    time.Duration
	// trouble is how many BMCs are beside each other in table 5, one in ten of them in trouble.
	trouble int
	// rest is how many servers table 2 watches, half of them bound, and window how long.
	rest         int
	window, hour time.Duration // hour is what an hour is compressed to
	// settle is how long a manager that was started is left alone before it is watched.
	settle time.Duration
	// looks is the pace of looking in table 1.
	looks time.Duration
	// flags of every manager.
	flags []string
	// limit is how long the API server's limit is measured.
	limit time.Duration
	// benchtime of table 6, as of go test.
	benchtime string
	out       string
	profiles  string
}

var plans = []plan{
	{
		name: "tiny", fleets: []int{8}, claims: 8, restart: 8, wakes: 8, samples: 4, poll: time.Second, trouble: 10,
		rest: 4, window: 5 * time.Second, hour: 6 * time.Second, looks: 2 * time.Second, settle: 2 * time.Second, flags: []string{"--effect-deadline=1s", "--poll=1s"}, limit: time.Second,
	},
	{
		name: "quick", fleets: []int{25, 100}, claims: 100, restart: 100, wakes: 100, samples: 30, poll: 5 * time.Second, trouble: 20,
		rest: 20, window: 20 * time.Second, hour: 20 * time.Second, looks: 10 * time.Second, settle: 6 * time.Second, flags: []string{"--effect-deadline=5s", "--poll=5s"}, limit: 5 * time.Second, benchtime: "200ms",
	},
	{
		name: "full", fleets: []int{200, 1000, 10_000}, claims: 1000, restart: 10_000, wakes: 1000, samples: 200, poll: 30 * time.Second, trouble: 50,
		rest: 100, window: 3 * time.Minute, hour: time.Minute, settle: 130 * time.Second, looks: 20 * time.Second, limit: 10 * time.Second, benchtime: "1s",
	},
}

// planned is the plan that the environment asks for.
func planned() (plan, error) {
	size := os.Getenv(envSize)
	index := slices.IndexFunc(plans, func(p plan) bool { return p.name == size })
	if index < 0 {
		return plan{}, fmt.Errorf("%s=%q: there are tiny, quick and full", envSize, size)
	}
	p := plans[index]
	p.tables = []int{1, 2, 3, 4, 5, 6}
	if text := os.Getenv(envTables); text != "" {
		p.tables = nil
		for part := range strings.SplitSeq(text, ",") {
			number, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || number < 1 || number > 6 {
				return plan{}, fmt.Errorf("%s=%q: tables are numbered 1 to 6", envTables, text)
			}
			p.tables = append(p.tables, number)
		}
	}
	if text := os.Getenv(envN); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return plan{}, fmt.Errorf("%s=%q is no number of BMCs", envN, text)
		}
		p.fleets, p.restart, p.wakes, p.samples = []int{n}, n, n, min(p.samples, n)
		p.claims = max(p.claims, 1000)
	}
	p.out, p.profiles = fromRoot(os.Getenv(envOut)), fromRoot(os.Getenv(envPprof))
	return p, nil
}

// fromRoot is a path as it is given, seen from this package.
func fromRoot(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join("../..", path)
}

// told says what the run is, for those who read its tables.
func (p plan) told() string {
	if len(p.flags) == 0 {
		return p.name + " run"
	}
	return p.name + " run, managers with " + strings.Join(p.flags, " ")
}

func (p plan) takes(table int) bool { return slices.Contains(p.tables, table) }

// sizes are the fleets that the tables asked for need, smallest first.
func (p plan) sizes() []int {
	var sizes []int
	if p.takes(4) {
		sizes = append(sizes, p.fleets...)
	}
	if p.takes(3) {
		sizes = append(sizes, p.restart)
	}
	if p.takes(5) {
		sizes = append(sizes, p.wakes)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}
