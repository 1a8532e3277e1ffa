// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
)

// port is a port of a network.
type port struct {
	standard
	Network      string // id
	MAC          string
	DeviceID     string
	DeviceOwner  string
	FixedIPs     []fixedIP
	SGs          []string // ids
	Pairs        []addressPair
	Down         bool // admin_state_up is false
	NoSecurity   bool // port_security_enabled is false
	Bound        bool // a host has it: it is ACTIVE
	VNIC         string
	ExtraOptions []obj
}

// fixedIP is an address of a port.
type fixedIP struct {
	Subnet  string `json:"subnet_id,omitempty"`
	Address string `json:"ip_address,omitempty"`
}

// addressPair is an address that a port may use besides its own.
type addressPair struct {
	MAC     string `json:"mac_address,omitempty"`
	Address string `json:"ip_address"`
}

func (p *port) status() string {
	if p.Bound {
		return "ACTIVE"
	}
	return "DOWN"
}

func (p *port) attribute(name string) ([]string, bool) {
	switch name {
	case "network_id":
		return []string{p.Network}, true
	case "device_id":
		return []string{p.DeviceID}, true
	case "device_owner":
		return []string{p.DeviceOwner}, true
	case "mac_address":
		return []string{p.MAC}, true
	case "status":
		return []string{p.status()}, true
	case "admin_state_up":
		return flag(!p.Down), true
	case "security_groups":
		return p.SGs, true
	case "fixed_ips":
		var values []string
		for _, ip := range p.FixedIPs {
			values = append(values, "ip_address="+ip.Address, "subnet_id="+ip.Subnet)
		}
		return values, true
	}
	return p.standard.attribute(name)
}

func (p *port) show(*call) obj {
	doc := p.doc()
	ips, pairs := make([]obj, 0, len(p.FixedIPs)), make([]obj, 0, len(p.Pairs))
	for _, ip := range p.FixedIPs {
		ips = append(ips, obj{"subnet_id": ip.Subnet, "ip_address": ip.Address})
	}
	for _, pair := range p.Pairs {
		pairs = append(pairs, obj{"mac_address": pair.MAC, "ip_address": pair.Address})
	}
	for key, value := range (obj{
		"name": p.Name, "network_id": p.Network, "mac_address": p.MAC, "admin_state_up": !p.Down, "status": p.status(), "device_id": p.DeviceID,
		"device_owner": p.DeviceOwner, "fixed_ips": ips, "allowed_address_pairs": pairs, "extra_dhcp_opts": orEmpty(p.ExtraOptions),
		"security_groups": orEmpty(p.SGs), "binding:vnic_type": orElse(p.VNIC, "normal"), "port_security_enabled": !p.NoSecurity,
	}) {
		doc[key] = value
	}
	return doc
}

// port is one of the project's; nil where there is none.
func (cl *call) port(id string) *port {
	p := cl.cloud.world.Ports[id]
	if p == nil || p.Project != cl.project() {
		return nil
	}
	return p
}

func (c *Cloud) portsOf(projectID string) int {
	n := 0
	for _, p := range c.world.Ports {
		if p.Project == projectID {
			n++
		}
	}
	return n
}

// onPort finds the port that a path is about.
func onPort(handle func(*call, *port) *reply) func(*call) *reply {
	return func(cl *call) *reply {
		p := cl.port(cl.value("port"))
		if p == nil {
			return portNotFound(cl.value("port"))
		}
		return handle(cl, p)
	}
}

func portNotFound(id string) *reply {
	return neutronError(http.StatusNotFound, "PortNotFound", "Port %s could not be found.", id)
}

func (cl *call) getPorts() *reply {
	rows := make([]*port, 0, len(cl.cloud.world.Ports))
	for _, p := range cl.cloud.world.Ports {
		if p.Project == cl.project() {
			rows = append(rows, p)
		}
	}
	return list(cl, "ports", rows)
}

func (cl *call) getPort(p *port) *reply { return ok(obj{"port": cl.fields(p.show(cl))}) }

func (cl *call) deletePort(p *port) *reply {
	if bad := cl.ifMatch(&p.standard); bad != nil {
		return bad
	}
	cl.cloud.dropPort(p)
	return noContent()
}

// dropPort deletes a port: its addresses are free, its floating IP is nobody's, and its server has lost it.
func (c *Cloud) dropPort(p *port) {
	c.record(EventPortDeleted, p.event())
	if f := c.floatingIPOf(p.ID); f != nil {
		c.associate(f, nil, "")
	}
	c.release(p)
	delete(c.world.Ports, p.ID)
	if s := c.world.Servers[p.DeviceID]; s != nil {
		s.NICs = slices.DeleteFunc(slices.Clone(s.NICs), func(n nic) bool { return n.Port == p.ID })
		c.touch(s, c.now())
	}
	c.markDirty()
}

func (p *port) event() Event {
	return Event{ID: p.ID, Name: p.Name, Project: p.Project, Tags: p.Tags, Description: p.Description, State: p.status(), Detail: p.DeviceID}
}

// release gives the addresses of a port back.
func (c *Cloud) release(p *port) {
	n := c.networkByID(p.Network)
	for _, ip := range p.FixedIPs {
		if a, err := netip.ParseAddr(ip.Address); err == nil {
			delete(n.used, a)
		}
	}
	p.FixedIPs = nil
}

// newPort is a port without anything.
func (c *Cloud) newPort(projectID string, n *netRecord) *port {
	return &port{
		standard: standard{ID: newUUID(), Project: projectID, Created: c.now(), Updated: c.now(), Revision: 1},
		Network:  n.ID, MAC: newMAC(), SGs: []string{c.defaultGroup(projectID).ID},
	}
}

func newMAC() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("fa:16:3e:%02x:%02x:%02x", b[0], b[1], b[2])
}
