// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// slowdown is what counts as measurable: half as long again, and a second that a loaded machine may add anywhere.
func slowdown(alone, beside time.Duration) bool { return beside > alone*3/2+time.Second }

// inTrouble picks one in ten of a fleet, by the number at the end of its name.
func inTrouble(server string) bool { return strings.HasSuffix(server, "7") }

func well(server string) bool { return !inTrouble(server) }

// trouble compares nine in ten BMCs beside one that is well with nine in ten beside one that hangs on every call, or whose machine ignores
// being shut down: the second part of table 5.
func (r *run) trouble(t *testing.T) {
	suite := r.suite(t, r.lively("full"))
	count := r.plan.trouble
	manager := r.manager(suite.Kit(t, "manager"), "--poll="+r.plan.poll.String())
	suite.Kit(t, "idle").Until("the manager has started", quiet(manager))
	enrolled, released := r.life(r.side(t, suite, "well", nil))
	again, releasedBeside := r.life(r.side(t, suite, "stubborn", func(bmc *sim.BMC) error {
		bmc.Behave(func(b *sim.Behaviour) { b.IgnoreShutdown = true })
		return nil
	}))
	hang := func(bmc *sim.BMC) error {
		_, err := bmc.Inject(sim.Fault{Kind: sim.FaultHang})
		return err
	}
	// A shutdown that is ignored changes nothing about enrolment: both were well until then. The better of two says less of who else used
	// the processors.
	enrolled = quicker(enrolled, again)
	enrolledBeside := quicker(r.side(t, suite, "hanging", hang).enroll(), r.side(t, suite, "hanging-too", hang).enroll())
	manager.Stop()
	table := &Table{}
	grid := Grid{Head: []string{"nine in ten of " + fmt.Sprint(count) + " BMCs", "all well: p50", "last", "beside the tenth: p50", "last"}}
	for _, row := range []struct {
		what, step    string
		alone, beside []time.Duration
	}{
		{"hangs on every call", "registered → Available", enrolled, enrolledBeside},
		{"ignores shutdown", "claim deleted → Available", released, releasedBeside},
	} {
		alone, beside := quantile(row.alone, 1), quantile(row.beside, 1)
		table.Aims = append(table.Aims, Aim{
			What: "one BMC in ten " + row.what + ": the other nine, " + row.step, Aim: "no measurable slow-down",
			Measured: fmt.Sprintf("%s, without it %s", seconds(beside), seconds(alone)), Met: verdict(!slowdown(alone, beside)),
		})
		grid.Row(row.step+"; the tenth "+row.what, seconds(quantile(row.alone, 0.5)), seconds(alone), seconds(quantile(row.beside, 0.5)), seconds(beside))
	}
	table.Grids = append(table.Grids, grid)
	table.Notes = append(table.Notes, "Both groups of BMCs are led by the same manager, one after the other. Measurable is what takes half as long again and a second more.")
	r.troubles = table
	r.tellReactions(t)
}

// side is a group of BMCs. The tenth of them has a trouble, where the group has one.
type side struct {
	*harness.Kit
	n       int
	trouble func(*sim.BMC) error
}

func (r *run) side(t *testing.T, suite *harness.Suite, name string, trouble func(*sim.BMC) error) side {
	t.Helper()
	k := suite.Kit(t, name)
	k.Patience = 4 * time.Minute
	return side{Kit: k, n: r.plan.trouble, trouble: trouble}
}

// enroll registers the group and returns how long it took until each of the nine in ten was Available.
func (s side) enroll() []time.Duration {
	s.T.Helper()
	started := time.Now()
	s.RegisterFleetWith(s.n, func(bmc *sim.BMC) error {
		if s.trouble == nil || !inTrouble(bmc.Name()) {
			return nil
		}
		return s.trouble(bmc)
	})
	took := sight(s.Kit, "Available", available).until(s.sound(), started, well)
	progress(s.T, "%s: nine in ten of %d Available after %s", s.Name, s.n, seconds(quantile(took, 1)))
	return took
}

// sound is how many of the group are not in trouble.
func (s side) sound() int { return s.n - s.n/10 }

// life leads the group through a life, the tenth too, and returns how long enrolment and release took for each of the nine in ten.
func (r *run) life(s side) (enrolled, released []time.Duration) {
	s.T.Helper()
	enrolled = s.enroll()
	sight(s.Kit, "Available", available).until(s.n, time.Now(), nil)
	s.ClaimFleet(s.n)
	sight(s.Kit, "running", running).until(s.n, time.Now(), nil) // what still boots hears no shutdown
	progress(s.T, "%s: %d claimed and running", s.Name, s.n)
	started := time.Now()
	s.Each(s.n, func(ctx context.Context, i int) error { return s.Tenant.Delete(ctx, s.FleetClaim(i)) })
	released = sight(s.Kit, "free again", freed).until(s.sound(), started, well)
	progress(s.T, "%s: nine in ten of %d released after %s", s.Name, s.n, seconds(quantile(released, 1)))
	return enrolled, released
}

func quicker(a, b []time.Duration) []time.Duration {
	if quantile(a, 1) <= quantile(b, 1) {
		return a
	}
	return b
}

func freed(s *v1alpha1.Server) bool { return s.Spec.ClaimRef == nil && available(s) }
