// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/availabilityzones"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servergroups"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// checkZone makes sure that the zone exists and is available now (B209). "zone:host" names a zone too.
func (c *Cloud) checkZone(ctx context.Context, zone string) error {
	if zone == "" {
		return nil
	}
	zone, _, _ = strings.Cut(zone, ":")
	_, err := c.resolve(ctx, "availability zone", provider.Selector{Name: zone}, func(ctx context.Context, _ provider.Selector) ([]candidate, error) {
		client, err := c.compute(ctx)
		if err != nil {
			return nil, err
		}
		page, err := availabilityzones.List(client).AllPages(ctx)
		if err = c.session.checked("listing availability zones", err); err != nil {
			return nil, err
		}
		zones, err := availabilityzones.ExtractAvailabilityZones(page)
		if err = c.session.checked("listing availability zones", err); err != nil {
			return nil, err
		}
		return candidates(zones, func(z *availabilityzones.AvailabilityZone) candidate {
			out := candidate{id: z.ZoneName, name: z.ZoneName}
			if !z.ZoneState.Available {
				out.unfit = "is not available now"
			}
			return out
		}), nil
	})
	return err
}

// checkKey makes sure that the user has a key pair of that name.
func (c *Cloud) checkKey(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	_, err := c.resolve(ctx, "key pair", provider.Selector{Name: name}, func(ctx context.Context, sel provider.Selector) ([]candidate, error) {
		client, err := c.compute(ctx)
		if err != nil {
			return nil, err
		}
		found, err := keypairs.Get(ctx, client, sel.Name, nil).Extract()
		if err = c.session.checked("reading the key pair", err); err != nil {
			return nil, noneFor404(err)
		}
		return []candidate{{id: found.Name, name: found.Name}}, nil
	})
	return err
}

// groupsAtOnce is how many server groups one listing may name; Nova's own limit of a page.
const groupsAtOnce = 1000

// resolveServerGroup finds the server group of that id, else of that name. "" is none.
func (c *Cloud) resolveServerGroup(ctx context.Context, group string) (string, error) {
	if group == "" {
		return "", nil
	}
	return c.resolve(ctx, "server group", provider.Selector{Name: group}, func(ctx context.Context, sel provider.Selector) ([]candidate, error) {
		client, err := c.compute(ctx)
		if err != nil {
			return nil, err
		}
		page, err := servergroups.List(client, servergroups.ListOpts{Limit: groupsAtOnce}).AllPages(ctx)
		if err = c.session.checked("listing server groups", err); err != nil {
			return nil, err
		}
		found, err := servergroups.ExtractServerGroups(page)
		if err = c.session.checked("listing server groups", err); err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].ID == sel.Name {
				return []candidate{{id: found[i].ID, name: sel.Name}}, nil
			}
		}
		return candidates(found, func(g *servergroups.ServerGroup) candidate { return candidate{id: g.ID, name: g.Name} }), nil
	})
}

// plan is an InstanceSpec with everything in it found at the cloud.
type plan struct {
	flavor, image, group string
	ports                []plannedPort
}

// plannedPort is one port with what it refers to by id. Groups are nil where they are left alone.
type plannedPort struct {
	network string
	groups  []string
	spec    provider.PortSpec
}

// planFor resolves all that spec names, before anything is made.
func (c *Cloud) planFor(ctx context.Context, spec provider.InstanceSpec) (plan, error) {
	if len(spec.Ports) == 0 {
		return plan{}, fail(provider.Terminal, provider.ReasonRefused, "a VM must have one port at least", nil)
	}
	if err := c.checkZone(ctx, spec.AvailabilityZone); err != nil {
		return plan{}, err
	}
	if err := c.checkKey(ctx, spec.KeyName); err != nil {
		return plan{}, err
	}
	var p plan
	var err error
	if p.group, err = c.resolveServerGroup(ctx, spec.ServerGroup); err != nil {
		return plan{}, err
	}
	if p.flavor, err = c.resolveFlavor(ctx, spec.Flavor); err != nil {
		return plan{}, err
	}
	if p.image, err = c.resolveImage(ctx, spec.Image); err != nil {
		return plan{}, err
	}
	p.ports, err = c.planPorts(ctx, spec.Ports)
	return p, err
}

func (c *Cloud) planPorts(ctx context.Context, specs []provider.PortSpec) ([]plannedPort, error) {
	out := make([]plannedPort, 0, len(specs))
	for i, spec := range specs {
		network, err := c.resolveNetwork(ctx, spec.Network)
		if err != nil {
			return nil, ofPort(i, err)
		}
		groups, err := c.resolveGroups(ctx, spec.SecurityGroups)
		if err != nil {
			return nil, ofPort(i, err)
		}
		out = append(out, plannedPort{network: network, groups: groups, spec: spec})
	}
	return out, nil
}

// resolveGroups keeps the order and the difference between nil and none.
func (c *Cloud) resolveGroups(ctx context.Context, sels []provider.Selector) ([]string, error) {
	if sels == nil {
		return nil, nil
	}
	out := make([]string, 0, len(sels))
	for _, sel := range sels {
		id, err := c.resolveSecurityGroup(ctx, sel)
		if err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

func groupsOf(planned []plannedPort) [][]string {
	out := make([][]string, 0, len(planned))
	for _, p := range planned {
		out = append(out, p.groups)
	}
	return out
}

// ofPort says which port an error is about, where there are words for people in it.
func ofPort(index int, err error) error {
	e := asError(err)
	if e.Class != provider.Terminal {
		return e
	}
	return &provider.Error{Class: e.Class, Reason: e.Reason, Message: cut(fmt.Sprintf("port %d: %s", index, e.Message)), After: e.After, Err: e.Err}
}
