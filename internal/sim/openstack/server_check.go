// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
	"slices"
)

// checkReferences checks flavor, image and key.
func (cl *call) checkReferences(s *server) *reply {
	c := cl.cloud
	f := c.flavor(s.Flavor)
	if f == nil {
		return cl.refuse(http.StatusBadRequest, "Flavor %s could not be found.", s.Flavor)
	}
	if bad := cl.checkImage(s.Image, f); bad != nil {
		return bad
	}
	if s.Key != "" && c.keyOf(s.User, s.Key) == nil {
		return cl.refuse(http.StatusBadRequest, "Invalid key_name provided.")
	}
	for _, g := range s.SGs {
		if len(cl.securityGroups(g)) != 1 {
			return cl.refuse(http.StatusBadRequest, "Unable to find security_group with name or id '%s'", g)
		}
	}
	return nil
}

func (cl *call) checkImage(id string, f *Flavor) *reply {
	i := cl.cloud.image(id)
	switch {
	case i == nil:
		return cl.refuse(http.StatusBadRequest, "Can not find requested image")
	case i.Status != "active":
		return cl.refuse(http.StatusBadRequest, "Image %s is not active.", i.ID)
	case i.MinRAM > f.RAM:
		return cl.refuse(http.StatusBadRequest, "Flavor's memory is too small for requested image.")
	case i.MinDisk > f.Disk:
		return cl.refuse(http.StatusBadRequest, "Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is %d bytes, minimum size is %d bytes.",
			f.Disk<<30, i.MinDisk<<30)
	}
	return nil
}

// checkPlacement checks where the server is to run.
func (cl *call) checkPlacement(s *server) *reply {
	c := cl.cloud
	if s.Zone != "" && !slices.ContainsFunc(c.offer.zones, func(z Zone) bool { return z.Name == s.Zone && !z.Unavailable }) {
		return cl.refuse(http.StatusBadRequest, "The requested availability zone is not available")
	}
	if s.Group != "" {
		if g := c.world.Groups[s.Group]; g == nil || g.Project != s.Project {
			return cl.refuse(http.StatusBadRequest, "Instance group %s could not be found.", s.Group)
		}
	}
	return nil
}

// checkServerQuota checks quotas, that of ports too: Nova would make them.
func (cl *call) checkServerQuota(s *server) *reply {
	c := cl.cloud
	used, f := c.usage(s.Project), c.flavor(s.Flavor)
	limits := []struct {
		name           string
		limit, used, n int
	}{
		{"instances", c.quotas.Instances, used.servers, 1}, {"cores", c.quotas.Cores, used.cores, f.CPUs}, {"ram", c.quotas.RAM, used.ram, f.RAM},
	}
	for _, l := range limits {
		if l.limit >= 0 && l.used+l.n > l.limit {
			return cl.refuse(http.StatusForbidden, "Quota exceeded for %s: Requested %d, but already used %d of %d %s", l.name, l.n, l.used, l.limit, l.name)
		}
	}
	missing := 0
	for _, w := range s.Wanted {
		if w.Port == "" {
			missing++
		}
	}
	if missing > 0 && c.quotas.Ports >= 0 && c.portsOf(s.Project)+missing > c.quotas.Ports {
		return cl.refuse(http.StatusForbidden, "Maximum number of ports exceeded")
	}
	return nil
}
