// SPDX-License-Identifier: Apache-2.0

package openstack

func (cl *call) getZones() *reply {
	rows := []obj{}
	for _, z := range cl.cloud.offer.zones {
		rows = append(rows, obj{"zoneName": z.Name, "zoneState": obj{"available": !z.Unavailable}, "hosts": nil})
	}
	return ok(obj{"availabilityZoneInfo": rows})
}

// used is what a project has of what quotas limit.
type used struct{ servers, cores, ram, floatingIPs int }

func (c *Cloud) usage(projectID string) used {
	var u used
	for _, s := range c.world.Servers {
		if s.Project != projectID {
			continue
		}
		f := c.flavor(s.Flavor)
		u.servers, u.cores, u.ram = u.servers+1, u.cores+f.CPUs, u.ram+f.RAM
	}
	for _, f := range c.world.FIPs {
		if f.Project == projectID {
			u.floatingIPs++
		}
	}
	return u
}

func (cl *call) getLimits() *reply {
	u, q := cl.cloud.usage(cl.project()), cl.cloud.quotas
	return ok(obj{"limits": obj{"rate": []obj{}, "absolute": obj{
		"maxTotalInstances": q.Instances, "maxTotalCores": q.Cores, "maxTotalRAMSize": q.RAM, "maxServerMeta": maxMetadata, "maxTotalKeypairs": 100,
		"maxServerGroups": 100, "maxServerGroupMembers": 10, "totalRAMUsed": u.ram, "totalCoresUsed": u.cores, "totalInstancesUsed": u.servers,
		"totalServerGroupsUsed": len(cl.cloud.world.Groups),
	}}})
}
