// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
	"net/netip"
)

// networkView makes a resource of a network.
type networkView struct{ *netRecord }

func (n networkView) common() *standard {
	return &standard{ID: n.ID, Name: n.Name, Project: n.owner(), Tags: n.Tags, Revision: 2, Created: n.Created, Updated: n.Created}
}

// owner is the project of a network; the operator's are not of any project of a user.
func (n *netRecord) owner() string { return orElse(n.Project, plainID("project", "operator")) }

func (n networkView) attribute(name string) ([]string, bool) {
	switch name {
	case "router:external":
		return flag(n.External), true
	case "shared":
		return flag(n.Shared), true
	case "status":
		return []string{"ACTIVE"}, true
	case "admin_state_up":
		return flag(true), true
	}
	return n.common().attribute(name)
}

// flag are the spellings of a boolean that clients filter by.
func flag(value bool) []string {
	if value {
		return []string{"true", "True", "1"}
	}
	return []string{"false", "False", "0"}
}

func (n networkView) show(*call) obj {
	doc := n.common().doc()
	mtu := 1450
	if n.External {
		doc["is_default"] = false
		mtu = 1500
	}
	for key, value := range (obj{
		"name": n.Name, "admin_state_up": true, "mtu": mtu, "status": "ACTIVE", "subnets": []string{n.SubnetID}, "shared": n.Shared,
		"availability_zone_hints": []string{}, "availability_zones": []string{}, "ipv4_address_scope": nil, "ipv6_address_scope": nil,
		"router:external": n.External, "port_security_enabled": true,
	}) {
		doc[key] = value
	}
	return doc
}

// subnetView makes a resource of a network's subnet. Subnets of networks of others are not seen.
type subnetView struct{ *netRecord }

func (n subnetView) common() *standard {
	return &standard{ID: n.SubnetID, Name: n.Name, Project: n.owner(), Created: n.Created, Updated: n.Created}
}

func (n subnetView) attribute(name string) ([]string, bool) {
	switch name {
	case "network_id":
		return []string{n.ID}, true
	case "cidr":
		return []string{n.Prefix.String()}, true
	case "ip_version":
		return []string{"4"}, true
	}
	return n.common().attribute(name)
}

func (n subnetView) show(*call) obj {
	doc := n.common().doc()
	for key, value := range (obj{
		"name": n.Name, "network_id": n.ID, "ip_version": 4, "subnetpool_id": nil, "enable_dhcp": true, "ipv6_ra_mode": nil, "ipv6_address_mode": nil,
		"gateway_ip": n.Gateway.String(), "cidr": n.Prefix.String(), "host_routes": []obj{}, "dns_nameservers": []string{}, "service_types": []string{},
		"allocation_pools": []obj{{"start": n.Gateway.Next().String(), "end": n.last().String()}},
	}) {
		doc[key] = value
	}
	return doc
}

// last is the last address of the network that a port may have: the one before the broadcast address.
func (n *netRecord) last() netip.Addr {
	raw := n.Prefix.Addr().As4()
	for bit := n.Prefix.Bits(); bit < 32; bit++ {
		raw[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(raw).Prev()
}

// takeFree allocates the next free address, around the network from the last one given. False: there is none.
func (n *netRecord) takeFree() (netip.Addr, bool) {
	for a, tried := n.next, 0; tried <= len(n.used); tried++ {
		if a = a.Next(); n.last().Less(a) {
			a = n.Gateway // which is in use
		}
		if !n.used[a] {
			n.used[a], n.next = true, a
			return a, true
		}
	}
	return netip.Addr{}, false
}

func (c *Cloud) networkByID(id string) *netRecord {
	return find(c.offer.networks, func(n *netRecord) bool { return n.ID == id })
}

// seen are the networks that the project sees.
func (cl *call) seen() []*netRecord {
	var all []*netRecord
	for _, n := range cl.cloud.offer.networks {
		if n.visible(cl.project()) {
			all = append(all, n)
		}
	}
	return all
}

func (cl *call) getNetworks() *reply {
	var rows []networkView
	for _, n := range cl.seen() {
		rows = append(rows, networkView{n})
	}
	return list(cl, "networks", rows)
}

func (cl *call) getNetwork() *reply {
	n := cl.cloud.network(cl.project(), cl.value("network"))
	if n == nil {
		return neutronError(http.StatusNotFound, "NetworkNotFound", "Network %s could not be found.", cl.value("network"))
	}
	return ok(obj{"network": cl.fields(networkView{n}.show(cl))})
}

func (cl *call) subnets() []subnetView {
	var rows []subnetView
	for _, n := range cl.seen() {
		if !n.External {
			rows = append(rows, subnetView{n})
		}
	}
	return rows
}

func (cl *call) getSubnets() *reply { return list(cl, "subnets", cl.subnets()) }

func (cl *call) getSubnet() *reply {
	for _, row := range cl.subnets() {
		if row.SubnetID == cl.value("subnet") {
			return ok(obj{"subnet": cl.fields(row.show(cl))})
		}
	}
	return neutronError(http.StatusNotFound, "SubnetNotFound", "Subnet %s could not be found.", cl.value("subnet"))
}

// getQuota answers GET /v2.0/quotas/{project}.
func (cl *call) getQuota() *reply {
	if cl.value("project") != cl.project() {
		return neutronError(http.StatusForbidden, "PolicyNotAuthorized", "rule:get_quota is disallowed by policy")
	}
	q := cl.cloud.quotas
	return ok(obj{"quota": obj{
		"network": 100, "subnet": 100, "subnetpool": -1, "router": 10, "rbac_policy": 10, "security_group_rule": 100,
		"port": q.Ports, "floatingip": q.FloatingIPs, "security_group": q.SecurityGroups,
	}})
}

// routers is the one router, where there is one.
func (cl *call) routers() []obj {
	r := cl.cloud.offer.router
	if r == nil {
		return []obj{}
	}
	owner := standard{ID: r.ID, Name: "router", Project: cl.project(), Revision: 4, Created: cl.cloud.offer.since, Updated: cl.cloud.offer.since}
	doc := owner.doc()
	for key, value := range (obj{
		"name": "router", "admin_state_up": true, "status": "ACTIVE", "availability_zones": []string{}, "availability_zone_hints": []string{},
		"routes": []obj{}, "flavor_id": nil, "external_gateway_info": obj{
			"network_id": r.External.ID, "enable_snat": true,
			"external_fixed_ips": []obj{{"subnet_id": r.External.SubnetID, "ip_address": r.Address.String()}},
		},
	}) {
		doc[key] = value
	}
	return []obj{doc}
}

func (cl *call) getRouters() *reply { return ok(obj{"routers": cl.routers()}) }

func (cl *call) getRouter() *reply {
	for _, doc := range cl.routers() {
		if doc["id"] == cl.value("router") {
			return ok(obj{"router": doc})
		}
	}
	return neutronError(http.StatusNotFound, "RouterNotFound", "Router %s could not be found", cl.value("router"))
}
