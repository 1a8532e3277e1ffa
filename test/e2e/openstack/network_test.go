// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/test/e2e/openstack/lab"
	"github.com/holdfast-dev/holdfast/test/harness"
)

// B007, B040: somebody changes the security groups of our port: one update brings them back, of that field alone. What nobody asked for
// is left as it is, and so are the ports of others: a free one, and one that somebody plugged into our VM.
func TestPortDrift(t *testing.T) {
	t.Parallel()
	k := newKit(t, "drift")
	ctx := t.Context()
	free, err := k.project.MakePort(ctx, "reserved")
	k.must(err)
	plugged, err := k.project.MakePort(ctx, "a second leg")
	k.must(err)
	server := k.running()
	k.must(k.project.PlugPort(ctx, vm(server), plugged.ID))
	theirs := []string{free.ID, plugged.ID}
	expected := lab.Expected{Servers: []lab.ExpectedServer{one(server, active)}, Others: theirs}
	ours := k.ourPort(k.expect("running", expected), server)
	web, err := k.project.SecurityGroupID(ctx, lab.SecurityGroup)
	k.must(err)
	k.must(k.project.ChangePort(ctx, ours.ID, map[string]any{"security_groups": []string{}, "name": "called otherwise"}))
	k.Until("the group is back", func(ctx context.Context) error {
		listing, err := k.project.List(ctx)
		if err != nil {
			return err
		}
		if now := k.ourPort(listing, server); !slices.Equal(now.SecurityGroups, []string{web}) {
			return fmt.Errorf("groups %v", now.SecurityGroups)
		}
		return nil
	})
	k.untilRunning(server)
	now := k.ourPort(k.expect("after the drift", expected), server)
	if now.Name != "called otherwise" {
		t.Errorf("the port's name was changed to %q", now.Name)
	}
	if updates := k.proxy.Calls().Of(http.MethodPut, "network /v2.0/ports/{id}"); len(withoutTags(updates)) != 1 {
		t.Errorf("updates of ports:\n%s", updates)
	}
	k.expectRest()

	pair := []v1alpha1.AddressPair{{IPAddress: "10.77.0.250"}}
	harness.Change(k.Kit, server, func(s *v1alpha1.Server) { s.Spec.OpenStack.Networks[0].AllowedAddressPairs = &pair })
	k.Until("the address pair is there", func(ctx context.Context) error {
		listing, err := k.project.List(ctx)
		if err != nil {
			return err
		}
		if now := k.ourPort(listing, server); len(now.AllowedAddressPairs) != 1 || now.AllowedAddressPairs[0].Address != "10.77.0.250" {
			return fmt.Errorf("pairs %v", now.AllowedAddressPairs)
		}
		return nil
	})
	k.untilRunning(server)
	k.Delete(server)
	k.UntilGone(server)
	k.expect("after all was deleted", lab.Expected{Others: theirs})
	k.expectAsked("create", "attach_interface", "delete")
}

// ourPort is the one port of a Server.
func (k *kit) ourPort(listing lab.Listing, server *v1alpha1.Server) lab.Port {
	k.T.Helper()
	ports := listing.PortsOf(identity(server))
	if len(ports) != 1 {
		k.T.Fatalf("%d ports of %s:\n%s", len(ports), server.Name, listing)
	}
	return ports[0]
}

func withoutTags(calls lab.Calls) lab.Calls {
	return slices.DeleteFunc(calls, func(c lab.Call) bool { return len(c.Path) > 5 && c.Path[len(c.Path)-5:] == "/tags" })
}

// B042, B198, B200: a floating IP is allocated for the VM and released with it; a free one of a person's is neither taken nor released.
// One that somebody leads elsewhere is led back.
func TestFloatingIP(t *testing.T) {
	t.Parallel()
	k := newKit(t, "floating")
	ctx := t.Context()
	theirs, err := k.project.MakeFloatingIP(ctx, "for the office")
	k.must(err)
	server := k.running()
	expected := lab.Expected{Servers: []lab.ExpectedServer{one(server, active)}, Others: []string{theirs.ID}}
	k.expect("without a floating IP", expected)

	harness.Change(k.Kit, server, func(s *v1alpha1.Server) { withFloatingIP(s.Spec.OpenStack) })
	k.untilRunning(server)
	expected.Servers[0].FloatingIPs = 1
	listing := k.expect("with a floating IP", expected)
	if server.Status.Observed.FloatingIP == nil {
		t.Fatal("it is not in the picture")
	}
	ours := server.Status.Observed.FloatingIP.ID

	k.must(k.project.MoveFloatingIP(ctx, ours, ""))
	port := k.ourPort(listing, server)
	k.Until("it leads to the port again", func(ctx context.Context) error {
		listing, err := k.project.List(ctx)
		if err != nil {
			return err
		}
		return listing.LeadsTo(ours, port.ID)
	})
	k.untilRunning(server)
	k.expect("led back", expected)

	harness.Change(k.Kit, server, func(s *v1alpha1.Server) { s.Spec.OpenStack.FloatingIP = nil })
	k.Until("it is released", func(ctx context.Context) error {
		listing, err := k.project.List(ctx)
		if err == nil && len(listing.FloatingIPs) != 1 {
			err = fmt.Errorf("%d floating IPs", len(listing.FloatingIPs))
		}
		return err
	})
	k.untilRunning(server)
	expected.Servers[0].FloatingIPs = 0
	k.expect("without one again", expected)
	k.Delete(server)
	k.UntilGone(server)
	k.expect("after all was deleted", lab.Expected{Others: []string{theirs.ID}})
	k.expectAsked("create", "delete")
}

// B198: the association is refused over and over: the one floating IP that was allocated is used in the end.
func TestFloatingIPRefused(t *testing.T) {
	t.Parallel()
	k := newKit(t, "refused")
	k.must(k.project.SetQuota(t.Context(), lab.QuotaFloatingIPs, 0))
	server := k.standalone(withFloatingIP)
	k.untilAsked(http.MethodPost, "/floatingips", 2)
	k.expectAsked("create")
	k.must(k.project.SetQuota(t.Context(), lab.QuotaFloatingIPs, -1))
	k.untilRunning(server)
	wanted := one(server, active)
	wanted.FloatingIPs = 1
	k.expectServers("with room", wanted)
	k.expectNothing(server)
}
