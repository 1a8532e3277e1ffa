// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	gopherstack "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// microversion of the compute API.
type microversion struct{ major, minor int }

func (m microversion) String() string { return fmt.Sprintf("%d.%d", m.major, m.minor) }

func (m microversion) below(o microversion) bool {
	return m.major < o.major || (m.major == o.major && m.minor < o.minor)
}

// needed is the version that every request to compute asks for, and no later one: what it answers is known. It is the first that takes
// tags at creation. Below 2.26 a listing by tag silently lists everything, so an older cloud is refused before the first listing.
var needed = microversion{2, 52}

// service makes the client of one service, at its first use: a cloud without a service that is not needed is fine (B205).
func (s *session) service(ctx context.Context, slot **gophercloud.ServiceClient, name string,
	open func(*gophercloud.ProviderClient, gophercloud.EndpointOpts) (*gophercloud.ServiceClient, error),
) (*gophercloud.ServiceClient, error) {
	client, err := s.loggedIn(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	known := *slot
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	opened, err := open(client, s.entry.services) // may ask the service for its versions: never under the lock (B176)
	if err != nil {
		return nil, fail(provider.Terminal, provider.ReasonNotOpenStack,
			"the cloud's catalog has no "+name+" service in this region and for this interface", err)
	}
	s.gate.name(opened.Endpoint, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	*slot = opened
	return opened, nil
}

// network is the client of Neutron.
func (c *Cloud) network(ctx context.Context) (*gophercloud.ServiceClient, error) {
	return c.session.service(ctx, &c.session.network, "network", gopherstack.NewNetworkV2)
}

// image is the client of Glance.
func (c *Cloud) image(ctx context.Context) (*gophercloud.ServiceClient, error) {
	return c.session.service(ctx, &c.session.image, "image", gopherstack.NewImageV2)
}

// compute is the client of Nova, known to speak the version we need.
func (c *Cloud) compute(ctx context.Context) (*gophercloud.ServiceClient, error) {
	s := c.session
	client, err := s.service(ctx, &s.compute, "compute", openCompute)
	if err != nil {
		return nil, err
	}
	if highest := s.highestKnown(); highest.below(needed) {
		if _, err := c.askMicroversion(ctx, client); err != nil {
			return nil, err
		}
	}
	return client, nil
}

func openCompute(client *gophercloud.ProviderClient, opts gophercloud.EndpointOpts) (*gophercloud.ServiceClient, error) {
	compute, err := gopherstack.NewComputeV2(client, opts)
	if err != nil {
		return nil, err
	}
	compute.Microversion = needed.String()
	return compute, nil
}

func (s *session) highestKnown() microversion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.highest
}

// askMicroversion reads the version document of compute. An old cloud is asked again each time, so that an upgrade shows.
func (c *Cloud) askMicroversion(ctx context.Context, client *gophercloud.ServiceClient) (microversion, error) {
	base, err := utils.BaseVersionedEndpoint(client.Endpoint) // without the project's id that some catalogs append
	if err != nil {
		return microversion{}, endpointInvalid("the catalog's address of the compute service is malformed")
	}
	var doc struct {
		Version *struct{ Version string }
	}
	resp, err := client.ProviderClient.Request(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/",
		&gophercloud.RequestOpts{JSONResponse: &doc, OkCodes: []int{http.StatusOK}})
	if err = c.session.checked("compute: reading the version", err); err != nil {
		return microversion{}, err
	}
	_ = resp.Body.Close()
	if doc.Version == nil {
		return microversion{}, fail(provider.Terminal, provider.ReasonNotOpenStack, "the catalog's compute service tells no version", nil)
	}
	var highest microversion
	if doc.Version.Version != "" { // "" is a service without microversions: 2.1 and older
		major, minor, err := utils.ParseMicroversion(doc.Version.Version)
		if err != nil {
			return microversion{}, fail(provider.Transient, provider.ReasonProtocolError, "the compute service's version cannot be understood", err)
		}
		highest = microversion{major, minor}
	}
	if highest.below(needed) {
		return highest, fail(provider.Terminal, provider.ReasonCloudTooOld,
			fmt.Sprintf("the compute API offers %s, and %s is needed: an older one ignores tags, by which VMs are told apart", highest, needed), nil)
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.highest = highest
	return highest, nil
}
