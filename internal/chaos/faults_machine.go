// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/internal/sim/redfish"
)

// tenantSwitchesOff has what runs on a machine or VM switch it off, or restart it, from within.
func tenantSwitchesOff(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	claim, server := c.bound(step)
	if server == nil {
		return nil, errNothing
	}
	machine := c.world.machineOf(server)
	if machine == nil {
		vm, found := c.world.vmOf(c.tenants.get(claim.Name))
		if !found || c.world.cloud.StopGuest(vm.ID) != nil {
			return nil, errNothing // it does not run now
		}
		return nil, nil
	}
	if machine.Power() != redfish.PowerOn {
		return nil, errNothing
	}
	if step.Pick%4 == 0 {
		machine.RebootByTenant()
	} else {
		machine.PowerOffByTenant()
	}
	return nil, nil
}

// powerCut takes the mains away from a machine alone, or from its BMC too.
func powerCut(_ context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	bmc, machine := c.world.rack.BMC(step.Target), c.world.machine(step.Target)
	if bmc.Reach() != redfish.ReachUp || machine.Status().NoMains {
		return nil, errNothing
	}
	if step.Pick%2 == 0 {
		machine.CutPower()
		return func(context.Context) error { machine.ReturnPower(); return nil }, nil
	}
	bmc.CutPower()
	return func(context.Context) error { bmc.ReturnPower(); return nil }, nil
}

// maintenance takes a machine out of its life, whoever has it, and most of the time has it switched off.
func maintenance(ctx context.Context, c *campaign, step Step) (func(context.Context) error, error) {
	power := v1alpha1.PowerOff
	if step.Pick%4 == 0 {
		power = v1alpha1.PowerKeep
	}
	o := &v1alpha1.ServerMaintenance{
		ObjectMeta: metav1.ObjectMeta{Name: step.Target},
		Spec: v1alpha1.ServerMaintenanceSpec{
			ServerRef: v1alpha1.LocalObjectReference{Name: step.Target}, Policy: v1alpha1.MaintenanceEnforced, Power: power,
		},
	}
	if !c.maintained.add(step.Target) {
		return nil, errNothing // there is one already
	}
	create := func(ctx context.Context) error { return ignoreExists(c.world.admin.Create(ctx, o.DeepCopy())) }
	var err error
	if power == v1alpha1.PowerOff { // any other consents to nothing
		began := judge.Event{Kind: judge.MaintenanceBegan, Machine: watch.MachineID(step.Target, c.world.machine(step.Target).ID())}
		err = c.journal.ask(ctx, &c.gate, began, create)
	} else {
		err = persist(ctx, func(ctx context.Context) error {
			c.gate.RLock()
			defer c.gate.RUnlock()
			return create(ctx)
		})
	}
	return func(ctx context.Context) error {
		c.maintained.remove(step.Target)
		return c.endMaintenance(ctx, step.Target)
	}, err
}

// endMaintenance deletes a machine's maintenance.
func (c *campaign) endMaintenance(ctx context.Context, machine string) error {
	o := &v1alpha1.ServerMaintenance{ObjectMeta: metav1.ObjectMeta{Name: machine}}
	ended := judge.Event{Kind: judge.MaintenanceEnded, Machine: watch.MachineID(machine, c.world.machine(machine).ID())}
	return c.journal.ask(ctx, &c.gate, ended, func(ctx context.Context) error {
		return client.IgnoreNotFound(c.world.admin.Delete(ctx, o))
	})
}
