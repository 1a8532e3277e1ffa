// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
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

// bindPorts gives a server the ports that it is to have, on its host: those it was given, and new ones. It answers
// with what was wrong, or nothing.
func (c *Cloud) bindPorts(s *server, at time.Time) (problem string) {
	failed := fmt.Sprintf("Build of instance %s aborted: Failed to allocate the network(s), not rescheduling.", s.ID)
	for _, w := range s.Wanted {
		p := c.world.Ports[w.Port]
		if w.Port == "" {
			p = c.makePort(s, w)
		}
		if p == nil {
			return failed
		}
		s.NICs = append(slices.Clone(s.NICs), nic{Port: p.ID, Made: w.Port == ""})
		if p.DeviceID != "" {
			// Given to two servers, of which this one came second: it fails, and in cleaning up takes the port away from
			// the first, as seen on Zed.
			return failed
		}
		c.bind(p, s)
	}
	s.Wanted = nil
	c.touch(s, at)
	return ""
}

func (c *Cloud) bind(p *port, s *server) {
	p.DeviceID, p.DeviceOwner, p.Bound = s.ID, "compute:"+orElse(s.zone(), "nova"), true
	c.bump(&p.standard)
}

// makePort is the port that Nova makes on a network that a server was given.
func (c *Cloud) makePort(s *server, w wantedNIC) *port {
	n := c.networkByID(w.Network)
	p := c.newPort(s.Project, n)
	var wanted []fixedIP
	if w.FixedIP != "" {
		wanted = []fixedIP{{Address: w.FixedIP}}
	}
	if bad := c.allocate(p, n, wanted); bad != nil {
		return nil
	}
	if ids := c.groupIDs(s.Project, s.SGs); len(ids) > 0 {
		p.SGs = ids
	}
	c.world.Ports[p.ID] = p
	c.record(EventPortCreated, p.event())
	return p
}

// freePorts takes a server's ports away: Nova deletes those that it made, and gives the others back unbound.
func (c *Cloud) freePorts(s *server, at time.Time) {
	nics := s.NICs
	s.NICs = nil
	for _, n := range nics {
		if p := c.world.Ports[n.Port]; p != nil && n.Made {
			c.dropPort(p)
		} else if p != nil {
			c.unbind(p)
		}
	}
	c.touch(s, at)
}

func (c *Cloud) unbind(p *port) {
	p.DeviceID, p.DeviceOwner, p.Bound = "", "", false
	c.bump(&p.standard)
}

// allocate gives a port the addresses that are wanted, or any one.
func (c *Cloud) allocate(p *port, n *netRecord, wanted []fixedIP) *reply {
	if len(wanted) == 0 {
		wanted = []fixedIP{{}}
	}
	var got []fixedIP
	for _, w := range wanted {
		a, bad := n.take(w)
		if bad != nil {
			for _, ip := range got {
				delete(n.used, netip.MustParseAddr(ip.Address))
			}
			return bad
		}
		got = append(got, fixedIP{Subnet: n.SubnetID, Address: a.String()})
	}
	p.FixedIPs = got
	return nil
}

// take allocates one address.
func (n *netRecord) take(w fixedIP) (netip.Addr, *reply) {
	if w.Subnet != "" && w.Subnet != n.SubnetID {
		return netip.Addr{}, neutronError(http.StatusBadRequest, "InvalidInput",
			"Invalid input for operation: Failed to create port on network %s, because fixed_ips included invalid subnet %s.", n.ID, w.Subnet)
	}
	if w.Address == "" {
		a, free := n.takeFree()
		if !free {
			return a, neutronError(http.StatusConflict, "IpAddressGenerationFailure", "No more IP addresses available on network %s.", n.ID)
		}
		return a, nil
	}
	a, err := netip.ParseAddr(strings.TrimSpace(w.Address))
	switch {
	case err != nil:
		return a, neutronError(http.StatusBadRequest, "HTTPBadRequest", "Invalid input for fixed_ips. Reason: '%s' is not a valid IP address.", w.Address)
	case !n.Prefix.Contains(a):
		return a, neutronError(http.StatusBadRequest, "InvalidIpForNetwork", "IP address %s is not a valid IP for any of the subnets on the specified network.", a)
	case n.used[a]:
		return a, neutronError(http.StatusConflict, "IpAddressAlreadyAllocated", "IP address %s already allocated in subnet %s", a, n.SubnetID)
	}
	n.used[a] = true
	return a, nil
}
