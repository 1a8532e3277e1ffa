// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// candidate is a resource that a selector may mean.
type candidate struct {
	id, name string
	tags     []string
	unfit    string // why it cannot be used, "" where it can
}

// resolve finds the one resource of that kind that sel means. find lists candidates; it may list too many.
func (c *Cloud) resolve(ctx context.Context, kind string, sel provider.Selector, find func(context.Context, provider.Selector) ([]candidate, error)) (string, error) {
	key := kind + "\x00" + sel.ID + "\x00" + sel.Name + "\x00" + strings.Join(sel.Tags, "\x00")
	if id, ok := c.known.get(key); ok {
		return id, nil
	}
	if sel.ID == "" && sel.Name == "" && len(sel.Tags) == 0 {
		return "", resourceMissing("no " + kind + " is named")
	}
	found, err := find(ctx, sel)
	if err != nil {
		return "", err
	}
	id, err := choose(kind, sel, found)
	if err != nil {
		return "", err
	}
	c.known.put(key, id)
	return id, nil
}

// choose takes the one candidate that fits sel exactly. Several are never a guess: they are named.
func choose(kind string, sel provider.Selector, found []candidate) (string, error) {
	var fit []string
	unfit := ""
	for _, f := range found {
		switch {
		case !f.fits(sel):
		case f.unfit != "":
			unfit = f.unfit
		default:
			fit = append(fit, f.id)
		}
	}
	slices.Sort(fit)
	fit = slices.Compact(fit)
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return "", fail(provider.Terminal, provider.ReasonResourceAmbiguous,
			fmt.Sprintf("%d of kind %s have %s: %s", len(fit), kind, describe(sel), firstOf(fit, 4)), nil)
	case unfit != "":
		return "", resourceMissing(fmt.Sprintf("the %s with %s %s", kind, describe(sel), unfit))
	default:
		return "", resourceMissing(fmt.Sprintf("no %s has %s", kind, describe(sel)))
	}
}

func (c candidate) fits(sel provider.Selector) bool {
	switch {
	case sel.ID != "":
		return c.id == sel.ID
	case sel.Name != "":
		return c.name == sel.Name
	default:
		for _, tag := range sel.Tags {
			if !slices.Contains(c.tags, tag) {
				return false
			}
		}
		return len(sel.Tags) > 0
	}
}

func describe(sel provider.Selector) string {
	switch {
	case sel.ID != "":
		return fmt.Sprintf("id %q", sel.ID)
	case sel.Name != "":
		return fmt.Sprintf("name %q", sel.Name)
	default:
		return fmt.Sprintf("tags %q", strings.Join(sel.Tags, ", "))
	}
}

// firstOf names the first n of a list, and how many more there are.
func firstOf(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

func resourceMissing(message string) *provider.Error {
	return fail(provider.Terminal, provider.ReasonResourceMissing, message, nil)
}

func (c *Cloud) resolveImage(ctx context.Context, sel provider.Selector) (string, error) {
	return c.resolve(ctx, "image", sel, func(ctx context.Context, sel provider.Selector) ([]candidate, error) {
		client, err := c.image(ctx)
		if err != nil {
			return nil, err
		}
		if sel.ID != "" {
			found, err := images.Get(ctx, client, sel.ID).Extract()
			if err = c.session.checked("reading the image", err); err != nil {
				return nil, noneFor404(err)
			}
			return []candidate{imageCandidate(found)}, nil
		}
		rows, err := listing[images.Image]{
			what: "listing images",
			page: func(marker string) pagination.Pager {
				return images.List(client, images.ListOpts{Name: sel.Name, Tags: sel.Tags, Marker: marker})
			},
			extract: images.ExtractImages,
			id:      func(i *images.Image) string { return i.ID },
		}.all(ctx, c.session)
		return candidates(rows, imageCandidate), err
	})
}

func imageCandidate(i *images.Image) candidate {
	out := candidate{id: i.ID, name: i.Name, tags: i.Tags}
	if i.Status != images.ImageStatusActive {
		out.unfit = "is not ready: its status is " + string(i.Status)
	}
	return out
}

func (c *Cloud) resolveFlavor(ctx context.Context, sel provider.Selector) (string, error) {
	return c.resolve(ctx, "flavor", sel, func(ctx context.Context, sel provider.Selector) ([]candidate, error) {
		client, err := c.compute(ctx)
		if err != nil {
			return nil, err
		}
		if sel.ID != "" {
			found, err := flavors.Get(ctx, client, sel.ID).Extract()
			if err = c.session.checked("reading the flavor", err); err != nil {
				return nil, noneFor404(err)
			}
			return []candidate{{id: found.ID, name: found.Name}}, nil
		}
		rows, err := listing[flavors.Flavor]{
			what: "listing flavors",
			page: func(marker string) pagination.Pager {
				return flavors.ListDetail(client, flavors.ListOpts{Marker: marker})
			},
			extract: flavors.ExtractFlavors,
			id:      func(f *flavors.Flavor) string { return f.ID },
		}.all(ctx, c.session)
		return candidates(rows, func(f *flavors.Flavor) candidate { return candidate{id: f.ID, name: f.Name} }), err
	})
}

func (c *Cloud) resolveNetwork(ctx context.Context, sel provider.Selector) (string, error) {
	return c.resolve(ctx, "network", sel, func(ctx context.Context, sel provider.Selector) ([]candidate, error) {
		client, err := c.network(ctx)
		if err != nil {
			return nil, err
		}
		rows, err := listing[networks.Network]{
			what: "listing networks",
			page: func(marker string) pagination.Pager {
				return networks.List(client, networks.ListOpts{ID: sel.ID, Name: sel.Name, Tags: strings.Join(sel.Tags, ","), Marker: marker})
			},
			extract: networks.ExtractNetworks,
			id:      func(n *networks.Network) string { return n.ID },
		}.all(ctx, c.session)
		return candidates(rows, func(n *networks.Network) candidate { return candidate{id: n.ID, name: n.Name, tags: n.Tags} }), err
	})
}

func (c *Cloud) resolveSecurityGroup(ctx context.Context, sel provider.Selector) (string, error) {
	return c.resolve(ctx, "security group", sel, func(ctx context.Context, sel provider.Selector) ([]candidate, error) {
		client, err := c.network(ctx)
		if err != nil {
			return nil, err
		}
		rows, err := listing[groups.SecGroup]{
			what: "listing security groups",
			page: func(marker string) pagination.Pager {
				return groups.List(client, groups.ListOpts{ID: sel.ID, Name: sel.Name, Tags: strings.Join(sel.Tags, ","), Marker: marker})
			},
			extract: groups.ExtractGroups,
			id:      func(g *groups.SecGroup) string { return g.ID },
		}.all(ctx, c.session)
		return candidates(rows, func(g *groups.SecGroup) candidate { return candidate{id: g.ID, name: g.Name, tags: g.Tags} }), err
	})
}

func candidates[T any](rows []T, of func(*T) candidate) []candidate {
	out := make([]candidate, 0, len(rows))
	for i := range rows {
		out = append(out, of(&rows[i]))
	}
	return out
}

// noneFor404 makes "there is none" of a 404 to a question for a resource by its id, and of a 400 to an id that cannot be one (B204).
func noneFor404(err error) error {
	switch statusOf(err) {
	case http.StatusNotFound, http.StatusBadRequest:
		return nil
	}
	return err
}
