// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"regexp"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// listServers lists VMs with all their details.
func (c *Cloud) listServers(ctx context.Context, opts servers.ListOpts) ([]servers.Server, error) {
	compute, err := c.compute(ctx)
	if err != nil {
		return nil, err
	}
	return listing[servers.Server]{
		what: "listing VMs",
		page: func(marker string) pagination.Pager {
			opts.Marker = marker
			return servers.List(compute, opts)
		},
		extract: servers.ExtractServers,
		id:      func(s *servers.Server) string { return s.ID },
	}.all(ctx, c.session)
}

// serversOf are the VMs that bear ref's identity, whoever owns them. The cloud's filter is not relied on.
func (c *Cloud) serversOf(ctx context.Context, ref provider.InstanceRef) ([]servers.Server, error) {
	rows, err := c.listServers(ctx, servers.ListOpts{Tags: provider.TagIdentity + ref.Identity})
	if err != nil {
		return nil, err
	}
	return keep(rows, func(s *servers.Server) bool { return marksOfServer(s).identity == ref.Identity }), nil
}

// serversNamed are the VMs of ref's owner that bear ref's name, whatever their identity.
func (c *Cloud) serversNamed(ctx context.Context, ref provider.InstanceRef) ([]servers.Server, error) {
	rows, err := c.listServers(ctx, servers.ListOpts{Tags: provider.TagOwner + ref.Owner, Name: "^" + regexp.QuoteMeta(ref.Name) + "$"})
	if err != nil {
		return nil, err
	}
	return keep(rows, func(s *servers.Server) bool { return s.Name == ref.Name && marksOfServer(s).owner == ref.Owner }), nil
}

// server asks for one VM by id. NotFound only where Nova itself says 404.
func (c *Cloud) server(ctx context.Context, id string) (*servers.Server, error) {
	compute, err := c.compute(ctx)
	if err != nil {
		return nil, err
	}
	s, err := servers.Get(ctx, compute, id).Extract()
	if err := c.session.byID("VM "+id, provider.ReasonInstanceNotFound, err); err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Cloud) listPorts(ctx context.Context, opts ports.ListOpts) ([]ports.Port, error) {
	network, err := c.network(ctx)
	if err != nil {
		return nil, err
	}
	return listing[ports.Port]{
		what: "listing ports",
		page: func(marker string) pagination.Pager {
			opts.Marker = marker
			return ports.List(network, opts)
		},
		extract: ports.ExtractPorts,
		id:      func(p *ports.Port) string { return p.ID },
	}.all(ctx, c.session)
}

// portsOf are the ports that bear ref's identity, whoever owns them.
func (c *Cloud) portsOf(ctx context.Context, ref provider.InstanceRef) ([]ports.Port, error) {
	rows, err := c.listPorts(ctx, ports.ListOpts{Description: descriptionOf(ref.Identity)})
	if err != nil {
		return nil, err
	}
	return keep(rows, func(p *ports.Port) bool { return marksOfPort(p).identity == ref.Identity }), nil
}

// port asks for one port by id. NotFound only where Neutron itself says 404.
func (c *Cloud) port(ctx context.Context, id string) (*ports.Port, error) {
	network, err := c.network(ctx)
	if err != nil {
		return nil, err
	}
	p, err := ports.Get(ctx, network, id).Extract()
	if err := c.session.byID("port "+id, provider.ReasonResourceMissing, err); err != nil {
		return nil, err
	}
	return p, nil
}

func (c *Cloud) listFloatingIPs(ctx context.Context, opts floatingips.ListOpts) ([]floatingips.FloatingIP, error) {
	network, err := c.network(ctx)
	if err != nil {
		return nil, err
	}
	return listing[floatingips.FloatingIP]{
		what: "listing floating IPs",
		page: func(marker string) pagination.Pager {
			opts.Marker = marker
			return floatingips.List(network, opts)
		},
		extract: floatingips.ExtractFloatingIPs,
		id:      func(f *floatingips.FloatingIP) string { return f.ID },
	}.all(ctx, c.session)
}

// floatingIPsOf are the floating IPs that bear ref's identity, whoever owns them.
func (c *Cloud) floatingIPsOf(ctx context.Context, ref provider.InstanceRef) ([]floatingips.FloatingIP, error) {
	rows, err := c.listFloatingIPs(ctx, floatingips.ListOpts{Description: descriptionOf(ref.Identity)})
	if err != nil {
		return nil, err
	}
	return keep(rows, func(f *floatingips.FloatingIP) bool { return marksOfFloatingIP(f).identity == ref.Identity }), nil
}

// floatingIP asks for one floating IP by id. NotFound only where Neutron itself says 404.
func (c *Cloud) floatingIP(ctx context.Context, id string) (*floatingips.FloatingIP, error) {
	network, err := c.network(ctx)
	if err != nil {
		return nil, err
	}
	f, err := floatingips.Get(ctx, network, id).Extract()
	if err := c.session.byID("floating IP "+id, provider.ReasonResourceMissing, err); err != nil {
		return nil, err
	}
	return f, nil
}

// byID classes the answer to a question for one thing by its id. A 404 that no service signed is no proof that the thing is gone (P10).
func (s *session) byID(what, reason string, err error) error {
	err = s.checked(what, err)
	switch {
	case err == nil:
		return nil
	case gone(err):
		return fail(provider.NotFound, reason, "the cloud says that it has no "+what, err)
	case provider.ClassOf(err) == provider.NotFound:
		return fail(provider.Transient, provider.ReasonProtocolError, what+": a 404 that the service itself did not write", err)
	default:
		return err
	}
}

func keep[T any](rows []T, wanted func(*T) bool) []T {
	out := rows[:0]
	for i := range rows {
		if wanted(&rows[i]) {
			out = append(out, rows[i])
		}
	}
	return out
}
