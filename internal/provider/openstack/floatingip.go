// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// AttachFloatingIP implements provider.FloatingIPs. The one request that allocates it names identity and port, so that nothing is
// allocated where the association fails (B198), and a crash leaves nothing that is not found again (B201).
func (a actor) AttachFloatingIP(ctx context.Context, ref provider.InstanceRef, network provider.Selector) (provider.Outcome, error) {
	if err := a.check(ctx, ref); err != nil {
		return provider.Outcome{}, err
	}
	networkID, err := a.resolveNetwork(ctx, network)
	if err != nil {
		return provider.Outcome{}, err
	}
	unlock, err := a.pool.creating.lock(ctx, "floating-ip/"+ref.Identity)
	if err != nil {
		return provider.Outcome{}, connectionError("waiting for an earlier change of this server's floating IP", err)
	}
	defer unlock()
	port, err := a.firstPort(ctx, ref)
	if err != nil {
		return provider.Outcome{}, err
	}
	found, err := a.ownFloatingIPs(ctx, ref)
	if err != nil {
		return provider.Outcome{}, err
	}
	chosen, extra := chooseFloatingIP(found, networkID, port)
	for i := range extra {
		if err := a.removeFloatingIP(ctx, extra[i].ID); err != nil {
			return provider.Outcome{}, err
		}
	}
	if chosen == nil {
		return a.allocate(ctx, ref, networkID, port)
	}
	return a.associate(ctx, ref, chosen, port, len(extra) == 0)
}

// firstPort is the port that a floating IP leads to.
func (c *Cloud) firstPort(ctx context.Context, ref provider.InstanceRef) (string, error) {
	found, err := c.ownPorts(ctx, ref)
	if err != nil {
		return "", err
	}
	if first := byIndex(found, 1)[0]; first != nil {
		return first.ID, nil
	}
	return "", mismatch("the first port of this server is not there")
}

// ownFloatingIPs lists the floating IPs of ref; those of another owner are not its.
func (c *Cloud) ownFloatingIPs(ctx context.Context, ref provider.InstanceRef) ([]floatingips.FloatingIP, error) {
	found, err := c.floatingIPsOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	return keep(found, func(f *floatingips.FloatingIP) bool { return marksOfFloatingIP(f).claimable(ref) }), nil
}

// chooseFloatingIP takes the one on the network that leads to the port already, else the first by id: a rule by which all come to the same.
// The others are ours too, and too many.
func chooseFloatingIP(found []floatingips.FloatingIP, network, port string) (chosen *floatingips.FloatingIP, extra []floatingips.FloatingIP) {
	slices.SortFunc(found, func(x, y floatingips.FloatingIP) int { return strings.Compare(x.ID, y.ID) })
	for i := range found {
		f := &found[i]
		if f.FloatingNetworkID == network && (chosen == nil || (f.PortID == port && chosen.PortID != port)) {
			chosen = f
		}
	}
	for i := range found {
		if chosen == nil || found[i].ID != chosen.ID {
			extra = append(extra, found[i])
		}
	}
	return chosen, extra
}

func (a actor) allocate(ctx context.Context, ref provider.InstanceRef, networkID, port string) (provider.Outcome, error) {
	network, err := a.network(ctx)
	if err != nil {
		return provider.Outcome{}, err
	}
	made, err := floatingips.Create(ctx, network, floatingips.CreateOpts{
		FloatingNetworkID: networkID, PortID: port, Description: descriptionOf(ref.Identity),
	}).Extract()
	if err = a.written("allocating a floating IP", err); err != nil {
		return provider.Outcome{}, err
	}
	if err := a.tagNetworkResource(ctx, "floatingips", made.ID, made.Tags, tagsOf(ref)); err != nil {
		return provider.Outcome{}, err
	}
	return provider.Outcome{Made: &provider.Made{FloatingIP: made.ID}}, nil
}

// associate leads a floating IP of ours to the port, where it does not yet, and writes the tags that it lacks.
func (a actor) associate(ctx context.Context, ref provider.InstanceRef, f *floatingips.FloatingIP, port string, unchanged bool) (provider.Outcome, error) {
	network, err := a.network(ctx)
	if err != nil {
		return provider.Outcome{}, err
	}
	if f.PortID != port {
		_, err := floatingips.Update(ctx, network, f.ID, floatingips.UpdateOpts{PortID: &port, RevisionNumber: &f.RevisionNumber}).Extract()
		if err = a.written("associating floating IP "+f.ID, err); err != nil {
			return provider.Outcome{}, err
		}
		unchanged = false
	}
	if err := a.tagNetworkResource(ctx, "floatingips", f.ID, f.Tags, tagsOf(ref)); err != nil {
		return provider.Outcome{}, err
	}
	return provider.Outcome{Unchanged: unchanged, Made: &provider.Made{FloatingIP: f.ID}}, nil
}

// ReleaseFloatingIP implements provider.FloatingIPs.
func (a actor) ReleaseFloatingIP(ctx context.Context, ref provider.InstanceRef) error {
	if err := a.check(ctx, ref); err != nil {
		return err
	}
	found, err := a.ownFloatingIPs(ctx, ref)
	if err != nil {
		return err
	}
	for i := range found {
		if err := a.removeFloatingIP(ctx, found[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// removeFloatingIP releases a floating IP of ours. nil once a GET by its id said 404.
func (c *Cloud) removeFloatingIP(ctx context.Context, id string) error {
	network, err := c.network(ctx)
	if err != nil {
		return err
	}
	err = c.session.checked("releasing floating IP "+id, floatingips.Delete(ctx, network, id).ExtractErr())
	if err != nil && !gone(err) {
		return err
	}
	return stillThere("floating IP "+id, func() error { _, err := c.floatingIP(ctx, id); return err })
}
