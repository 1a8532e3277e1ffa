// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/redfish"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// resetsAreTasks lets the BMC take resets as tasks that last so long.
func resetsAreTasks(machine *harness.Machine, long time.Duration, changes ...func(*sim.Behaviour)) {
	machine.BMC.Behave(func(b *sim.Behaviour) {
		b.AsyncReset, b.TaskDuration = true, sim.Duration(long)
		for _, change := range changes {
			change(b)
		}
	})
}

// B144: a shutdown that a BMC takes as a task, answered without a body: its monitor is in the ledger while it runs, how it goes is in the
// status, and nothing is asked for a second time.
func TestAShutdownThatIsATask(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "task")
	machine := k.Enroll()
	claim := k.Booted(machine.Name)
	resetsAreTasks(machine, 3*time.Second, func(b *sim.Behaviour) { b.TaskBare = true })
	mark := k.Mark()
	k.Delete(claim)
	k.Until("the task is remembered, and followed", func(context.Context) error {
		server := harness.Read(k, k.Server(machine.Name))
		led, err := ledger.ParseServer(server.Annotations)
		seen := server.Status.Observed
		if err != nil || led.Intent == nil || !strings.Contains(led.Intent.Task, "/TaskMonitors/") || led.Intent.Forced {
			return fmt.Errorf("intent %s", server.Annotations[ledger.KeyIntent])
		}
		if seen.Task != "Running" || seen.TaskMonitor != led.Intent.Task {
			return fmt.Errorf("task %q of %q", seen.Task, seen.TaskMonitor)
		}
		return nil
	})
	k.UntilGone(claim)
	k.ExpectResets(k.Since(mark, machine), "GracefulShutdown")
	server := harness.Read(k, k.Server(machine.Name))
	if server.Annotations[ledger.KeyIntent] != "" {
		t.Errorf("an intent is left: %s", server.Annotations[ledger.KeyIntent])
	}
}

// B142: tasks that fail, and tasks that vanish, are told as what they are; the power-off is asked for again at its own pace, and goes on
// by itself once the BMC does what it says.
func TestPowerOffTasksThatComeToNothing(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(*sim.Behaviour){
		v1alpha1.ReasonTaskFailed: func(b *sim.Behaviour) { b.TaskFails = true },
		v1alpha1.ReasonTaskGone:   func(b *sim.Behaviour) { b.TaskFails, b.TaskVanishes = true, true },
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "fails")
			machine := k.Enroll()
			claim := k.Booted(machine.Name)
			resetsAreTasks(machine, 200*time.Millisecond, change)
			mark := k.Mark()
			k.Delete(claim)
			server := k.Server(machine.Name)
			k.UntilCondition(server, v1alpha1.ConditionPowerAsDesired, metav1.ConditionFalse, reason)
			k.UntilCondition(server, v1alpha1.ConditionReady, metav1.ConditionFalse, reason)
			k.Until("the power is cut, in vain", func(context.Context) error {
				if resets := k.Since(mark, machine).Resets; !slices.Contains(resets, "ForceOff") {
					return fmt.Errorf("resets %v", resets)
				}
				return nil
			})
			if reason == v1alpha1.ReasonTaskFailed {
				k.UntilHeld(server, reason, "asked for again")
			}
			expectPaced(k, mark, machine)
			if machine.Power() != "On" || harness.Read(k, server).Spec.ClaimRef == nil {
				t.Errorf("power %s, claimRef %v", machine.Power(), server.Spec.ClaimRef)
			}
			machine.BMC.Behave(func(b *sim.Behaviour) { b.TaskFails, b.TaskVanishes = false, false })
			k.UntilGone(claim)
			k.UntilPhase(machine.Name, v1alpha1.PhaseAvailable)
		})
	}
}

// expectPaced: three graceful requests at most, and no two resets within one effect deadline.
func expectPaced(k *harness.Kit, mark harness.Mark, machine *harness.Machine) {
	k.T.Helper()
	var last time.Time
	shutDowns := 0
	for _, r := range k.Since(mark, machine).Writes {
		if !strings.HasSuffix(r.Path, ".Reset") {
			continue
		}
		forced := strings.Contains(r.Body, "ForceOff")
		if !forced {
			shutDowns++
		}
		// What the pace is counted from is a moment before the request arrives; a cut follows a shutdown whenever the grace period ends.
		if gap := r.At.Sub(last); !forced && gap < harness.EffectDeadline*9/10 {
			k.T.Errorf("%s after %s", r.Body, gap)
		}
		last = r.At
	}
	if shutDowns == 0 || shutDowns > 3 {
		k.T.Errorf("%d shutdowns were asked for", shutDowns)
	}
}

// B034, B142, B144: a power-on that a BMC takes as a task, and that fails, is told and asked for again; the machine is imaged once all the same (I10).
func TestAPowerOnTaskThatFails(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "start")
	machine := k.Enroll()
	resetsAreTasks(machine, 100*time.Millisecond, func(b *sim.Behaviour) { b.TaskFails = true })
	mark := k.Mark()
	claim := k.Claim(machine.Name)
	k.Until("told that the task failed", func(context.Context) error {
		said := meta.FindStatusCondition(harness.Read(k, k.Server(machine.Name)).Status.Conditions, v1alpha1.ConditionReady)
		if said == nil || said.Reason != v1alpha1.ReasonEffectFailed || !strings.Contains(said.Message, "failed while switching the machine on") {
			return fmt.Errorf("told: %+v", said)
		}
		return nil
	})
	k.Until("asked for again", func(context.Context) error {
		if f := k.Since(mark, machine); len(f.Resets) < 2 {
			return errors.New("not yet")
		}
		return nil
	})
	machine.BMC.Behave(func(b *sim.Behaviour) { b.TaskFails = false })
	k.UntilReady(claim)
	if f := k.Since(mark, machine); len(f.Installs) > 1 || f.Armings() != 1 {
		t.Errorf("%d installs, %d armings", len(f.Installs), f.Armings())
	}
	k.Delete(claim)
	k.UntilGone(claim)
}
