// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/attributestags"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// portTags are the tags of a port.
func portTags(ref provider.InstanceRef, index int) []string {
	return append(tagsOf(ref), tagPort+strconv.Itoa(index))
}

// ownPorts lists the ports of ref. One of the identity that another cluster owns is a Mismatch.
func (c *Cloud) ownPorts(ctx context.Context, ref provider.InstanceRef) ([]ports.Port, error) {
	found, err := c.portsOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if !marksOfPort(&found[i]).claimable(ref) {
			return nil, mismatch("port " + found[i].ID + " bears this server's identity and belongs to another cluster")
		}
	}
	// The oldest first, and a rule for two of one second: all who choose one of several choose the same.
	slices.SortFunc(found, func(a, b ports.Port) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return found, nil
}

// inventory is what there is of ref's ports: the one of each index that is used, and those that are too many.
type inventory struct {
	chosen  []*ports.Port // by index; nil where it is missing
	surplus []*ports.Port
}

// sortOut chooses for each planned port the first of its index that is on the right network, with the right address.
func sortOut(found []ports.Port, planned []plannedPort) inventory {
	inv := inventory{chosen: make([]*ports.Port, len(planned))}
	for i := range found {
		p := &found[i]
		index, known := indexOf(p)
		if known && index < len(planned) && inv.chosen[index] == nil && planned[index].fits(p) {
			inv.chosen[index] = p
			continue
		}
		inv.surplus = append(inv.surplus, p)
	}
	return inv
}

// fits says that p can be this port: what cannot be changed is as planned.
func (w plannedPort) fits(p *ports.Port) bool {
	if p.NetworkID != w.network {
		return false
	}
	return w.spec.FixedIP == "" || slices.ContainsFunc(p.FixedIPs, func(ip ports.IP) bool {
		return normalAddress(ip.IPAddress) == normalAddress(w.spec.FixedIP)
	})
}

// difference is what must be written to p, nil where it is as planned.
func (w plannedPort) difference(p *ports.Port) *ports.UpdateOpts {
	opts := ports.UpdateOpts{RevisionNumber: &p.RevisionNumber}
	differs := false
	if w.groups != nil && !sameSet(w.groups, p.SecurityGroups) {
		groups := slices.Clone(w.groups)
		opts.SecurityGroups, differs = &groups, true
	}
	if w.spec.AddressPairs != nil && !slices.Equal(w.pairs(p.MACAddress), pairsOf(p)) {
		pairs := neutronPairs(w.spec.AddressPairs)
		opts.AllowedAddressPairs, differs = &pairs, true
	}
	if !differs {
		return nil
	}
	return &opts
}

func (w plannedPort) pairs(own string) []provider.AddressPair {
	out := make([]provider.AddressPair, 0, len(w.spec.AddressPairs))
	for _, pair := range w.spec.AddressPairs {
		out = append(out, normalPair(pair, own))
	}
	return sortedPairs(out)
}

func neutronPairs(pairs []provider.AddressPair) []ports.AddressPair {
	out := make([]ports.AddressPair, 0, len(pairs))
	for _, pair := range pairs {
		out = append(out, ports.AddressPair{IPAddress: pair.IP, MACAddress: pair.MAC})
	}
	return out
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// makePort makes one port of ref. It bears its identity, index and lease from the first moment; its tags are written right after.
func (c *Cloud) makePort(ctx context.Context, ref provider.InstanceRef, index int, w plannedPort, stamp string) (*ports.Port, error) {
	network, err := c.network(ctx)
	if err != nil {
		return nil, err
	}
	opts := ports.CreateOpts{
		NetworkID: w.network, Name: portName(ref.Name, index, stamp), Description: descriptionOf(ref.Identity),
		AllowedAddressPairs: neutronPairs(w.spec.AddressPairs),
	}
	if w.spec.FixedIP != "" {
		opts.FixedIPs = []ports.IP{{IPAddress: w.spec.FixedIP}}
	}
	if w.groups != nil {
		opts.SecurityGroups = &w.groups // also where it is empty: no group, rather than the default one
	}
	made, err := ports.Create(ctx, network, opts).Extract()
	if err = c.written(fmt.Sprintf("making port %d", index), err); err != nil {
		return nil, err
	}
	return made, c.tagPort(ctx, ref, made, index)
}

// tagPort writes the tags that p lacks.
func (c *Cloud) tagPort(ctx context.Context, ref provider.InstanceRef, p *ports.Port, index int) error {
	return c.tagNetworkResource(ctx, "ports", p.ID, p.Tags, portTags(ref, index))
}

// tagNetworkResource writes wanted beside the tags that are there, where one is missing.
func (c *Cloud) tagNetworkResource(ctx context.Context, kind, id string, have, wanted []string) error {
	tags := slices.Clone(have)
	for _, tag := range wanted {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) == len(have) {
		return nil
	}
	return c.writeTags(ctx, kind, id, tags)
}

func (c *Cloud) writeTags(ctx context.Context, kind, id string, tags []string) error {
	network, err := c.network(ctx)
	if err != nil {
		return err
	}
	_, err = attributestags.ReplaceAll(ctx, network, kind, id, attributestags.ReplaceAllOpts{Tags: tags}).Extract()
	return c.written("tagging "+kind+" "+id, err)
}

// updatePort writes opts to p. The revision that was read is relied on: a change by somebody else in between is looked at again.
func (c *Cloud) updatePort(ctx context.Context, id string, opts ports.UpdateOpts) (*ports.Port, error) {
	network, err := c.network(ctx)
	if err != nil {
		return nil, err
	}
	p, err := ports.Update(ctx, network, id, opts).Extract()
	if err = c.written("changing port "+id, err); err != nil {
		return nil, err
	}
	return p, nil
}

// removePort deletes a port of ours. nil once a GET by its id said 404.
func (c *Cloud) removePort(ctx context.Context, id string) error {
	network, err := c.network(ctx)
	if err != nil {
		return err
	}
	err = c.session.checked("deleting port "+id, ports.Delete(ctx, network, id).ExtractErr())
	if err != nil && !gone(err) {
		return err
	}
	return stillThere("port "+id, func() error { _, err := c.port(ctx, id); return err })
}

// stillThere is nil once look says NotFound, and Busy while what was deleted is still found.
func stillThere(what string, look func() error) error {
	err := look()
	switch {
	case err == nil:
		return busy(what+" is being deleted", goingAgain)
	case provider.ClassOf(err) == provider.NotFound:
		return nil
	default:
		return err
	}
}

// byIndex chooses for each index the port that is plugged in, else the first: those of a VM that is there already.
func byIndex(found []ports.Port, count int) []*ports.Port {
	out := make([]*ports.Port, count)
	for i := range found {
		p := &found[i]
		index, known := indexOf(p)
		if known && index < count && (out[index] == nil || (out[index].DeviceID == "" && p.DeviceID != "")) {
			out[index] = p
		}
	}
	return out
}

// UpdatePorts implements provider.Ports. One listing tells what the ports say; a port that says what is wanted is not written.
func (a actor) UpdatePorts(ctx context.Context, ref provider.InstanceRef, specs []provider.PortSpec) (provider.Outcome, error) {
	if err := a.check(ctx, ref); err != nil {
		return provider.Outcome{}, err
	}
	wanted := make([]plannedPort, 0, len(specs))
	for i, spec := range specs {
		groups, err := a.resolveGroups(ctx, spec.SecurityGroups)
		if err != nil {
			return provider.Outcome{}, ofPort(i, err)
		}
		wanted = append(wanted, plannedPort{groups: groups, spec: spec})
	}
	found, err := a.ownPorts(ctx, ref)
	if err != nil {
		return provider.Outcome{}, err
	}
	out := provider.Outcome{Unchanged: true, Made: &provider.Made{SecurityGroups: groupsOf(wanted)}}
	for i, p := range byIndex(found, len(wanted)) {
		if p == nil {
			return provider.Outcome{}, mismatch(fmt.Sprintf("port %d of this server is not there", i))
		}
		changed, err := a.adjust(ctx, ref, i, wanted[i], p)
		if err != nil {
			return provider.Outcome{}, ofPort(i, err)
		}
		out.Unchanged = out.Unchanged && !changed
	}
	return out, nil
}

// adjust writes what differs of one port, and the tags that it lacks.
func (a actor) adjust(ctx context.Context, ref provider.InstanceRef, index int, wanted plannedPort, p *ports.Port) (changed bool, err error) {
	if opts := wanted.difference(p); opts != nil {
		if _, err := a.updatePort(ctx, p.ID, *opts); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, a.tagPort(ctx, ref, p, index)
}

// unplug frees a port whose VM is gone: Nova forgets to where Neutron was down when the VM was deleted.
func (c *Cloud) unplug(ctx context.Context, p *ports.Port) (*ports.Port, error) {
	none := ""
	return c.updatePort(ctx, p.ID, ports.UpdateOpts{DeviceID: &none, DeviceOwner: &none, RevisionNumber: &p.RevisionNumber})
}
