// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// portFields are the members of a port that a user may send. Tags are taken at creation, and dropped, as the real
// service does; those of the host are the operator's.
type portFields struct {
	NetworkID    string                   `json:"network_id"`
	Name         optional[string]         `json:"name"`
	Description  optional[string]         `json:"description"`
	AdminUp      optional[bool]           `json:"admin_state_up"`
	MAC          optional[string]         `json:"mac_address"`
	FixedIPs     optional[[]fixedIP]      `json:"fixed_ips"`
	SGs          optional[[]string]       `json:"security_groups"`
	Pairs        optional[[]addressPair]  `json:"allowed_address_pairs"`
	DeviceID     optional[string]         `json:"device_id"`
	DeviceOwner  optional[string]         `json:"device_owner"`
	PortSecurity optional[bool]           `json:"port_security_enabled"`
	VNIC         optional[string]         `json:"binding:vnic_type"`
	Extra        optional[[]obj]          `json:"extra_dhcp_opts"`
	Host         optional[string]         `json:"binding:host_id"`
	Profile      optional[map[string]any] `json:"binding:profile"`
	TenantID     string                   `json:"tenant_id"`
	ProjectID    string                   `json:"project_id"`
	Tags         optional[[]string]       `json:"tags"`
	Uplink       optional[bool]           `json:"propagate_uplink_status"`
}

func (cl *call) createPort() *reply {
	var in portFields
	if bad := readNetwork(cl, "port", &in); bad != nil {
		return bad
	}
	c := cl.cloud
	if in.NetworkID == "" {
		return neutronError(http.StatusBadRequest, "HTTPBadRequest", "Failed to parse request. Required attribute 'network_id' not specified")
	}
	n := c.network(cl.project(), in.NetworkID)
	if n == nil {
		return neutronError(http.StatusNotFound, "NetworkNotFound", "Network %s could not be found.", in.NetworkID)
	}
	if bad := cl.allowed(&in, n, "create_port"); bad != nil {
		return bad
	}
	if c.quotas.Ports >= 0 && c.portsOf(cl.project()) >= c.quotas.Ports {
		return overQuota("port")
	}
	p := c.newPort(cl.project(), n)
	wanted := in.FixedIPs
	in.FixedIPs = optional[[]fixedIP]{}
	if in.PortSecurity.Set && !in.PortSecurity.Value {
		p.SGs = nil // the default group is not for ports without security
	}
	if bad := cl.fill(p, n, &in); bad != nil {
		return bad
	}
	if none := wanted.Set && len(wanted.Value) == 0; !none {
		if bad := c.allocate(p, n, wanted.Value); bad != nil {
			return bad
		}
	}
	c.world.Ports[p.ID] = p
	c.markDirty()
	c.record(EventPortCreated, p.event())
	return newReply(http.StatusCreated, obj{"port": p.show(cl)})
}

func overQuota(kind string) *reply {
	return neutronError(http.StatusConflict, "OverQuota", "Quota exceeded for resources: ['%s'].", kind)
}

func (cl *call) updatePort(p *port) *reply {
	var in portFields
	if bad := readNetwork(cl, "port", &in); bad != nil {
		return bad
	}
	n := cl.cloud.networkByID(p.Network)
	if bad := cl.allowed(&in, n, "update_port"); bad != nil {
		return bad
	}
	if in.Tags.Set || in.NetworkID != "" {
		return neutronError(http.StatusBadRequest, "HTTPBadRequest", "Cannot update read-only attribute %s", map[bool]string{true: "tags", false: "network_id"}[in.Tags.Set])
	}
	if bad := cl.ifMatch(&p.standard); bad != nil {
		return bad
	}
	device := p.DeviceID
	if bad := cl.fill(p, n, &in); bad != nil {
		return bad
	}
	cl.cloud.bump(&p.standard)
	cl.cloud.forget(device)
	cl.cloud.forget(p.DeviceID)
	cl.cloud.record(EventPortChanged, p.event())
	return ok(obj{"port": p.show(cl)})
}

// allowed refuses what only an operator may set, and what only the network's owner may set.
func (cl *call) allowed(in *portFields, n *netRecord, rule string) *reply {
	var field string
	foreign := n.Project != cl.project()
	switch {
	case in.Host.Set:
		field = "binding:host_id"
	case in.Profile.Set && len(in.Profile.Value) > 0:
		field = "binding:profile"
	case in.DeviceOwner.Set && strings.HasPrefix(in.DeviceOwner.Value, "network:") && foreign:
		field = "device_owner"
	case in.MAC.Set && foreign:
		field = "mac_address"
	case in.PortSecurity.Set && foreign:
		field = "port_security_enabled"
	case in.Pairs.Set && foreign:
		field = "allowed_address_pairs"
	case foreign && slices.ContainsFunc(in.FixedIPs.Value, func(ip fixedIP) bool { return ip.Address != "" }):
		field = "fixed_ips:ip_address"
	default:
		return nil
	}
	return neutronError(http.StatusForbidden, "PolicyNotAuthorized", "(rule:%s and rule:%s:%s) is disallowed by policy", rule, rule, field)
}

// fill gives a port what the request says, all of it or nothing.
func (cl *call) fill(p *port, n *netRecord, in *portFields) *reply {
	c, changed := cl.cloud, *p
	if in.SGs.Set {
		for _, id := range in.SGs.Value {
			if g := c.world.SGs[id]; g == nil || g.Project != p.Project {
				return neutronError(http.StatusNotFound, "SecurityGroupNotFound", "Security group %s does not exist", id)
			}
		}
		changed.SGs = sortedSet(in.SGs.Value)
	}
	if in.PortSecurity.Set {
		changed.NoSecurity = !in.PortSecurity.Value
	}
	if bad := fillPairs(&changed, in); bad != nil {
		return bad
	}
	if changed.NoSecurity && len(changed.SGs) > 0 {
		return neutronError(http.StatusConflict, "PortSecurityPortHasSecurityGroup", "Port has security group associated. Cannot disable port security or IP address until security group is removed")
	}
	set(in.Name, &changed.Name)
	set(in.Description, &changed.Description)
	set(in.DeviceID, &changed.DeviceID)
	set(in.DeviceOwner, &changed.DeviceOwner)
	set(in.MAC, &changed.MAC)
	set(in.VNIC, &changed.VNIC)
	set(in.Extra, &changed.ExtraOptions)
	if in.AdminUp.Set {
		changed.Down = !in.AdminUp.Value
	}
	if in.FixedIPs.Set {
		if bad := c.reallocate(&changed, n, in.FixedIPs.Value); bad != nil {
			return bad
		}
	}
	*p = changed
	return nil
}

func set[T any](from optional[T], into *T) {
	if from.Set {
		*into = from.Value
	}
}

// fillPairs gives a port its address pairs; one without MAC has the port's.
func fillPairs(p *port, in *portFields) *reply {
	if !in.Pairs.Set {
		return nil
	}
	pairs := slices.Clone(in.Pairs.Value)
	for i := range pairs {
		if pairs[i].MAC == "" {
			pairs[i].MAC = p.MAC
		}
		_, errAddress := netip.ParseAddr(pairs[i].Address)
		_, errPrefix := netip.ParsePrefix(pairs[i].Address)
		if errAddress != nil && errPrefix != nil {
			return neutronError(http.StatusBadRequest, "HTTPBadRequest", "Invalid input for allowed_address_pairs. Reason: '%s' is not a valid IP address or subnet.", pairs[i].Address)
		}
		if slices.Contains(pairs[:i], pairs[i]) {
			return neutronError(http.StatusBadRequest, "DuplicateAddressPairInRequest", "Request contains duplicate address pair: mac_address %s ip_address %s.", pairs[i].MAC, pairs[i].Address)
		}
	}
	if len(pairs) > 0 && p.NoSecurity {
		return neutronError(http.StatusConflict, "AddressPairAndPortSecurityRequired", "Port Security must be enabled in order to have allowed address pairs on a port.")
	}
	p.Pairs = pairs
	return nil
}

// reallocate changes the addresses of a port; those that stay are kept.
func (c *Cloud) reallocate(p *port, n *netRecord, wanted []fixedIP) *reply {
	old := p.FixedIPs
	for _, ip := range old {
		delete(n.used, netip.MustParseAddr(ip.Address))
	}
	var bad *reply
	if len(wanted) == 0 {
		p.FixedIPs = nil
	} else {
		bad = c.allocate(p, n, wanted)
	}
	if bad != nil {
		for _, ip := range old {
			n.used[netip.MustParseAddr(ip.Address)] = true
		}
	}
	return bad
}
