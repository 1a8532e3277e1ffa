// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// B073, B078, B079: a released machine is Off, its person's asset tag is back, and only then is it free; the next claim installs it anew.
func TestAReleasedMachineIsOffAndFree(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "recycle")
	machine := k.Enroll(func(e *harness.Enrollment) { e.Simulated.Systems = []sim.MachineSpec{{AssetTag: "INV-4711"}} })
	claim := k.Booted(machine.Name)
	mark := k.Mark()
	k.Delete(claim)
	k.UntilGone(claim)
	if power := machine.Power(); power != sim.PowerOff {
		t.Errorf("the claim went while the machine was %s", power)
	}
	server := k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown")
	if tag := machine.Status().AssetTag; tag != "INV-4711" {
		t.Errorf("asset tag %q, want what a person had there", tag)
	}
	for _, key := range []string{ledger.KeyIntent, ledger.KeyBoot, ledger.KeyPowerOn, ledger.KeyDirtySince} {
		if value, there := server.Annotations[key]; there {
			t.Errorf("%s is still remembered: %s", key, value)
		}
	}
	next := k.Mark()
	k.Booted(machine.Name)
	expectOneInstall(k, next, machine)
}

// An operating system that ignores the power button is switched off by force, after the grace period and not before.
func TestAReleaseIsForcedAfterTheGracePeriod(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "grace")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	machine.BMC.Behave(func(b *sim.Behaviour) { b.IgnoreShutdown = true })
	mark := k.Mark()
	k.Delete(claim)
	k.UntilGone(claim)
	f := k.Since(mark, machine)
	if last := len(f.Resets) - 1; last < 1 || f.Resets[0] != "GracefulShutdown" || f.Resets[last] != "ForceOff" {
		t.Fatalf("resets: %v, want GracefulShutdown first and ForceOff last", f.Resets)
	}
	if waited := f.PowerChanges[0].At.Sub(f.Writes[0].At); waited < harness.GracePeriod/2 {
		t.Errorf("forced after %s", waited)
	}
}

// Retain: after the release the server stays with its claimRef until a person clears it.
func TestARetainedServerWaitsForAPerson(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "retain")
	machine := k.Enroll(func(e *harness.Enrollment) { e.BMC.Spec.ServerTemplate.ReclaimPolicy = v1alpha1.ReclaimRetain })
	claim := k.Booted(machine.Name)
	k.Delete(claim)
	k.UntilGone(claim)
	server := k.UntilPhase(machine.Name, v1alpha1.PhaseReleased)
	if server.Spec.ClaimRef == nil || machine.Power() != sim.PowerOff {
		t.Errorf("claimRef %v, power %s", server.Spec.ClaimRef, machine.Power())
	}
	other := k.Claim(machine.Name)
	k.UntilCondition(other, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonServerNotAvailable)
	harness.Change(k, k.Server(machine.Name), func(s *v1alpha1.Server) { s.Spec.ClaimRef = nil })
	k.UntilReady(other)
}

// A person who clears claimRef releases the machine: announced and carried out as a release, never "free at once".
func TestClearingClaimRefIsARelease(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "cleared")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	backup := harness.Backup(k, claim)
	k.Destroy(claim)
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonClaimMissing, "restore it", "clear spec.claimRef")
	mark := k.Mark()
	harness.Change(k, k.Server(machine.Name), func(s *v1alpha1.Server) { s.Spec.ClaimRef = nil })
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown")
	k.Restore(backup)
	k.UntilHeld(backup, v1alpha1.ReasonAlreadyReleased, "delete the claim")
	k.Delete(backup)
	k.UntilGone(backup)
}

// B071, B073: a dead BMC holds the claim, and both objects say why. A person lets the claim go; the server stays unclaimable until its
// release was confirmed, and then is free by itself.
func TestForceReleaseWithADeadBMC(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "force")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	if err := machine.BMC.SetReach(sim.ReachSilent); err != nil {
		t.Fatal(err)
	}
	k.Delete(claim)
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonReleaseUnconfirmed, "make the BMC reachable", v1alpha1.AnnotationAbandon+"="+machine.Name)
	k.UntilHeld(claim, v1alpha1.ReasonReleaseUnconfirmed, "make the BMC reachable")
	k.Annotate(claim, v1alpha1.AnnotationForceRelease, "another-server")
	k.UntilHeld(claim, v1alpha1.ReasonReleaseUnconfirmed)
	k.Annotate(claim, v1alpha1.AnnotationForceRelease, machine.Name)
	k.UntilGone(claim)
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonReleaseUnconfirmed)
	waiting := k.Claim(machine.Name)
	k.UntilCondition(waiting, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonServerNotAvailable)
	k.UntilEvent(claim, "ForceReleased", machine.Name)
	if machine.Power() != sim.PowerOn {
		t.Error("the machine went off though its BMC was dead")
	}
	k.Until("the grace period has passed since the announcement", func(context.Context) error {
		memory, err := ledger.ParseServer(harness.Read(k, k.Server(machine.Name)).Annotations)
		if err != nil || memory.Intent == nil {
			return errors.Join(errors.New("no intent is announced"), err)
		}
		if age := time.Since(memory.Intent.At); age <= harness.GracePeriod {
			return fmt.Errorf("announced %s ago", age)
		}
		return nil
	})
	mark := k.Mark()
	if err := machine.BMC.SetReach(sim.ReachUp); err != nil {
		t.Fatal(err)
	}
	k.UntilReady(waiting)
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown", "On") // nobody had asked its operating system yet (B025)
}

// B024: with powerOff Never nothing switches the machine off, a release neither; one that was switched off by hand is released.
func TestPowerOffNeverIsHonoured(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "never")
	machine := k.Enroll()
	harness.Change(k, k.Server(machine.Name), func(s *v1alpha1.Server) { s.Spec.PowerOff = v1alpha1.PowerOffNever })
	claim := k.Booted(machine.Name)
	mark := k.Mark()
	k.Delete(claim)
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonPowerOffForbidden, "switch it off by hand", "spec.powerOff")
	k.UntilHeld(claim, v1alpha1.ReasonPowerOffForbidden, "switch it off by hand")
	k.ExpectUntouched(mark, machine)
	machine.PowerOffByTenant()
	k.UntilGone(claim)
	k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	k.ExpectResets(k.Since(mark, machine))
}

// B016: a machine found running is not touched, held and explained, until a person consents or its policy does.
func TestAMachineFoundRunningIsHeldUntilConsent(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "running")
	running := func(e *harness.Enrollment) {
		e.Simulated.Systems = []sim.MachineSpec{{Power: sim.PowerOn, Disk: "somebody's"}}
	}
	mark := k.Mark()
	machine := k.Register(running)
	k.UntilServer(machine.Name)
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonFoundRunning, "is On", v1alpha1.AnnotationPowerOff+"=", "spec.foundRunning")
	k.ExpectUntouched(mark, machine)
	claim := k.Claim(machine.Name)
	k.UntilCondition(claim, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonServerNotAvailable)
	k.Annotate(k.Server(machine.Name), v1alpha1.AnnotationPowerOff, "not-its-identity")
	looked := k.Mark()
	k.ExpectUntouched(looked, machine)

	server := harness.Read(k, k.Server(machine.Name))
	k.Annotate(server, v1alpha1.AnnotationPowerOff, server.Annotations[ledger.KeyIdentity])
	k.UntilReady(claim)
	if server = harness.Read(k, server); server.Annotations[v1alpha1.AnnotationPowerOff] != "" {
		t.Error("the consent is still there after it was used")
	}
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown", "On")
}

// B016: a machine that was found running and loses its power is as little free as before: it is held until a person says so, is in nobody's
// reach meanwhile, and what comes back with the power is left alone. A status that is older than the machine makes nobody a stranger (P1).
func TestAMachineFoundRunningThatLosesItsPowerIsHeld(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "running-off")
	mark := k.Mark()
	machine := k.Register(func(e *harness.Enrollment) {
		e.Simulated.Systems = []sim.MachineSpec{{Power: sim.PowerOn, Disk: "somebody's"}}
	})
	k.UntilServer(machine.Name)
	held := func(as string) *v1alpha1.Server {
		server := k.Server(machine.Name)
		k.Until("held for FoundRunning, and told that it "+as, func(ctx context.Context) error {
			if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server); err != nil {
				return err
			}
			stalled := meta.FindStatusCondition(server.Status.Conditions, v1alpha1.ConditionStalled)
			if stalled == nil || stalled.Reason != v1alpha1.ReasonFoundRunning || !strings.Contains(stalled.Message, as) || server.Annotations[ledger.KeyPowerOn] == "" {
				return fmt.Errorf("%+v", stalled)
			}
			return nil
		})
		return server
	}
	const runs, isOff = "the machine is On", "is Off now"
	held(runs)
	claim := k.Claim(machine.Name)
	machine.CutPower()
	held(isOff)
	k.UntilCondition(claim, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonServerNotAvailable)
	k.WipeStatus(k.Server(machine.Name))
	held(isOff)
	machine.ReturnPower()
	held(runs)
	machine.PowerOffByTenant()
	server := held(isOff)
	f := k.Since(mark, machine)
	if len(f.Writes) > 0 || len(f.Installs) > 0 {
		t.Errorf("a stranger's machine was touched: %+v", f)
	}

	k.Annotate(server, v1alpha1.AnnotationPowerOff, server.Annotations[ledger.KeyIdentity])
	k.UntilReady(claim)
	if server = harness.Read(k, server); server.Annotations[v1alpha1.AnnotationPowerOff] != "" {
		t.Error("the consent is still there after it was used")
	}
	k.ExpectResets(k.Since(mark, machine), "On")
}

func TestFoundRunningPowerOffByPolicy(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "policy")
	machine := k.Enroll(func(e *harness.Enrollment) {
		e.Simulated.Systems = []sim.MachineSpec{{Power: sim.PowerOn, Disk: "left over"}}
		e.BMC.Spec.ServerTemplate.FoundRunning = v1alpha1.FoundRunningPowerOff
	})
	if machine.Power() != sim.PowerOff {
		t.Errorf("power %s", machine.Power())
	}
}

// Unclaimed servers: power as the spec says, kept or enforced; the light as asked.
func TestAnUnclaimedServersPowerAndLight(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "idle")
	machine := k.Enroll(func(e *harness.Enrollment) { e.Simulated.Systems = []sim.MachineSpec{{Disk: "rescue"}} })
	server := k.Server(machine.Name)
	harness.Change(k, server, func(s *v1alpha1.Server) {
		s.Spec.Power, s.Spec.IndicatorLED = v1alpha1.PowerOn, v1alpha1.IndicatorBlinking
	})
	k.UntilPower(machine, v1alpha1.ObservedOn)
	k.UntilReady(server)
	k.Until("the light blinks", func(context.Context) error {
		if machine.Status().LED != "Blinking" {
			return errors.New(machine.Status().LED)
		}
		return nil
	})
	mark := k.Mark()
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.Power = v1alpha1.PowerKeep })
	k.ExpectUntouched(mark, machine)
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.Power = v1alpha1.PowerOff })
	k.UntilPower(machine, v1alpha1.ObservedOff)
	k.UntilReady(server)
	f := k.Since(mark, machine)
	k.ExpectResets(f, "GracefulShutdown")
	if f.Armings() != 0 {
		t.Error("a boot override was written for an unclaimed server")
	}
}

// B247: user data is read only from a labelled secret of the claim's namespace that the tenant lets the operator read; without it
// nothing boots.
func TestNoBootWithoutTheUserDataThatTheTenantOffers(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "userdata")
	machine := k.Enroll()
	claim := k.Claim(machine.Name, func(c *v1alpha1.ServerClaim) {
		c.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "seed"}
	})
	k.UntilHeld(claim, v1alpha1.ReasonUserDataDenied, "holdfast-userdata-reader", v1alpha1.LabelUserData)
	k.LetUserDataBeRead()
	k.Nudge(claim)
	k.UntilHeld(claim, v1alpha1.ReasonUserDataMissing, k.Namespace+"/seed")
	secret := k.UserData("seed", "#cloud-config")
	delete(secret.Labels, v1alpha1.LabelUserData)
	k.Create(secret)
	k.Nudge(claim)
	k.UntilHeld(claim, v1alpha1.ReasonUserDataDenied, v1alpha1.LabelUserData)
	if f := k.Since(harness.Mark{}, machine); len(f.Resets) != 0 || f.Armings() != 0 {
		t.Errorf("resets %v, armings %d without user data (B089)", f.Resets, f.Armings())
	}
	harness.Change(k, client.Object(secret), func(o client.Object) { o.SetLabels(map[string]string{v1alpha1.LabelUserData: "true"}) })
	k.Nudge(claim)
	k.UntilReady(claim)
}
