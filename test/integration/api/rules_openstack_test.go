// SPDX-License-Identifier: Apache-2.0

package api

import "slices"

const (
	openstack = "spec.openstack"
	networks  = openstack + ".networks"
	settled   = "settled when the VM is made"
	oneOf     = "give exactly one of id, name and tags"
)

var openstackRules = slices.Concat(vmRules, templateRules("Server", "vm"), templateRules("ServerClass", ""), classRules, cloudRules)

// vmRules are about Servers alone: what of a VM may change, and what a class made.
var vmRules = []rule{
	{
		kind: "Server", of: "vm", at: "spec", message: "give exactly one of redfish and openstack",
		accept: created(set{}),
		reject: created(set{openstack: nil}, set{"spec.redfish.bmcRef.name": "rack1-u07"}),
	},
	{
		kind: "Server", of: "vm", at: "spec", message: "a machine cannot become a VM, or a VM a machine",
		accept: []try{{before: set{}, now: set{"spec.power": "Off"}}},
		reject: []try{{before: set{}, now: set{openstack: nil, "spec.redfish.bmcRef.name": "rack1-u07"}}},
	},
	{
		kind: "Server", of: "vm", at: "spec", message: "a machine is recycled or retained, a VM deleted or retained",
		accept: at("spec.reclaimPolicy", "Delete", "Retain"),
		reject: at("spec.reclaimPolicy", "Recycle"),
	},
	{
		kind: "Server", of: "vm", at: "spec", message: "classRef is for virtual servers",
		accept: at("spec.classRef.name", "small"),
		reject: created(set{"spec.classRef.name": "small", openstack: nil, "spec.redfish.bmcRef.name": "rack1-u07"}),
	},
	{
		kind: "Server", of: "vm", at: "spec", message: "classRef says which class made the Server and does not change",
		accept: []try{{before: set{"spec.classRef.name": "small"}, now: set{"spec.power": "Off"}}},
		reject: []try{
			{before: set{"spec.classRef.name": "small"}, now: set{"spec.classRef.name": "large"}},
			{before: set{"spec.classRef.name": "small"}, now: set{"spec.classRef": nil}},
			{before: set{}, now: set{"spec.classRef.name": "small"}},
		},
	},
	{
		kind: "Server", of: "vm", at: "spec.classRef.name", message: aName,
		accept: at("spec.classRef.name", "small"),
		reject: at("spec.classRef.name", badNames...),
	},
	{
		kind: "Server", of: "vm", at: openstack, message: "cloudRef and flavor are " + settled,
		// What has a verb may change.
		accept: []try{
			{before: set{}, now: set{openstack + ".image.name": "debian-13", openstack + ".rebuildPolicy": "OnImageChange"}},
			{before: set{}, now: set{openstack + ".image": map[string]any{"tags": []any{"debian", "stable"}}}},
			{before: set{}, now: set{openstack + ".floatingIP.network.name": "public"}},
			{before: set{openstack + ".floatingIP.network.name": "public"}, now: set{openstack + ".floatingIP": nil}},
		},
		reject: []try{
			{before: set{}, now: set{openstack + ".cloudRef.name": "other"}},
			{before: set{}, now: set{openstack + ".flavor.name": "m1.large"}},
			{before: set{}, now: set{openstack + ".flavor": map[string]any{"id": "2"}}},
		},
	},
	{
		kind: "Server", of: "vm", at: openstack, message: "keyName, availabilityZone, serverGroup and configDrive are " + settled,
		accept: []try{{before: set{openstack + ".keyName": "staff"}, now: set{openstack + ".image.name": "debian-13"}}},
		reject: []try{
			{before: set{}, now: set{openstack + ".keyName": "staff"}},
			{before: set{openstack + ".keyName": "staff"}, now: set{openstack + ".keyName": nil}},
			{before: set{openstack + ".availabilityZone": "a"}, now: set{openstack + ".availabilityZone": "b"}},
			{before: set{openstack + ".serverGroup": "a"}, now: set{openstack + ".serverGroup": "b"}},
			{before: set{}, now: set{openstack + ".configDrive": true}},
			{before: set{openstack + ".configDrive": true}, now: set{openstack + ".configDrive": false}},
		},
	},
	{
		kind: "Server", of: "vm", at: openstack, message: "userDataSecretRef and sshCertificateAuthorityRefs are handed to the VM when it is made",
		accept: []try{{before: set{openstack + ".userDataSecretRef.name": "a"}, now: set{openstack + ".image.name": "debian-13"}}},
		reject: []try{
			{before: set{openstack + ".userDataSecretRef.name": "a"}, now: set{openstack + ".userDataSecretRef.name": "b"}},
			{before: set{openstack + ".userDataSecretRef.name": "a"}, now: set{openstack + ".userDataSecretRef": nil}},
			{before: set{}, now: set{openstack + ".sshCertificateAuthorityRefs": authorities("staff")}},
			{before: set{openstack + ".sshCertificateAuthorityRefs": authorities("staff")}, now: set{openstack + ".sshCertificateAuthorityRefs": authorities("staff", "guests")}},
		},
	},
	{
		kind: "Server", of: "vm", at: openstack, message: "the ports' networks and fixed IPs are " + settled,
		accept: []try{
			{before: set{}, now: port("securityGroups", []any{map[string]any{"name": "web"}})},
			{before: port("securityGroups", []any{map[string]any{"name": "web"}}), now: port("securityGroups", []any{})},
			{before: set{}, now: port("allowedAddressPairs", pairs("10.0.0.9"))},
		},
		reject: []try{
			{before: set{}, now: set{networks: []any{attachment("other")}}},
			{before: set{}, now: set{networks: []any{attachment("private"), attachment("other")}}},
			{before: set{}, now: port("fixedIP", "10.0.0.5")},
			{before: port("fixedIP", "10.0.0.5"), now: port("fixedIP", "10.0.0.6")},
			{before: port("fixedIP", "10.0.0.5"), now: set{networks: []any{attachment("private")}}},
		},
	},
}

// templateRules are about what a VM is made of, in a Server as in a class.
func templateRules(kind, of string) []rule {
	rules := []rule{
		{
			at: openstack + ".cloudRef.name", message: aName,
			accept: at(openstack+".cloudRef.name", "fra1"), reject: at(openstack+".cloudRef.name", badNames...),
		},
		{
			at: openstack + ".flavor", message: "give exactly one of id and name",
			accept: at(openstack+".flavor", map[string]any{"name": "m1.small"}, map[string]any{"id": "1"}),
			reject: at(openstack+".flavor", map[string]any{}, map[string]any{"name": "m1.small", "id": "1"}),
		},
		{
			at: openstack, message: "serverGroupCreation needs a serverGroup",
			accept: created(set{openstack + ".serverGroupCreation": "Serial", openstack + ".serverGroup": "spread"}, set{openstack + ".serverGroup": "spread"}),
			reject: created(set{openstack + ".serverGroupCreation": "Serial"}),
		},
		selectorRule(openstack+".image", func(value any) set { return set{openstack + ".image": value} }),
		selectorRule(openstack+".floatingIP.network", func(value any) set { return set{openstack + ".floatingIP.network": value} }),
		selectorRule(networks+"[].network", func(value any) set { return port("network", value) }),
		selectorRule(networks+"[].securityGroups[]", func(value any) set { return port("securityGroups", []any{value}) }),
		{
			at: networks + "[].fixedIP", message: "must be an IP address",
			accept: created(port("fixedIP", "10.0.0.5"), port("fixedIP", "fd00::5")),
			reject: created(port("fixedIP", ""), port("fixedIP", "10.0.0.0/24"), port("fixedIP", "10.0.0.256"), port("fixedIP", "web.example")),
		},
		{
			at: networks + "[].allowedAddressPairs[].ipAddress", message: "must be an IP address or a CIDR",
			accept: created(port("allowedAddressPairs", pairs("10.0.0.5")), port("allowedAddressPairs", pairs("10.0.0.0/24", "fd00::/64"))),
			reject: created(port("allowedAddressPairs", pairs("10.0.0.0/33")), port("allowedAddressPairs", pairs("any"))),
		},
		{
			at: openstack + ".sshCertificateAuthorityRefs[].name", message: aName,
			accept: at(openstack+".sshCertificateAuthorityRefs", authorities("staff", "guests")),
			reject: at(openstack+".sshCertificateAuthorityRefs", authorities(notTheName)),
		},
		{
			at: openstack + ".userDataSecretRef.name", message: aName,
			accept: created(set{}), reject: at(openstack+".userDataSecretRef.name", badNames...),
		},
	}
	for i := range rules {
		rules[i].kind, rules[i].of = kind, of
	}
	return rules
}

func selectorRule(path string, as func(value any) set) rule {
	tags := map[string]any{"tags": []any{"debian", "stable"}}
	return rule{
		at: path, message: oneOf,
		accept: created(as(map[string]any{"id": "b0fc5a27-4a7d-4b8e-a6a2-0c9a1a6b8e1d"}), as(map[string]any{"name": "with a space"}), as(tags)),
		reject: created(as(map[string]any{}), as(map[string]any{"id": "a", "name": "b"}), as(map[string]any{"name": "b", "tags": []any{"c"}})),
	}
}

func attachment(network string) map[string]any {
	return map[string]any{"network": map[string]any{"name": network}}
}

// port is the only port of the smallest VM, with one field set.
func port(field string, value any) set {
	one := attachment("private")
	one[field] = value
	return set{networks: []any{one}}
}

func pairs(addresses ...string) []any {
	var list []any
	for _, address := range addresses {
		list = append(list, map[string]any{"ipAddress": address})
	}
	return list
}

func authorities(names ...string) []any {
	var list []any
	for _, name := range names {
		list = append(list, map[string]any{"name": name})
	}
	return list
}
