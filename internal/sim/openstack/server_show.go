// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
)

// detail is what is asked of a server.
type detail int

const (
	inListing  detail = iota // GET /servers/detail
	byID                     // GET /servers/{id}
	ofRebuild                // the answer of a rebuild
	afterwards               // the answer of PUT
)

func (cl *call) serverLinks(id string) []obj {
	return []obj{
		{"rel": "self", "href": cl.cloud.url("/compute/v2.1/servers/" + id)},
		{"rel": "bookmark", "href": cl.cloud.url("/compute/servers/" + id)},
	}
}

func (cl *call) bookmark(kind, id string) []obj {
	return []obj{{"rel": "bookmark", "href": cl.cloud.url("/compute/" + kind + "/" + id)}}
}

// showServer is a server as the API tells it at the request's microversion.
func (cl *call) showServer(s *server, how detail) obj {
	doc := obj{
		"id": s.ID, "name": s.Name, "status": s.status(), "tenant_id": s.Project, "user_id": s.User,
		"metadata": orEmptyMap(s.Metadata), "hostId": s.hostID(), "image": obj{"id": s.Image, "links": cl.bookmark("images", s.Image)},
		"flavor": cl.embeddedFlavor(s.Flavor), "created": seconds(s.Created), "updated": seconds(s.Updated),
		"addresses": cl.cloud.addresses(s), "accessIPv4": "", "accessIPv6": "", "links": cl.serverLinks(s.ID), "OS-DCF:diskConfig": "MANUAL",
	}
	switch doc["status"] {
	case "ERROR", "DELETED":
		if s.Fault != nil && (how != inListing || !s.Unplaced) {
			doc["fault"] = obj{"code": s.Fault.Code, "created": seconds(s.Fault.At), "message": s.Fault.Message}
		}
	case "ACTIVE", "BUILD", "REBUILD":
		doc["progress"] = 0
	}
	cl.addVersioned(doc, s, how)
	if (how == ofRebuild || how == afterwards) && cl.version < strictQueries {
		doc["addresses"] = plainly(doc["addresses"].(obj))
		return doc // below 2.75 they tell no more
	}
	cl.addExtended(doc, s)
	return doc
}

// addVersioned adds what later microversions brought to every answer.
func (cl *call) addVersioned(doc obj, s *server, how detail) {
	if cl.version >= lockShown {
		doc["locked"] = false
	}
	if cl.version >= descriptions {
		doc["description"] = s.Description
	}
	if cl.version >= serverTags {
		doc["tags"] = orEmpty(s.Tags)
	}
	if cl.version >= trustedImages {
		doc["trusted_image_certificates"] = nil
	}
	if cl.version >= lockReason {
		doc["locked_reason"] = nil
	}
	if cl.version >= hostnames {
		doc["OS-EXT-SRV-ATTR:hostname"] = s.Name
	}
	if cl.version >= groupsShown && how != inListing {
		groups := []string{}
		if s.Group != "" {
			groups = append(groups, s.Group)
		}
		doc["server_groups"] = groups
	}
	if how == ofRebuild && cl.version >= rebuildKey {
		doc["key_name"] = nullable(s.Key)
	}
	if how == ofRebuild && cl.version >= rebuildUserData {
		doc["user_data"] = nullable(s.UserData)
	}
}

// addExtended adds what extensions once told.
func (cl *call) addExtended(doc obj, s *server) {
	doc["OS-EXT-AZ:availability_zone"] = s.zone()
	doc["config_drive"] = map[bool]string{true: "True", false: ""}[s.ConfigDrive]
	doc["key_name"] = nullable(s.Key)
	doc["OS-SRV-USG:launched_at"], doc["OS-SRV-USG:terminated_at"] = micros(s.Launched), micros(s.Terminated)
	doc["OS-EXT-STS:task_state"], doc["OS-EXT-STS:vm_state"] = nullable(s.Task), s.VM
	doc["OS-EXT-STS:power_state"] = s.Power
	doc["os-extended-volumes:volumes_attached"] = []obj{}
	if groups := cl.cloud.groupsOf(s); len(groups) > 0 {
		doc["security_groups"] = groups
	}
}

// basicServer is a row of GET /servers.
func (cl *call) basicServer(s *server) obj {
	return obj{"id": s.ID, "name": s.Name, "links": cl.serverLinks(s.ID)}
}

// addresses are what Nova last heard of the ports of a server, by network.
func (c *Cloud) addresses(s *server) obj {
	doc := obj{}
	for _, n := range s.NICs {
		p := c.world.Ports[n.Port]
		if p == nil || p.DeviceID != s.ID || s.VM == vmDeleted {
			continue
		}
		name := c.networkByID(p.Network).Name
		list, _ := doc[name].([]obj)
		for _, ip := range p.FixedIPs {
			list = append(list, address(ip.Address, "fixed", p.MAC))
			if f := c.floatingIPOf(p.ID); f != nil && f.FixedIP == ip.Address {
				list = append(list, address(f.Address, "floating", p.MAC))
			}
		}
		doc[name] = list
	}
	return doc
}

// plainly leaves out what an extension once added to addresses.
func plainly(addresses obj) obj {
	doc := obj{}
	for network, list := range addresses {
		var plain []obj
		for _, a := range list.([]obj) {
			plain = append(plain, obj{"version": a["version"], "addr": a["addr"]})
		}
		doc[network] = plain
	}
	return doc
}

func address(ip, kind, mac string) obj {
	return obj{"version": 4, "addr": ip, "OS-EXT-IPS:type": kind, "OS-EXT-IPS-MAC:mac_addr": mac}
}

// groupsOf are the names of the security groups of a server's ports: none while it has no port.
func (c *Cloud) groupsOf(s *server) []obj {
	var names []obj
	for _, n := range s.NICs {
		p := c.world.Ports[n.Port]
		if p == nil || p.DeviceID != s.ID {
			continue
		}
		for _, id := range p.SGs {
			if g := c.world.SGs[id]; g != nil {
				names = append(names, obj{"name": g.Name})
			}
		}
	}
	return names
}

func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func orEmptyMap(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// onServer finds the server that a path is about.
func onServer(handle func(*call, *server) *reply) func(*call) *reply {
	return func(cl *call) *reply {
		s := cl.server(cl.value("server"))
		if s == nil {
			return cl.refuse(http.StatusNotFound, "Instance %s could not be found.", cl.value("server"))
		}
		if cl.cloud.cellDown(s) {
			return cl.inDownCell(s)
		}
		return handle(cl, s)
	}
}

func (cl *call) getServer(s *server) *reply {
	return ok(obj{"server": cl.showServer(s, byID)})
}
