// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/tags"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// adopt marks the VM that a person said to be this server's, and its ports. Another cluster's VM is not ours to mark; nor is one of ours
// under another name: Servers' names are unique, so that one is, or was, another Server's, and may serve its claim (I1).
func (a actor) adopt(ctx context.Context, ref provider.InstanceRef, spec provider.InstanceSpec) (provider.Outcome, error) {
	s, err := a.server(ctx, spec.Adopt)
	if provider.ClassOf(err) == provider.NotFound {
		return provider.Outcome{}, resourceMissing("the VM to adopt is not there")
	}
	if err != nil {
		return provider.Outcome{}, err
	}
	before := marksOfServer(s)
	if before.owner != "" && before.owner != ref.Owner {
		return provider.Outcome{}, mismatch("the VM to adopt belongs to another cluster")
	}
	if before.identity != "" && before.identity != ref.Identity && s.Name != ref.Name {
		return provider.Outcome{}, fail(provider.Terminal, provider.ReasonRefused, fmt.Sprintf(
			"VM %s to adopt is named %s and bears the identity %q: another server may have it. Rename it %s at the cloud if it is this one's", s.ID, s.Name, before.identity, ref.Name), nil)
	}
	others, err := a.serversOf(ctx, ref)
	if err != nil {
		return provider.Outcome{}, err
	}
	if others = keep(others, func(o *servers.Server) bool { return o.ID != s.ID }); len(others) > 0 {
		return provider.Outcome{}, duplicate(append(others, *s))
	}
	// The ports first: once the VM bears the identity nobody asks for the adoption any more, and ports that were left out would be left
	// behind with the VM (I3).
	marked, err := a.adoptPorts(ctx, ref, spec, s.ID)
	if err != nil {
		return provider.Outcome{}, err
	}
	changed, err := a.stamp(ctx, s, ref, &spec.Claim)
	if err != nil {
		return provider.Outcome{}, err
	}
	out := adopted(s)
	out.Unchanged = !changed && !marked
	return out, nil
}

// stamp writes identity, owner and claim into a VM's metadata and tags, as far as they differ; a nil claim is left as it is. Metadata goes
// first, and a new tag before an old one is taken off: at no moment is the VM nobody's.
func (a actor) stamp(ctx context.Context, s *servers.Server, ref provider.InstanceRef, claim *string) (changed bool, err error) {
	inMetadata, err := a.stampMetadata(ctx, s, ref, claim)
	if err != nil {
		return false, err
	}
	inTags, err := a.stampTags(ctx, s, ref)
	return inMetadata || inTags, err
}

func (a actor) stampMetadata(ctx context.Context, s *servers.Server, ref provider.InstanceRef, claim *string) (changed bool, err error) {
	compute, err := a.compute(ctx)
	if err != nil {
		return false, err
	}
	wanted := metadataOf(ref, "")
	if claim != nil && *claim != "" {
		wanted[provider.MetadataClaim] = *claim
	}
	differing := servers.MetadataOpts{}
	for key, value := range wanted {
		if s.Metadata[key] != value {
			differing[key] = value
		}
	}
	if len(differing) > 0 {
		_, err := servers.UpdateMetadata(ctx, compute, s.ID, differing).Extract()
		if err = a.written("marking VM "+s.ID, err); err != nil {
			return false, err
		}
	}
	if _, has := s.Metadata[provider.MetadataClaim]; has && claim != nil && *claim == "" {
		err := servers.DeleteMetadatum(ctx, compute, s.ID, provider.MetadataClaim).ExtractErr()
		if err = a.session.checked("marking VM "+s.ID, err); err != nil && !gone(err) {
			return false, err
		}
		return true, nil
	}
	return len(differing) > 0, nil
}

func (a actor) stampTags(ctx context.Context, s *servers.Server, ref provider.InstanceRef) (changed bool, err error) {
	compute, err := a.compute(ctx)
	if err != nil {
		return false, err
	}
	var have []string
	if s.Tags != nil {
		have = *s.Tags
	}
	wanted := tagsOf(ref)
	for _, tag := range wanted {
		if slices.Contains(have, tag) {
			continue
		}
		err := tags.Add(ctx, compute, s.ID, tag).ExtractErr()
		if err = a.written("tagging VM "+s.ID, err); err != nil {
			return false, err
		}
		changed = true
	}
	for _, tag := range have {
		if slices.Contains(wanted, tag) || (!strings.HasPrefix(tag, provider.TagIdentity) && !strings.HasPrefix(tag, provider.TagOwner)) {
			continue
		}
		err := tags.Delete(ctx, compute, s.ID, tag).ExtractErr()
		if err = a.session.checked("tagging VM "+s.ID, err); err != nil && !gone(err) {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// adoptPorts marks the ports of an adopted VM: for each port of spec one that is plugged in and on its network, first of all the one that
// was this port under an earlier identity of ours. What is marked as another cluster's is left alone, and so are ports beyond spec's.
func (a actor) adoptPorts(ctx context.Context, ref provider.InstanceRef, spec provider.InstanceSpec, device string) (changed bool, err error) {
	found, err := a.listPorts(ctx, ports.ListOpts{DeviceID: device})
	if err != nil {
		return false, err
	}
	found = keep(found, func(p *ports.Port) bool {
		owner := marksOfPort(p).owner
		return p.DeviceID == device && (owner == "" || owner == ref.Owner)
	})
	for i, want := range spec.Ports {
		network, err := a.resolveNetwork(ctx, want.Network)
		if err != nil {
			return changed, ofPort(i, err)
		}
		at := slices.IndexFunc(found, func(p ports.Port) bool { index, known := indexOf(&p); return known && index == i })
		if at < 0 {
			at = slices.IndexFunc(found, func(p ports.Port) bool { _, known := indexOf(&p); return !known && p.NetworkID == network })
		}
		if at < 0 {
			continue // UpdatePorts tells that it is missing
		}
		marked, err := a.markPort(ctx, ref, i, &found[at])
		if err != nil {
			return changed, err
		}
		changed = changed || marked
		found = slices.Delete(found, at, at+1)
	}
	return changed, nil
}

// markPort makes p the port of that index of ref.
func (a actor) markPort(ctx context.Context, ref provider.InstanceRef, index int, p *ports.Port) (changed bool, err error) {
	if m := marksOfPort(p); m.owned(ref) {
		return false, nil
	}
	description := descriptionOf(ref.Identity)
	if _, err := a.updatePort(ctx, p.ID, ports.UpdateOpts{Description: &description, RevisionNumber: &p.RevisionNumber}); err != nil {
		return false, err
	}
	return true, a.writeTags(ctx, "ports", p.ID, append(strangeTags(p.Tags), portTags(ref, index)...))
}

// strangeTags are those that are not ours.
func strangeTags(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(tag string) bool {
		return strings.HasPrefix(tag, provider.TagIdentity) || strings.HasPrefix(tag, provider.TagOwner) || strings.HasPrefix(tag, tagPort)
	})
}
