// SPDX-License-Identifier: Apache-2.0

package judged

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	"github.com/holdfast-dev/holdfast/test/harness"
)

func boots(method v1alpha1.BootMethod, tenant string) func(*v1alpha1.ServerClaim) {
	return func(c *v1alpha1.ServerClaim) {
		c.Spec.Boot = v1alpha1.ClaimBoot{Method: method, Image: watch.ImageURL(tenant)}
	}
}

// Two tenants after one another, with all that they may ask for, and a maintenance.
func TestTheJudgeFindsNothingInTheLifeOfAMachine(t *testing.T) {
	k := suite.Kit(t, "metal")
	m := k.Enroll()
	r := &record{k: k, drain: watch.NewRack(k.Rack).Drain}
	var claim *v1alpha1.ServerClaim
	const first, second = "tenants/first#1", "tenants/second#1"
	r.ask(judge.Asked, first, func() { claim = k.Claim(m.Name, boots(v1alpha1.BootHTTP, first)) })
	k.UntilReady(claim)
	k.UntilQuiet(m.Name)
	r.change(judge.AskedOff, first, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
	k.UntilPower(m, v1alpha1.ObservedOff)
	r.change(judge.AskedOn, first, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOn })
	k.UntilQuiet(m.Name)
	r.restart(first, claim)
	k.UntilCondition(claim, v1alpha1.ConditionReady, "False", "")
	k.UntilReady(claim)
	k.UntilQuiet(m.Name)
	r.maintain(m)
	k.UntilQuiet(m.Name)
	r.giveUp(first, claim)
	r.ask(judge.Asked, second, func() { claim = k.Claim(m.Name, boots(v1alpha1.BootVirtualMedia, second)) })
	k.UntilReady(claim)
	k.UntilQuiet(m.Name)
	k.Until("the drive is empty", func(context.Context) error {
		if image := m.Status().Media; image != "" {
			return fmt.Errorf("%s is in it", image)
		}
		return nil
	})
	r.expectInnocent(judge.NetworkBoot, judge.Installed, judge.MediaInserted, judge.MediaEjected, judge.PoweredOff, judge.Armed)

	system := m.BMC.Endpoint() + "/redfish/v1/Systems/" + m.ID()
	send(k, k.Rack.Client(), http.MethodPost, system+"/Actions/ComputerSystem.Reset", `{"ResetType":"ForceOff"}`, func(r *http.Request) {
		r.SetBasicAuth(harness.Username, harness.Password)
	})
	r.expectGuilty("I1", second)
}

// maintain takes a machine out of its life, has it powered off, and gives it back.
func (r *record) maintain(m *harness.Machine) {
	r.k.T.Helper()
	machine := watch.MachineID(m.BMC.Name(), m.ID())
	var o *v1alpha1.ServerMaintenance
	r.ask(judge.MaintenanceBegan, "", func() {
		o = r.k.Maintain(m.Name, func(o *v1alpha1.ServerMaintenance) { o.Spec.Power = v1alpha1.PowerOff })
	})
	r.events[len(r.events)-1].Machine = machine
	r.k.UntilPower(m, v1alpha1.ObservedOff)
	r.ask(judge.MaintenanceEnded, "", func() { r.k.Delete(o) })
	r.events[len(r.events)-1].Machine = machine
	r.k.UntilGone(o)
}
