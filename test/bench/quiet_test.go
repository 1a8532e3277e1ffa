// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// place is where the audit log ends now.
func place(k *harness.Kit) harness.Place {
	k.T.Helper()
	at, err := k.Audit().Now()
	if err != nil {
		k.T.Fatal(err)
	}
	return at
}

// calls are the operator's requests to the API server from a place in the audit log on.
func calls(k *harness.Kit, from harness.Place) []harness.Call {
	k.T.Helper()
	var found []harness.Call
	if _, err := k.Audit().Calls(from, func(call harness.Call) { found = append(found, call) }); err != nil {
		k.T.Fatal(err)
	}
	return found
}

// split tells writes from live reads.
func split(found []harness.Call) (writes, reads []harness.Write) {
	for _, call := range found {
		if call.IsRead() {
			reads = append(reads, call.Write)
		} else {
			writes = append(writes, call.Write)
		}
	}
	return writes, reads
}

// stillness is for how long nothing may happen in a manager that is called quiet.
const stillness = 3 * time.Second

// quiet checks that a manager has started, that nothing is in its queues or being worked on, and that no pass was made for a while.
func quiet(manager *harness.Process) func(context.Context) error {
	q := &queues{manager: manager}
	return func(context.Context) error { return q.check() }
}

// queues are a manager's, watched from outside.
type queues struct {
	manager *harness.Process
	passes  float64
	// last is when a pass, or work that waits, was last seen.
	last time.Time
	seen time.Time
}

func (q *queues) check() error {
	now := time.Now()
	if now.Sub(q.seen) < 250*time.Millisecond {
		return fmt.Errorf("not asked yet")
	}
	q.seen = now
	told := q.manager.Metrics()
	workers, passes := told.Sum("controller_runtime_max_concurrent_reconciles"), told.Sum("controller_runtime_reconcile_total")
	busy := told.Sum("workqueue_depth") + told.Sum("controller_runtime_active_workers")
	if workers == 0 || passes != q.passes || busy > 0 || q.last.IsZero() {
		q.passes, q.last = passes, now
		return fmt.Errorf("%.0f passes, %.0f waiting or in work", passes, busy)
	}
	if now.Sub(q.last) < stillness {
		return fmt.Errorf("quiet for %s", now.Sub(q.last))
	}
	return nil
}

// asked counts requests to a rack.
type asked struct{ reads, writes, sessions int }

func (a asked) all() int { return a.reads + a.writes + a.sessions }

func (a asked) less(before asked) asked {
	return asked{a.reads - before.reads, a.writes - before.writes, a.sessions - before.sessions}
}

// askedOf counts the requests to the BMCs that are of interest; nil for all.
func askedOf(rack *sim.Rack, of func(bmc string) bool) asked {
	var a asked
	for _, total := range rack.Totals() {
		switch {
		case of != nil && !of(total.BMC):
		case strings.Contains(total.Route, "/SessionService"):
			a.sessions += total.Count
		case total.Method == http.MethodGet || total.Method == http.MethodHead:
			a.reads += total.Count
		default:
			a.writes += total.Count
		}
	}
	return a
}
