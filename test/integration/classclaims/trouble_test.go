// SPDX-License-Identifier: Apache-2.0

package classclaims

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// B187, B189: the answer to the creation of a Server is lost. The name was written before: the next pass finds what was made.
func TestALostAnswerMakesNoSecondServer(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "lost")
	cloud := k.RegisterCloud()
	class := k.Class(cloud)
	disarm := k.StrikeAll(harness.APIFault{Exact: "/servers", Body: `"` + class.Name + `"`, Count: 1, LoseReply: true})
	claim := k.ClassClaim(class)
	k.UntilReady(claim)
	if struck := disarm(); struck == 0 {
		t.Error("no answer was lost")
	}
	var servers v1alpha1.ServerList
	if err := k.Admin.List(t.Context(), &servers, client.MatchingFields{"spec.classRef.name": class.Name}); err != nil || len(servers.Items) != 1 {
		t.Errorf("%d servers: %v", len(servers.Items), err)
	}
	onlyVM(k, cloud, claim)
	k.Delete(claim)
	k.UntilGone(claim)
	expectGone(k, cloud, claim.Spec.ServerName)
}

// B184, B014: claim and Server are lost and restored without status, with new UIDs, in both orders: the VM is the same one, untouched.
func TestClaimAndServerRestored(t *testing.T) {
	t.Parallel()
	for name, claimFirst := range map[string]bool{"claim first": true, "server first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "restore")
			cloud := k.RegisterCloud()
			claim, server, vm := withVM(k, cloud, k.Class(cloud))
			k.Settled(cloud)
			backups := []client.Object{harness.Backup(k, server), harness.Backup(k, claim)}
			if claimFirst {
				backups[0], backups[1] = backups[1], backups[0]
			}
			before := events(cloud)
			k.Destroy(server)
			k.Destroy(claim)
			for _, backup := range backups {
				k.Restore(backup)
			}
			k.UntilReady(claim)
			k.UntilVM(server.Name, v1alpha1.PhaseReserved)
			if now := onlyVM(k, cloud, claim); now.ID != vm.ID {
				t.Errorf("VM %s, was %s", now.ID, vm.ID)
			}
			if after := events(cloud); after != before {
				t.Errorf("%d requests changed a VM since", after-before)
			}
			if now := harness.Read(k, server); now.Spec.ClaimRef.UID != string(claim.UID) {
				t.Errorf("claimRef has the UID %s, the claim %s", now.Spec.ClaimRef.UID, claim.UID)
			}
			k.Delete(claim)
			k.UntilGone(claim)
			expectGone(k, cloud, server.Name)
		})
	}
}

// B184, I8: the Server is lost alone. The claim, which may have a VM, never has another one made: it waits for the Server.
func TestAServerThatIsLostIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "alone")
	cloud := k.RegisterCloud()
	claim, server, vm := withVM(k, cloud, k.Class(cloud))
	backup := harness.Backup(k, server)
	k.Destroy(server)
	k.UntilHeld(claim, v1alpha1.ReasonServerMissing, "restore", "delete the claim")
	if now := onlyVM(k, cloud, claim); now.ID != vm.ID || now.Status != "ACTIVE" {
		t.Errorf("VM %v", now)
	}
	k.Restore(backup)
	k.UntilReady(claim)
	if now := onlyVM(k, cloud, claim); now.ID != vm.ID || now.Status != "ACTIVE" {
		t.Errorf("VM %v", now)
	}
	k.Delete(claim)
	k.UntilGone(claim)
	expectGone(k, cloud, server.Name)
}

// A VM that cannot be made is told to its tenant, and deleting the claim is the way out.
func TestAFailedCreationIsToldAndLeavesNothing(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "failed")
	cloud := k.RegisterCloud()
	if _, err := cloud.Befall(sim.Mishap{Kind: sim.MishapNoValidHost}); err != nil {
		t.Fatal(err)
	}
	claim := k.ClassClaim(k.Class(cloud))
	server := untilNamed(k, claim)
	k.UntilHeld(claim, v1alpha1.ReasonCreateFailed)
	k.Delete(claim)
	k.UntilGone(claim)
	expectGone(k, cloud, server)
}

// A full quota is told to the tenant who waits, and is no failure: the VM is made, once, when there is room.
func TestAFullQuotaIsToldAndWaitedFor(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "quota")
	cloud := k.RegisterCloud()
	cloud.SetQuotas(func(q *sim.Quotas) { q.Instances = 0 })
	claim := k.ClassClaim(k.Class(cloud))
	k.UntilHeld(claim, v1alpha1.ReasonQuotaExceeded)
	k.UntilCondition(claim, v1alpha1.ConditionBooted, "False", v1alpha1.ReasonQuotaExceeded)
	if vms := cloud.Servers(); len(vms) != 0 {
		t.Errorf("VMs %v", vms)
	}
	cloud.SetQuotas(func(q *sim.Quotas) { q.Instances = 10 })
	k.UntilReady(claim)
	onlyVM(k, cloud, claim)
	k.Delete(claim)
	k.UntilGone(claim)
	expectGone(k, cloud, claim.Spec.ServerName)
}

// An unreachable cloud holds a claim that is being deleted; force-release lets the claim go, and the VM goes when the cloud is back.
func TestForceReleaseDoesNotWaitForTheCloud(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "force")
	cloud := k.RegisterCloud()
	claim, server, _ := withVM(k, cloud, k.Class(cloud))
	if _, err := cloud.Inject(sim.Fault{Kind: sim.FaultStatus, Status: 503}); err != nil {
		t.Fatal(err)
	}
	k.Delete(claim)
	untilDeleting(k, server)
	k.UntilCondition(claim, v1alpha1.ConditionBound, "False", v1alpha1.ReasonReleasing)
	k.Annotate(claim, v1alpha1.AnnotationForceRelease, server.Name)
	k.UntilGone(claim)
	k.UntilEvent(server, "ForceReleased", "may still run")
	if len(cloud.Servers()) != 1 {
		t.Errorf("VMs %v while the cloud is away", cloud.Servers())
	}
	cloud.ClearFaults()
	k.UntilGone(server)
	expectGone(k, cloud, server.Name)
}

// claimRef is not a way to take a VM from a live claim: a person who clears it sees it bound again, and the VM runs on.
func TestAClearedClaimRefIsBoundAgain(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "cleared")
	cloud := k.RegisterCloud()
	claim, server, vm := withVM(k, cloud, k.Class(cloud))
	k.Settled(cloud)
	before := events(cloud)
	harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.ClaimRef = nil })
	untilBound(k, server, claim)
	k.UntilReady(claim)
	if now := onlyVM(k, cloud, claim); now.ID != vm.ID || now.Status != "ACTIVE" {
		t.Errorf("VM %v", now)
	}
	if after := events(cloud); after != before {
		t.Errorf("%d requests changed a VM since", after-before)
	}
	k.Delete(claim)
	k.UntilGone(claim)
	expectGone(k, cloud, server.Name)
}
