// SPDX-License-Identifier: Apache-2.0

package tour

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/devmode"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// unlucky is the server whose VM no host takes.
const unlucky = "unlucky"

// failVM has the cloud fail a VM's creation until Holdfast gives up, and then lets a person have it tried again.
func failVM(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	if _, err := t.stack.Cloud.Befall(openstack.Mishap{Kind: openstack.MishapNoValidHost, Server: "^" + unlucky + "$"}); err != nil {
		return err
	}
	server := serverNamed(unlucky)
	vm := devmode.SmallVM()
	vm.FloatingIP = nil
	server.Spec.OpenStack = &vm
	if err := t.restorer.Create(ctx, server); err != nil {
		return err
	}
	t.did("created the server %s, for which the cloud finds no host", unlucky)
	message, err := t.stalls(ctx, unlucky, v1alpha1.ReasonCreateFailed)
	if err != nil {
		return err
	}
	t.saw("held: %s", message)
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	// The VM is made, and three times deleted and made again; its port is kept, and leased for each attempt anew.
	want := []string{"3 DELETE servers/{server}", "1 POST ports", "4 POST servers", "1 PUT ports/{id}/tags", "3 PUT ports/{port}"}
	if err := t.cloudCalled(m, want...); err != nil {
		return err
	}
	return t.retryVM(ctx)
}

func (t *tour) retryVM(ctx context.Context) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	t.stack.Cloud.ClearMishaps()
	server, err := t.server(ctx, unlucky)
	if err != nil {
		return err
	}
	if err := annotate(ctx, t.restorer, server, v1alpha1.AnnotationRetry, server.Annotations[ledger.KeyIdentity]); err != nil {
		return err
	}
	t.did("the cloud has hosts again; a person annotates the server with %s", v1alpha1.AnnotationRetry)
	if err := t.serverIs(ctx, unlucky, v1alpha1.PhaseRunning); err != nil {
		return err
	}
	if err := t.cloudCalled(m, "1 DELETE servers/{server}", "1 POST servers", "1 PUT ports/{port}"); err != nil {
		return err
	}
	return t.holds(3, 4, 1)
}

// deleteCloudInUse deletes the Cloud below everything that uses it: it waits, and names its users.
func deleteCloudInUse(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	cloud := cloudObject()
	if err := t.restorer.Delete(ctx, cloud); err != nil {
		return err
	}
	t.did("deleted the Cloud %s, while three VMs run in it", devmode.CloudName)
	if err := t.condition(ctx, cloud, v1alpha1.ConditionReady, v1alpha1.ReasonInUse); err != nil {
		return err
	}
	message := meta.FindStatusCondition(cloud.Status.Conditions, v1alpha1.ConditionReady).Message
	for _, user := range []string{t.workerServer, bastion, unlucky} {
		if !strings.Contains(message, user) {
			return fmt.Errorf("the Cloud does not name its user %s: %s", user, message)
		}
	}
	t.line("checked", "it waits, and names its users")
	if err := t.watched(ctx, m); err != nil {
		return err
	}
	if err := t.untouched(m); err != nil {
		return err
	}
	return t.holds(3, 4, 1)
}

// deleteAllVMs lets everything go: nothing of ours may be left in the cloud.
func deleteAllVMs(ctx context.Context, t *tour) error {
	m, err := t.mark()
	if err != nil {
		return err
	}
	claim := claimNamed(worker)
	if err := t.tenant.Delete(ctx, claim); err != nil {
		return err
	}
	gone := []client.Object{
		claim, serverNamed(t.workerServer), serverNamed(bastion), serverNamed(unlucky), classObject(), authorityObject(), cloudObject(),
	}
	for _, object := range gone[2:6] {
		if err := t.restorer.Delete(ctx, object); err != nil {
			return err
		}
	}
	t.did("the tenant deletes the claim %s, a person the servers %s and %s, the class, and the authority", worker, bastion, unlucky)
	for _, object := range gone {
		if err := t.gone(ctx, object); err != nil {
			return err
		}
	}
	t.line("checked", "claim, servers, class, authority and Cloud are gone")
	if err := t.cloudCalled(m, "1 DELETE floatingips/{fip}", "4 DELETE ports/{port}", "3 DELETE servers/{server}"); err != nil {
		return err
	}
	if err := t.holds(0, 0, 0); err != nil {
		return err
	}
	return t.wrote(m)
}
