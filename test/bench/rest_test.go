// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/monitor"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// readsAnHour is the aim for Redfish reads of a server at rest.
const readsAnHour = 60

// still is what servers at rest cost within a window.
type still struct {
	window        time.Duration
	writes, reads []harness.Write
	passes        map[string]float64 // by controller; nil where they were not counted
	free, held    asked              // of BMCs whose servers are Available, and bound
}

// P8, B228: rest watches servers that are settled, half of them bound: table 2. First at the paces that are the default, for as long as is planned,
// then with every pace of the monitor so much quicker that an hour passes within the plan's.
func (r *run) rest(t *testing.T) {
	suite := r.suite(t, r.lively("full"))
	k := suite.Kit(t, "rest")
	k.Patience = 5 * time.Minute
	n := r.plan.rest
	k.RegisterFleet(n)
	manager := r.manager(k, "--poll="+r.plan.poll.String())
	sight(k, "Available", available).until(n, time.Now(), nil)
	k.ClaimFleet(n / 2)
	sight(k, "running", running).until(n/2, time.Now(), nil)
	held := r.holders(k)
	manager.Stop()
	manager = r.manager(k)
	lapse(k, r.plan.settle) // a manager that starts looks at everything, and discovers it, within the slow pace
	k.Until("the fleet is settled", quiet(manager))
	progress(t, "watching %d settled servers for %s", n, r.plan.window)
	passes := func(name string) float64 {
		return manager.Metric("controller_runtime_reconcile_total", fmt.Sprintf(`controller=%q`, name))
	}
	actual := watched(k, held, r.plan.window, passes)
	manager.Stop()

	speed := time.Hour / r.plan.hour
	progress(t, "watching an hour within %s", r.plan.hour)
	quick, err := suite.StartManager(hurried(speed))
	if err != nil {
		t.Fatal(err)
	}
	lapse(k, 3*monitor.DefaultCadence().Slow/speed) // what follows a start is not rest
	hour := watched(k, held, r.plan.hour, nil)
	if err := quick.Stop(); err != nil {
		t.Error(err)
	}
	r.tell(t, restTable(n, actual, hour))
}

// holders are the servers that claims have.
func (r *run) holders(k *harness.Kit) map[string]bool {
	k.T.Helper()
	servers, err := k.Fleet(k.T.Context())
	if err != nil {
		k.T.Fatal(err)
	}
	held := map[string]bool{}
	for i := range servers {
		held[servers[i].Name] = bound(&servers[i])
	}
	return held
}

// hurried has a manager as it is by default do in an hour divided by speed what the monitor does in one.
func hurried(speed time.Duration) harness.Override {
	return func(o *operator.Options) {
		defaults := operator.Defaults()
		o.Settings, o.Cadence, o.FlipsPerMinute, o.Workers = defaults.Settings, defaults.Cadence, defaults.FlipsPerMinute, defaults.Workers
		o.Cadence.Slow /= speed
		o.Cadence.Discovery /= speed
		o.Cadence.Inventory /= speed
	}
}

// lapse lets time pass.
func lapse(k *harness.Kit, span time.Duration) {
	k.T.Helper()
	began := time.Now()
	k.Until(span.String()+" over", func(context.Context) error {
		if time.Since(began) < span {
			return errors.New("not yet")
		}
		return nil
	})
}

func watched(k *harness.Kit, held map[string]bool, window time.Duration, passes func(string) float64) still {
	k.T.Helper()
	isHeld := func(bmc string) bool { return held[bmc] }
	isFree := func(bmc string) bool { return !held[bmc] }
	s := still{window: window}
	mark, free, bound := place(k), askedOf(k.Rack, isFree), askedOf(k.Rack, isHeld)
	if passes != nil {
		s.passes = map[string]float64{}
		for _, name := range operator.Names() {
			s.passes[name] = -passes(name)
		}
	}
	lapse(k, window)
	s.free, s.held = askedOf(k.Rack, isFree).less(free), askedOf(k.Rack, isHeld).less(bound)
	s.writes, s.reads = split(calls(k, mark))
	for name := range s.passes {
		s.passes[name] += passes(name)
	}
	return s
}

func restTable(n int, actual, hour still) Table {
	half := float64(n) / 2
	worst := max(float64(hour.free.reads)/half, float64(hour.held.reads)/half)
	var passes float64
	by := Grid{Head: []string{"controller", "passes in " + actual.window.String()}}
	for _, name := range operator.Names() {
		if passes += actual.passes[name]; actual.passes[name] > 0 {
			by.Row(name, fmt.Sprintf("%.0f", actual.passes[name]))
		}
	}
	grid := Grid{Head: []string{"servers", "watched", "API writes", "live API reads", "Redfish reads", "a server and hour", "Redfish writes", "logins"}}
	row := func(what string, s still, a asked) {
		hours := half * s.window.Hours()
		how := s.window.String()
		if s.passes == nil {
			hours, how = half, "an hour within "+how
		}
		scaled := fmt.Sprintf("%.1f", float64(a.reads)/hours)
		if s.passes != nil && s.window < time.Minute {
			scaled = "too short to tell"
		}
		grid.Row(what, how, len(s.writes), len(s.reads), a.reads, scaled, a.writes, a.sessions)
	}
	row(fmt.Sprintf("%d idle", n/2), actual, actual.free)
	row(fmt.Sprintf("%d bound", n/2), actual, actual.held)
	row(fmt.Sprintf("%d idle", n/2), hour, hour.free)
	row(fmt.Sprintf("%d bound", n/2), hour, hour.held)
	writes := len(actual.writes) + len(hour.writes)
	effects := actual.free.writes + actual.held.writes + hour.free.writes + hour.held.writes
	return Table{
		Number: 2, Title: "At rest, a server and hour",
		Aims: []Aim{
			{What: "API writes", Aim: "0", Measured: fmt.Sprint(writes), Met: verdict(writes == 0), Count: true},
			{What: "live API reads", Aim: "0", Measured: fmt.Sprint(len(actual.reads)), Met: verdict(len(actual.reads) == 0), Count: true},
			{What: "writes to BMCs", Aim: "0", Measured: fmt.Sprint(effects), Met: verdict(effects == 0), Count: true},
			{What: "Redfish reads, discovery once an hour and inventory once a day included", Aim: fmt.Sprintf("≤ %d", readsAnHour), Measured: fmt.Sprintf("%.1f", worst), Met: verdict(worst <= readsAnHour), Count: true},
			{What: "passes of reconcilers", Aim: "0 but the backstop", Measured: fmt.Sprintf("%.0f in %s over %d servers", passes, actual.window, n), Met: verdict(passes == 0), Count: true},
		},
		Grids: []Grid{grid, by},
		Notes: []string{
			"The first rows are real time, scaled to an hour; by default a look at a machine comes every two minutes, give or take a tenth, so a short window sees few. The last rows are an hour with every pace of the monitor as many times quicker, " +
				"in which the rarer things come too: a BMC is discovered anew once an hour, the hardware is read once a day." + wrote(append(actual.writes, hour.writes...)),
		},
	}
}
