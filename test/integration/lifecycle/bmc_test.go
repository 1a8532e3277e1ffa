// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

func inject(t *testing.T, machine *harness.Machine, faults ...sim.Fault) {
	t.Helper()
	for _, fault := range faults {
		if _, err := machine.BMC.Inject(fault); err != nil {
			t.Fatal(err)
		}
	}
}

// A reply that is lost after the BMC acted is an unknown outcome: looked at, never repeated blindly. The machine is imaged once and
// released once, whichever of its writes it is (I10).
func TestLostRepliesOfTheBMC(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.Fault{
		"dropped":      {Kind: sim.FaultDropReply, Method: "POST|PATCH", Path: "/Systems/"},
		"hanging":      {Kind: sim.FaultHangReply, Method: "POST|PATCH", Path: "/Systems/"},
		"told as 500":  {Kind: sim.FaultStatusAfter, Method: "POST|PATCH", Path: "/Systems/"},
		"cut in half":  {Kind: sim.FaultTruncate, Method: "POST|PATCH|GET", Path: "/Systems/"},
		"before it is": {Kind: sim.FaultDrop, Method: "POST|PATCH", Path: "/Systems/"},
		"pretended":    {Kind: sim.FaultPretend, Method: "PATCH", Path: "/Systems/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "lost")
			machine := k.Enroll()
			mark := k.Mark()
			each := func() { // the first of each kind of write is struck
				for _, path := range []string{"Reset$", "/Systems/[^/]+$"} {
					f := fault
					f.Path, f.Count = path, 2
					inject(t, machine, f)
				}
			}
			each()
			claim := k.Booted(machine.Name)
			f := k.Since(mark, machine)
			if len(f.Installs) != 1 {
				t.Errorf("installed %d times; resets %v", len(f.Installs), f.Resets)
			}
			for _, e := range f.PowerChanges {
				if e.To == string(sim.PowerOff) {
					t.Errorf("went off under its claim: %v", f.Resets)
				}
			}
			machine.BMC.ClearFaults()
			each()
			k.Delete(claim)
			k.UntilGone(claim)
			k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
		})
	}
}

// B039: one request in five fails, and a life is led all the same.
func TestABMCThatFailsNowAndThen(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "flaky")
	machine := k.Enroll()
	inject(t, machine, sim.Fault{Kind: sim.FaultStatus, Status: 500, Rate: 0.2})
	mark := k.Mark()
	claim := k.Booted(machine.Name)
	if installs := k.Since(mark, machine).Installs; len(installs) != 1 {
		t.Errorf("installed %d times", len(installs))
	}
	k.Delete(claim)
	k.UntilGone(claim)
	if sessions := machine.BMC.AuthStats().Sessions; sessions > 1 { // B163
		t.Errorf("%d sessions are open", sessions)
	}
}

// B082, B085: a BMC that dies in the middle of a boot, refusing or hanging, is a condition and not a phase; when it is back all goes on,
// once. Meanwhile a server behind another BMC is not kept waiting (B231).
func TestABMCThatDiesInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, reach := range []sim.Reach{sim.ReachRefused, sim.ReachSilent} {
		t.Run(string(reach), func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "dies")
			machine, other := k.Enroll(), k.Enroll()
			mark := k.Mark()
			claim := k.Claim(machine.Name)
			k.Until("on its way", func(context.Context) error {
				if len(k.Since(mark, machine).Writes) == 0 {
					return errors.New("not yet")
				}
				return nil
			})
			if err := machine.BMC.SetReach(reach); err != nil {
				t.Fatal(err)
			}
			server := k.Server(machine.Name)
			k.UntilCondition(server, v1alpha1.ConditionProviderReachable, metav1.ConditionFalse, "")
			started := time.Now()
			k.Booted(other.Name)
			t.Logf("another server was booted in %s meanwhile", time.Since(started).Round(time.Millisecond))
			if err := machine.BMC.SetReach(sim.ReachUp); err != nil {
				t.Fatal(err)
			}
			k.UntilReady(claim)
			k.UntilQuiet(machine.Name)
			f := k.Since(mark, machine)
			if len(f.Installs) != 1 {
				t.Errorf("installed %d times: %v", len(f.Installs), f.Resets)
			}
			condition := k.UntilCondition(server, v1alpha1.ConditionProviderReachable, metav1.ConditionTrue, v1alpha1.ReasonReachable)
			if condition.Message == "" { // B224: nothing is left of the error
				t.Error("no message")
			}
		})
	}
}

// B018, B037: after its own restart a BMC reads Off for a while though the machine runs: nothing is done to a claimed machine.
func TestABMCThatRestartsAndKnowsNothing(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "blank")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	machine.BMC.Behave(func(b *sim.Behaviour) { b.BlankAfterReboot = sim.Duration(600 * time.Millisecond) })
	mark := k.Mark()
	machine.BMC.Reboot()
	k.UntilPower(machine, v1alpha1.ObservedOn)
	k.ExpectUntouched(mark, machine)
	k.UntilReady(claim)
}

// B043, B149, B151, B154: of two systems behind one BMC only the claimed one is ever touched.
func TestTheOtherSystemBehindTheBMCIsNotTouched(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "pair")
	machine := k.Register(func(e *harness.Enrollment) {
		e.Simulated.Systems = []sim.MachineSpec{{ID: "1"}, {ID: "2", Power: sim.PowerOn, Disk: "somebody's"}}
	})
	first, second := machine.Name+"-1", machine.Name+"-2"
	k.UntilPhase(first, v1alpha1.PhaseAvailable)
	k.UntilServer(second)
	k.UntilHeld(k.Server(second), v1alpha1.ReasonFoundRunning)
	claim := k.Claim(first)
	k.UntilReady(claim)
	k.UntilRunning(machine)
	k.Delete(claim)
	k.UntilGone(claim)
	events := k.Rack.MachineLog(sim.EventFilter{BMC: machine.Name, Machine: "2"})
	if len(events) != 0 {
		t.Errorf("the other system was touched: %+v", events)
	}
}

// A system that cannot be reset, such as a board of accelerators, is told on the BMC and yields no Server: the only host bears the BMC's name.
func TestASystemThatCannotBeResetYieldsNoServer(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "tray")
	machine := k.Enroll(playing("nvidia-dgx-h100"))
	bmc := harness.Read(k, k.Server(machine.Name)).Spec.Redfish.BMCRef.Name
	told := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: bmc}}
	if systems := harness.Read(k, told).Status.Observed.Systems; len(systems) < 2 {
		t.Fatalf("systems told: %+v", systems)
	}
	var servers v1alpha1.ServerList
	if err := k.Admin.List(t.Context(), &servers); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers.Items {
		if s.Spec.Redfish != nil && s.Spec.Redfish.BMCRef.Name == bmc && s.Name != machine.Name {
			t.Errorf("server %s of system %s%s", s.Name, s.Spec.Redfish.SystemUUID, s.Spec.Redfish.SystemID)
		}
	}
}

// B157: a second BMC object for the same machine is refused by name, on both, and makes no Server. One that a person makes by hand behind
// it, by Redfish Id and so under another identity, is held: nothing is done to the machine a second time. What the first has goes on.
func TestASecondObjectForOneMachineIsToldSo(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "second")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	mark := k.Mark()
	first, copied := k.BMCObject(machine.Name), k.BMCObject(machine.Name+"-copy")
	copied.Spec = harness.Read(k, first).Spec
	k.Create(copied)
	k.UntilHeld(copied, v1alpha1.ReasonDuplicateBMC, machine.Name, "delete all but one")
	k.UntilHeld(first, v1alpha1.ReasonDuplicateBMC, copied.Name)
	byHand := k.Server(machine.Name + "-by-hand")
	byHand.Spec.Redfish = &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: copied.Name}, SystemID: "1"}
	k.Create(byHand)
	k.UntilHeld(byHand, v1alpha1.ReasonDuplicateIdentity, machine.Name)
	k.ExpectUntouched(mark, machine)
	k.UntilReady(claim)
	k.Delete(byHand)
	k.UntilGone(byHand)
	k.Delete(copied)
	k.UntilGone(copied)
	k.UntilReady(first)
}

// B034: a reset that is accepted and does nothing is seen, told, and asked for again; nothing is taken for done (B037).
func TestAResetThatDoesNothing(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "deaf")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	machine.BMC.Behave(func(b *sim.Behaviour) { b.IgnoreReset = true })
	mark := k.Mark()
	k.Delete(claim)
	k.Until("forced, in vain", func(context.Context) error {
		resets := k.Since(mark, machine).Resets
		if len(resets) < 3 || resets[len(resets)-1] != "ForceOff" {
			return fmt.Errorf("resets %v", resets)
		}
		return nil
	})
	server := k.Server(machine.Name)
	if harness.Read(k, server); server.Status.Observed.PowerState != v1alpha1.ObservedOn || server.Spec.ClaimRef == nil {
		t.Errorf("power %s, claimRef %v", server.Status.Observed.PowerState, server.Spec.ClaimRef)
	}
	machine.BMC.Behave(func(b *sim.Behaviour) { b.IgnoreReset = false })
	k.UntilGone(claim)
}

// B022: a BMC whose clock is wrong, and a boot order that somebody changed, are no reason to touch a machine that is claimed.
func TestAWrongClockIsNoReasonToAct(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "clock")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	mark := k.Mark()
	machine.BMC.Behave(func(b *sim.Behaviour) { b.ClockSkew = sim.Duration(-49 * time.Hour) })
	k.ExpectUntouched(mark, machine)
	k.UntilReady(claim)
	k.Delete(claim)
	k.UntilGone(claim)
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown")
}
