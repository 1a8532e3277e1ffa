// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// pollInterval of what is waited for in the cloud.
const pollInterval = 200 * time.Millisecond

// Quotas of a project, in Nova's words and Neutron's.
const (
	QuotaServers     = "instances"
	QuotaPorts       = "port"
	QuotaFloatingIPs = "floatingip"
)

// SetQuota gives the project another quota, as an administrator; -1 is no limit.
func (p *Project) SetQuota(ctx context.Context, quota string, limit int) error {
	if quota == QuotaServers {
		return p.Admin.Do(ctx, TypeCompute, http.MethodPut, "/os-quota-sets/"+p.ID, named{"quota_set": named{quota: limit, "force": true}}, nil)
	}
	return p.Admin.Do(ctx, TypeNetwork, http.MethodPut, "/quotas/"+p.ID, named{"quota": named{quota: limit}}, nil)
}

// SetState has Nova believe that a server is in a state, "error" or "active", as an administrator can.
func (p *Project) SetState(ctx context.Context, server, state string) error {
	return p.Admin.Do(ctx, TypeCompute, http.MethodPost, "/servers/"+server+"/action", named{"os-resetState": named{"state": state}}, nil)
}

// DeleteServer deletes a server, as somebody of the project, and waits until Nova does not know it any more.
func (p *Project) DeleteServer(ctx context.Context, server string) error {
	path := "/servers/" + server
	if err := p.nova(ctx, http.MethodDelete, path, nil, nil); err != nil && !IsNotFound(err) {
		return err
	}
	return until(ctx, func() (bool, error) {
		err := p.nova(ctx, http.MethodGet, path, nil, nil)
		if IsNotFound(err) {
			return true, nil
		}
		return false, errors.Join(fmt.Errorf("server %s is still there", server), err)
	})
}

// CopyServer makes another server with the name, the tags and the metadata of one, as a careless script does; it returns its id.
func (p *Project) CopyServer(ctx context.Context, server string) (string, error) {
	var original struct {
		Server Server `json:"server"`
	}
	if err := p.nova(ctx, http.MethodGet, "/servers/"+server, nil, &original); err != nil {
		return "", err
	}
	flavor, err := p.flavorID(ctx, Flavor)
	if err != nil {
		return "", err
	}
	from := original.Server
	wanted := named{
		"name": from.Name, "imageRef": from.Image.ID, "flavorRef": flavor, "networks": "none", "tags": from.Tags, "metadata": from.Metadata,
	}
	var made struct {
		Server object `json:"server"`
	}
	err = p.nova(ctx, http.MethodPost, "/servers", named{"server": wanted}, &made)
	return made.Server.ID, err
}

func (p *Project) flavorID(ctx context.Context, name string) (string, error) {
	var list struct {
		Flavors []object `json:"flavors"`
	}
	if err := p.nova(ctx, http.MethodGet, "/flavors", nil, &list); err != nil {
		return "", err
	}
	for _, flavor := range list.Flavors {
		if flavor.Name == name {
			return flavor.ID, nil
		}
	}
	return "", fmt.Errorf("no flavor is named %s", name)
}

// ChangePassword gives the project's user another password: Keystone refuses the old one, and the tokens that were given for it. It
// refuses whole seconds of tokens: those of the new password too, at first, which is waited for.
func (p *Project) ChangePassword(ctx context.Context, password string) error {
	if err := p.identity(ctx, http.MethodPatch, "/users/"+p.user, named{"user": named{"password": password}}, nil); err != nil {
		return err
	}
	p.Credentials.Password = password
	return until(ctx, func() (bool, error) {
		p.User = NewClient(p.Credentials)
		_, err := p.List(ctx)
		return !IsUnauthorized(err), err
	})
}

// until polls until done says so, or for as long as a request may take; it returns the last error.
func until(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		over, err := done()
		if over {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

// ChangePort changes fields of a port, as somebody of the project: security_groups, allowed_address_pairs, name.
func (p *Project) ChangePort(ctx context.Context, port string, fields map[string]any) error {
	return p.neutron(ctx, http.MethodPut, "/ports/"+port, named{"port": fields}, nil)
}

// MakePort makes a port of nobody's in the project's network.
func (p *Project) MakePort(ctx context.Context, name string) (Port, error) {
	network, err := p.find(ctx, "/networks", "networks", Network)
	if err != nil {
		return Port{}, err
	}
	var made struct {
		Port Port `json:"port"`
	}
	err = p.neutron(ctx, http.MethodPost, "/ports", named{"port": named{"name": name, "network_id": network}}, &made)
	return made.Port, err
}

// PlugPort plugs a port into a server, as somebody of the project.
func (p *Project) PlugPort(ctx context.Context, server, port string) error {
	return p.nova(ctx, http.MethodPost, "/servers/"+server+"/os-interface", named{"interfaceAttachment": named{"port_id": port}}, nil)
}

// UserData is what Nova hands to a server as its user data, decoded from base64: an administrator may read it.
func (p *Project) UserData(ctx context.Context, server string) ([]byte, error) {
	var answer struct {
		Server struct {
			UserData []byte `json:"OS-EXT-SRV-ATTR:user_data"`
		} `json:"server"`
	}
	err := p.Admin.Do(ctx, TypeCompute, http.MethodGet, "/servers/"+server, nil, &answer)
	return answer.Server.UserData, err
}

// MakeFloatingIP allocates a floating IP that is nobody's: a person's, free.
func (p *Project) MakeFloatingIP(ctx context.Context, description string) (FloatingIP, error) {
	external, err := p.find(ctx, "/networks", "networks", External)
	if err != nil {
		return FloatingIP{}, err
	}
	var made struct {
		FloatingIP FloatingIP `json:"floatingip"`
	}
	wanted := named{"floating_network_id": external, "description": description}
	err = p.neutron(ctx, http.MethodPost, "/floatingips", named{"floatingip": wanted}, &made)
	return made.FloatingIP, err
}

// MoveFloatingIP has a floating IP lead to a port, or to none where that is "".
func (p *Project) MoveFloatingIP(ctx context.Context, floatingIP, port string) error {
	fields := named{"port_id": nil}
	if port != "" {
		fields["port_id"] = port
	}
	return p.neutron(ctx, http.MethodPut, "/floatingips/"+floatingIP, named{"floatingip": fields}, nil)
}

// SecurityGroupID is the id of a security group of the project.
func (p *Project) SecurityGroupID(ctx context.Context, name string) (string, error) {
	return p.find(ctx, "/security-groups", "security_groups", name)
}

func (p *Project) find(ctx context.Context, path, list, name string) (string, error) {
	found := map[string][]object{}
	// Not asked for by project: the external network is another's.
	if err := p.neutron(ctx, http.MethodGet, path+"?fields=id&fields=name&name="+name, nil, &found); err != nil {
		return "", err
	}
	if len(found[list]) != 1 {
		return "", fmt.Errorf("%d of %s are named %s", len(found[list]), list, name)
	}
	return found[list][0].ID, nil
}

// ImageID is the id of a public image.
func (s *Stack) ImageID(ctx context.Context, name string) (string, error) {
	var found struct {
		Images []object `json:"images"`
	}
	if err := s.Admin.Do(ctx, TypeImage, http.MethodGet, "/images?name="+name, nil, &found); err != nil {
		return "", err
	}
	if len(found.Images) != 1 {
		return "", fmt.Errorf("%d images are named %s", len(found.Images), name)
	}
	return found.Images[0].ID, nil
}
