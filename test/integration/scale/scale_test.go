// SPDX-License-Identifier: Apache-2.0

// Package scale enrolls many BMCs, and makes many VMs, with a manager in a process of its own, and measures: time until all are there,
// memory and processor time of the manager, conflicts. The test run does it small, `make scale` with 500 BMCs and 1,000 VMs.
package scale

import (
	"os"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// small is how many BMCs, or VMs, the test run takes; more are held to the aims.
const small = 40

// The aims, for a fleet of 500.
const (
	availableWithin = 60 * time.Second
	memoryBelow     = 150 << 20
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	// Machines of the rack's own make: a second or so a step, as lively as a fleet of that size can be on a machine for tests.
	os.Exit(harness.Main(m, harness.Options{Rack: sim.Config{RequestLog: 2_000}}, func(s *harness.Suite) { suite = s }))
}

// B228, B234: a fleet is enrolled, and claimed in one go: each claim gets a server, none two.
func TestAFleetIsEnrolledAndClaimed(t *testing.T) {
	k := suite.Kit(t, "fleet")
	n := harness.FleetSize(t, small)
	k.Patience = time.Minute + time.Duration(n)*time.Second/2
	k.RegisterFleet(n)
	manager := k.StartProcess("--effect-deadline=2s")
	started := time.Now()
	enrolled := k.UntilFleet(n, "Available", func(s *v1alpha1.Server) bool { return s.Status.Phase == v1alpha1.PhaseAvailable })
	memory := manager.Memory()
	t.Logf("%d BMCs: all Available after %s (aim %s for 500), manager RSS %d MiB, at most %d MiB (aim %d MiB for 500)",
		n, enrolled.Round(time.Millisecond), availableWithin, memory.Now>>20, memory.Most>>20, memoryBelow>>20)

	claimed := time.Now()
	k.ClaimFleet(n)
	k.UntilFleet(n, "bound", func(s *v1alpha1.Server) bool { return s.Spec.ClaimRef != nil })
	bound := time.Since(claimed)
	k.ExpectOneEach(n)
	conflicts := manager.Metric("holdfast_claim_conflicts_total")
	t.Logf("%d claims: all bound after %s (%.0f a second, counted from the first creation), %.0f conflicts, manager RSS %d MiB",
		n, bound.Round(time.Millisecond), float64(n)/bound.Seconds(), conflicts, manager.Memory().Now>>20)
	writes, err := suite.Audit().Writes(started)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f writes to the API server a server, status.observed included", float64(len(writes))/float64(n))
	if n >= 500 {
		hold(t, enrolled, memory)
	}
}

func hold(t *testing.T, enrolled time.Duration, memory harness.Usage) {
	t.Helper()
	if enrolled > availableWithin {
		t.Errorf("all Available after %s, aim %s", enrolled, availableWithin)
	}
	if memory.Most > memoryBelow {
		t.Errorf("manager RSS at most %d MiB, aim %d MiB", memory.Most>>20, memoryBelow>>20)
	}
}
