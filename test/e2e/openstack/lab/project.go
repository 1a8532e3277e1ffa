// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Names in every project of a test. Flavors and images are the stack's, for all projects.
const (
	Network       = "private"
	SecurityGroup = "web"
	External      = "public"

	Flavor = "osci.tiny"
	// FlavorNowhere fits on no host: its servers go to ERROR and were never launched.
	FlavorNowhere = "osci.huge"

	ImageA = "osci-image-a"
	ImageB = "osci-image-b"
	// ImageBroken fails every build and rebuild.
	ImageBroken = "osci-broken"
)

// Project is a project of one test.
type Project struct {
	*Stack
	// ID and Name of the project; the user's name is the project's.
	ID, Name string
	// Began is when the project was made, by this machine's clock, which is also the cloud's.
	Began time.Time
	// User is the client of the project's only user, who has the role member and no other.
	User *Client
	// Credentials of that user.
	Credentials Credentials

	user, subnet, router string // ids
}

// object is what all answers about one thing share.
type object struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// NewProject makes a project with a network, a router to the external network and a security group. [Project.Remove] takes all of it
// away again.
func (s *Stack) NewProject(ctx context.Context, name string) (*Project, error) {
	const password = "holdfast-e2e" //nolint:gosec // of a cloud that lives on loopback, for as long as a test
	p := &Project{Stack: s, Name: name, Began: time.Now().UTC().Truncate(time.Second)}
	p.Credentials = s.Admin.credentials
	p.Credentials.Username, p.Credentials.Password, p.Credentials.Project = name, password, name
	if err := p.makeUser(ctx, password); err != nil {
		return nil, fmt.Errorf("project %s: %w", name, err)
	}
	p.User = NewClient(p.Credentials)
	if err := p.makeNetwork(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("project %s: %w", name, err), p.Remove(ctx))
	}
	return p, nil
}

func (p *Project) makeUser(ctx context.Context, password string) error {
	const domain = "default"
	var project struct {
		Project object `json:"project"`
	}
	if err := p.identity(ctx, http.MethodPost, "/projects", named{"project": named{"name": p.Name, "domain_id": domain}}, &project); err != nil {
		return err
	}
	p.ID = project.Project.ID
	var user struct {
		User object `json:"user"`
	}
	wanted := named{"name": p.Name, "domain_id": domain, "password": password, "default_project_id": p.ID}
	if err := p.identity(ctx, http.MethodPost, "/users", named{"user": wanted}, &user); err != nil {
		return err
	}
	p.user = user.User.ID
	var roles struct {
		Roles []object `json:"roles"`
	}
	if err := p.identity(ctx, http.MethodGet, "/roles?name=member", nil, &roles); err != nil {
		return err
	}
	if len(roles.Roles) != 1 {
		return fmt.Errorf("%d roles are named member", len(roles.Roles))
	}
	grant := fmt.Sprintf("/projects/%s/users/%s/roles/%s", p.ID, user.User.ID, roles.Roles[0].ID)
	return p.identity(ctx, http.MethodPut, grant, nil, nil)
}

func (p *Project) identity(ctx context.Context, method, path string, in, out any) error {
	return p.Admin.Do(ctx, TypeIdentity, method, path, in, out)
}

func (p *Project) makeNetwork(ctx context.Context) error {
	var network struct {
		Network object `json:"network"`
	}
	if err := p.neutron(ctx, http.MethodPost, "/networks", named{"network": named{"name": Network}}, &network); err != nil {
		return err
	}
	var subnet struct {
		Subnet object `json:"subnet"`
	}
	wanted := named{"name": Network, "network_id": network.Network.ID, "ip_version": 4, "cidr": "10.77.0.0/24"}
	if err := p.neutron(ctx, http.MethodPost, "/subnets", named{"subnet": wanted}, &subnet); err != nil {
		return err
	}
	p.subnet = subnet.Subnet.ID
	var external struct {
		Networks []object `json:"networks"`
	}
	if err := p.neutron(ctx, http.MethodGet, "/networks?name="+External, nil, &external); err != nil {
		return err
	}
	if len(external.Networks) != 1 {
		return fmt.Errorf("%d networks are named %s", len(external.Networks), External)
	}
	var router struct {
		Router object `json:"router"`
	}
	gateway := named{"name": "router", "external_gateway_info": named{"network_id": external.Networks[0].ID}}
	if err := p.neutron(ctx, http.MethodPost, "/routers", named{"router": gateway}, &router); err != nil {
		return err
	}
	p.router = router.Router.ID
	if err := p.neutron(ctx, http.MethodPut, "/routers/"+p.router+"/add_router_interface", named{"subnet_id": p.subnet}, nil); err != nil {
		return err
	}
	return p.neutron(ctx, http.MethodPost, "/security-groups", named{"security_group": named{"name": SecurityGroup}}, nil)
}

func (p *Project) neutron(ctx context.Context, method, path string, in, out any) error {
	return p.User.Do(ctx, TypeNetwork, method, path, in, out)
}

func (p *Project) nova(ctx context.Context, method, path string, in, out any) error {
	return p.User.Do(ctx, TypeCompute, method, path, in, out)
}

// Remove takes the project away with everything in it, whoever made it. The listings are for judging before.
func (p *Project) Remove(ctx context.Context) error {
	listing, err := p.List(ctx)
	if err != nil {
		return fmt.Errorf("remove project %s: %w", p.Name, err)
	}
	var failures []error
	for _, ip := range listing.FloatingIPs {
		failures = append(failures, p.neutron(ctx, http.MethodDelete, "/floatingips/"+ip.ID, nil, nil))
	}
	for _, server := range listing.Servers {
		failures = append(failures, p.DeleteServer(ctx, server.ID))
	}
	for _, port := range listing.Ports {
		if err := p.neutron(ctx, http.MethodDelete, "/ports/"+port.ID, nil, nil); !IsNotFound(err) {
			failures = append(failures, err)
		}
	}
	if p.router != "" {
		failures = append(failures,
			p.neutron(ctx, http.MethodPut, "/routers/"+p.router+"/remove_router_interface", named{"subnet_id": p.subnet}, nil),
			p.neutron(ctx, http.MethodDelete, "/routers/"+p.router, nil, nil))
	}
	failures = append(failures, p.removeNetworks(ctx), p.removeUser(ctx))
	return errors.Join(failures...)
}

func (p *Project) removeNetworks(ctx context.Context) error {
	var list struct {
		Networks []object `json:"networks"`
	}
	failures := []error{p.neutron(ctx, http.MethodGet, "/networks?project_id="+p.ID, nil, &list)}
	for _, network := range list.Networks {
		failures = append(failures, p.neutron(ctx, http.MethodDelete, "/networks/"+network.ID, nil, nil))
	}
	return errors.Join(failures...)
}

func (p *Project) removeUser(ctx context.Context) error {
	return errors.Join(
		p.identity(ctx, http.MethodDelete, "/users/"+p.user, nil, nil),
		p.identity(ctx, http.MethodDelete, "/projects/"+p.ID, nil, nil))
}
