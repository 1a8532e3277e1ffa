// SPDX-License-Identifier: Apache-2.0

package edges

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// A Cloud that is used waits, names its users as they become fewer, and takes its credentials with it last (B061, B070).
func TestAUsedCloudWaitsAndNamesItsUsers(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "cloud")
	cloud := k.RegisterCloud()
	object, secret := cloudObject(cloud), secretOf(cloud)
	server := k.RunningVM(cloud)
	class := k.Class(cloud)
	k.UntilReady(class)
	guarded(k, secret)

	k.Delete(object)
	waitsFor(k, object, "server "+server.Name, "serverclass "+class.Name)
	k.Delete(secret)
	k.Delete(class)
	k.UntilGone(class)
	waitsFor(k, object, "server "+server.Name)
	if vms := cloud.Servers(); len(vms) != 1 || vms[0].Status != "ACTIVE" {
		t.Fatalf("VMs while the deletion waits: %+v", vms)
	}
	k.Delete(server)
	k.UntilGone(server)
	k.UntilEmpty(cloud)
	k.UntilGone(object)
	k.UntilGone(secret)
}

// All at once, as `kubectl delete -f` does: the cloud outlives its VMs, and the credentials outlive the cloud; nothing is left behind
// (B070, B195).
func TestEverythingDeletedAtOnce(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "all")
	cloud := k.RegisterCloud()
	keys := authority(t, k)
	class := k.Class(cloud, func(c *v1alpha1.ServerClass) { trusting(keys)(&c.Spec.OpenStack) })
	server := k.RunningVM(cloud, func(s *v1alpha1.Server) { trusting(keys)(s.Spec.OpenStack) })
	k.UntilReady(class)
	secret := secretOf(cloud)
	guarded(k, secret)
	all := []client.Object{secret, cloudObject(cloud), keys, class, server}
	for _, object := range all {
		k.Delete(object)
	}
	for _, object := range all {
		k.UntilGone(object)
	}
	k.UntilEmpty(cloud)
}

// A class that is used waits for the claims that name it and the servers it made, and makes nothing new meanwhile (B197).
func TestAUsedClassWaitsAndMakesNothingNew(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "class")
	cloud := k.RegisterCloud()
	class := k.Class(cloud)
	claim := k.ClassClaim(class)
	k.UntilReady(claim)
	made := claim.Spec.ServerName

	k.Delete(class)
	waitsFor(k, class, "server "+made, "serverclaim "+k.Namespace+"/"+claim.Name)
	late := k.ClassClaim(class)
	k.UntilCondition(late, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClassDeleting)
	waitsFor(k, class, "server "+made, "serverclaim "+k.Namespace+"/"+claim.Name, "serverclaim "+k.Namespace+"/"+late.Name)
	if got := madeVMs(t, cloud); got != 1 {
		t.Errorf("%d VMs were made by a class that is being deleted, want the one before", got)
	}
	k.Delete(late)
	k.Delete(claim)
	k.UntilGone(claim)
	k.UntilGone(late)
	k.UntilGone(class)
	k.UntilEmpty(cloud)
}

// An authority that is used waits for the servers that trust it and the classes that name it.
func TestAUsedAuthorityWaits(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "keys")
	cloud := k.RegisterCloud()
	keys := authority(t, k)
	server := k.RunningVM(cloud, func(s *v1alpha1.Server) { trusting(keys)(s.Spec.OpenStack) })
	class := k.Class(cloud, func(c *v1alpha1.ServerClass) { trusting(keys)(&c.Spec.OpenStack) })
	k.UntilReady(keys)

	k.Delete(keys)
	waitsFor(k, keys, "server "+server.Name, "serverclass "+class.Name)
	k.UntilHeld(class, v1alpha1.ReasonDependencyDeleting, "sshcertificateauthority "+keys.Name)
	harness.Change(k, class, func(c *v1alpha1.ServerClass) { c.Spec.OpenStack.SSHCertificateAuthorityRefs = nil })
	waitsFor(k, keys, "server "+server.Name)
	k.UntilReady(class)
	k.Delete(server)
	k.UntilGone(keys)
}

// What is being deleted takes no new user: a Server that comes then waits, and no VM is made.
func TestACloudThatIsBeingDeletedTakesNoNewServer(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "late")
	cloud := k.RegisterCloud()
	object := cloudObject(cloud)
	first := k.RunningVM(cloud)
	k.Delete(object)
	waitsFor(k, object, "server "+first.Name)

	late := k.VM(cloud)
	k.UntilHeld(late, v1alpha1.ReasonDependencyDeleting, cloud.Name)
	waitsFor(k, object, "server "+first.Name, "server "+late.Name)
	if got := madeVMs(t, cloud); got != 1 {
		t.Errorf("%d VMs were made, want the one before the deletion", got)
	}
	k.Delete(late)
	k.UntilGone(late)
	k.Delete(first)
	k.UntilGone(object)
	k.UntilEmpty(cloud)
}

// What nobody uses goes at once.
func TestWhatNobodyUsesGoes(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "idle")
	cloud := k.RegisterCloud()
	keys := authority(t, k)
	class := k.Class(cloud)
	object, secret := cloudObject(cloud), secretOf(cloud)
	for _, guardedObject := range []client.Object{object, secret, keys, class} {
		guarded(k, guardedObject)
	}
	for _, gone := range []client.Object{class, object, keys} {
		k.Delete(gone)
		k.UntilGone(gone)
	}
	k.Delete(secret)
	k.UntilGone(secret)
}
