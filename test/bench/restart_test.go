// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-dev/holdfast/test/harness"
)

// quietWithin is the aim for 10,000 settled servers.
const quietWithin = time.Minute

// P8, B021: restarted stops the manager of a settled fleet and starts another: table 3. It watches until every machine was looked at once more.
func (r *run) restarted(f *fleet) Table {
	f.T.Helper()
	if f.claimed { // what was not seen yet would be written by whoever sees it
		sight(f.Kit, "running", running).until(f.n, time.Now(), nil)
	}
	f.Until("the fleet is settled", quiet(f.manager))
	progress(f.T, "restarting the manager over %d settled servers", f.n)
	f.manager.Stop()
	before, mark := askedOf(f.Rack, nil), place(f.Kit)
	started := time.Now()
	f.manager = r.manager(f.Kit)
	watched := &queues{manager: f.manager}
	f.Until("the restarted manager is quiet", func(context.Context) error { return watched.check() })
	took := watched.last.Sub(started)
	cpu, memory := f.manager.CPU(), f.manager.Memory()
	passes := f.manager.Metric("controller_runtime_reconcile_total")
	progress(f.T, "quiet %s after the start, after %.0f passes", seconds(took), passes)
	f.Until("every machine looked at", allFresh(f.manager, f.n))
	writes, reads := split(calls(f.Kit, mark))
	since := askedOf(f.Rack, nil).less(before)
	quietAim := Aim{What: "seconds from the start of the process until its queues are quiet", Aim: "–", Measured: seconds(took), Met: NoAim}
	if f.n >= 10_000 {
		quietAim.Aim, quietAim.Met = "< 60 s", verdict(took < quietWithin)
	}
	return Table{
		Number: 3, Title: fmt.Sprintf("Restart of the manager over %d settled servers", f.n),
		Aims: []Aim{
			{What: "writes to the API server", Aim: "0", Measured: fmt.Sprint(len(writes)), Met: verdict(len(writes) == 0), Count: true},
			{What: "writes to BMCs", Aim: "0", Measured: fmt.Sprint(since.writes), Met: verdict(since.writes == 0), Count: true},
			quietAim,
		},
		Grids: []Grid{restartGrid(f.n, passes, reads, since, cpu, memory)},
		Notes: []string{
			"Writes are counted from the start until every machine was looked at once more. Logging in to each BMC is no write: a session is a connection's." + wrote(writes),
		},
	}
}

func restartGrid(n int, passes float64, reads []harness.Write, since asked, cpu time.Duration, memory harness.Usage) Grid {
	grid := Grid{Head: []string{"servers", "passes until quiet", "live reads of the API server", "reads of BMCs", "logins and logouts", "processor time until quiet", "RSS then"}}
	grid.Row(n, fmt.Sprintf("%.0f", passes), len(reads), since.reads, since.sessions, seconds(cpu), fmt.Sprintf("%d MiB", memory.Now>>20))
	return grid
}

// allFresh checks that a manager has looked at n machines with success, by its own metric.
func allFresh(manager *harness.Process, n int) func(context.Context) error {
	return harness.Seldom(min(n, 500), func(context.Context) error {
		if fresh := int(manager.Metric("holdfast_monitor_freshness_seconds_count")); fresh < n {
			return fmt.Errorf("%d were looked at", fresh)
		}
		return nil
	})
}

// wrote tells which writes there were, where there should be none.
func wrote(writes []harness.Write) string {
	if len(writes) == 0 {
		return ""
	}
	return " Written: " + harness.ByResource(writes) + "."
}
