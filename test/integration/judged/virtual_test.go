// SPDX-License-Identifier: Apache-2.0

package judged

import (
	"context"
	"fmt"
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
	"github.com/holdfast-dev/holdfast/internal/chaos/watch"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// A VM whose first creation fails, with all that its tenant may ask for, until it is given up.
func TestTheJudgeFindsNothingInTheLifeOfAVM(t *testing.T) {
	k := suite.Kit(t, "virtual")
	k.LetUserDataBeRead()
	cloud := k.RegisterCloud()
	r := &record{k: k, drain: watch.NewCloud(cloud.Cloud).Drain}
	if _, err := cloud.Befall(sim.Mishap{Kind: sim.MishapSpawn, Count: 1}); err != nil {
		t.Fatal(err)
	}
	const tenant = "tenants/vm#1"
	k.Create(k.UserData("user-data", watch.UserData(tenant)))
	class := k.Class(cloud, func(c *v1alpha1.ServerClass) {
		c.Spec.OpenStack.FloatingIP = &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}}
	})
	var claim *v1alpha1.ServerClaim
	r.ask(judge.Asked, tenant, func() {
		claim = k.ClassClaim(class, func(c *v1alpha1.ServerClaim) {
			c.Spec.Boot.UserDataSecretRef = &v1alpha1.LocalObjectReference{Name: "user-data"}
		})
	})
	k.UntilReady(claim)
	r.change(judge.AskedOff, tenant, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
	untilStatus(k, cloud, "SHUTOFF")
	r.change(judge.AskedOn, tenant, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOn })
	untilStatus(k, cloud, "ACTIVE")
	k.UntilReady(claim)
	r.restart(tenant, claim)
	k.Until("a second start", func(context.Context) error {
		if r.judge().Counts[judge.PoweredOn] < 2 {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	k.UntilReady(claim)
	r.expectInnocent(judge.CreatedVM, judge.DeletedVM, judge.LaunchedVM, judge.PoweredOff, judge.PoweredOn, judge.PortMade, judge.AddressMade)

	before := len(r.events)
	vm := cloud.Servers()[0]
	if err := cloud.RemoveServer(vm.ID); err != nil {
		t.Fatal(err)
	}
	k.UntilHeld(claim, v1alpha1.ReasonLost)
	r.expectInnocent(judge.GoneVM)
	r.giveUp(tenant, claim)
	k.UntilEmpty(cloud)
	r.expectInnocent(judge.PortGone, judge.AddressGone)

	// The same without the word of the tenant: what was released was not to be released.
	deleted := r.events[:before:before]
	r.events = append(deleted, judge.Event{At: r.events[before-1].At, Kind: judge.DeletedVM, Machine: vm.ID})
	r.expectGuilty("I2", tenant)
}

func untilStatus(k *harness.Kit, cloud *harness.Cloud, want string) {
	k.T.Helper()
	k.Until("VM "+want, func(context.Context) error {
		if vms := cloud.Servers(); len(vms) != 1 || vms[0].Status != want {
			return fmt.Errorf("there are %d: %v", len(vms), vms)
		}
		return nil
	})
}
