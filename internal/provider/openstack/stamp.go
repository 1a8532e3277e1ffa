// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// StampInstance implements provider.Instances. A take-over gives ref's ports and floating IPs the new owner too, since they are found by it.
func (a actor) StampInstance(ctx context.Context, ref provider.InstanceRef, claim, oldOwner string, expect provider.InstanceExpect) (provider.Outcome, error) {
	if err := a.check(ctx, ref); err != nil {
		return provider.Outcome{}, err
	}
	if expect.Claim == nil {
		return provider.Outcome{}, mismatch("a stamp must name the claim that it replaces")
	}
	if ref.ID == "" {
		return provider.Outcome{}, mismatch("no VM of this server is known")
	}
	s, err := a.server(ctx, ref.ID)
	if err != nil {
		return provider.Outcome{}, err
	}
	if m := marksOfServer(s); m.identity != ref.Identity || (m.owner != ref.Owner && (oldOwner == "" || m.owner != oldOwner)) {
		return provider.Outcome{}, mismatch("VM " + s.ID + " does not bear this server's identity, or is another cluster's")
	}
	if err := meets(s, expect); err != nil {
		return provider.Outcome{}, err
	}
	changed, err := a.stamp(ctx, s, ref, &claim)
	if err != nil {
		return provider.Outcome{}, err
	}
	if oldOwner != "" && oldOwner != ref.Owner {
		moved, err := a.takeOverNetwork(ctx, ref, oldOwner)
		if err != nil {
			return provider.Outcome{}, err
		}
		changed = changed || moved
	}
	return provider.Outcome{Unchanged: !changed}, nil
}

// takeOverNetwork gives the new owner what Neutron keeps of ref under the old one.
func (a actor) takeOverNetwork(ctx context.Context, ref provider.InstanceRef, oldOwner string) (changed bool, err error) {
	old := ref
	old.Owner = oldOwner
	found, err := a.portsOf(ctx, ref)
	if err != nil {
		return false, err
	}
	for i := range found {
		if p := &found[i]; marksOfPort(p).owned(old) {
			index, _ := indexOf(p)
			if err := a.writeTags(ctx, "ports", p.ID, append(strangeTags(p.Tags), portTags(ref, index)...)); err != nil {
				return changed, err
			}
			changed = true
		}
	}
	addresses, err := a.floatingIPsOf(ctx, ref)
	if err != nil {
		return changed, err
	}
	for i := range addresses {
		if f := &addresses[i]; marksOfFloatingIP(f).owned(old) {
			if err := a.writeTags(ctx, "floatingips", f.ID, append(strangeTags(f.Tags), tagsOf(ref)...)); err != nil {
				return changed, err
			}
			changed = true
		}
	}
	return changed, nil
}
