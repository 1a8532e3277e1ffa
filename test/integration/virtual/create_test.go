// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// A standalone Server makes one VM with one port of ours, and deleting it leaves nothing (I3).
func TestAServerMakesOneVMAndLeavesNothing(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "vm")
	cloud := k.RegisterCloud()
	k.UntilReady(&v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: cloud.Name}})
	server := k.RunningVM(cloud, func(s *v1alpha1.Server) {
		s.Spec.OpenStack.FloatingIP = &v1alpha1.FloatingIP{Network: v1alpha1.ResourceSelector{Name: "public"}}
	})
	vm := theOne(t, cloud, server)
	if vm.Name != server.Name || vm.Status != "ACTIVE" {
		t.Fatalf("VM %+v", vm)
	}
	k.Until("port and floating IP", func(context.Context) error {
		ports, ips := cloud.Ports(), cloud.FloatingIPs()
		if len(ports) != 1 || ports[0].Device != vm.ID || len(ips) != 1 || ips[0].Port != ports[0].ID {
			return fmt.Errorf("ports %+v, floating IPs %+v", ports, ips)
		}
		return nil
	})
	k.Settled(cloud)
	k.Delete(server)
	k.UntilGone(server)
	k.UntilEmpty(cloud)
}

// Whatever answer of the creation is lost, and however, one VM comes of it, with one port (I3; B187, B189).
func TestALostReplyMakesNoSecondVM(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.Fault{
		"the VM's is dropped":     {Kind: sim.FaultDropReply, Method: "POST", Path: "/servers$", Count: 1},
		"the VM's becomes a 504":  {Kind: sim.FaultStatusAfter, Method: "POST", Path: "/servers$", Count: 2, Status: 504},
		"the VM's is cut in half": {Kind: sim.FaultTruncate, Method: "POST", Path: "/servers$", Count: 1},
		"the port's is dropped":   {Kind: sim.FaultDropReply, Method: "POST", Path: "/ports$", Count: 1},
		"the port's tags' is":     {Kind: sim.FaultDropReply, Method: "PUT", Path: "/tags$", Count: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, "lost")
			cloud := k.RegisterCloud()
			inject(t, cloud, fault)
			server := k.RunningVM(cloud)
			k.Settled(cloud)
			vm := theOne(t, cloud, server)
			if ports := cloud.Ports(); len(ports) != 1 || ports[0].Device != vm.ID {
				t.Errorf("ports %+v", ports)
			}
			k.Delete(server)
			k.UntilGone(server)
			k.UntilEmpty(cloud)
		})
	}
}

// A VM that never launched is deleted and made again, three times, then parked with its fault; a person's consent arms the budget anew.
func TestAVMThatNeverLaunchesIsTriedThreeTimes(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "retry")
	cloud := k.RegisterCloud()
	befall(t, cloud, sim.Mishap{Kind: sim.MishapNoValidHost})
	server := k.VM(cloud)
	k.UntilHeld(server, v1alpha1.ReasonCreateFailed, "No valid host", v1alpha1.AnnotationRetry)
	k.Settled(cloud)
	if wrote := cloud.Wrote(); wrote["POST /compute/v2.1/servers"] != 4 || wrote["DELETE /compute/v2.1/servers/{server}"] != 3 {
		t.Errorf("first and three more: %v", wrote)
	}
	if len(cloud.Servers()) != 1 || len(cloud.Ports()) != 1 {
		t.Errorf("VMs %+v, ports %+v", cloud.Servers(), cloud.Ports())
	}

	cloud.ClearMishaps()
	k.Annotate(server, v1alpha1.AnnotationRetry, identity(server))
	server = k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	theOne(t, cloud, server)
	if server.Annotations[v1alpha1.AnnotationRetry] != "" {
		t.Error("the consent was not used up")
	}
}

// A quota that is used up is said, makes nothing, and is tried again by itself.
func TestAQuotaIsSaidAndWaitedOut(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "quota")
	cloud := k.RegisterCloud()
	cloud.SetQuotas(func(q *sim.Quotas) { q.Instances = 0 })
	server := k.VM(cloud)
	k.UntilHeld(server, v1alpha1.ReasonQuotaExceeded)
	if vms := cloud.Servers(); len(vms) != 0 {
		t.Errorf("VMs %+v", vms)
	}
	k.Delete(server)
	k.UntilGone(server)
	k.UntilEmpty(cloud)
}

// What a spec names and the cloud lacks, or has several of, is named, and nothing is made.
func TestWhatCannotBeResolvedIsNamed(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "resolve")
	cloud := k.RegisterCloud(func(s *harness.CloudSetup) {
		inventory := sim.DefaultInventory()
		inventory.Images = append(inventory.Images, sim.Image{ID: "7c7d7a51-3b3e-4c3e-9d3b-0d6a0e6c1111", Name: "debian-12"})
		s.Simulated.Inventory = &inventory
	})
	ambiguous := k.VM(cloud)
	k.UntilHeld(ambiguous, v1alpha1.ReasonResourceAmbiguous, "debian-12", "7c7d7a51")
	missing := k.VM(cloud, func(s *v1alpha1.Server) {
		s.Spec.OpenStack.Image = v1alpha1.ResourceSelector{Name: "debian-13"}
		s.Spec.OpenStack.Flavor = v1alpha1.FlavorSelector{Name: "m1.none"}
	})
	k.UntilHeld(missing, v1alpha1.ReasonResourceMissing, "m1.none")
	if wrote := cloud.Wrote(); len(wrote) != 0 {
		t.Errorf("writes %v", wrote)
	}
}
