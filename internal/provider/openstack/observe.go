// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/limits"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// Cloud implements provider.CloudObserver. It reads the compute API's version anew, so that an upgrade shows, and the quota: two requests.
func (o observer) Cloud(ctx context.Context) (provider.CloudFacts, error) {
	compute, err := o.c.compute(ctx)
	if err != nil {
		return provider.CloudFacts{}, err
	}
	highest, err := o.c.askMicroversion(ctx, compute)
	if err != nil {
		return provider.CloudFacts{}, err
	}
	found, err := limits.Get(ctx, compute, nil).Extract()
	if err = o.c.session.checked("reading the quota", err); err != nil {
		return provider.CloudFacts{}, err
	}
	a := found.Absolute
	facts := provider.CloudFacts{
		ComputeMicroversion: highest.String(),
		Instances:           provider.QuotaUse{Used: a.TotalInstancesUsed, Limit: a.MaxTotalInstances},
		Cores:               provider.QuotaUse{Used: a.TotalCoresUsed, Limit: a.MaxTotalCores},
		MemoryMiB:           provider.QuotaUse{Used: a.TotalRAMUsed, Limit: a.MaxTotalRAMSize},
	}
	facts.ProjectID, facts.Project = o.c.session.project()
	return facts, nil
}

// Project implements provider.CloudObserver.
func (o observer) Project(ctx context.Context) (string, error) { return o.c.projectID(ctx) }

// ListInstances implements provider.CloudObserver. Nova's listing of changes is asked for without a filter, since rows that say DELETED
// have no tags and a filter would leave them out: they are passed through, known by their id alone.
func (o observer) ListInstances(ctx context.Context, owner string, since time.Time) ([]provider.InstanceFacts, error) {
	opts := servers.ListOpts{Tags: provider.TagOwner + owner}
	if !since.IsZero() {
		opts = servers.ListOpts{ChangesSince: since.UTC().Format(time.RFC3339)}
	}
	rows, err := o.c.listServers(ctx, opts)
	if err != nil {
		return nil, err
	}
	out := make([]provider.InstanceFacts, 0, len(rows))
	for i := range rows {
		if facts := instanceFacts(&rows[i]); facts.Owner == owner || facts.Deleted {
			out = append(out, facts)
		}
	}
	return out, nil
}

// ListPorts implements provider.CloudObserver.
func (o observer) ListPorts(ctx context.Context, owner string) ([]provider.PortFacts, error) {
	rows, err := o.c.listPorts(ctx, ports.ListOpts{Tags: provider.TagOwner + owner})
	if err != nil {
		return nil, err
	}
	out := make([]provider.PortFacts, 0, len(rows))
	for i := range rows {
		if facts := portFacts(&rows[i]); facts.Owner == owner && facts.Identity != "" {
			out = append(out, facts)
		}
	}
	return out, nil
}

// ListFloatingIPs implements provider.CloudObserver.
func (o observer) ListFloatingIPs(ctx context.Context, owner string) ([]provider.FloatingIPFacts, error) {
	rows, err := o.c.listFloatingIPs(ctx, floatingips.ListOpts{Tags: provider.TagOwner + owner})
	if err != nil {
		return nil, err
	}
	out := make([]provider.FloatingIPFacts, 0, len(rows))
	for i := range rows {
		if facts := floatingIPFacts(&rows[i]); facts.Owner == owner && facts.Identity != "" {
			out = append(out, facts)
		}
	}
	return out, nil
}

// Instance implements provider.CloudObserver.
func (o observer) Instance(ctx context.Context, id string) (provider.InstanceFacts, error) {
	s, err := o.c.server(ctx, id)
	if err != nil {
		return provider.InstanceFacts{}, err
	}
	return instanceFacts(s), nil
}

// Port implements provider.CloudObserver.
func (o observer) Port(ctx context.Context, id string) (provider.PortFacts, error) {
	p, err := o.c.port(ctx, id)
	if err != nil {
		return provider.PortFacts{}, err
	}
	return portFacts(p), nil
}

// FloatingIP implements provider.CloudObserver.
func (o observer) FloatingIP(ctx context.Context, id string) (provider.FloatingIPFacts, error) {
	f, err := o.c.floatingIP(ctx, id)
	if err != nil {
		return provider.FloatingIPFacts{}, err
	}
	return floatingIPFacts(f), nil
}
