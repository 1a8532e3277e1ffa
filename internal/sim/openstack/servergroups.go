// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
)

// serverGroup is a rule about on which hosts servers may be together.
type serverGroup struct {
	ID, Name, Policy string
	Project, User    string
}

// members are the servers of a group.
func (c *Cloud) members(g *serverGroup) []string {
	ids := []string{}
	for _, s := range c.world.Servers {
		if s.Group == g.ID {
			ids = append(ids, s.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (cl *call) showGroup(g *serverGroup) obj {
	doc := obj{"id": g.ID, "name": g.Name, "members": cl.cloud.members(g)}
	if cl.version >= groupPolicy {
		doc["policy"], doc["rules"] = g.Policy, obj{}
	} else {
		doc["policies"], doc["metadata"] = []string{g.Policy}, obj{}
	}
	if cl.version >= groupOwners {
		doc["project_id"], doc["user_id"] = g.Project, g.User
	}
	return doc
}

func (cl *call) getGroups() *reply {
	groups := slices.Collect(maps.Values(cl.cloud.world.Groups))
	slices.SortFunc(groups, func(a, b *serverGroup) int { return cmp.Compare(a.ID, b.ID) })
	rows := []obj{}
	for _, g := range groups {
		if g.Project == cl.project() {
			rows = append(rows, cl.showGroup(g))
		}
	}
	return ok(obj{"server_groups": rows})
}

func (cl *call) createGroup() *reply {
	var in struct {
		Group struct {
			Name, Policy string
			Policies     []string
		} `json:"server_group"`
	}
	if json.Unmarshal(cl.body, &in) != nil || in.Group.Name == "" {
		return cl.schema("server_group", "'name' is a required property")
	}
	policy := in.Group.Policy
	if cl.version < groupPolicy && len(in.Group.Policies) == 1 {
		policy = in.Group.Policies[0]
	}
	if !slices.Contains([]string{"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"}, policy) {
		return cl.schema("policy", "'%s' is not one of ['anti-affinity', 'affinity', 'soft-anti-affinity', 'soft-affinity']", policy)
	}
	g := &serverGroup{ID: newUUID(), Name: in.Group.Name, Policy: policy, Project: cl.project(), User: cl.token.Account.ID}
	cl.cloud.world.Groups[g.ID] = g
	cl.cloud.markDirty()
	return ok(obj{"server_group": cl.showGroup(g)})
}

func onServerGroup(handle func(*call, *serverGroup) *reply) func(*call) *reply {
	return func(cl *call) *reply {
		g := cl.cloud.world.Groups[cl.value("group")]
		if g == nil || g.Project != cl.project() {
			return cl.refuse(http.StatusNotFound, "Instance group %s could not be found.", cl.value("group"))
		}
		return handle(cl, g)
	}
}

func (cl *call) getGroup(g *serverGroup) *reply { return ok(obj{"server_group": cl.showGroup(g)}) }

func (cl *call) deleteGroup(g *serverGroup) *reply {
	delete(cl.cloud.world.Groups, g.ID)
	cl.cloud.markDirty()
	return noContent()
}
