// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func optionsOf(seed uint64) Options {
	return Options{Seed: seed, Duration: 3 * time.Minute, Servers: 50, Settle: time.Minute, Binary: "holdfast", Dir: "logs"}
}

// A seed tells all: the same options make the same plan, and another seed another one.
func TestAPlanIsMadeOfItsOptionsAlone(t *testing.T) {
	if difference := cmp.Diff(MakePlan(optionsOf(7)), MakePlan(optionsOf(7))); difference != "" {
		t.Errorf("two plans of one seed differ: %s", difference)
	}
	if slices.Equal(MakePlan(optionsOf(7)), MakePlan(optionsOf(9))) {
		t.Error("two seeds make one plan")
	}
}

// Every fault is done at least once, in order, within the time and on a target that there is.
func TestAPlanHasEveryFault(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 40} {
		options := optionsOf(seed)
		plan := MakePlan(options)
		done := map[string]int{}
		for i, step := range plan {
			done[step.Fault]++
			if i > 0 && step.At < plan[i-1].At {
				t.Errorf("seed %d: %s comes before %s", seed, step, plan[i-1])
			}
			f, known := faultNamed(step.Fault)
			if !known || step.At < 0 || step.At > options.Duration || step.Lasts < f.Least || step.Lasts > f.Most {
				t.Errorf("seed %d: %s is not one of %+v", seed, step, f)
			}
			if !strings.HasPrefix(step.Target, map[Target]string{OnMachine: "m-", OnSeat: "seat-", OnManager: "manager-"}[f.On]) || (f.On == OnCluster) != (step.Target == "") {
				t.Errorf("seed %d: %s strikes what it is not for", seed, step)
			}
		}
		for _, f := range Faults() {
			if planned := done[f.Name] > 0; planned == (f.StampedOnly && !options.stamped()) {
				t.Errorf("seed %d: %s is planned %d times", seed, f.Name, done[f.Name])
			}
		}
	}
}

// A fleet that is restored has the time to run again before it is restored anew: the more servers, the longer.
func TestARestoredFleetHasTimeToRecover(t *testing.T) {
	restores := func(servers int) (count int) {
		options := optionsOf(1)
		options.Servers, options.Duration = servers, 30*time.Minute
		for _, step := range MakePlan(options) {
			if strings.HasPrefix(step.Fault, "restore-snapshot") {
				count++
			}
		}
		return count
	}
	if few, many := restores(50), restores(200); few < 3*many || many < 3 || restores(20) != few {
		t.Errorf("%d restores of 50 servers in half an hour, %d of 200, %d of 20", few, many, restores(20))
	}
}

// Where machines keep no stamps an old snapshot is restored with --after-restore alone: the one limit of the promise.
func TestASnapshotIsRestoredUnheldOnlyWhereStampsAreKept(t *testing.T) {
	for seed := range uint64(20) {
		for _, step := range MakePlan(optionsOf(seed)) {
			if step.Fault == "restore-snapshot" && seed%2 == 0 {
				t.Errorf("seed %d: %s", seed, step)
			}
		}
	}
}

// A campaign without some faults is one of all the others alone, and says how to have it again.
func TestFaultsAreLeftOut(t *testing.T) {
	without, only := optionsOf(1), optionsOf(1)
	without.Without = []string{"move"}
	for _, f := range Faults() {
		if f.Name != "move" {
			only.Only = append(only.Only, f.Name)
		}
	}
	if a, b := MakePlan(without).String(), MakePlan(only).String(); a != b {
		t.Errorf("without move:\n%s\nall others:\n%s", a, b)
	}
	if again := without.again(); !strings.HasSuffix(again, " WITHOUT=move") {
		t.Error(again)
	}
	without.Without = []string{"moves"}
	if err := without.validate(); err == nil || !strings.Contains(err.Error(), "moves") {
		t.Errorf("a fault that there is not: %v", err)
	}
}

func TestFaultsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Faults() {
		if names[f.Name] || f.Name == "" || f.do == nil || (f.Weight > 0) == (f.Every > 0) || f.Least > f.Most {
			t.Errorf("%+v: a fault has a name of its own, a deed, either a weight or a rhythm, and lasts from Least to Most", f)
		}
		names[f.Name] = true
	}
}

// There are more tenants for shared machines than machines, and one for each other server.
func TestSeatsFitTheServers(t *testing.T) {
	for servers := leastServers; servers < 300; servers++ {
		machines := machinesOf(servers)
		count := map[string]int{}
		for i, s := range seatsOf(servers) {
			if s.name != seatName(i) {
				t.Fatalf("seat %d is called %s", i, s.name)
			}
			switch {
			case s.server != "":
				count[poolNamed]++
			case s.pool != "":
				count[s.pool]++
			default:
				count[s.class]++
			}
		}
		if count[poolNamed] != namedOf(machines) || count[poolShared] <= machines-namedOf(machines) || count[className] != servers-machines {
			t.Fatalf("%d servers: seats %v", servers, count)
		}
	}
}
