// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"slices"
	"time"
)

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
	c.forget(s.ID)
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
	c.forget(p.DeviceID)
	p.DeviceID, p.DeviceOwner, p.Bound = "", "", false
	c.bump(&p.standard)
}
