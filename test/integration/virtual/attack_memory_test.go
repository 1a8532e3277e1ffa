// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// A Server restored from a backup that was taken while its first VM had failed, and which a second one has replaced since, remembers a VM
// that is gone. It comes to the one that runs, by identity: it neither makes a third nor stays held for good (I3, I6, P11).
func TestABackupFromAnEarlierAttemptFindsTheVMOfTheLast(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "attempt")
	cloud := k.RegisterCloud()
	befall(t, cloud, sim.Mishap{Kind: sim.MishapSpawn, Count: 1})
	server := k.VM(cloud)
	k.Until("the VM remembered that fails", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, keyOf(server), server); err != nil {
			return err
		}
		if server.Annotations[ledger.KeyProviderID] == "" {
			return errors.New("no provider-id")
		}
		return nil
	})
	backup := harness.Backup(k, server)
	failed := server.Annotations[ledger.KeyProviderID]
	running := k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	vm := theOne(t, cloud, running)
	if vm.ID == failed {
		t.Fatal("the first VM did not fail")
	}
	k.Settled(cloud)
	before := cloud.Wrote()

	k.Destroy(running)
	k.Restore(backup)
	restored := k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	k.Settled(cloud)
	if after := cloud.Wrote(); !maps.Equal(before, after) || theOne(t, cloud, restored).ID != vm.ID || restored.Annotations[ledger.KeyProviderID] != vm.ID {
		t.Errorf("writes %v, before %v; remembers %s, runs %s", after, before, restored.Annotations[ledger.KeyProviderID], vm.ID)
	}
	k.Delete(restored)
	k.UntilGone(restored)
	k.UntilEmpty(cloud)
}

// A person who names another Server's VM to be adopted gets neither that VM nor a second one: it goes on serving the first, also when the
// mistaken Server is deleted (I1, I8).
func TestAnotherServersVMIsNotAdopted(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "mistaken")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud)
	vm := theOne(t, cloud, server)
	k.Settled(cloud)
	before := cloud.Wrote()

	mistaken := k.VM(cloud, func(s *v1alpha1.Server) {
		s.Annotations = map[string]string{v1alpha1.AnnotationAdopt: vm.ID}
	})
	k.UntilHeld(mistaken, v1alpha1.ReasonEffectFailed, vm.ID, server.Name)
	k.Delete(mistaken)
	k.UntilGone(mistaken)
	k.Settled(cloud)
	if after := cloud.Wrote(); !maps.Equal(before, after) || theOne(t, cloud, server).ID != vm.ID {
		t.Errorf("writes %v, before %v", after, before)
	}
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
}
