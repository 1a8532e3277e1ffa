// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// Aims of one metal life.
const (
	lifeWrites   = 36
	lifeRequests = 60
)

// chapter is one chapter of a life.
type chapter struct {
	name string
	do   func()
}

// cost is what a chapter cost.
type cost struct {
	name          string
	writes, reads []harness.Write
	asked         asked
}

func (c cost) observed() (observed, other []harness.Write) {
	for _, write := range c.writes {
		if write.Observed {
			observed = append(observed, write)
		} else {
			other = append(other, write)
		}
	}
	return observed, other
}

// B228, B234: lives counts what one machine's life and one VM's life cost, by chapter: table 1. Both are led by one manager, one after the other, with
// machines and VMs that take seconds. It looks at settled machines more often than by default, for a life that is bound for a minute only:
// that a machine runs is seen by such a look.
func (r *run) lives(t *testing.T) {
	suite := r.suite(t, r.lively("quick", "full"))
	k := suite.Kit(t, "life")
	k.Patience = 5 * time.Minute
	r.manager(k, "--poll="+r.plan.looks.String())
	metal := r.metalLife(k)
	progress(t, "the metal life is over")
	virtual, clouds := r.virtualLife(k)
	r.tell(t, lifeTable(metal, virtual, clouds, r.plan.looks))
}

func (r *run) metalLife(k *harness.Kit) []cost {
	k.T.Helper()
	var machine *harness.Machine
	var claim *v1alpha1.ServerClaim
	return count(k, []chapter{
		{"register → Available", func() { machine = k.Enroll() }},
		{"claimed → booted", func() { claim = k.Booted(machine.Name) }},
		{"released → Available", func() {
			k.Delete(claim)
			k.UntilGone(claim)
			k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
		}},
	})
}

func (r *run) virtualLife(k *harness.Kit) ([]cost, []harness.Asked) {
	k.T.Helper()
	var cloud *harness.Cloud
	var class *v1alpha1.ServerClass
	var claim *v1alpha1.ServerClaim
	var clouds []harness.Asked
	before := harness.Asked{}
	asked := func(do func()) func() {
		return func() {
			do()
			now := cloud.Asked()
			clouds = append(clouds, now.Less(before))
			before = now
		}
	}
	return count(k, []chapter{
		{"cloud and class registered → Ready", asked(func() {
			cloud = k.RegisterCloud()
			class = k.Class(cloud)
			k.UntilReady(class)
		})},
		{"claimed → its VM runs", asked(func() {
			claim = k.ClassClaim(class)
			k.UntilReady(claim)
		})},
		{"claim deleted → nothing left", asked(func() {
			k.Delete(claim)
			k.UntilGone(claim)
			k.UntilEmpty(cloud)
		})},
	}), clouds
}

// count runs chapters and counts what each costs, to the end of what it brings about.
func count(k *harness.Kit, chapters []chapter) []cost {
	k.T.Helper()
	var costs []cost
	for _, c := range chapters {
		mark, before := place(k), askedOf(k.Rack, nil)
		c.do()
		k.Until("nothing is written any more", silent(k))
		one := cost{name: c.name, asked: askedOf(k.Rack, nil).less(before)}
		one.writes, one.reads = split(calls(k, mark))
		costs = append(costs, one)
		progress(k.T, "%s: %d writes", c.name, len(one.writes))
	}
	return costs
}

// silent checks that the operator has written nothing for a while.
func silent(k *harness.Kit) func(context.Context) error {
	k.T.Helper()
	mark, since := place(k), time.Now()
	return func(context.Context) error {
		if writes, _ := split(calls(k, mark)); len(writes) > 0 {
			mark, since = place(k), time.Now()
		}
		if time.Since(since) < stillness {
			return errors.New("just written")
		}
		return nil
	}
}

func lifeTable(metal, virtual []cost, clouds []harness.Asked, looks time.Duration) Table {
	table := Table{Number: 1, Title: "What one life costs"}
	grid := Grid{Head: []string{"chapter", "API writes", "of them status.observed", "live API reads", "Redfish reads", "Redfish writes", "which API writes, status.observed apart"}}
	var writes, requests int
	for _, c := range metal {
		observed, other := c.observed()
		writes, requests = writes+len(c.writes), requests+c.asked.all()
		reads := fmt.Sprintf("%d, and %d logins", c.asked.reads, c.asked.sessions)
		grid.Row(c.name, len(c.writes), len(observed), len(c.reads), reads, c.asked.writes, harness.ByResource(other))
	}
	table.Aims = []Aim{
		{What: "API writes of one metal life, all objects, status.observed included, events apart", Aim: fmt.Sprintf("≤ %d", lifeWrites), Measured: fmt.Sprint(writes), Met: verdict(writes <= lifeWrites), Count: true},
		{What: "Redfish requests of the same", Aim: fmt.Sprintf("≤ %d", lifeRequests), Measured: fmt.Sprint(requests), Met: verdict(requests <= lifeRequests), Count: true},
	}
	vms := Grid{Head: []string{"chapter of a VM", "API writes", "of them status.observed", "live API reads", "reads of the cloud", "writes to the cloud", "which API writes, status.observed apart"}}
	var all int
	for i, c := range virtual {
		observed, other := c.observed()
		all += len(c.writes)
		vms.Row(c.name, len(c.writes), len(observed), len(c.reads), clouds[i].Reads(), clouds[i].Writes(), harness.ByResource(other))
	}
	table.Aims = append(table.Aims, Aim{What: "API writes of one virtual life, its cloud and class included", Aim: "–", Measured: fmt.Sprint(all), Met: NoAim})
	table.Grids = []Grid{grid, vms}
	table.Notes = []string{
		"The monitor looks at what is unsettled a quarter of a second after it changed, and then twice as long after each look; at what is settled every " + looks.String() + " here instead of every two minutes. A simulated machine takes about ten seconds from power-on to a running system, and installs for five.",
		"Written to status.observed: " + observedOf(append(slices.Clone(metal), virtual...)) + ".",
	}
	return table
}

func observedOf(costs []cost) string {
	var all []string
	for _, c := range costs {
		observed, _ := c.observed()
		if len(observed) == 0 {
			continue
		}
		all = append(all, fmt.Sprintf("%s: %s", c.name, harness.ByResource(observed)))
	}
	return strings.Join(all, "; ")
}
