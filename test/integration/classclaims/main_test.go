// SPDX-License-Identifier: Apache-2.0

// Package classclaims leads claims with a class through their lives on the whole stack: a real API server, simulated clouds, and the
// operator with the rights that an installation gives it. What a cloud says of itself is compared with what the claims should have left.
package classclaims

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	claims "github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

var suite *harness.Suite

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Options{Manager: []harness.Override{impatient}}, func(s *harness.Suite) { suite = s }))
}

// impatient tries again soon, after a failure and after a refusal: the tests are about what the claim is told.
func impatient(o *operator.Options) {
	o.Settings.CreateBackoff = time.Second
	o.Settings.Backstop = 10 * time.Second
}

// withVM is a claim whose VM runs, with its Server and its VM.
func withVM(
	k *harness.Kit, cloud *harness.Cloud, class *v1alpha1.ServerClass, changes ...func(*v1alpha1.ServerClaim),
) (*v1alpha1.ServerClaim, *v1alpha1.Server, sim.Server) {
	k.T.Helper()
	claim := k.ClassClaim(class, changes...)
	k.UntilReady(claim)
	server := harness.Read(k, k.Server(claim.Spec.ServerName))
	return claim, server, onlyVM(k, cloud, claim)
}

// onlyVM is the one VM that a claim has: none more, by the cloud's own word (I3).
func onlyVM(k *harness.Kit, cloud *harness.Cloud, claim *v1alpha1.ServerClaim) sim.Server {
	k.T.Helper()
	vms := cloud.VMsOf(identityOf(claim))
	if len(vms) != 1 {
		k.T.Fatalf("claim %s has %d VMs: %v", claim.Name, len(vms), vms)
	}
	return vms[0]
}

// identityOf is the identity of the Server that is made for a claim.
func identityOf(claim *v1alpha1.ServerClaim) string {
	return ledger.ClaimedIdentity(claim.Annotations[ledger.KeyIdentity])
}

func retain(class *v1alpha1.ServerClass) { class.Spec.ReclaimPolicy = v1alpha1.ReclaimRetain }

// untilNamed waits until a claim names the Server that is made for it.
func untilNamed(k *harness.Kit, claim *v1alpha1.ServerClaim) string {
	k.T.Helper()
	k.Until("claim "+claim.Name+" names a server", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
			return err
		}
		if claim.Spec.ServerName == "" {
			return errors.New("it names none")
		}
		return nil
	})
	return claim.Spec.ServerName
}

// events are the creations, actions and deletions at a cloud that any request asked for, as the cloud logs them: what was done to VMs.
func events(cloud *harness.Cloud) int {
	return len(cloud.Events(sim.EventFilter{Kinds: []sim.EventKind{sim.EventServerCreated, sim.EventServerAction, sim.EventServerDelete}}))
}

// untilDeleting waits until the deletion of an object was asked for.
func untilDeleting(k *harness.Kit, object client.Object) {
	k.T.Helper()
	k.Until(object.GetName()+" is being deleted", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if object.GetDeletionTimestamp().IsZero() {
			return errors.New("it is not")
		}
		return nil
	})
}

// untilBound waits until a server bears a claim.
func untilBound(k *harness.Kit, server *v1alpha1.Server, claim *v1alpha1.ServerClaim) {
	k.T.Helper()
	k.Until(server.Name+" bears "+claim.Name, func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server); err != nil {
			return err
		}
		if ref := server.Spec.ClaimRef; ref == nil || ref.UID != string(claim.UID) {
			return fmt.Errorf("claimRef %v", ref)
		}
		return nil
	})
}

// firstName is the name that is tried first for the Server of a claim.
func firstName(claim *v1alpha1.ServerClaim) string {
	for name := range claims.ServerNames(claim) {
		return name
	}
	return ""
}

// expectGone checks that nothing is left of a claim: no Server, no VM, no port, no floating IP.
func expectGone(k *harness.Kit, cloud *harness.Cloud, server string) {
	k.T.Helper()
	if err := k.Admin.Get(k.T.Context(), client.ObjectKey{Name: server}, &v1alpha1.Server{}); !apierrors.IsNotFound(err) {
		k.T.Errorf("server %s: %v, want not found", server, err)
	}
	if left := fmt.Sprint(len(cloud.Servers()), len(cloud.Ports()), len(cloud.FloatingIPs())); left != "0 0 0" {
		k.T.Errorf("VMs, ports and floating IPs left: %s", left)
	}
}
