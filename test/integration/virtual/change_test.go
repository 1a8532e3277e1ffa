// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	sim "github.com/holdfast-dev/holdfast/internal/sim/openstack"
	"github.com/holdfast-dev/holdfast/test/harness"
)

func keyOf(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

func edited(k *harness.Kit, server *v1alpha1.Server, change func(*v1alpha1.OpenStackServer)) {
	k.T.Helper()
	harness.Change(k, server, func(s *v1alpha1.Server) { change(s.Spec.OpenStack) })
}

// An edited image rebuilds the VM once, where the policy says so: same id, new image. A name that by now means another image rebuilds
// nothing, and Never is Never.
func TestAnEditedImageRebuildsOnce(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "rebuild")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud)
	vm := theOne(t, cloud, server)
	edited(k, server, func(o *v1alpha1.OpenStackServer) { o.Image = v1alpha1.ResourceSelector{Name: "debian-13"} })
	k.UntilHeld(server, v1alpha1.ReasonRebuildForbidden)
	if image := theOne(t, cloud, server).Image; image != "debian-12" {
		t.Fatalf("image %s", image)
	}
	edited(k, server, func(o *v1alpha1.OpenStackServer) { o.RebuildPolicy = v1alpha1.RebuildOnImageChange })
	k.Until("rebuilt", func(context.Context) error {
		if now, _ := cloud.Server(vm.ID); now.Image != "debian-13" || now.Status != "ACTIVE" {
			return fmt.Errorf("VM %+v", now)
		}
		return nil
	})
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	k.Settled(cloud)
	if count := actions(cloud, "rebuild"); count != 1 || theOne(t, cloud, server).ID != vm.ID {
		t.Errorf("%d rebuilds", count)
	}
}

// A rebuild that fails is parked: never repeated by itself, never deleted (I2).
func TestAFailedRebuildIsParked(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "badbuild")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud, func(s *v1alpha1.Server) { s.Spec.OpenStack.RebuildPolicy = v1alpha1.RebuildOnImageChange })
	vm := theOne(t, cloud, server)
	befall(t, cloud, sim.Mishap{Kind: sim.MishapRebuild, Count: 1})
	edited(k, server, func(o *v1alpha1.OpenStackServer) { o.Image = v1alpha1.ResourceSelector{Name: "debian-13"} })
	k.UntilHeld(server, v1alpha1.ReasonErrored)
	k.WipeStatus(server)
	k.UntilHeld(server, v1alpha1.ReasonErrored)
	k.Settled(cloud)
	if count := actions(cloud, "rebuild"); count != 1 || theOne(t, cloud, server).ID != vm.ID {
		t.Errorf("%d rebuilds", count)
	}
}

// actions counts the actions of a name that the cloud was asked for.
func actions(cloud *harness.Cloud, name string) int {
	count := 0
	requests, err := cloud.Requests(sim.RequestFilter{Method: "POST", Path: "/action$"})
	if err != nil {
		return -1
	}
	for _, r := range requests {
		if len(r.Body) > len(name)+3 && r.Body[2:2+len(name)] == name {
			count++
		}
	}
	return count
}

// Power follows the spec; a restart of a VM that its tenant switched off is a start.
func TestPowerFollowsTheSpec(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "power")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud)
	vm := theOne(t, cloud, server)
	for _, wanted := range []struct {
		power  v1alpha1.Power
		status string
	}{{v1alpha1.PowerOff, "SHUTOFF"}, {v1alpha1.PowerOn, "ACTIVE"}} {
		harness.Change(k, server, func(s *v1alpha1.Server) { s.Spec.Power = wanted.power })
		k.Until("VM "+wanted.status, func(context.Context) error {
			if now, _ := cloud.Server(vm.ID); now.Status != wanted.status {
				return fmt.Errorf("VM %+v", now)
			}
			return nil
		})
	}
	if err := cloud.StopGuest(vm.ID); err != nil {
		t.Fatal(err)
	}
	k.Until("VM started again", func(context.Context) error {
		if now, _ := cloud.Server(vm.ID); now.Status != "ACTIVE" {
			return fmt.Errorf("VM %+v", now)
		}
		return nil
	})
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	if stops := actions(cloud, "os-stop"); stops != 1 {
		t.Errorf("%d stops", stops)
	}
}

// A claim's newer restartedAt restarts the VM once: whatever is wiped meanwhile, though the cloud's answers are lost or come too late, and
// where its power is kept, too.
func TestARestartHappensOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		power  v1alpha1.Power
		faults []sim.Fault
	}{
		"restart":      {power: v1alpha1.PowerOn},
		"restart-kept": {power: v1alpha1.PowerKeep},
		"restart-lost": {power: v1alpha1.PowerOn, faults: []sim.Fault{
			{Kind: sim.FaultDropReply, Path: "/action os-stop", Count: 1}, {Kind: sim.FaultDropReply, Path: "/action os-start", Count: 1},
		}},
		"restart-late": {power: v1alpha1.PowerKeep, faults: []sim.Fault{
			{Kind: sim.FaultHangReply, Path: "/action os-stop", Count: 1}, {Kind: sim.FaultHangReply, Path: "/action os-start", Count: 1},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := suite.Kit(t, name)
			cloud := k.RegisterCloud()
			claim := k.ClassClaim(k.Class(cloud), func(o *v1alpha1.ServerClaim) { o.Spec.Power = c.power })
			k.UntilReady(claim)
			k.Settled(cloud)
			for _, fault := range c.faults {
				inject(t, cloud, fault)
			}
			asked := askRestart(k, claim)
			k.WipeStatus(k.UntilRestartRecorded(claim.Spec.ServerName, asked))
			untilRestarted(k, cloud)
			k.UntilReady(claim)
			k.Settled(cloud)
			untilRestarted(k, cloud)
		})
	}
}

// askRestart asks for a restart, and tells by what time.
func askRestart(k *harness.Kit, claim *v1alpha1.ServerClaim) time.Time {
	k.T.Helper()
	at := metav1.NewTime(time.Now().Add(time.Second).Truncate(time.Second)) // later than any restart that is known
	harness.Change(k, claim, func(c *v1alpha1.ServerClaim) { c.Spec.RestartedAt = &at })
	return at.Time
}

// untilRestarted waits until the one VM was stopped and started, once, and runs.
func untilRestarted(k *harness.Kit, cloud *harness.Cloud) {
	k.T.Helper()
	k.Until("restarted", func(context.Context) error {
		if vm := cloud.Servers()[0]; vm.Status != "ACTIVE" {
			return fmt.Errorf("VM %+v", vm)
		}
		return errors.Join(times(cloud, "os-stop", 1), times(cloud, "os-start", 1))
	})
}

// times tells of an action that was not asked for so often.
func times(cloud *harness.Cloud, action string, want int) error {
	if count := actions(cloud, action); count != want {
		return fmt.Errorf("%d times %s, want %d", count, action, want)
	}
	return nil
}

// A restart is carried out though the record of the VM's creation was lost, and what the VM is was remembered from what was seen of it.
func TestARestartAfterALostRecordOfTheCreation(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "unrecorded")
	cloud := k.RegisterCloud()
	class := k.Class(cloud)
	disarm := k.StrikeAll(harness.APIFault{Path: "/servers/" + k.Name, Body: ledger.KeyRestarted})
	claim := k.ClassClaim(class)
	k.Until("VM seen", func(ctx context.Context) error {
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
			return err
		}
		server := k.Server(claim.Spec.ServerName)
		if err := k.Admin.Get(ctx, client.ObjectKeyFromObject(server), server); err != nil {
			return err
		}
		if seen := server.Status.Observed; seen == nil || seen.Instance == nil || !seen.Instance.Exists || seen.Instance.LaunchedAt == nil {
			return fmt.Errorf("%+v", seen)
		}
		return nil
	})
	if disarm() == 0 {
		t.Error("the record of the creation was not lost")
	}
	k.UntilReady(claim)
	k.Settled(cloud)
	askRestart(k, claim)
	untilRestarted(k, cloud)
}

// A port that differs is written once, one that does not never; what the spec leaves unset is left alone.
func TestPortsAreWrittenOnlyWhereTheyDiffer(t *testing.T) {
	t.Parallel()
	k := suite.Kit(t, "drift")
	cloud := k.RegisterCloud()
	server := k.RunningVM(cloud, func(s *v1alpha1.Server) {
		s.Spec.OpenStack.Networks[0].AllowedAddressPairs = &[]v1alpha1.AddressPair{{IPAddress: "10.99.0.1"}}
		s.Spec.OpenStack.Networks[0].SecurityGroups = &[]v1alpha1.ResourceSelector{{Name: "default"}}
	})
	k.Settled(cloud)
	const puts = "PUT /network/v2.0/ports/{port}"
	before := cloud.Wrote()[puts]
	port := cloud.Ports()[0]
	if err := cloud.ChangePort(port.ID); err != nil {
		t.Fatal(err)
	}
	k.Until("security groups back", func(context.Context) error {
		if now := cloud.Ports()[0]; len(now.SecurityGroups) != 1 || now.SecurityGroups[0] != port.SecurityGroups[0] {
			return fmt.Errorf("port %+v", now)
		}
		return nil
	})
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	edited(k, server, func(o *v1alpha1.OpenStackServer) {
		o.Networks[0].AllowedAddressPairs = &[]v1alpha1.AddressPair{{IPAddress: "10.99.0.2"}, {IPAddress: "10.99.1.0/24"}}
	})
	k.Until("address pairs as edited", func(context.Context) error {
		if now := cloud.Ports()[0]; len(now.AddressPairs) != 2 {
			return fmt.Errorf("port %+v", now)
		}
		return nil
	})
	k.UntilVM(server.Name, v1alpha1.PhaseRunning)
	k.Settled(cloud)
	if count := cloud.Wrote()[puts] - before; count != 2 {
		t.Errorf("%d updates of the port, want 2", count)
	}
}
