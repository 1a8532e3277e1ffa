// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/operator"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// A Cloud whose secret is changed to another project sees none of the VMs that it saw: each is a 404. None of them is taken for gone: a
// Server that is deleted at that very moment stays, and nothing is written in either project (I3, P10). With the old credentials all goes
// on; a person may give a VM up.
func TestACloudThatIsGivenAnotherProject(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "project")
	cloud, other := twoProjects(k, harness.QuickCloud())
	kept, deleted, abandoned := k.RunningVM(cloud), k.RunningVM(cloud), k.RunningVM(cloud)
	k.Settled(cloud)
	before := cloud.Wrote()

	rotate(k, cloud, other)
	k.Delete(deleted)
	k.Delete(abandoned)
	for _, server := range []*v1alpha1.Server{kept, deleted, abandoned} {
		k.UntilHeld(server, v1alpha1.ReasonCloudReplaced, v1alpha1.AnnotationAbandon)
		k.WipeStatus(server)
	}
	k.Annotate(abandoned, v1alpha1.AnnotationAbandon, abandoned.Name)
	k.UntilGone(abandoned)
	k.Settled(cloud)
	for _, server := range []*v1alpha1.Server{kept, deleted} {
		k.UntilHeld(server, v1alpha1.ReasonCloudReplaced)
	}
	if after := cloud.Wrote(); !maps.Equal(before, after) || len(cloud.Servers()) != 3 {
		t.Fatalf("%d VMs, writes %v, before %v", len(cloud.Servers()), after, before)
	}

	rotate(k, cloud, cloud.CloudsYAML())
	k.UntilGone(deleted)
	k.UntilVM(kept.Name, v1alpha1.PhaseRunning)
	if vms := cloud.VMsOf(identity(kept)); len(vms) != 1 || len(cloud.Servers()) != 2 {
		t.Errorf("VMs %+v of %d", vms, len(cloud.Servers()))
	}
}

// A VM that is being built when the Cloud's secret is changed to another project is not taken for one that vanished before its launch, and
// is not made there anew (I3).
func TestAVMBeingBuiltIsNotMadeInAnotherProject(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "building")
	slow := harness.QuickCloud()
	slow.Spawn = time.Hour
	cloud, other := twoProjects(k, slow)
	server := k.VM(cloud)
	k.Until("a VM remembered", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, keyOf(server), server); err != nil {
			return err
		}
		if server.Annotations[ledger.KeyProviderID] == "" {
			return errors.New("no provider-id")
		}
		return nil
	})
	k.Settled(cloud)
	before := cloud.Wrote()

	rotate(k, cloud, other)
	k.UntilHeld(server, v1alpha1.ReasonCloudReplaced)
	k.WipeStatus(server)
	k.UntilHeld(server, v1alpha1.ReasonCloudReplaced)
	k.Settled(cloud)
	if after := cloud.Wrote(); !maps.Equal(before, after) {
		t.Errorf("writes %v, before %v", after, before)
	}
	theOne(t, cloud, server)

	rotate(k, cloud, cloud.CloudsYAML())
	k.Delete(server)
	k.UntilGone(server)
	k.UntilEmpty(cloud)
}

// twoProjects is a cloud with two projects in which the same VM can be made. The Cloud leads to the first; other are credentials for the
// second.
func twoProjects(k *harness.Kit, timing sim.Timing) (cloud *harness.Cloud, other []byte) {
	k.T.Helper()
	cloud = k.RegisterCloud(func(setup *harness.CloudSetup) {
		inventory := sim.DefaultInventory()
		inventory.Users = append(inventory.Users, sim.User{Name: "guest", Password: "secret", Project: "other"})
		for i := range inventory.Networks {
			inventory.Networks[i].Project = ""
		}
		setup.Simulated.Inventory, setup.Simulated.Timing = &inventory, &timing
	})
	second := strings.NewReplacer(`username: "demo"`, `username: "guest"`, `project_name: "demo"`, `project_name: "other"`)
	return cloud, []byte(second.Replace(string(cloud.CloudsYAML())))
}

// rotate changes a Cloud's credentials.
func rotate(k *harness.Kit, cloud *harness.Cloud, clouds []byte) {
	k.T.Helper()
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = operator.Defaults().Namespace, cloud.Name
	harness.Change(k, secret, func(s *corev1.Secret) { s.Data[v1alpha1.KeyClouds] = clouds })
}
