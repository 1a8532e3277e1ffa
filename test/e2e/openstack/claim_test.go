// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/test/e2e/openstack/lab"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// B195, B197: a claim with a class gets a VM of its own, and with the claim all of it goes.
func TestClaimWithAClass(t *testing.T) {
	t.Parallel()
	k := newKit(t, "claim")
	class := k.class(v1alpha1.ReclaimDelete, withFloatingIP)
	claim, server := k.served(class)
	if claim.Status.Machine == nil || len(claim.Status.Machine.Addresses) == 0 {
		t.Errorf("the tenant is told %+v", claim.Status.Machine)
	}
	wanted := one(server, active)
	wanted.FloatingIPs = 1
	k.expectServers("claimed", wanted)
	k.expectRest()
	k.Delete(claim)
	k.UntilGone(claim)
	k.UntilGone(server)
	k.expectServers("after the claim")
	k.expectAsked("create", "delete")

	other, second := k.served(class)
	if identity(second) == identity(server) {
		t.Errorf("two claims got the identity %s", identity(second))
	}
	wanted = one(second, active)
	wanted.FloatingIPs = 1
	k.expectServers("another claim", wanted)
	k.expectNothing(other, class, k.cloud)
}

// A class that retains: after its claim the VM is off, and everything of it stays until a person decides.
func TestRetain(t *testing.T) {
	t.Parallel()
	k := newKit(t, "retain")
	claim, server := k.served(k.class(v1alpha1.ReclaimRetain))
	k.expectServers("claimed", one(server, active))
	k.Delete(claim)
	k.UntilGone(claim)
	k.UntilPhase(server.Name, v1alpha1.PhaseReleased)
	k.untilStopped(server)
	k.expectServers("released", one(server, shutoff))
	k.expectAsked("create", "stop")
	harness.Change(k.Kit, server, func(s *v1alpha1.Server) { s.Spec.ClaimRef = nil })
	k.expectNothing(server)
	k.expectAsked("create", "stop", "delete")
}

// B001, B002, B003, I3, I9: claim, Server, class and Cloud are lost and restored without status and with new UIDs, in every order: the VM is
// the same, and Nova was asked for nothing.
func TestRestoredWithNewUIDs(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]int{
		"as they depend":  {0, 1, 2, 3},
		"the other way":   {3, 2, 1, 0},
		"the claim first": {3, 0, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, "restore")
			class := k.class(v1alpha1.ReclaimDelete, withFloatingIP)
			claim, server := k.served(class)
			wanted := one(server, active)
			wanted.FloatingIPs = 1
			uid := server.UID
			objects := []client.Object{k.cloud, class, server, claim}
			backups := make([]client.Object, len(objects))
			for i, object := range objects {
				backups[i] = harness.Backup(k.Kit, object)
			}
			for _, object := range objects {
				k.Destroy(object)
			}
			for _, i := range order {
				k.Restore(backups[i])
			}
			k.UntilReady(claim)
			k.untilRunning(server)
			if server.UID == uid {
				t.Error("the Server was not made anew")
			}
			k.watched()
			k.expectServers("restored", wanted)
			k.expectAsked("create")
			k.Delete(claim)
			k.UntilGone(claim)
			k.UntilGone(server)
			k.expectServers("after the claim")
		})
	}
}

// P10, I9: the claim is lost and does not come back: its VM is nobody's to delete, and the Server says so.
func TestTheClaimIsMissing(t *testing.T) {
	t.Parallel()
	k := newKit(t, "missing")
	claim, server := k.served(k.class(v1alpha1.ReclaimDelete))
	backup := harness.Backup(k.Kit, claim)
	k.Destroy(claim)
	k.UntilHeld(server, v1alpha1.ReasonClaimMissing)
	k.watched()
	k.expectServers("without its claim", one(server, active))
	k.expectAsked("create")
	k.Restore(backup)
	k.UntilReady(claim)
	k.Delete(claim)
	k.UntilGone(claim)
	k.UntilGone(server)
	k.expectServers("after the claim")
	k.expectAsked("create", "delete")
}

// I1: a VM under a claim is rebuilt only once the claim's owner has agreed to that very image.
func TestARebuildNeedsTheClaimsConsent(t *testing.T) {
	t.Parallel()
	k := newKit(t, "consent")
	claim, server := k.served(k.class(v1alpha1.ReclaimDelete, withRebuilds))
	k.rebuild(server, lab.ImageB)
	k.UntilCondition(server, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRebuildApproval)
	k.watched()
	k.expectAsked("create")
	k.Annotate(claim, v1alpha1.AnnotationRebuildApproved, server.Spec.OpenStack.Image.String())
	k.untilRunning(server)
	k.expectServers("rebuilt", k.on(one(server, active), lab.ImageB))
	k.expectAsked("create", "rebuild")
	k.Delete(claim)
	k.UntilGone(server)
	k.expectServers("after the claim")
}
