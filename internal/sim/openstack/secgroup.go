// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
	"slices"
)

// securityGroup is a security group. Its rules are what Neutron gives every new one; they filter nothing here.
type securityGroup struct {
	standard
}

func (g *securityGroup) show(*call) obj {
	doc := g.doc()
	doc["name"], doc["stateful"], doc["shared"] = g.Name, true, false
	rules := []obj{g.rule("IPv4", "egress"), g.rule("IPv6", "egress")}
	if g.Name == "default" {
		rules = append(rules, g.rule("IPv4", "ingress"), g.rule("IPv6", "ingress"))
	}
	doc["security_group_rules"] = rules
	return doc
}

func (g *securityGroup) rule(ethertype, direction string) obj {
	own := standard{ID: namedUUID("rule", g.ID+ethertype+direction), Project: g.Project, Created: g.Created, Updated: g.Created}
	doc := own.doc()
	for key, value := range (obj{
		"security_group_id": g.ID, "ethertype": ethertype, "direction": direction, "protocol": nil, "port_range_min": nil, "port_range_max": nil,
		"remote_ip_prefix": nil, "remote_address_group_id": nil, "normalized_cidr": nil, "remote_group_id": nil, "description": nil, "standard_attr_id": 1,
	}) {
		doc[key] = value
	}
	if direction == "ingress" {
		doc["remote_group_id"] = g.ID
	}
	return doc
}

// defaultGroup is the project's group "default", made when it is first needed.
func (c *Cloud) defaultGroup(projectID string) *securityGroup {
	id := namedUUID("security-group", projectID)
	g := c.world.SGs[id]
	if g == nil {
		g = &securityGroup{standard{ID: id, Name: "default", Project: projectID, Description: "Default security group", Revision: 1, Created: c.now(), Updated: c.now()}}
		c.world.SGs[id] = g
		c.markDirty()
	}
	return g
}

// groups are the project's security groups.
func (cl *call) groups() []*securityGroup {
	all := []*securityGroup{cl.cloud.defaultGroup(cl.project())}
	for _, g := range cl.cloud.world.SGs {
		if g.Project == cl.project() && g != all[0] {
			all = append(all, g)
		}
	}
	return all
}

// securityGroups are those of that id or name.
func (cl *call) securityGroups(nameOrID string) []*securityGroup {
	return slices.DeleteFunc(cl.groups(), func(g *securityGroup) bool { return g.ID != nameOrID && g.Name != nameOrID })
}

// groupIDs finds the ids of groups given by name or id, in order.
func (c *Cloud) groupIDs(projectID string, namesOrIDs []string) []string {
	var ids []string
	for _, wanted := range namesOrIDs {
		for _, g := range c.world.SGs {
			if g.Project == projectID && (g.ID == wanted || g.Name == wanted) {
				ids = append(ids, g.ID)
			}
		}
	}
	return sortedSet(ids)
}

func (cl *call) getSecurityGroups() *reply { return list(cl, "security_groups", cl.groups()) }

// onGroup finds the security group that a path is about.
func onGroup(handle func(*call, *securityGroup) *reply) func(*call) *reply {
	return func(cl *call) *reply {
		g := find(cl.groups(), func(g *securityGroup) bool { return g.ID == cl.value("group") })
		if g == nil {
			return neutronError(http.StatusNotFound, "SecurityGroupNotFound", "Security group %s does not exist", cl.value("group"))
		}
		return handle(cl, g)
	}
}

func (cl *call) getSecurityGroup(g *securityGroup) *reply {
	return ok(obj{"security_group": cl.fields(g.show(cl))})
}

func (cl *call) createSecurityGroup() *reply {
	var in struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Stateful    *bool  `json:"stateful"`
		TenantID    string `json:"tenant_id"`
		ProjectID   string `json:"project_id"`
	}
	if bad := readNetwork(cl, "security_group", &in); bad != nil {
		return bad
	}
	c := cl.cloud
	switch {
	case in.Name == "default":
		return neutronError(http.StatusConflict, "SecurityGroupDefaultAlreadyExists", "Default security group already exists.")
	case c.quotas.SecurityGroups >= 0 && len(cl.groups()) >= c.quotas.SecurityGroups:
		return overQuota("security_group")
	}
	g := &securityGroup{standard{ID: newUUID(), Name: in.Name, Project: cl.project(), Description: in.Description, Revision: 1, Created: c.now(), Updated: c.now()}}
	c.world.SGs[g.ID] = g
	c.markDirty()
	return newReply(http.StatusCreated, obj{"security_group": g.show(cl)})
}

func (cl *call) deleteSecurityGroup(g *securityGroup) *reply {
	c := cl.cloud
	for _, p := range c.world.Ports {
		if slices.Contains(p.SGs, g.ID) {
			return neutronError(http.StatusConflict, "SecurityGroupInUse", "Security Group %s in use.", g.ID)
		}
	}
	if g.Name == "default" {
		return neutronError(http.StatusConflict, "SecurityGroupCannotRemoveDefault", "Insufficient rights for removing default security group.")
	}
	delete(c.world.SGs, g.ID)
	c.markDirty()
	return noContent()
}
