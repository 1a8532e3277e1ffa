// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

func power(p v1alpha1.Power) func(*v1alpha1.ServerMaintenance) {
	return func(m *v1alpha1.ServerMaintenance) { m.Spec.Power = p }
}

func policy(p v1alpha1.MaintenancePolicy) func(*v1alpha1.ServerMaintenance) {
	return func(m *v1alpha1.ServerMaintenance) { m.Spec.Policy = p }
}

// B036, B052: an enforced maintenance's power beats the claim's: one off and no on until its end, however the machine behaves; the
// tenant's claim says Maintenance all the while, and resumes by itself, from disk.
func TestAnEnforcedMaintenanceHasTheServer(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "enforced")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	mark := k.Mark()
	maintenance := k.Maintain(machine.Name, power(v1alpha1.PowerOff))
	k.UntilCondition(maintenance, v1alpha1.ConditionActive, metav1.ConditionTrue, v1alpha1.ReasonActive)
	k.UntilPower(machine, v1alpha1.ObservedOff)
	k.UntilCondition(claim, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonMaintenance)
	k.UntilCondition(k.Server(machine.Name), v1alpha1.ConditionInMaintenance, metav1.ConditionTrue, v1alpha1.ReasonMaintenance)
	off := k.Mark()
	k.ExpectUntouched(off, machine)

	// Hands at work: nothing but the maintenance's own power is enforced (I4).
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { now := metav1.Now(); c.Spec.RestartedAt = &now })
	k.ExpectUntouched(k.Mark(), machine)
	k.UntilCondition(claim, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonMaintenance)

	k.Delete(maintenance)
	k.UntilGone(maintenance)
	k.UntilReady(claim)
	k.UntilQuiet(machine.Name)
	f := k.Since(mark, machine)
	k.ExpectResets(f, "GracefulShutdown", "On")
	if len(f.Installs) != 0 || f.Armings() != 0 {
		t.Errorf("installs %d, armings %d: the maintenance imaged the machine", len(f.Installs), f.Armings())
	}
}

// B019: whatever a maintenance's people do with the power is left alone.
func TestAMaintenanceThatKeepsPowerLeavesItToPeople(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "keep")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	maintenance := k.Maintain(machine.Name)
	k.UntilCondition(maintenance, v1alpha1.ConditionActive, metav1.ConditionTrue, "")
	mark := k.Mark()
	machine.PowerOffByTenant()
	k.UntilPower(machine, v1alpha1.ObservedOff)
	k.Watched(mark, machine)
	if f := k.Since(mark, machine); len(f.Writes) != 0 {
		t.Errorf("writes in a maintenance that keeps power: %v", f.Writes)
	}
	k.Delete(maintenance)
	k.UntilReady(claim)
}

// A bound server enters maintenance only with its owner's approval, by the maintenance's name; one approval serves no other.
func TestOwnerApproval(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "approve")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	mark := k.Mark()
	maintenance := k.Maintain(machine.Name, policy(v1alpha1.MaintenanceOwnerApproval), power(v1alpha1.PowerOff))
	k.UntilCondition(maintenance, v1alpha1.ConditionActive, metav1.ConditionFalse, v1alpha1.ReasonAwaitingApproval)
	k.Annotate(claim, v1alpha1.AnnotationMaintenanceApproved, "another-one")
	k.ExpectUntouched(mark, machine)
	k.UntilCondition(maintenance, v1alpha1.ConditionActive, metav1.ConditionFalse, v1alpha1.ReasonAwaitingApproval)
	k.Annotate(claim, v1alpha1.AnnotationMaintenanceApproved, "another-one, "+maintenance.Name)
	k.UntilCondition(maintenance, v1alpha1.ConditionActive, metav1.ConditionTrue, "")
	k.UntilPower(machine, v1alpha1.ObservedOff)
	k.Delete(maintenance)
	k.UntilGone(maintenance)
	k.UntilReady(claim)
}

// B054: the slot is a lock. A second maintenance queues and enters when the first has ended.
func TestMaintenancesOfOneServerQueue(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "queue")
	machine := k.Enroll()
	first := k.Maintain(machine.Name)
	k.UntilCondition(first, v1alpha1.ConditionActive, metav1.ConditionTrue, "")
	second := k.Maintain(machine.Name)
	k.UntilCondition(second, v1alpha1.ConditionActive, metav1.ConditionFalse, v1alpha1.ReasonQueued)
	if ref := harness.Read(k, k.Server(machine.Name)).Spec.MaintenanceRef; ref.Name != first.Name {
		t.Errorf("the lock is %s's, want %s's", ref.Name, first.Name)
	}
	waiting := k.Claim(machine.Name)
	k.UntilCondition(waiting, v1alpha1.ConditionBound, metav1.ConditionFalse, v1alpha1.ReasonServerNotAvailable)
	k.Delete(first)
	k.UntilGone(first)
	k.UntilCondition(second, v1alpha1.ConditionActive, metav1.ConditionTrue, "")
	k.Delete(second)
	k.UntilGone(second)
	k.UntilReady(waiting)
}

// An unclaimed server is discovered afresh after a maintenance, for hands were on it. B065: a maintenance whose server is gone ends.
func TestAnUnclaimedServerIsDiscoveredAfterMaintenance(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "afresh")
	machine := k.Enroll()
	before := harness.Read(k, k.Server(machine.Name)).Annotations[ledger.KeyDiscoveredAt]
	maintenance := k.Maintain(machine.Name, power(v1alpha1.PowerOn))
	k.UntilPower(machine, v1alpha1.ObservedOn)
	k.Delete(maintenance)
	k.UntilGone(maintenance)
	server := k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
	if after := server.Annotations[ledger.KeyDiscoveredAt]; after == before || after == "" {
		t.Errorf("discovered-at %q, before the maintenance %q", after, before)
	}
	if machine.Power() != sim.PowerOff {
		t.Errorf("power %s: what the maintenance switched on was ours to switch off", machine.Power())
	}
	orphan := k.Maintain("no-such-server")
	k.UntilHeld(orphan, v1alpha1.ReasonServerGone, "delete this maintenance")
	k.Delete(orphan)
	k.UntilGone(orphan)
}

// A maintenance that vanished without being seen ending is no end: the server holds until a person says so.
func TestAMissingMaintenanceHolds(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "vanished")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	maintenance := k.Maintain(machine.Name, power(v1alpha1.PowerOff))
	k.UntilPower(machine, v1alpha1.ObservedOff)
	backup := harness.Backup(k, maintenance)
	k.Destroy(maintenance)
	mark := k.Mark()
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonMaintenanceMissing, "restore", "spec.maintenanceRef")
	k.ExpectUntouched(mark, machine)
	k.Restore(backup)
	k.UntilCondition(backup, v1alpha1.ConditionActive, metav1.ConditionTrue, "")
	k.Destroy(backup)
	k.UntilHeld(k.Server(machine.Name), v1alpha1.ReasonMaintenanceMissing)
	harness.Change(k, k.Server(machine.Name), func(s *v1alpha1.Server) { s.Spec.MaintenanceRef = nil })
	k.UntilReady(claim)
}
