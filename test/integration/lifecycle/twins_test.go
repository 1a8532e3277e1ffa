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

// B157, I10: a machine that is a server by its UUID, and is enrolled by hand a second time by its Redfish Id, is not another machine.
// It is Off and keeps no stamp: nothing outside Kubernetes tells that somebody's data are on it.
func TestAMachineEnrolledBySystemIDAsWellIsNotASecondOne(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "again")
	machine := k.Enroll()
	machine.BMC.Behave(func(b *sim.Behaviour) { b.AssetTag = sim.AssetTagRefused })
	web := k.Booted(machine.Name)
	first := harness.Read(k, web)
	first.Spec.Power = v1alpha1.PowerOff
	if err := k.Admin.Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	server := k.UntilPower(machine, v1alpha1.ObservedOff)
	k.UntilReady(web)
	mark := k.Mark()
	again := &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: machine.Name + "-again"},
		Spec: v1alpha1.ServerSpec{Redfish: &v1alpha1.RedfishSystem{
			BMCRef: v1alpha1.LocalObjectReference{Name: machine.Name}, SystemID: server.Status.Observed.SystemID,
		}},
	}
	k.Create(again)
	k.UntilHeld(again, v1alpha1.ReasonDuplicateIdentity, machine.Name, "delete")
	if identity := harness.Read(k, again).Annotations[ledger.KeyIdentity]; identity != "" {
		t.Errorf("the second object took the identity %s", identity)
	}
	k.Claim(again.Name)
	k.UntilReady(web) // the first goes on undisturbed
	k.Delete(again)
	k.UntilGone(again)
	k.ExpectUntouched(mark, machine)
}
