// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/test/e2e/openstack/lab"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// B064, B190, P8, I2, I3: a VM is made once with its port, remembered when it was seen to run, left alone at rest, and gone with all
// that belongs to it once its Server is deleted.
func TestCreate(t *testing.T) {
	t.Parallel()
	k := newKit(t, "create")
	server := k.running()
	k.expectServers("running", one(server, active))
	k.expectAsked("create")
	if server.Annotations[ledger.KeyProvisionedAt] == "" || server.Annotations[ledger.KeyProviderID] != vm(server) {
		t.Errorf("ledger of VM %s: %v", vm(server), server.Annotations)
	}
	k.expectRest()
	k.expectNothing(server, k.cloud)
	k.expectAsked("create", "delete")
}

// B187, B189, B201, I3: the reply to every single creation is lost, of a port, its tags, the VM, the floating IP: what was made is found and there is one
// of each. Then the replies to every deletion are lost.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	k := newKit(t, "lost")
	var disarms []func() int
	for _, fault := range []lab.Fault{
		{Service: lab.TypeCompute, Method: http.MethodPost, Path: "/servers"},
		{Service: lab.TypeNetwork, Method: http.MethodPost, Path: "/ports"},
		{Service: lab.TypeNetwork, Method: http.MethodPut, Path: "/tags"},
		{Service: lab.TypeNetwork, Method: http.MethodPost, Path: "/floatingips"},
		{Service: lab.TypeCompute, Method: http.MethodDelete, Path: "/servers/"},
		{Service: lab.TypeNetwork, Method: http.MethodDelete, Path: "/ports/"},
		{Service: lab.TypeNetwork, Method: http.MethodDelete, Path: "/floatingips/"},
	} {
		fault.After, fault.Drop, fault.Count = true, true, 1
		disarms = append(disarms, k.proxy.Strike(fault))
	}
	server := k.running(withFloatingIP)
	wanted := one(server, active)
	wanted.FloatingIPs = 1
	k.expectServers("running", wanted)
	k.expectAsked("create")
	k.expectNothing(server)
	k.expectAsked("create", "delete")
	for i, disarm := range disarms {
		if struck := disarm(); struck != 1 {
			t.Errorf("fault %d struck %d times", i, struck)
		}
	}
}

// B184, P10: a listing that says nothing of a VM that runs is no evidence: nothing is made, and nothing is changed.
func TestAnEmptyListingIsNoEvidence(t *testing.T) {
	t.Parallel()
	k := newKit(t, "empty")
	server := k.running()
	before := vm(server)
	disarm := k.proxy.Strike(lab.Fault{
		Service: lab.TypeCompute, Method: http.MethodGet, Path: "/servers/detail", Status: http.StatusOK, Body: `{"servers": []}`,
	})
	begin := time.Now()
	k.Until("whole listings were emptied, not those of changes alone", func(context.Context) error {
		whole := 0
		for _, call := range k.proxy.Calls().Since(begin) {
			if call.Struck && !call.Query.Has("changes-since") {
				whole++
			}
		}
		if whole < 2 {
			return fmt.Errorf("%d were", whole)
		}
		return nil
	})
	disarm()
	k.untilRunning(server)
	if vm(server) != before {
		t.Errorf("VM %s, was %s", vm(server), before)
	}
	k.expectServers("after empty listings", one(server, active))
	k.expectAsked("create")
	k.expectNothing(server)
}

// B210, B212: a cloud that asks to wait is left alone for as long as it says, and the attempt is not counted as a failed one.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t, "busy")
	disarm := k.proxy.Strike(lab.Fault{
		Service: lab.TypeCompute, Method: http.MethodPost, Path: "/servers", Count: 2,
		Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "3"},
	})
	server := k.running()
	if struck := disarm(); struck != 2 {
		t.Errorf("%d creations were refused", struck)
	}
	if attempts := server.Annotations[ledger.KeyCreateAttempts]; attempts != "" {
		t.Errorf("counted as failed: %s", attempts)
	}
	posts := k.proxy.Calls().Of(http.MethodPost, "/servers")
	for i := 1; i < len(posts); i++ {
		if pause := posts[i].At.Sub(posts[i-1].At); pause.Seconds() < 3 {
			t.Errorf("asked again after %s", pause)
		}
	}
	k.expectServers("running", one(server, active))
	k.expectNothing(server)
}

// B087, I2, Lost: a VM that ran and that somebody deleted is not made anew; the Server says what happened, and its deletion takes away
// what is left.
func TestAVMDeletedByOthersIsLost(t *testing.T) {
	t.Parallel()
	k := newKit(t, "gone")
	server := k.running(withFloatingIP)
	k.must(k.project.DeleteServer(t.Context(), vm(server)))
	k.UntilHeld(server, v1alpha1.ReasonLost)
	k.watched()
	k.expectAsked("create", "delete")
	k.expectNothing(server)
	k.expectAsked("create", "delete")
}

// B186, FoundExisting: somebody's copy of the marks makes two VMs of one identity: the Server stalls and names both, and touches neither.
func TestTwoVMsOfOneIdentity(t *testing.T) {
	t.Parallel()
	k := newKit(t, "double")
	server := k.running()
	twin, err := k.project.CopyServer(t.Context(), vm(server))
	k.must(err)
	k.UntilHeld(server, v1alpha1.ReasonDuplicateVM, vm(server), twin)
	k.watched()
	k.expectAsked("create", "create")
	k.must(k.project.DeleteServer(t.Context(), twin))
	k.untilRunning(server)
	k.expectServers("once the copy is gone", one(server, active))
	k.expectNothing(server)
}

// B179, B180: the password changes, and with it the Secret: the next request uses the new one, and no VM is touched.
func TestCredentialsChange(t *testing.T) {
	t.Parallel()
	k := newKit(t, "password")
	server := k.running()
	k.must(k.project.ChangePassword(t.Context(), "another-one"))
	k.UntilCondition(k.cloud, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonCredentialsInvalid)
	harness.Change(k.Kit, k.secret(), func(s *corev1.Secret) { s.Data[v1alpha1.KeyClouds] = []byte(k.cloudsYAML()) })
	k.UntilReady(k.cloud)
	k.untilRunning(server)
	k.expectServers("with another password", one(server, active))
	k.expectAsked("create")
	k.expectNothing(server)
}

// B205, B204: a mistake in one Server is told there, and hurts no other.
func TestBadInput(t *testing.T) {
	t.Parallel()
	k := newKit(t, "bad")
	good := k.standalone()
	bad := k.standalone(func(s *v1alpha1.OpenStackServer) { s.Image.Name = "no-such-image" })
	k.UntilCondition(bad, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonResourceMissing)
	k.untilRunning(good)
	k.expectServers("one good, one bad", one(good, active))
	k.expectNothing(bad, good)
}

// untilStopped waits until Nova itself says that a VM is off.
func (k *kit) untilStopped(server *v1alpha1.Server) {
	k.T.Helper()
	k.Until("VM of "+server.Name+" off", func(ctx context.Context) error {
		listing, err := k.project.List(ctx)
		if err != nil {
			return err
		}
		return listing.HasStatus(vm(server), shutoff)
	})
}
