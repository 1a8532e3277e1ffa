// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	gopherstack "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servergroups"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	novatags "github.com/gophercloud/gophercloud/v2/openstack/compute/v2/tags"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/holdfast-dev/holdfast/internal/provider/conformance/cloud"
)

// person is somebody else with access to the project: looks and acts past the provider, with none of its code.
type person struct {
	testing.TB
	compute, network, image *gophercloud.ServiceClient
	offer                   cloud.Offer

	vms, ports, fips []string // made by hand
}

// patience is the time allowed for what a person waits for.
const patience = 5 * time.Minute

func newPerson(t testing.TB, cloudsYAML []byte, name string, offer cloud.Offer) *person {
	t.Helper()
	auth, services, _, err := clouds.Parse(clouds.WithCloudsYAML(bytes.NewReader(cloudsYAML)), clouds.WithCloudName(name))
	if err != nil {
		t.Fatal(err)
	}
	auth.AllowReauth = true
	p := &person{TB: t, offer: offer}
	client, err := gopherstack.NewClient(auth.IdentityEndpoint)
	p.must(err)
	transport := &http.Transport{}
	client.HTTPClient = http.Client{Transport: transport}
	t.Cleanup(transport.CloseIdleConnections)
	p.must(gopherstack.Authenticate(t.Context(), client, auth))
	p.compute, err = gopherstack.NewComputeV2(client, services)
	p.must(err)
	p.compute.Microversion = "2.52"
	p.network, err = gopherstack.NewNetworkV2(client, services)
	p.must(err)
	p.image, err = gopherstack.NewImageV2(client, services)
	p.must(err)
	p.offer.GroupID = p.groupID(offer.Group)
	return p
}

func (p *person) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatalf("a person at the cloud: %v", err)
	}
}

func ctx() context.Context { return context.Background() } // also while a test is being cleaned up

func every[T any](p *person, pager pagination.Pager, extract func(pagination.Page) ([]T, error)) []T {
	p.Helper()
	page, err := pager.AllPages(ctx())
	p.must(err)
	rows, err := extract(page)
	p.must(err)
	return rows
}

func (p *person) groupID(name string) string {
	rows := every(p, groups.List(p.network, groups.ListOpts{Name: name}), groups.ExtractGroups)
	if len(rows) != 1 {
		p.Fatalf("%d security groups of name %q", len(rows), name)
	}
	return rows[0].ID
}

func (p *person) networkID(name string) string {
	rows := every(p, networks.List(p.network, networks.ListOpts{Name: name}), networks.ExtractNetworks)
	if len(rows) != 1 {
		p.Fatalf("%d networks of name %q", len(rows), name)
	}
	return rows[0].ID
}

func (p *person) all() []servers.Server {
	return every(p, servers.List(p.compute, servers.ListOpts{}), servers.ExtractServers)
}

func (p *person) VMs(name string) []cloud.VM {
	var out []cloud.VM
	for _, s := range p.all() {
		if s.Name == name {
			vm := cloud.VM{ID: s.ID, Name: s.Name, State: s.Status, Metadata: s.Metadata, Launched: !s.LaunchedAt.IsZero(), Tags: *s.Tags}
			vm.Image, _ = s.Image["id"].(string)
			out = append(out, vm)
		}
	}
	return out
}

func (p *person) Ports(identity string) []cloud.Port {
	var out []cloud.Port
	for _, row := range every(p, ports.List(p.network, nil), ports.ExtractPorts) {
		if row.Description == "holdfast:"+identity {
			out = append(out, cloud.Port{ID: row.ID, Name: row.Name, Description: row.Description, Device: row.DeviceID,
				Groups: row.SecurityGroups, Tags: row.Tags, Revision: row.RevisionNumber})
		}
	}
	return out
}

func (p *person) FloatingIPs(identity string) []cloud.FloatingIP {
	var out []cloud.FloatingIP
	for _, row := range every(p, floatingips.List(p.network, nil), floatingips.ExtractFloatingIPs) {
		if row.Description == "holdfast:"+identity {
			out = append(out, cloud.FloatingIP{ID: row.ID, Description: row.Description, Port: row.PortID, Tags: row.Tags})
		}
	}
	return out
}

func (p *person) MakeVM(name string, tags []string, metadata map[string]string) string {
	p.Helper()
	flavor := every(p, flavors.ListDetail(p.compute, nil), flavors.ExtractFlavors)
	image := every(p, images.List(p.image, images.ListOpts{Name: p.offer.Image}), images.ExtractImages)
	i := slices.IndexFunc(flavor, func(f flavors.Flavor) bool { return f.Name == p.offer.Flavor })
	made, err := servers.Create(ctx(), p.compute, servers.CreateOpts{
		Name: name, ImageRef: image[0].ID, FlavorRef: flavor[i].ID, Tags: tags, Metadata: metadata,
		Networks: []servers.Network{{UUID: p.networkID(p.offer.Network)}},
	}, nil).Extract()
	p.must(err)
	p.vms = append(p.vms, made.ID)
	return made.ID
}

func (p *person) MakePort(description string) string {
	p.Helper()
	made, err := ports.Create(ctx(), p.network, ports.CreateOpts{
		NetworkID: p.networkID(p.offer.Network), Name: "of-somebody-else", Description: description,
	}).Extract()
	p.must(err)
	p.ports = append(p.ports, made.ID)
	return made.ID
}

// serverGroup makes a server group and names it.
func (p *person) serverGroup(t *testing.T) string {
	t.Helper()
	group, err := servergroups.Create(ctx(), p.compute, servergroups.CreateOpts{Name: "spread", Policies: []string{"anti-affinity"}}).Extract()
	p.must(err)
	return group.Name
}

func (p *person) StripVM(id string) { p.must(novatags.DeleteAll(ctx(), p.compute, id).ExtractErr()) }

func (p *person) RemoveVM(id string) { p.must(servers.Delete(ctx(), p.compute, id).ExtractErr()) }

func (p *person) StopVM(id string) { p.must(servers.Stop(ctx(), p.compute, id).ExtractErr()) }

func (p *person) RemovePort(id string) { p.must(ports.Delete(ctx(), p.network, id).ExtractErr()) }

func (p *person) SetGroups(port string, wanted ...string) {
	list := append([]string{}, wanted...)
	_, err := ports.Update(ctx(), p.network, port, ports.UpdateOpts{SecurityGroups: &list}).Extract()
	p.must(err)
}

func (p *person) GiveFloatingIP(port string) string {
	made, err := floatingips.Create(ctx(), p.network, floatingips.CreateOpts{
		FloatingNetworkID: p.networkID(p.offer.Public), PortID: port,
	}).Extract()
	p.must(err)
	p.fips = append(p.fips, made.ID)
	return made.ID
}

// waitFor polls for a fact, with a deadline.
func (p *person) waitFor(what string, fact func() bool) {
	p.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !fact() {
		select {
		case <-tick.C:
		case <-deadline:
			p.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// settle waits until no VM of those names is at work.
func (p *person) settle(prefix string) {
	p.Helper()
	p.waitFor("VMs at rest", func() bool {
		return !slices.ContainsFunc(p.all(), func(s servers.Server) bool {
			return strings.HasPrefix(s.Name, prefix) && (s.TaskState != "" || s.Status == "BUILD" || s.Status == "REBUILD")
		})
	})
}

// clearUp takes all away that bears owner in name or tags, and what was made by hand.
func (p *person) clearUp(owner string) {
	p.Helper()
	ours := func(name string, tags []string) bool {
		return strings.HasPrefix(name, owner) || slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, "holdfast-owner:"+owner) })
	}
	for _, f := range every(p, floatingips.List(p.network, nil), floatingips.ExtractFloatingIPs) {
		if ours("", f.Tags) || slices.Contains(p.fips, f.ID) {
			_ = floatingips.Delete(ctx(), p.network, f.ID).ExtractErr()
		}
	}
	p.waitFor("VMs gone", func() bool {
		left := 0
		for _, s := range p.all() {
			if ours(s.Name, *s.Tags) || slices.Contains(p.vms, s.ID) {
				left++
				_ = servers.Delete(ctx(), p.compute, s.ID).ExtractErr()
			}
		}
		return left == 0
	})
	for _, row := range every(p, ports.List(p.network, nil), ports.ExtractPorts) {
		if ours(row.Name, row.Tags) || slices.Contains(p.ports, row.ID) {
			_ = ports.Delete(ctx(), p.network, row.ID).ExtractErr()
		}
	}
}
