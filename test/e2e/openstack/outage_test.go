// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"errors"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/test/e2e/openstack/lab"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// The tests of this file strike whole services, and so run one after the other, before those that run beside each other.

// B082, B176: Nova is stopped, or accepts requests and never answers. What runs is left alone; what is asked for meanwhile waits, and is
// done once it is back, with nobody's help.
func TestTheAPIIsDownAndComesBack(t *testing.T) {
	for name, trouble := range map[string]struct {
		begin, end func(context.Context, ...string) error
	}{
		"stopped": {stack.Stop, stack.Start},
		"hanging": {stack.Pause, stack.Resume},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, "outage")
			kept, going := k.running(), k.running(withFloatingIP)
			k.must(trouble.begin(t.Context(), lab.Nova))
			t.Cleanup(func() { _ = trouble.end(context.Background(), lab.Nova) }) // once more, where the test ended early
			k.UntilCondition(kept, v1alpha1.ConditionProviderReachable, metav1.ConditionFalse, "")
			k.Delete(going)
			late := k.standalone()
			k.UntilCondition(late, v1alpha1.ConditionProviderReachable, metav1.ConditionFalse, "")
			k.must(trouble.end(t.Context(), lab.Nova))
			k.untilRunning(late)
			k.untilRunning(kept)
			k.UntilGone(going)
			k.expectServers("after the outage", one(kept, active), one(late, active))
			k.expectNothing(kept, late)
		})
	}
}

// B177, B071: every token dies at once, with servers at rest, being made and being deleted: new ones are asked for, and nobody notices.
func TestAllTokensDie(t *testing.T) {
	k := newKit(t, "tokens")
	kept, going := k.running(), k.running()
	calls := len(k.proxy.Calls().Of(http.MethodPost, "/auth/tokens"))
	k.must(stack.ExpireTokens(t.Context()))
	k.Until("a token is refused", func(context.Context) error {
		for _, call := range k.proxy.Calls() {
			if call.Code == http.StatusUnauthorized {
				return nil
			}
		}
		return errors.New("none yet")
	})
	k.Delete(going)
	late := k.running()
	k.UntilGone(going)
	k.untilRunning(kept)
	k.watched()
	k.expectServers("with new tokens", one(kept, active), one(late, active))
	// One login for each client, where many requests were refused at once.
	if logins := len(k.proxy.Calls().Of(http.MethodPost, "/auth/tokens")) - calls; logins < 1 || logins > 4 {
		t.Errorf("%d logins", logins)
	}
	k.expectNothing(kept, late)
}

// B189: Nova itself makes the VM and answers 504.
func TestNovaLosesItsReply(t *testing.T) {
	k := newKit(t, "reply")
	k.must(stack.Strike(t.Context(), lab.Nova, lab.ServiceFault{
		Method: http.MethodPost, Match: "/servers$", Status: http.StatusGatewayTimeout, After: true, Count: 1,
	}))
	t.Cleanup(func() { _ = stack.Clear(context.Background()) })
	server := k.running()
	k.expectServers("running", one(server, active))
	k.expectAsked("create")
	k.expectNothing(server)
}

// B009, B187, I3: two managers act at once, on what is made, deleted, retried and rebuilt, and one of them ends in the middle: there is one of each.
func TestTwoManagers(t *testing.T) {
	k := newKit(t, "two")
	second := k.Manage(paceOfACloud)
	class := k.class(v1alpha1.ReclaimDelete)
	first := k.standalone(withFloatingIP, withRebuilds)
	claims := []*v1alpha1.ServerClaim{k.claim(class), k.claim(class)}
	failing := k.standalone(func(s *v1alpha1.OpenStackServer) { s.Flavor.Name = lab.FlavorNowhere })
	expected := []lab.ExpectedServer{}
	k.untilRunning(first)
	wanted := one(first, active)
	wanted.FloatingIPs = 1
	expected = append(expected, wanted)
	for _, claim := range claims {
		k.UntilReady(claim)
		expected = append(expected, one(harness.Read(k.Kit, k.Server(claim.Spec.ServerName)), active))
	}
	k.UntilHeld(failing, v1alpha1.ReasonCreateFailed)
	expected = append(expected, unlaunched(failing))
	k.expectServers("made by two", expected...)
	chronicle, err := k.project.Chronicle(t.Context())
	k.must(err)
	if creates := chronicle.Count("create"); creates != len(claims)+1+1+attempts {
		t.Errorf("%d creations: %s", creates, chronicle)
	}

	k.rebuild(first, lab.ImageB)
	k.Delete(claims[0])
	k.must(second.Stop())
	k.untilRunning(first)
	k.UntilGone(claims[0])
	expected[0] = k.on(expected[0], lab.ImageB)
	k.expectServers("after one ended", append(expected[:1:1], expected[2:]...)...)
	if chronicle, err = k.project.Chronicle(t.Context()); err != nil || chronicle.Count("rebuild") != 1 {
		t.Errorf("%v, %s", err, chronicle)
	}
	k.expectNothing(claims[1], first, failing, class)
}
