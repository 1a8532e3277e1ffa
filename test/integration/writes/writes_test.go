// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/operator"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// phase is one chapter of a machine's life, and how many writes it may cost.
type phase struct {
	name string
	aim  int
	do   func()
}

// B228, B234: the writes of one life, per phase, over all objects; the monitor's own region apart.
func TestWritesOfALife(t *testing.T) {
	k := suite.Kit(t, "life")
	k.Manage()
	var machine *harness.Machine
	var claim *v1alpha1.ServerClaim
	maintenance := &v1alpha1.ServerMaintenance{}
	phases := []phase{
		{"register → Available", 10, func() { machine = k.Enroll() }},
		{"claim → booted", 16, func() { claim = k.Booted(machine.Name) }},
		{"its tenant switches it off → On", 6, func() {
			machine.PowerOffByTenant()
			k.UntilPower(machine, v1alpha1.ObservedOn)
			k.UntilQuiet(machine.Name)
		}},
		{"maintenance, power Off", 12, func() {
			maintenance = k.Maintain(machine.Name, func(m *v1alpha1.ServerMaintenance) { m.Spec.Power = v1alpha1.PowerOff })
			k.UntilPower(machine, v1alpha1.ObservedOff)
			k.UntilReady(maintenance)
		}},
		{"end of the maintenance → On", 12, func() {
			k.Delete(maintenance)
			k.UntilGone(maintenance)
			k.UntilReady(claim)
			k.UntilQuiet(machine.Name)
		}},
		{"release", 10, func() {
			k.Delete(claim)
			k.UntilGone(claim)
			k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
		}},
	}
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "phase\twrites\taim\tstatus.observed\tof them")
	for _, p := range phases {
		started := time.Now()
		p.do()
		rest(k, machine)
		counted, observed := count(t, started)
		fmt.Fprintf(out, "%s\t%d\t≤ %d\t%d\t%s\n", p.name, len(counted), p.aim, len(observed), harness.ByResource(counted))
		if len(counted) > p.aim {
			t.Errorf("%s: %d writes, want at most %d:\n  %s", p.name, len(counted), p.aim, listed(counted))
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Log("writes to the API server\n" + table.String())
}

// rest waits until the machine was looked at several times and the operator has written nothing between two of them.
func rest(k *harness.Kit, machine *harness.Machine) {
	k.T.Helper()
	k.Until("nothing is written any more", func(context.Context) error {
		quiet := time.Now()
		k.Watched(k.Mark(), machine)
		counted, observed := count(k.T, quiet)
		if n := len(counted) + len(observed); n > 0 {
			return fmt.Errorf("%d writes", n)
		}
		return nil
	})
}

// count gives the writes since a moment, the monitor's apart.
func count(t *testing.T, since time.Time) (counted, observed []harness.Write) {
	t.Helper()
	writes, err := suite.Audit().Writes(since)
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range writes {
		if write.Observed {
			observed = append(observed, write)
		} else {
			counted = append(counted, write)
		}
	}
	return counted, observed
}

func listed(writes []harness.Write) string {
	lines := make([]string, len(writes))
	for i, write := range writes {
		lines[i] = write.At.Format("15:04:05.000") + " " + write.String()
	}
	return strings.Join(lines, "\n  ")
}

// restFor is how long the fleet is watched at rest at least: HOLDFAST_REST, such as 5m; unset: as long as a hundred looks take.
func restFor(t *testing.T) time.Duration {
	t.Helper()
	asked := os.Getenv("HOLDFAST_REST")
	if asked == "" {
		return 0
	}
	least, err := time.ParseDuration(asked)
	if err != nil {
		t.Fatalf("HOLDFAST_REST: %v", err)
	}
	return least
}

// P8, B225, B228: at rest nothing is written, to the API server or to a BMC, and no event told, while every machine is looked at more
// than a hundred times.
func TestWritesAtRest(t *testing.T) {
	k := suite.Kit(t, "rest")
	k.Manage(func(o *operator.Options) { o.Cadence.Slow, o.Cadence.Fast = 50*time.Millisecond, 50*time.Millisecond })
	free, bound, maintained := k.Enroll(), k.Enroll(), k.Enroll()
	k.Booted(bound.Name)
	k.UntilReady(k.Maintain(maintained.Name))
	machines := []*harness.Machine{free, bound, maintained}
	for _, machine := range machines {
		rest(k, machine)
	}
	const looks = 100
	least := restFor(t)
	k.Patience += least
	started, mark := time.Now(), k.Mark()
	events := len(k.Events(k.Server(bound.Name)))
	k.Until("looked at more than a hundred times, for as long as was asked for", func(context.Context) error {
		for _, machine := range machines {
			if seen := k.Since(mark, machine).Looks; seen < looks {
				return fmt.Errorf("%s was looked at %d times", machine.Name, seen)
			}
		}
		if lasted := time.Since(started); lasted < least {
			return fmt.Errorf("%s of %s", lasted, least)
		}
		return nil
	})
	counted, observed := count(t, started)
	if n := len(counted) + len(observed); n > 0 {
		t.Errorf("%d writes at rest:\n  %s", n, listed(append(counted, observed...)))
	}
	logins := 0
	for _, machine := range machines {
		if f := k.Since(mark, machine); len(f.Writes) > 0 {
			t.Errorf("%d writes to the BMC of %s at rest", len(f.Writes), machine.Name)
		}
		logins += machine.BMC.AuthStats().Logins
	}
	if after := len(k.Events(k.Server(bound.Name))); after != events {
		t.Errorf("%d events at rest", after-events)
	}
	t.Logf("at rest: 0 writes in %s, %d looks each or more at %d machines, %d logins ever", time.Since(started).Round(time.Millisecond), looks, len(machines), logins)
	if logins > len(machines) { // B165
		t.Errorf("%d logins to %d BMCs: one session each is enough", logins, len(machines))
	}
}

// P8, B021: a manager that starts over fifty settled servers writes nothing, to the API server or to a BMC.
func TestWritesOfARestart(t *testing.T) {
	const fleet, claimed = 50, 10
	k := suite.Kit(t, "restart")
	manager := k.Manage()
	machines := make([]*harness.Machine, fleet)
	for i := range machines {
		machines[i] = k.Register()
	}
	for i, machine := range machines {
		k.UntilServer(machine.Name)
		if i < claimed {
			k.Claim(machine.Name)
		}
	}
	for i, machine := range machines {
		if i < claimed {
			k.UntilQuiet(machine.Name)
		} else {
			k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
		}
	}
	rest(k, machines[fleet-1])
	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}
	started, mark := time.Now(), k.Mark()
	k.Manage()
	k.ExpectUntouched(mark, machines...)
	counted, observed := count(t, started)
	if n := len(counted) + len(observed); n > 0 {
		t.Errorf("%d writes after a restart:\n  %s", n, listed(append(counted, observed...)))
	}
	t.Logf("restart over %d settled servers, %d of them bound: %d writes to the API server, 0 to BMCs, quiet and watched within %s",
		fleet, claimed, len(counted)+len(observed), time.Since(started).Round(time.Millisecond))
}
