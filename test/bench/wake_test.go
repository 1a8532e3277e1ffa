// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// Aims of what follows from a fact.
const (
	wakeHalf = 50 * time.Millisecond
	wakeMost = 250 * time.Millisecond
	// between is from one change to the next: one server changes at a time, among many that do not.
	between = 250 * time.Millisecond
)

// reaction is what followed from one machine whose indicator somebody switched on in the rack, though it is wanted off.
type reaction struct {
	server  string
	fact    time.Time // it was lit
	picture time.Time // the write of it into status.observed reached the API server
	effect  time.Time // the request that switches it off reached the BMC
}

// wakes has the indicators of machines of a fleet at rest be lit, one after the other, and measures how soon each is switched off again:
// table 5. Of all facts from which an effect follows this is the one that nothing is waited for: before power is touched on the word of
// one look, Holdfast waits whether the next says the same (B018).
func (r *run) wakes(f *fleet) *Table {
	f.T.Helper()
	if f.claimed {
		progress(f.T, "waiting until %d claimed servers are booted", f.n)
		sight(f.Kit, "booted", booted).until(f.n, time.Now(), nil)
	}
	f.manager.Stop()
	f.manager = r.manager(f.Kit, "--poll="+r.plan.poll.String())
	if f.claimed {
		sight(f.Kit, "running", running).until(f.n, time.Now(), nil)
	}
	chosen := r.wantDark(f)
	f.Until("the fleet is settled", quiet(f.manager))
	progress(f.T, "lighting %d indicators, one every %s", len(chosen), between)
	reactions := r.light(f, chosen)
	toPicture, toEffect := spans(reactions)
	if len(toEffect) == 0 { // or the quantiles of none would meet every aim
		f.T.Fatal("the audit log has the picture of no reaction")
	}
	half, most := quantile(toEffect, 0.5), quantile(toEffect, 0.99)
	table := &Table{}
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
		"Somebody lights the indicator of a machine that is bound and running; it is wanted off. The picture is the monitor's write into status.observed, at the moment it reaches the API server, by the audit log; the effect is the request that " +
			"switches it off, at the moment the BMC takes it, by the simulator's log. Between the two are the write itself, the watch, one pass that decides, reads everything live and decides again (P4), and the BMC's own state read before it is changed. " +
			"Power is never touched on the word of one look: a machine that goes off is switched on again after it was seen off for an effect deadline (30 s).",
		"Looking is the only way to a fact that is built: no BMC pushes events to the monitor, so the way from a fact to its picture is the pace of looking, two minutes by default, and on average half of it.",
	}
	progress(f.T, "picture → effect: p50 %s, p99 %s of %d; fact → picture p50 %s", seconds(half), seconds(most), len(toEffect), seconds(quantile(toPicture, 0.5)))
	return table
}

// wantDark says of samples of the fleet that their indicators are to be off, as they are, and returns their BMCs.
func (r *run) wantDark(f *fleet) []*redfish.BMC {
	f.T.Helper()
	chosen := make([]*redfish.BMC, min(r.plan.samples, f.n))
	f.Each(len(chosen), func(ctx context.Context, i int) error {
		chosen[i] = f.bmcs[i*f.n/len(chosen)]
		dark := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"indicatorLED":"Off"}}`))
		return f.Admin.Patch(ctx, f.Server(chosen[i].Name()), dark)
	})
	return chosen
}

// light has the indicators be lit and waits until each was switched off again.
func (r *run) light(f *fleet, chosen []*redfish.BMC) []reaction {
	f.T.Helper()
	from := place(f.Kit)
	reactions := make([]reaction, len(chosen))
	tick := time.NewTicker(between)
	defer tick.Stop()
	for i, bmc := range chosen {
		if err := lit(f, bmc); err != nil {
			f.T.Fatal(err)
		}
		reactions[i].server = bmc.Name()
		<-tick.C
	}
	f.Until("all are switched off again", func(context.Context) error {
		for i := range reactions {
			if !reactions[i].seen(f.Rack) {
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

// lit switches an indicator on, as somebody with a tool of their own does.
func lit(f *fleet, bmc *redfish.BMC) error {
	url := bmc.Endpoint() + "/redfish/v1/Systems/" + bmc.Machines()[0].Status().Machine
	request, err := http.NewRequestWithContext(f.T.Context(), http.MethodPatch, url, strings.NewReader(`{"IndicatorLED":"Lit"}`))
	if err != nil {
		return err
	}
	request.SetBasicAuth(harness.Username, harness.Password)
	request.Header.Set("Content-Type", "application/json")
	response, err := f.Rack.Client().Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("light the indicator of %s: %s", bmc.Name(), response.Status)
	}
	return nil
}

// seen looks for both ends of a reaction in the rack's log.
func (r *reaction) seen(rack *redfish.Rack) bool {
	if !r.effect.IsZero() {
		return true
	}
	for _, event := range rack.MachineLog(redfish.EventFilter{BMC: r.server, Kinds: []redfish.EventKind{redfish.EventLED}}) {
		if event.To == "Lit" {
			r.fact = event.At
		} else {
			r.effect = event.At
		}
	}
	return !r.effect.IsZero()
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
