// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Server is a server as it is, whatever the API says of it.
type Server struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Project     string            `json:"project"`
	Status      string            `json:"status"`
	Task        string            `json:"task,omitempty"`
	Fault       string            `json:"fault,omitempty"`
	Flavor      string            `json:"flavor"` // name
	Image       string            `json:"image"`  // name
	Key         string            `json:"key,omitempty"`
	Zone        string            `json:"zone,omitempty"`
	Group       string            `json:"group,omitempty"` // id of the server group
	ConfigDrive bool              `json:"configDrive,omitempty"`
	UserData    string            `json:"userData,omitempty"` // base64, as it was sent
	Metadata    map[string]string `json:"metadata,omitempty"`
	Tags        []string          `json:"tags,omitempty"`
	Ports       []string          `json:"ports,omitempty"` // ids
	Created     time.Time         `json:"created"`
	Launched    time.Time         `json:"launched,omitzero"` // zero: never
}

// Port is a port as it is.
type Port struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	Description    string   `json:"description,omitempty"`
	Project        string   `json:"project"`
	Network        string   `json:"network"` // name
	Device         string   `json:"device,omitempty"`
	DeviceOwner    string   `json:"deviceOwner,omitempty"`
	Addresses      []string `json:"addresses,omitempty"`
	SecurityGroups []string `json:"securityGroups,omitempty"` // ids
	AddressPairs   []string `json:"addressPairs,omitempty"`   // addresses
	Tags           []string `json:"tags,omitempty"`
	Revision       int      `json:"revision"`
}

// FloatingIP is a floating IP as it is.
type FloatingIP struct {
	ID          string   `json:"id"`
	Address     string   `json:"address"`
	Description string   `json:"description,omitempty"`
	Project     string   `json:"project"`
	Port        string   `json:"port,omitempty"` // id
	Tags        []string `json:"tags,omitempty"`
}

// Servers returns all servers, the newest first.
func (c *Cloud) Servers() []Server {
	defer c.enter()()
	all := make([]Server, 0, len(c.world.Servers))
	for _, s := range c.newestFirst() {
		all = append(all, c.view(s))
	}
	return all
}

// Server returns the server of that id, and whether there is one.
func (c *Cloud) Server(id string) (Server, bool) {
	defer c.enter()()
	s := c.world.Servers[id]
	if s == nil {
		return Server{}, false
	}
	return c.view(s), true
}

func (c *Cloud) view(s *server) Server {
	v := Server{
		ID: s.ID, Name: s.Name, Project: c.projectName(s.Project), Status: s.status(), Task: s.Task, Flavor: s.Flavor, Image: s.Image, Key: s.Key,
		Zone: s.Zone, Group: s.Group, ConfigDrive: s.ConfigDrive, UserData: s.UserData, Metadata: maps.Clone(s.Metadata),
		Tags: slices.Clone(s.Tags), Created: s.Created, Launched: s.Launched,
	}
	if f := c.flavor(s.Flavor); f != nil {
		v.Flavor = f.Name
	}
	if i := c.image(s.Image); i != nil {
		v.Image = i.Name
	}
	if s.Fault != nil && s.VM == vmError {
		v.Fault = s.Fault.Message
	}
	for _, n := range s.NICs {
		v.Ports = append(v.Ports, n.Port)
	}
	return v
}

func (c *Cloud) projectName(id string) string {
	if p := c.offer.projects[id]; p != nil {
		return p.Name
	}
	return id
}

// Ports returns all ports, by id.
func (c *Cloud) Ports() []Port {
	defer c.enter()()
	all := make([]Port, 0, len(c.world.Ports))
	for _, p := range c.world.Ports {
		v := Port{
			ID: p.ID, Name: p.Name, Description: p.Description, Project: c.projectName(p.Project), Network: c.networkByID(p.Network).Name,
			Device: p.DeviceID, DeviceOwner: p.DeviceOwner, SecurityGroups: slices.Clone(p.SGs), Tags: slices.Clone(p.Tags), Revision: p.Revision,
		}
		for _, ip := range p.FixedIPs {
			v.Addresses = append(v.Addresses, ip.Address)
		}
		for _, pair := range p.Pairs {
			v.AddressPairs = append(v.AddressPairs, pair.Address)
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b Port) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// FloatingIPs returns all floating IPs, by id.
func (c *Cloud) FloatingIPs() []FloatingIP {
	defer c.enter()()
	all := make([]FloatingIP, 0, len(c.world.FIPs))
	for _, f := range c.world.FIPs {
		all = append(all, FloatingIP{
			ID: f.ID, Address: f.Address, Description: f.Description, Project: c.projectName(f.Project), Port: f.Port, Tags: slices.Clone(f.Tags),
		})
	}
	slices.SortFunc(all, func(a, b FloatingIP) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// NetworkID is the id of the network of that name; empty where there is none.
func (c *Cloud) NetworkID(name string) string {
	if n := find(c.offer.networks, func(n *netRecord) bool { return n.Name == name }); n != nil {
		return n.ID
	}
	return ""
}

// ImageID is the id of the first image of that name; empty where there is none.
func (c *Cloud) ImageID(name string) string {
	defer c.enter()()
	if i := find(c.offer.images, func(i *Image) bool { return i.Name == name }); i != nil {
		return i.ID
	}
	return ""
}

// FlavorID is the id of the first flavor of that name; empty where there is none.
func (c *Cloud) FlavorID(name string) string {
	if f := find(c.offer.flavors, func(f *Flavor) bool { return f.Name == name }); f != nil {
		return f.ID
	}
	return ""
}
