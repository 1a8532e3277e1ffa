// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// marks are what a resource bears of ours: whose it is, and which cluster may act. "" for none.
type marks struct{ identity, owner string }

// tagsOf are the tags of what belongs to ref.
func tagsOf(ref provider.InstanceRef) []string {
	return []string{provider.TagIdentity + ref.Identity, provider.TagOwner + ref.Owner}
}

// descriptionOf is the description of ports and floating IPs of that identity, by which they are found whether or not their tags were
// written: look-up and creation use this one function (B250).
func descriptionOf(identity string) string { return provider.TagIdentity + identity }

// tagged reads marks from tags. The owner is "" where several are named: a take-over is under way, and the metadata decides.
func tagged(tags []string) (m marks, owners []string) {
	for _, tag := range tags {
		if owner, is := strings.CutPrefix(tag, provider.TagOwner); is {
			owners = append(owners, owner)
		} else if identity, is := strings.CutPrefix(tag, provider.TagIdentity); is {
			m.identity = identity
		}
	}
	if len(owners) == 1 {
		m.owner = owners[0]
	}
	return m, owners
}

// marksOfServer: tags, and where those are gone the metadata, which was written with them. A row that says DELETED has neither.
func marksOfServer(s *servers.Server) marks {
	var tags []string
	if s.Tags != nil {
		tags = *s.Tags
	}
	m, owners := tagged(tags)
	if m.identity == "" {
		m.identity = s.Metadata[provider.MetadataIdentity]
	}
	if m.owner == "" && (len(owners) == 0 || slices.Contains(owners, s.Metadata[provider.MetadataOwner])) {
		m.owner = s.Metadata[provider.MetadataOwner]
	}
	return m
}

// marksOfNetwork: what Neutron keeps bears its identity in the description from its first moment, and its owner in tags that are written
// right after. One whose tags are missing is what a crash between the two left.
func marksOfNetwork(description string, tags []string) marks {
	m, owners := tagged(tags)
	identity, is := strings.CutPrefix(description, provider.TagIdentity)
	if !is || (m.identity != "" && m.identity != identity) {
		identity = "" // somebody wrote over the one or the other
	}
	m.identity = identity
	if len(owners) > 1 {
		m.owner = owners[len(owners)-1]
	}
	return m
}

func marksOfPort(p *ports.Port) marks { return marksOfNetwork(p.Description, p.Tags) }

func marksOfFloatingIP(f *floatingips.FloatingIP) marks { return marksOfNetwork(f.Description, f.Tags) }

// owned says of a VM that ref may act on it: exact identity and exact owner.
func (m marks) owned(ref provider.InstanceRef) bool {
	return ref.Identity != "" && ref.Owner != "" && m.identity == ref.Identity && m.owner == ref.Owner
}

// claimable says of a port or floating IP that it belongs to ref: exact identity, and no other owner.
func (m marks) claimable(ref provider.InstanceRef) bool {
	return ref.Identity != "" && m.identity == ref.Identity && (m.owner == ref.Owner || m.owner == "")
}

// check refuses what must not be asked for over this connection: a server that could not be found again, or one that is in another
// project. There, nothing of it would be found, and that would say nothing (P10).
func (c *Cloud) check(ctx context.Context, ref provider.InstanceRef) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	return c.inProject(ctx, ref)
}

func (c *Cloud) inProject(ctx context.Context, ref provider.InstanceRef) error {
	if ref.Project == "" {
		return nil
	}
	here, err := c.projectID(ctx)
	if err != nil {
		return err
	}
	if here != ref.Project {
		return mismatch("the credentials are for the project " + here + ", and the server is in the project " + ref.Project)
	}
	return nil
}

// maxTag is how long Nova lets a tag be.
const maxTag = 60

// checkRef refuses what could not be found again by its tags: Nova cuts a list of tags at commas, and an address at slashes.
func checkRef(ref provider.InstanceRef) error {
	if ref.Identity == "" || ref.Owner == "" || ref.Name == "" {
		return fail(provider.Terminal, provider.ReasonRefused, "identity, owner and name of the server must be known before anything is made", nil)
	}
	for _, tag := range tagsOf(ref) {
		if len(tag) > maxTag || strings.ContainsAny(tag, ",/") {
			return fail(provider.Terminal, provider.ReasonRefused,
				"the id of the cluster cannot be a tag at the cloud: 45 characters at most, without comma and slash", nil)
		}
	}
	return nil
}
