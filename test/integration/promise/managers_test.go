// SPDX-License-Identifier: Apache-2.0

package promise

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// expectOneLife: over one claim the machine was imaged once, by one arming and one network boot (I10).
func expectOneLife(k *harness.Kit, mark harness.Mark, machine *harness.Machine) harness.Figures {
	k.T.Helper()
	f := k.Since(mark, machine)
	netboots := 0
	for _, boot := range f.Boots {
		if boot.Source == "Pxe" {
			netboots++
		}
	}
	if len(f.Installs) != 1 || netboots != 1 {
		k.T.Errorf("%s: %d installs, %d network boots, want one each; resets %v", machine.Name, len(f.Installs), netboots, f.Resets)
	}
	return f
}

// downs counts how often the machine lost its power.
func downs(f harness.Figures) int {
	count := 0
	for _, e := range f.PowerChanges {
		if e.To == string(sim.PowerOff) {
			count++
		}
	}
	return count
}

// B009, B046, B049: two managers at once, with caches of their own, one of them behind: claims race for machines, each machine is imaged
// once, each claim gets one, and nobody is switched off.
func TestTwoManagersOneOfThemLate(t *testing.T) {
	k := suite.Kit(t, "two")
	k.Manage()
	late := k.Manage(func(o *operator.Options) { o.Workers = 4 })
	late.Faults.Lag(300 * time.Millisecond)
	machines := []*harness.Machine{k.Enroll(), k.Enroll(), k.Enroll()}
	var servers v1alpha1.ServerList
	if err := k.Admin.List(t.Context(), &servers, client.MatchingLabels{"test": k.Name}); err != nil || len(servers.Items) != len(machines) {
		t.Errorf("%d servers were made of %d machines (%v)", len(servers.Items), len(machines), err)
	}
	mark := k.Mark()
	claims := make([]*v1alpha1.ServerClaim, 8)
	for i := range claims {
		claims[i] = k.Claim(machines[i%len(machines)].Name)
	}
	for _, machine := range machines {
		k.UntilQuiet(machine.Name)
		k.Watched(k.Mark(), machine)
		f := expectOneLife(k, mark, machine)
		if n := downs(f); n != 0 {
			t.Errorf("%s was switched off %d times under its claim: resets %v", machine.Name, n, f.Resets)
		}
	}
	owners := map[string]string{}
	for _, claim := range claims {
		harness.Read(k, claim)
		if server := claim.Annotations[ledger.KeyBound]; server != "" {
			if other := owners[server]; other != "" {
				t.Errorf("%s and %s are bound to one server (I8)", claim.Name, other)
			}
			owners[server] = claim.Name
		}
	}
	if len(owners) != len(machines) {
		t.Errorf("%d claims are bound to %d servers", len(owners), len(machines))
	}
	for _, claim := range claims {
		k.Delete(claim)
	}
	for _, claim := range claims {
		k.UntilGone(claim)
	}
	for _, machine := range machines {
		k.UntilPower(machine, v1alpha1.ObservedOff)
	}
}

// B021, B004: the manager is killed at every single write to the server, before the write and after it in turn, all through a life: a
// crash between an effect and its record, and between a record and the knowledge of it. One image, one power-on, one power-off.
func TestAManagerKilledAtEveryWrite(t *testing.T) {
	k := suite.Kit(t, "killed")
	first := k.Manage()
	machine := k.Enroll()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	claim := k.Claim(machine.Name)
	mark := k.Mark()
	kills := 0
	server := k.Server(machine.Name)
	drive := func(what string, reached func(context.Context) error) {
		for reached(t.Context()) != nil {
			dying := make(chan struct{}, 1)
			manager := k.Manage()
			manager.Faults.Strike(harness.APIFault{
				Exact: "/servers/" + machine.Name, Count: 1, LoseReply: kills%2 == 1,
				Then: func() { dying <- struct{}{} },
			})
			k.Until(what+", or the next write", func(ctx context.Context) error {
				select {
				case <-dying:
					kills++
					return nil
				default:
					return reached(ctx)
				}
			})
			if err := manager.Stop(); err != nil {
				t.Fatal(err)
			}
			if kills > 60 {
				t.Fatalf("%s: not reached with %d kills", what, kills)
			}
		}
	}
	drive("booted", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server); err != nil {
			return err
		}
		if machine.Status().Progress != "OSRunning" || !strings.Contains(server.Annotations[ledger.KeyBoot], "Booted") {
			return fmt.Errorf("progress %s, boot %s", machine.Status().Progress, server.Annotations[ledger.KeyBoot])
		}
		return nil
	})
	f := expectOneLife(k, mark, machine)
	if n := downs(f); n != 0 {
		t.Errorf("switched off %d times: %v", n, f.Resets)
	}
	booted := kills
	k.Delete(claim)
	drive("released", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server); err != nil {
			return err
		}
		if server.Spec.ClaimRef != nil {
			return fmt.Errorf("claimed by %s", server.Spec.ClaimRef.Name)
		}
		return nil
	})
	k.Manage()
	k.UntilGone(claim)
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	f = expectOneLife(k, mark, machine)
	if n := downs(f); n != 1 {
		t.Errorf("switched off %d times in one life: %v", n, f.Resets)
	}
	t.Logf("killed %d times up to booted, %d times in all; resets %v", booted, kills, f.Resets)
}

// B021: leadership goes from one manager to the next in the middle of a boot and of a release: only what was pending is done.
func TestAHandOverInTheMiddle(t *testing.T) {
	k := suite.Kit(t, "handover")
	elected := func(o *operator.Options) {
		o.LeaderElection.Enabled = true
		o.LeaderElection.LeaseDuration, o.LeaderElection.RenewDeadline, o.LeaderElection.RetryPeriod = 3*time.Second, 2*time.Second, 200*time.Millisecond
	}
	first := k.Manage(elected)
	k.Manage(elected)
	machine := k.Enroll()
	mark := k.Mark()
	claim := k.Claim(machine.Name)
	k.Until("the power-on was asked for", func(context.Context) error {
		if len(k.Since(mark, machine).Resets) == 0 {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	k.UntilReady(claim)
	k.UntilQuiet(machine.Name)
	expectOneLife(k, mark, machine)
	k.ExpectResets(k.Since(mark, machine), "On")
}

// After a restore of the cluster every effect is held until a person has looked at each machine.
func TestAfterRestoreAllIsHeldUntilResumed(t *testing.T) {
	k := suite.Kit(t, "epoch")
	before := k.Manage()
	bound, free := k.Enroll(), k.Enroll()
	claim := k.Booted(bound.Name)
	if err := before.Stop(); err != nil {
		t.Fatal(err)
	}
	bound.PowerOffByTenant() // what happened since the snapshot
	mark := k.Mark()
	k.Manage(func(o *operator.Options) { o.Settings.Epoch = "2026-11-29" })
	for _, machine := range []*harness.Machine{bound, free} {
		k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonRestoredSnapshot, "2026-11-29", v1alpha1.AnnotationResume+"=")
	}
	k.UntilHeld(claim, v1alpha1.ReasonRestoredSnapshot)
	waiting := k.Claim(free.Name)
	k.Watched(mark, bound)
	k.Watched(mark, free)
	for _, machine := range []*harness.Machine{bound, free} {
		if f := k.Since(mark, machine); len(f.Writes) > 0 {
			t.Errorf("%s: %d writes before it was resumed", machine.Name, len(f.Writes))
		}
	}
	for _, machine := range []*harness.Machine{bound, free} {
		server := harness.Read(k, k.Server(machine.Name))
		k.Annotate(server, v1alpha1.AnnotationResume, lifecycle.ResumeConsent(server.Annotations[ledger.KeyIdentity], "2026-11-29"))
	}
	k.UntilReady(claim)
	k.UntilReady(waiting)
	k.UntilEvent(k.Server(bound.Name), "Resumed", "")
	if f := k.Since(mark, bound); len(f.Installs) != 0 || f.Armings() != 0 {
		t.Errorf("the bound machine: %d installs, %d armings", len(f.Installs), f.Armings())
	}
}

// An outage of the API server, and a store that hangs, in the middle of lives: all goes on by itself, once each.
func TestAnAPIOutageInTheMiddle(t *testing.T) {
	k := suite.Kit(t, "outage")
	k.Manage()
	booting, settled := k.Enroll(), k.Enroll()
	k.Booted(settled.Name)
	mark := k.Mark()
	claim := k.Claim(booting.Name)
	k.Until("on its way", func(context.Context) error {
		if len(k.Since(mark, booting).Writes) == 0 {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	if err := suite.Env.PauseEtcd(); err != nil {
		t.Fatal(err)
	}
	settled.PowerOffByTenant()
	k.Until("the outage is felt", func(context.Context) error {
		if looks := k.Since(mark, settled).Looks; looks < 2 {
			return fmt.Errorf("%d looks", looks)
		}
		return nil
	})
	if err := suite.Env.ResumeEtcd(); err != nil {
		t.Fatal(err)
	}
	k.UntilReady(claim)
	k.UntilQuiet(booting.Name)
	expectOneLife(k, mark, booting)
	k.UntilQuiet(settled.Name)
	f := k.Since(mark, settled)
	k.ExpectResets(f, "On")
	if len(f.Installs) != 0 {
		t.Error("the settled machine was installed again")
	}
}
