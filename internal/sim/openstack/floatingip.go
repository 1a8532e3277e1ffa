// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
	"net/netip"
)

// floatingIP is an address of an external network that can be given to a port.
type floatingIP struct {
	standard
	Network string // id
	Address string
	Port    string // id; empty: none
	FixedIP string // of the port
}

func (f *floatingIP) status() string {
	if f.Port != "" {
		return "ACTIVE"
	}
	return "DOWN"
}

func (f *floatingIP) attribute(name string) ([]string, bool) {
	switch name {
	case "floating_network_id":
		return []string{f.Network}, true
	case "floating_ip_address":
		return []string{f.Address}, true
	case "fixed_ip_address":
		return []string{f.FixedIP}, true
	case "port_id":
		return []string{f.Port}, true
	case "status":
		return []string{f.status()}, true
	}
	return f.standard.attribute(name)
}

func (f *floatingIP) show(cl *call) obj {
	doc := f.doc()
	for key, value := range (obj{
		"floating_ip_address": f.Address, "floating_network_id": f.Network, "router_id": nil, "port_id": nullable(f.Port),
		"fixed_ip_address": nullable(f.FixedIP), "status": f.status(), "port_details": nil,
	}) {
		doc[key] = value
	}
	if p := cl.cloud.world.Ports[f.Port]; p != nil {
		doc["router_id"] = cl.cloud.offer.router.ID
		doc["port_details"] = obj{
			"name": p.Name, "network_id": p.Network, "mac_address": p.MAC, "admin_state_up": !p.Down, "status": p.status(),
			"device_id": p.DeviceID, "device_owner": p.DeviceOwner,
		}
	}
	return doc
}

func (f *floatingIP) event() Event {
	return Event{ID: f.ID, Name: f.Address, Project: f.Project, Tags: f.Tags, Description: f.Description, State: f.status(), Detail: f.Port}
}

// floatingIPFields are the members of a floating IP that a user may send.
type floatingIPFields struct {
	NetworkID   string           `json:"floating_network_id"`
	Description optional[string] `json:"description"`
	PortID      optional[string] `json:"port_id"`
	FixedIP     optional[string] `json:"fixed_ip_address"`
	Address     string           `json:"floating_ip_address"`
	SubnetID    string           `json:"subnet_id"`
	TenantID    string           `json:"tenant_id"`
	ProjectID   string           `json:"project_id"`
	Tags        optional[any]    `json:"tags"`
}

func (cl *call) getFloatingIPs() *reply {
	rows := make([]*floatingIP, 0, len(cl.cloud.world.FIPs))
	for _, f := range cl.cloud.world.FIPs {
		if f.Project == cl.project() {
			rows = append(rows, f)
		}
	}
	return list(cl, "floatingips", rows)
}

// onFloatingIP finds the floating IP that a path is about.
func onFloatingIP(handle func(*call, *floatingIP) *reply) func(*call) *reply {
	return func(cl *call) *reply {
		f := cl.cloud.world.FIPs[cl.value("fip")]
		if f == nil || f.Project != cl.project() {
			return neutronError(http.StatusNotFound, "FloatingIPNotFound", "Floating IP %s could not be found", cl.value("fip"))
		}
		return handle(cl, f)
	}
}

func (cl *call) getFloatingIP(f *floatingIP) *reply {
	return ok(obj{"floatingip": cl.fields(f.show(cl))})
}

func (cl *call) createFloatingIP() *reply {
	var in floatingIPFields
	if bad := readNetwork(cl, "floatingip", &in); bad != nil {
		return bad
	}
	c := cl.cloud
	n, bad := cl.externalFor(&in)
	if bad != nil {
		return bad
	}
	if c.quotas.FloatingIPs >= 0 && c.usage(cl.project()).floatingIPs >= c.quotas.FloatingIPs {
		return overQuota("floatingip")
	}
	address, free := n.takeFree()
	if !free {
		return neutronError(http.StatusConflict, "IpAddressGenerationFailure", "No more IP addresses available on network %s.", n.ID)
	}
	f := &floatingIP{
		standard: standard{ID: newUUID(), Project: cl.project(), Description: in.Description.Value, Created: c.now(), Updated: c.now()},
		Network:  n.ID, Address: address.String(),
	}
	if in.PortID.Value != "" {
		if bad := cl.give(f, &in); bad != nil {
			delete(n.used, address)
			return bad
		}
	}
	c.world.FIPs[f.ID] = f
	c.markDirty()
	c.record(EventFloatingIPCreated, f.event())
	return newReply(http.StatusCreated, obj{"floatingip": f.show(cl)})
}

// externalFor checks the request and finds the network.
func (cl *call) externalFor(in *floatingIPFields) (*netRecord, *reply) {
	if in.Tags.Set {
		return nil, neutronError(http.StatusBadRequest, "HTTPBadRequest", "Attribute 'tags' not allowed in POST")
	}
	if in.NetworkID == "" {
		return nil, neutronError(http.StatusBadRequest, "HTTPBadRequest", "Failed to parse request. Required attribute 'floating_network_id' not specified")
	}
	if in.Address != "" {
		return nil, neutronError(http.StatusForbidden, "PolicyNotAuthorized", "(rule:create_floatingip and rule:create_floatingip:floating_ip_address) is disallowed by policy")
	}
	n := cl.cloud.network(cl.project(), in.NetworkID)
	switch {
	case n == nil:
		return nil, neutronError(http.StatusNotFound, "NetworkNotFound", "Network %s could not be found.", in.NetworkID)
	case !n.External:
		return nil, neutronError(http.StatusBadRequest, "BadRequest", "Bad floatingip request: Network %s is not a valid external network.", n.ID)
	}
	return n, nil
}

// updateFloatingIP changes a floating IP. One that a port has already is given to another without a word, as the real
// service does; a request that does not name the port takes it away from none.
func (cl *call) updateFloatingIP(f *floatingIP) *reply {
	var in floatingIPFields
	if bad := readNetwork(cl, "floatingip", &in); bad != nil {
		return bad
	}
	if in.Tags.Set || in.NetworkID != "" {
		return neutronError(http.StatusBadRequest, "HTTPBadRequest", "Cannot update read-only attribute %s", map[bool]string{true: "tags", false: "floating_network_id"}[in.Tags.Set])
	}
	if bad := cl.ifMatch(&f.standard); bad != nil {
		return bad
	}
	if in.PortID.Value != "" {
		if bad := cl.give(f, &in); bad != nil {
			return bad
		}
	} else if in.PortID.Set {
		cl.cloud.associate(f, nil, "")
	}
	set(in.Description, &f.Description)
	cl.cloud.bump(&f.standard)
	cl.cloud.record(EventFloatingIPChanged, f.event())
	return ok(obj{"floatingip": f.show(cl)})
}

// give associates a floating IP with the port that the request names.
func (cl *call) give(f *floatingIP, in *floatingIPFields) *reply {
	c := cl.cloud
	p := cl.port(in.PortID.Value)
	if p == nil {
		return portNotFound(in.PortID.Value)
	}
	fixed := in.FixedIP.Value
	if fixed == "" && len(p.FixedIPs) > 0 {
		fixed = p.FixedIPs[0].Address
	}
	switch other := c.floatingIPOf(p.ID); {
	case fixed == "":
		return neutronError(http.StatusBadRequest, "BadRequest", "Bad floatingip request: Cannot add floating IP to port %s that has no fixed IPv4 addresses.", p.ID)
	case c.networkByID(p.Network).External:
		return neutronError(http.StatusNotFound, "ExternalGatewayForFloatingIPNotFound",
			"External network %s is not reachable from subnet %s.  Therefore, cannot associate Port %s with a Floating IP.", f.Network, p.FixedIPs[0].Subnet, p.ID)
	case other != nil && other != f:
		return neutronError(http.StatusConflict, "FloatingIPPortAlreadyAssociated",
			"Cannot associate floating IP %s (%s) with port %s using fixed IP %s, as that fixed IP already has a floating IP on external network %s.",
			f.Address, f.ID, p.ID, fixed, f.Network)
	}
	c.associate(f, p, fixed)
	return nil
}

// floatingIPOf is the floating IP of a port; nil where it has none.
func (c *Cloud) floatingIPOf(portID string) *floatingIP { return c.made.byPort[portID] }

// associate gives a floating IP to a port, or, with nil, to none.
func (c *Cloud) associate(f *floatingIP, p *port, fixed string) {
	if old := c.world.Ports[f.Port]; old != nil {
		c.forget(old.DeviceID)
	}
	delete(c.made.byPort, f.Port)
	f.Port, f.FixedIP = "", ""
	if p != nil {
		c.forget(p.DeviceID)
		f.Port, f.FixedIP = p.ID, fixed
		c.made.byPort[p.ID] = f
	}
	c.bump(&f.standard)
}

func (cl *call) deleteFloatingIP(f *floatingIP) *reply {
	if bad := cl.ifMatch(&f.standard); bad != nil {
		return bad
	}
	c := cl.cloud
	c.record(EventFloatingIPDeleted, f.event())
	c.associate(f, nil, "")
	if n := c.networkByID(f.Network); n != nil {
		delete(n.used, netip.MustParseAddr(f.Address))
	}
	delete(c.world.FIPs, f.ID)
	return noContent()
}
