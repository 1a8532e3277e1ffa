// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// Aims of what follows from a fact.
const (
	wakeHalf    = 50 * time.Millisecond
	wakeMost    = 250 * time.Millisecond
	betweenOffs = 250 * time.Millisecond
)

// reaction is what followed from one machine that its tenant switched off though it is wanted On.
type reaction struct {
	server  string
	fact    time.Time // the machine went off
	picture time.Time // the write of it into status.observed reached the API server
	effect  time.Time // the reset reached the machine
}

// wakes has machines of a fleet at rest go off, one after the other, and measures how soon each is switched on again: table 5.
func (r *run) wakes(f *fleet) Table {
	f.T.Helper()
	progress(f.T, "waiting until %d claimed servers are booted", f.n)
	sight(f.Kit, "booted", booted).until(f.n, time.Now(), nil)
	if f.manager.Stop(); f.T.Failed() {
		f.T.FailNow()
	}
	f.manager = r.manager(f.Kit, "--poll="+r.plan.poll.String())
	sight(f.Kit, "running", running).until(f.n, time.Now(), nil)
	f.Until("the fleet is settled", quiet(f.manager))
	reactions := r.switchOff(f)
	toPicture, toEffect := spans(reactions)
	half, most := quantile(toEffect, 0.5), quantile(toEffect, 0.99)
	table := Table{Number: 5, Title: "From a fact to what follows"}
	what := fmt.Sprintf("picture → effect, %d servers, one changes", f.n)
	table.Aims = append(table.Aims,
		Aim{What: what + ": p50", Aim: "< 50 ms", Measured: seconds(half), Met: verdict(half < wakeHalf)},
		Aim{What: what + ": p99", Aim: "< 250 ms", Measured: seconds(most), Met: verdict(most < wakeMost)},
	)
	grid := Grid{Head: []string{"step", "samples", "p50", "p90", "p99", "longest"}}
	for _, step := range []struct {
		name string
		took []time.Duration
	}{{"picture → effect", toEffect}, {"fact → picture, looked for every " + r.plan.poll.String(), toPicture}} {
		grid.Row(step.name, len(step.took), seconds(quantile(step.took, 0.5)), seconds(quantile(step.took, 0.9)), seconds(quantile(step.took, 0.99)), seconds(quantile(step.took, 1)))
	}
	table.Grids = []Grid{grid}
	table.Notes = []string{
		"A machine that runs for a claim is switched off by its tenant. The picture is the monitor's write into status.observed, at the moment it reaches the API server, by the audit log; the effect is the reset that switches " +
			"the machine on again, at the moment the BMC takes it, by the simulator's log. Between the two are the write itself, the watch, one pass that writes what it is about to do, the watch again, and one pass that reads everything live and acts (P4).",
		"Looking is the only way to a fact that is built: no BMC pushes events to the monitor, so the way from a fact to its picture is the pace of looking, two minutes by default, and on average half of it.",
	}
	progress(f.T, "picture → effect: p50 %s, p99 %s of %d; fact → picture p50 %s", seconds(half), seconds(most), len(toEffect), seconds(quantile(toPicture, 0.5)))
	return table
}

// switchOff has samples of the machines go off and waits until each was switched on again.
func (r *run) switchOff(f *fleet) []reaction {
	f.T.Helper()
	from := place(f.Kit)
	var reactions []reaction
	tick := time.NewTicker(betweenOffs)
	defer tick.Stop()
	for i := range min(r.plan.samples, f.n) {
		bmc := f.bmcs[i*f.n/min(r.plan.samples, f.n)]
		reactions = append(reactions, reaction{server: bmc.Name(), fact: time.Now()})
		bmc.Machines()[0].PowerOffByTenant()
		<-tick.C
	}
	f.Until("all are switched on again", func(context.Context) error {
		for i := range reactions {
			if reactions[i].effect.IsZero() && !switchedOn(f, &reactions[i]) {
				return fmt.Errorf("%s is not, %d of %d", reactions[i].server, i, len(reactions))
			}
		}
		return nil
	})
	for _, call := range calls(f.Kit, from) {
		index := slices.IndexFunc(reactions, func(one reaction) bool { return one.server == call.Name })
		if index < 0 || !call.Observed || call.Resource != "servers/status" || call.Code >= 300 {
			continue
		}
		if one := &reactions[index]; call.At.After(one.fact) && call.At.Before(one.effect) && one.picture.IsZero() {
			one.picture = call.At
		}
	}
	return reactions
}

func switchedOn(f *fleet, one *reaction) bool {
	for _, event := range f.Rack.MachineLog(redfish.EventFilter{BMC: one.server, Kinds: []redfish.EventKind{redfish.EventReset}}) {
		if event.At.After(one.fact) {
			one.effect = event.At
			return true
		}
	}
	return false
}

// spans are the two parts of reactions, each sorted.
func spans(reactions []reaction) (toPicture, toEffect []time.Duration) {
	for _, one := range reactions {
		if one.picture.IsZero() {
			continue
		}
		toPicture = append(toPicture, one.picture.Sub(one.fact))
		toEffect = append(toEffect, one.effect.Sub(one.picture))
	}
	slices.Sort(toPicture)
	slices.Sort(toEffect)
	return toPicture, toEffect
}
