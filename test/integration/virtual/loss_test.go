// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// A status that is wiped, again and again, changes nothing at the cloud, from the first request on (P1, I5).
func TestAWipedStatusChangesNothingAtTheCloud(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "wiped")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud)
	k.Settled(cloud)
	before := cloud.Wrote()
	for _, part := range []harness.Part{harness.Whole, harness.Report} {
		stop := k.Wiping(part, 50*time.Millisecond, server)
		k.Settled(cloud)
		if wiped := stop(); wiped == 0 {
			t.Error("nothing was wiped")
		}
	}
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	k.Settled(cloud)
	if after := cloud.Wrote(); !maps.Equal(before, after) {
		t.Errorf("writes %v, before %v", after, before)
	}
	theOne(t, cloud, server)
}

// A VM that was launched once and is called broken is parked; when the cloud takes that back it runs on. Nothing is written (I2; B184).
func TestARunningVMThatErrorsIsNeverDeleted(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "errored")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud)
	vm := theOne(t, cloud, server)
	k.Settled(cloud)
	before := cloud.Wrote()
	for range 3 {
		if err := cloud.FailServer(vm.ID, "host on fire"); err != nil {
			t.Fatal(err)
		}
		k.UntilHeld(server, v1alpha1.ReasonErrored)
		k.WipeStatus(server)
		if err := cloud.HealServer(vm.ID); err != nil {
			t.Fatal(err)
		}
		k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	}
	if after := cloud.Wrote(); !maps.Equal(before, after) || theOne(t, cloud, server).ID != vm.ID {
		t.Errorf("writes %v, before %v", after, before)
	}
}

// Gone is a 404 by id: a VM that a listing misses is there; one that is gone is never made again (P10, I2).
func TestGoneIsA404ByID(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "gone")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud)
	vm := theOne(t, cloud, server)
	k.Settled(cloud)
	before := cloud.Wrote()

	cloud.CellDown(vm.ID)
	k.Settled(cloud)
	k.WipeStatus(server)
	k.Settled(cloud)
	cloud.CellDown()
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	inject(t, cloud, sim.Fault{Kind: sim.FaultEmptyList, Path: "/servers/detail", Count: 10})
	inject(t, cloud, sim.Fault{Kind: sim.FaultEmptyList, Path: "/ports", Count: 10})
	k.Settled(cloud)
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	cloud.ClearFaults() // a release looks for its ports in a listing, and one that lies then leaves them behind

	if err := cloud.LoseServer(vm.ID); err != nil {
		t.Fatal(err)
	}
	k.UntilHeld(server, v1alpha1.ReasonLost, vm.ID)
	k.WipeStatus(server)
	k.UntilHeld(server, v1alpha1.ReasonLost, vm.ID)
	if after := cloud.Wrote(); !maps.Equal(before, after) {
		t.Errorf("writes %v, before %v", after, before)
	}
	k.Delete(server)
	k.UntilGone(server)
	k.UntilEmpty(cloud)
}

// A Server that is destroyed and restored, with a new UID, with its ledger, is the same VM (P11); one that is made from Git, without
// its ledger, finds the VM and holds until a person says that it is the one (I3, I9).
func TestARestoredServerIsTheSameVM(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "restored")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud)
	vm := theOne(t, cloud, server)
	k.Settled(cloud)
	before := cloud.Wrote()
	backup := harness.Backup(k, server)

	k.Destroy(server)
	k.Restore(backup)
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	k.Settled(cloud)
	if after := cloud.Wrote(); !maps.Equal(before, after) || theOne(t, cloud, server).ID != vm.ID {
		t.Fatalf("writes %v, before %v", after, before)
	}

	k.Destroy(harness.Read(k, k.Server(server.Name)))
	fromGit := backup.DeepCopy()
	fromGit.ResourceVersion, fromGit.UID, fromGit.Annotations, fromGit.Finalizers = "", "", nil, nil
	fromGit.Status = v1alpha1.ServerStatus{}
	k.Create(fromGit)
	k.UntilHeld(fromGit, v1alpha1.ReasonFoundExisting, vm.ID, v1alpha1.AnnotationAdopt)
	if vms := cloud.Servers(); len(vms) != 1 || vms[0].ID != vm.ID {
		t.Fatalf("VMs %+v", vms)
	}
	// An adoption that is broken off is begun again as long as anything of it is left: its ports go with the VM (I3).
	if _, err := cloud.Inject(sim.Fault{Kind: sim.FaultStatus, Status: http.StatusInternalServerError, Method: http.MethodPut, Path: "/ports/", Count: 1}); err != nil {
		t.Fatal(err)
	}
	k.Annotate(fromGit, v1alpha1.AnnotationAdopt, vm.ID)
	adopted := k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	if theOne(t, cloud, adopted).ID != vm.ID {
		t.Error("another VM")
	}
	k.Delete(adopted)
	k.UntilGone(adopted)
	k.UntilEmpty(cloud)
}

// A ledger that is dropped while the VM runs makes nothing new: the object finds its VM, or holds (I9).
func TestADroppedLedgerMakesNoSecondVM(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "dropped")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud)
	vm := theOne(t, cloud, server)
	k.Settled(cloud)
	before := cloud.Wrote()
	k.DropLedger(server)
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	k.Until("the VM remembered again", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, keyOf(server), server); err != nil {
			return err
		}
		if id := server.Annotations[ledger.KeyProviderID]; id != vm.ID {
			return fmt.Errorf("provider-id %q", id)
		}
		return nil
	})
	k.Settled(cloud)
	after := cloud.Wrote()
	if after["POST /compute/v2.1/servers"] != before["POST /compute/v2.1/servers"] || after["DELETE /compute/v2.1/servers/{server}"] != 0 {
		t.Errorf("writes %v, before %v", after, before)
	}
	theOne(t, cloud, server)
}

// Two managers at once make one VM (I3). Alone: the second one acts on every server there is.
func TestTwoManagersMakeOneVM(t *testing.T) {
	k := suite.Kit(t, "two")
	k.Manage()
	cloud := k.RegisterCloud()
	var servers []*v1alpha1.Server
	for range 4 {
		servers = append(servers, k.VM(cloud))
	}
	for _, server := range servers {
		running := k.UntilVM(server.Name, v1alpha1.PhaseRunning)
		if ours := cloud.VMsOf(identity(running)); len(ours) != 1 {
			t.Errorf("VMs of %s: %+v", server.Name, ours)
		}
	}
	k.Settled(cloud)
	if vms, ports := cloud.Servers(), cloud.Ports(); len(vms) != len(servers) || len(ports) != len(servers) {
		t.Errorf("%d VMs, %d ports", len(vms), len(ports))
	}
	for _, server := range servers {
		k.Delete(server)
		k.UntilGone(server)
	}
	k.UntilEmpty(cloud)
}
