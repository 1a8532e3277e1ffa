// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

func TestAnEnrolledMachineBecomesAvailableUntouched(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "enroll")
	mark := k.Mark()
	machine := k.Enroll()
	server := k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	if server.Status.Observed.Hardware == nil || server.Status.Observed.Hardware.CPUs.Cores != 64 {
		t.Errorf("inventory: %+v", server.Status.Observed.Hardware)
	}
	if server.Labels["test"] != k.Name || server.Labels[v1alpha1.LabelBMC] != machine.Name {
		t.Errorf("labels: %v", server.Labels)
	}
	k.UntilReady(k.BMCObject(machine.Name))
	k.ExpectUntouched(mark, machine)
}

// Claims by name, by label and by requirements: bound, booted from the network once, and told of their machine.
func TestAClaimGetsABootedMachine(t *testing.T) {
	t.Parallel()
	small := sim.DefaultHardware()
	small.MemoryGiB = []float64{64}
	hardware := func(e *harness.Enrollment) { e.Simulated.Systems = []sim.MachineSpec{{Hardware: &small}} }
	for name, ask := range map[string]func(server string) func(*v1alpha1.ServerClaim){
		"by name": func(server string) func(*v1alpha1.ServerClaim) {
			return func(c *v1alpha1.ServerClaim) { c.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: server} }
		},
		"by selector": func(server string) func(*v1alpha1.ServerClaim) {
			return func(c *v1alpha1.ServerClaim) {
				c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelBMC: server}}
			}
		},
		"by requirements": func(server string) func(*v1alpha1.ServerClaim) {
			memory := resource.MustParse("48Gi")
			return func(c *v1alpha1.ServerClaim) {
				c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelBMC: server}}
				c.Spec.Requirements = &v1alpha1.Requirements{CPUCores: 32, Memory: &memory, Disks: []v1alpha1.DriveRequirement{{Type: "SSD"}}}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "claim")
			machine := k.Enroll(hardware)
			mark := k.Mark()
			claim := k.Booted("", ask(machine.Name))
			k.UntilCondition(claim, v1alpha1.ConditionBound, metav1.ConditionTrue, v1alpha1.ReasonBound)
			k.UntilCondition(claim, v1alpha1.ConditionBooted, metav1.ConditionTrue, v1alpha1.ReasonBooted)
			if claim.Spec.ServerName != machine.Name {
				t.Errorf("server %q, want %q", claim.Spec.ServerName, machine.Name)
			}
			if m := claim.Status.Machine; m == nil || m.CPUs.Cores != 64 || len(m.MACs) == 0 {
				t.Errorf("the tenant is not told of its machine: %+v", m)
			}
			expectOneInstall(k, mark, machine)
			server := k.UntilPhase(machine.Name, v1alpha1.PhaseReserved)
			if want := ledger.Stamp(server.Annotations[ledger.KeyIdentity], server.Annotations[ledger.KeyOwner], claim.Annotations[ledger.KeyIdentity]); machine.Status().AssetTag != want {
				t.Errorf("asset tag %q, want the stamp %q", machine.Status().AssetTag, want)
			}
		})
	}
}

// expectOneInstall: the machine was booted from the network once, by one power-on, and its disk written over once (I10).
func expectOneInstall(k *harness.Kit, mark harness.Mark, machine *harness.Machine) {
	k.T.Helper()
	f := k.Since(mark, machine)
	if len(f.Installs) != 1 || f.Armings() != 1 {
		k.T.Errorf("%d installs, %d armings of the network boot, want one each", len(f.Installs), f.Armings())
	}
	k.ExpectResets(f, "On")
}

// A tenant's machine that goes off is switched on again, from its disk: never imaged twice (I10, B104, B106, B107).
func TestAMachineThatItsTenantSwitchesOffIsNotImagedAgain(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "tenantoff")
	machine := k.Enroll()
	claimed := k.Mark()
	claim := k.Booted(machine.Name)
	for range 3 {
		mark := k.Mark()
		machine.PowerOffByTenant()
		k.UntilPower(machine, v1alpha1.ObservedOn)
		k.UntilQuiet(machine.Name)
		f := k.Since(mark, machine)
		k.ExpectResets(f, "On")
		if f.Armings() != 0 || len(f.Installs) != 0 {
			t.Errorf("armed %d times, installed %d times", f.Armings(), len(f.Installs))
		}
	}
	k.UntilReady(claim)
	if installs := k.Since(claimed, machine).Installs; len(installs) != 1 {
		t.Errorf("installed %d times for one claim", len(installs))
	}
}

// A power-cycle by hand at the BMC boots the disk: the override was for once (B104, B107).
func TestAPowerCycleOutOfBandBootsTheDisk(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "outofband")
	machine := k.Enroll()
	k.Booted(machine.Name)
	mark := k.Mark()
	machine.RebootByTenant()
	k.Watched(mark, machine)
	k.UntilQuiet(machine.Name)
	f := k.Since(mark, machine)
	if len(f.Installs) != 0 || f.Armings() != 0 || len(f.Resets) != 0 {
		t.Errorf("installs %d, armings %d, resets %v", len(f.Installs), f.Armings(), f.Resets)
	}
}

// Power as the claim asks, off gracefully and on from disk.
func TestAClaimsPowerIsKept(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "power")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	mark := k.Mark()
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
	k.UntilPower(machine, v1alpha1.ObservedOff)
	k.UntilReady(claim)
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown")
	off := k.Mark()
	k.ExpectUntouched(off, machine)
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOn })
	k.UntilPower(machine, v1alpha1.ObservedOn)
	k.UntilReady(claim)
	f := k.Since(off, machine)
	k.ExpectResets(f, "On")
	if len(f.Installs) != 0 || f.Armings() != 0 {
		t.Errorf("installs %d, armings %d after a power-on from disk", len(f.Installs), f.Armings())
	}
}

// A claim that asks for no power from the start has its machine, waits for nothing, and boots it once it asks (B222).
func TestAClaimThatAsksForNoPowerIsReadyBeforeItsMachineBooted(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "power-later")
	machine := k.Enroll()
	mark := k.Mark()
	claim := k.Claim(machine.Name, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
	k.UntilReady(claim)
	k.UntilCondition(claim, v1alpha1.ConditionBooted, metav1.ConditionFalse, v1alpha1.ReasonPowerNotWanted)
	k.ExpectUntouched(mark, machine)
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOn })
	k.UntilPower(machine, v1alpha1.ObservedOn)
	k.UntilCondition(claim, v1alpha1.ConditionBooted, metav1.ConditionTrue, v1alpha1.ReasonBooted)
	k.UntilReady(claim)
	k.UntilQuiet(machine.Name)
	expectOneInstall(k, mark, machine)
}

// A claim that had its machine booted and asks for Off is told that the server's memory is from before the boot, before it asks for power
// again (I10).
func TestAnOlderMemoryIsToldOfWhileNoPowerIsAskedFor(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "power-older")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
	k.UntilPower(machine, v1alpha1.ObservedOff)
	k.UntilReady(claim)
	server := k.Server(machine.Name)
	k.UntilReady(server)
	identity := claim.Annotations[ledger.KeyIdentity]
	mark := k.Mark()
	k.BreakLedger(server, ledgerOf(ledger.Entries{}.Boot(&ledger.Boot{Claim: identity, Stage: ledger.StageBooting, At: time.Now()}).PowerOn(nil)))
	k.UntilHeld(claim, v1alpha1.ReasonBootNotConfirmed)
	k.Annotate(server, v1alpha1.AnnotationBooted, identity)
	k.UntilReady(claim)
	k.UntilCondition(claim, v1alpha1.ConditionBooted, metav1.ConditionTrue, v1alpha1.ReasonBooted)
	k.ExpectUntouched(mark, machine)
}

// ledgerOf is a change of a ledger as [harness.Kit.BreakLedger] takes it.
func ledgerOf(entries ledger.Entries) map[string]any {
	changes := map[string]any{}
	for key, value := range entries {
		changes[key] = value
		if value == "" {
			changes[key] = nil
		}
	}
	return changes
}

// A newer restartedAt restarts the machine once; the same or an older one never again.
func TestRestartedAtRestartsOnce(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "restart")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	mark := k.Mark()
	now := metav1.Now()
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.RestartedAt = &now })
	k.Until("restarted", restarted(k, mark, machine))
	k.UntilQuiet(machine.Name)
	k.UntilReady(claim)
	f := k.Since(mark, machine)
	k.ExpectResets(f, "GracefulShutdown", "On")
	if len(f.Installs) != 0 {
		t.Error("the restart installed the machine anew")
	}
	after := k.Mark()
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) {
		older := metav1.NewTime(now.Add(-time10))
		c.Spec.RestartedAt = &older
	})
	k.ExpectUntouched(after, machine)
}

// B001: a machine whose power is kept is On again after its restart, though its status was wiped while it was Off; and what it does by itself
// after that is kept.
func TestARestartOfAMachineWhosePowerIsKept(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "restart-kept")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerKeep })
	k.UntilQuiet(machine.Name)
	mark := k.Mark()
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.RestartedAt = &now })
	k.WipeStatus(k.UntilRestartRecorded(machine.Name, now.Time))
	k.Until("restarted", restarted(k, mark, machine))
	k.UntilQuiet(machine.Name)
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown", "On")
	machine.PowerOffByTenant()
	k.UntilPower(machine, v1alpha1.ObservedOff)
	k.ExpectUntouched(k.Mark(), machine)
}

// B030: a machine that is still shown On while it goes down, under a claim that follows at once, ends On. B033: so does one whose BMC
// answers 409 to a power-on that it finds carried out.
func TestPowerFollowsAMachineThatIsSlowToTell(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "slow")
	machine := k.Enroll()
	k.Delete(k.Booted(machine.Name))
	machine.BMC.Behave(func(b *sim.Behaviour) { b.HideTransitions, b.RefuseNoopReset = true, true })
	claim := k.Booted(machine.Name)
	k.UntilPower(machine, v1alpha1.ObservedOn)
	k.UntilReady(claim)
}

// P13: a tenant that changes its mind right after a power-on was asked for: the machine's own power-on is not forgotten on a picture
// that is older, and it goes off as asked.
func TestOffRightAfterOn(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "mind")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	for range 3 {
		machine.PowerOffByTenant()
		mark := k.Mark()
		k.Until("a power-on was asked for", func(context.Context) error {
			if len(k.Since(mark, machine).Resets) == 0 {
				return errors.New("not yet")
			}
			return nil
		})
		harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
		k.UntilPower(machine, v1alpha1.ObservedOff)
		k.UntilReady(claim)
		harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOn })
		k.UntilPower(machine, v1alpha1.ObservedOn)
		k.UntilReady(claim)
	}
}
