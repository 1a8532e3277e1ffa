// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/test/e2e/openstack/lab"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// attempts is how often a VM that never launches is made anew.
const attempts = 3

// B192, B194, B219, B250: a VM that never launched is deleted and made again three times, with the one port that it has, and then left
// for a person, who reads Nova's own words. A person's consent arms it again.
func TestNeverLaunched(t *testing.T) {
	t.Parallel()
	k := newKit(t, "never")
	server := k.standalone(func(s *v1alpha1.OpenStackServer) { s.Flavor.Name = lab.FlavorNowhere })
	ports := k.watchPorts(identityOf(k, server))
	k.UntilHeld(server, v1alpha1.ReasonCreateFailed, "No valid host was found")
	if most := ports(); most != 1 {
		t.Errorf("up to %d ports at a time", most)
	}
	k.expectServers("given up", unlaunched(server))
	// Nova does not remember the deletion of a VM that no host took.
	asked := slices.Repeat([]string{"create"}, 1+attempts)
	k.expectAsked(asked...)
	k.watched()
	k.expectAsked(asked...)

	k.Annotate(server, v1alpha1.AnnotationRetry, identity(server))
	k.Until("made again", func(ctx context.Context) error {
		chronicle, err := k.project.Chronicle(ctx)
		if err == nil && chronicle.Count("create") <= attempts+1 {
			err = fmt.Errorf("%s", chronicle)
		}
		return err
	})
	k.expectNothing(server)
}

// unlaunched is what a Server's VM should be that no host took: its port is made, and plugged into nothing.
func unlaunched(server *v1alpha1.Server) lab.ExpectedServer {
	wanted := one(server, errored)
	wanted.Unlaunched = true
	return wanted
}

// identityOf waits until a Server has its identity.
func identityOf(k *kit, server *v1alpha1.Server) string {
	k.T.Helper()
	k.Until("identity of "+server.Name, func(context.Context) error {
		if harness.Read(k.Kit, server); identity(server) == "" {
			return fmt.Errorf("annotations %v", server.Annotations)
		}
		return nil
	})
	return identity(server)
}

// watchPorts counts the ports of an identity over and over; the returned function tells the most that there were at a time.
func (k *kit) watchPorts(identity string) (most func() int) {
	ctx, cancel := context.WithCancel(k.T.Context())
	done := make(chan int)
	go func() {
		most := 0
		for ticker := time.NewTicker(time.Second); ctx.Err() == nil; {
			if listing, err := k.project.List(ctx); err == nil {
				most = max(most, len(listing.PortsOf(identity)))
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
		done <- most
	}()
	return func() int {
		cancel()
		return <-done
	}
}

// B202, B224, I2: a VM that ran goes to ERROR and comes back. It is left alone meanwhile, and once it is back nothing of it is left.
func TestErrorAndBack(t *testing.T) {
	t.Parallel()
	k := newKit(t, "error")
	server := k.running()
	for range 3 { // flapping spends nothing
		k.must(k.project.SetState(t.Context(), vm(server), "error"))
		k.UntilHeld(server, v1alpha1.ReasonErrored)
		k.must(k.project.SetState(t.Context(), vm(server), "active"))
		k.untilRunning(server)
	}
	if left := server.Annotations[ledger.KeyCreateAttempts]; left != "" {
		t.Errorf("attempts were counted: %s", left)
	}
	k.expectServers("back", one(server, active))
	k.expectAsked("create")
	k.expectNothing(server)
}

// I2, I5: a VM that ran is in ERROR, and everything that is displayed is wiped: it is not taken for one that never launched, not even
// where the ledger lost the launch too: Nova remembers.
func TestErrorWithoutMemory(t *testing.T) {
	t.Parallel()
	k := newKit(t, "memory")
	server := k.running()
	wanted := one(server, errored)
	k.must(k.project.SetState(t.Context(), vm(server), "error"))
	k.UntilHeld(server, v1alpha1.ReasonErrored)
	k.BreakLedger(server, map[string]any{ledger.KeyProvisionedAt: nil})
	k.WipeStatus(server)
	k.UntilHeld(server, v1alpha1.ReasonErrored)
	k.watched()
	k.expectServers("in error, without memory", wanted)
	k.expectAsked("create")
	k.must(k.project.SetState(t.Context(), vm(server), "active"))
	k.untilRunning(server)
	k.expectNothing(server)
}

// B219: the project's quota is used up. The Server says so in Nova's words, nothing is made twice, and once there is room the VM is made.
func TestQuota(t *testing.T) {
	t.Parallel()
	for name, quota := range map[string]string{"servers": lab.QuotaServers, "ports": lab.QuotaPorts} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, "quota")
			k.must(k.project.SetQuota(t.Context(), quota, 0))
			server := k.standalone()
			k.UntilCondition(server, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonQuotaExceeded)
			k.watched()
			k.expectAsked()
			k.must(k.project.SetQuota(t.Context(), quota, -1))
			k.Annotate(server, v1alpha1.AnnotationRetry, identity(server))
			k.untilRunning(server)
			k.expectServers("with room", one(server, active))
			k.expectAsked("create")
			k.expectNothing(server)
		})
	}
}

// Rebuilds: an edited image is a rebuild of the same VM, asked for once. One that fails is left for a person, and an edit recovers it.
func TestRebuild(t *testing.T) {
	t.Parallel()
	k := newKit(t, "rebuild")
	server := k.running(withRebuilds, withFloatingIP)
	wanted := one(server, active)
	wanted.FloatingIPs = 1
	k.rebuild(server, lab.ImageB)
	k.untilRunning(server)
	k.expectServers("rebuilt", k.on(wanted, lab.ImageB))
	k.expectAsked("create", "rebuild")

	k.rebuild(server, lab.ImageBroken)
	k.UntilHeld(server, v1alpha1.ReasonErrored)
	k.watched()
	k.expectAsked("create", "rebuild", "rebuild")
	wanted.Status = errored
	k.expectServers("failed", wanted)

	wanted.Status = active
	k.rebuild(server, lab.ImageA)
	k.untilRunning(server)
	k.expectServers("recovered", k.on(wanted, lab.ImageA))
	k.expectAsked("create", "rebuild", "rebuild", "rebuild")
	k.expectNothing(server)
}

// rebuild edits the image of a Server.
func (k *kit) rebuild(server *v1alpha1.Server, image string) {
	k.T.Helper()
	harness.Change(k.Kit, server, func(s *v1alpha1.Server) { s.Spec.OpenStack.Image = v1alpha1.ResourceSelector{Name: image} })
}

// on is a server on an image of that name.
func (k *kit) on(server lab.ExpectedServer, image string) lab.ExpectedServer {
	k.T.Helper()
	id, err := k.project.ImageID(k.T.Context(), image)
	k.must(err)
	server.Image = id
	return server
}

// An edited image without a policy that allows it, and an image whose name leads elsewhere now, rebuild nothing.
func TestNoRebuild(t *testing.T) {
	t.Parallel()
	k := newKit(t, "norebuild")
	server := k.running()
	k.rebuild(server, lab.ImageB)
	k.Until("the edit was noticed", func(context.Context) error {
		harness.Read(k.Kit, server)
		reasons := []string{}
		for _, condition := range server.Status.Conditions {
			reasons = append(reasons, condition.Reason)
		}
		if !slices.Contains(reasons, v1alpha1.ReasonRebuildForbidden) {
			return fmt.Errorf("reasons %v", reasons)
		}
		return nil
	})
	k.watched()
	k.expectServers("not rebuilt", k.on(one(server, active), lab.ImageA))
	k.expectAsked("create")
	k.expectNothing(server)
}
