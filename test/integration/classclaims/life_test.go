// SPDX-License-Identifier: Apache-2.0

package classclaims

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// A claim with a class gets a VM of its own, is told how to reach it, and takes it along when it goes.
func TestAClaimGetsAVMAndTakesItAlong(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "class")
	cloud := k.RegisterCloud()
	class := k.Class(cloud, func(c *v1alpha1.ServerClass) {
		c.Spec.Labels = map[string]string{"size": "small"}
		c.Spec.OpenStack.FloatingIP = &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}}
	})
	claim, server, vm := withVM(k, cloud, class)
	k.UntilCondition(claim, v1alpha1.ConditionBooted, "True", v1alpha1.ReasonBooted)
	if server.Labels["size"] != "small" || server.Spec.ClassRef.Name != class.Name || server.Spec.ReclaimPolicy != v1alpha1.ReclaimDelete {
		t.Errorf("not as the class says: %v %v", server.Labels, server.Spec)
	}
	if ref := server.Spec.ClaimRef; ref.Namespace != claim.Namespace || ref.Name != claim.Name || ref.UID != string(claim.UID) {
		t.Errorf("claimRef %v", ref)
	}
	if got := claim.Annotations[ledger.KeyBound]; got != identityOf(claim) || got != server.Annotations[ledger.KeyIdentity] {
		t.Errorf("bound to %s, the server is %s", got, server.Annotations[ledger.KeyIdentity])
	}
	// Ready is when the tenant can use it: with its addresses.
	m := claim.Status.Machine
	if m == nil || len(m.Addresses) == 0 || m.FloatingIP == "" || m.CPUs.Cores == 0 || m.Memory.IsZero() || m.PowerState != v1alpha1.ObservedOn {
		t.Fatalf("machine %+v", m)
	}
	if vm.Name != server.Name || vm.Status != "ACTIVE" || len(cloud.FloatingIPs()) != 1 || cloud.FloatingIPs()[0].Address != claim.Status.Machine.FloatingIP {
		t.Errorf("VM %s %s, floating IPs %v", vm.Name, vm.Status, cloud.FloatingIPs())
	}
	k.Delete(claim)
	k.UntilGone(claim)
	expectGone(k, cloud, server.Name)
}

// A claim that asks for no power waits for nothing; its VM is made once it asks (B222).
func TestAVMIsMadeWhenPowerIsAskedFor(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "power-later")
	cloud := k.RegisterCloud()
	claim := k.ClassClaim(k.Class(cloud), func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff })
	k.UntilReady(claim)
	k.UntilCondition(claim, v1alpha1.ConditionBooted, "False", v1alpha1.ReasonPowerNotWanted)
	k.UntilReady(k.Server(claim.Spec.ServerName))
	if vms := cloud.Servers(); len(vms) != 0 {
		t.Fatalf("made before it was asked for: %v", vms)
	}
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOn })
	k.UntilCondition(claim, v1alpha1.ConditionBooted, "True", v1alpha1.ReasonBooted)
	k.UntilReady(claim)
	if vm := onlyVM(k, cloud, claim); vm.Status != "ACTIVE" {
		t.Errorf("VM %s", vm.Status)
	}
}

// Retain: the VM is stopped and kept for a person, and is a person's VM once claimRef is cleared: no claim gets it.
func TestARetainedVMStaysAndIsAPersons(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "retain")
	cloud := k.RegisterCloud()
	claim, server, vm := withVM(k, cloud, k.Class(cloud, retain))
	k.Delete(claim)
	k.UntilGone(claim)
	k.Until("released, and stopped", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server); err != nil {
			return err
		}
		if now, _ := cloud.Server(vm.ID); server.Status.Phase != v1alpha1.PhaseReleased || now.Status != "SHUTOFF" {
			return fmt.Errorf("phase %s, VM %s", server.Status.Phase, now.Status)
		}
		return nil
	})
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.ClaimRef, s.Spec.Power = nil, v1alpha1.PowerOff })
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	other := k.Claim("", func(c *v1alpha1.ServerClaim) { c.Spec.ServerRef = &v1alpha1.LocalObjectReference{Name: server.Name} })
	k.UntilCondition(other, v1alpha1.ConditionBound, "False", v1alpha1.ReasonServerNotAvailable)
	if now, there := cloud.Server(vm.ID); !there || now.Status != "SHUTOFF" {
		t.Errorf("VM %v", now)
	}
	k.Delete(other)
	k.UntilGone(other)
	k.Delete(server)
	k.UntilGone(server)
	expectGone(k, cloud, server.Name)
}

// The policy of the Server decides, as it is when its claim goes: a person may still keep what a class would let go.
func TestThePolicyOfTheServerDecides(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "policy")
	cloud := k.RegisterCloud()
	claim, server, vm := withVM(k, cloud, k.Class(cloud))
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.ReclaimPolicy = v1alpha1.ReclaimRetain })
	k.Delete(claim)
	k.UntilGone(claim)
	if now, there := cloud.Server(vm.ID); !there || now.Status != "SHUTOFF" {
		t.Errorf("VM %v, want it kept and stopped", now)
	}
	k.Until("released", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server); err != nil || server.Status.Phase != v1alpha1.PhaseReleased {
			return cmp.Or(err, fmt.Errorf("phase %s", server.Status.Phase))
		}
		return nil
	})
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.ClaimRef = nil })
	k.Delete(server)
	k.UntilGone(server)
}

// B197: a claim that is deleted while its Server is only just there leaves nothing behind.
func TestAClaimDeletedAtOnceLeavesNothing(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "at-once")
	cloud := k.RegisterCloud()
	class := k.Class(cloud)
	var names []string
	for range 8 {
		claim := k.ClassClaim(class)
		names = append(names, untilNamed(k, claim))
		k.Delete(claim)
		k.UntilGone(claim)
	}
	for _, name := range names {
		expectGone(k, cloud, name)
	}
}

// A sweep of claims gets as many VMs, each its own (I3, I8).
func TestManyClaimsOfOneClass(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "many")
	cloud := k.RegisterCloud()
	class := k.Class(cloud)
	var claims []*v1alpha1.ServerClaim
	for range 24 {
		claims = append(claims, k.ClassClaim(class))
	}
	took := k.Took("24 claims with their VMs")
	var ids []string
	for _, claim := range claims {
		k.UntilReady(claim)
		ids = append(ids, onlyVM(k, cloud, claim).ID)
	}
	took()
	if slices.Sort(ids); len(slices.Compact(ids)) != len(claims) || len(cloud.Servers()) != len(claims) {
		t.Errorf("%d claims have %d VMs of %d", len(claims), len(slices.Compact(ids)), len(cloud.Servers()))
	}
	for _, claim := range claims {
		k.Delete(claim)
	}
	for _, claim := range claims {
		k.UntilGone(claim)
	}
	k.UntilEmpty(cloud)
}

// A class that is not there is waited for, by its event and not by a timer, and the name of a stranger's Server is passed over.
func TestAClassThatComesLaterAndANameThatIsTaken(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "later")
	cloud := k.RegisterCloud()
	claim := k.Claim("", func(c *v1alpha1.ServerClaim) { c.Spec.ClassName = k.Name })
	k.UntilHeld(claim, v1alpha1.ReasonClassMissing, k.Name)
	stranger := k.VM(cloud, func(s *v1alpha1.Server) { s.Name, s.Spec.Paused = firstName(claim), true })
	k.Class(cloud, func(c *v1alpha1.ServerClass) { c.Name = k.Name })
	k.UntilReady(claim)
	if claim.Spec.ServerName == stranger.Name || len(cloud.Servers()) != 1 {
		t.Errorf("server %s, VMs %v", claim.Spec.ServerName, cloud.Servers())
	}
	if now := harness.Read(k, stranger); now.Spec.ClaimRef != nil || meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionClaimed) == nil {
		t.Errorf("the stranger's: %v %v", now.Spec.ClaimRef, now.Status.Conditions)
	}
	k.Delete(claim)
	k.UntilGone(claim)
	harness.Change(k, stranger, func(s *v1alpha1.Server) { s.Spec.Paused = false })
	k.Delete(stranger)
	k.UntilGone(stranger)
}
