// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"slices"
)

// The levers: what other people and the machine room do to the cloud, past every quota and check.

// lever does something to a server by hand.
func (c *Cloud) lever(id string, do func(*server) error) error {
	defer c.enter()()
	s := c.world.Servers[id]
	if s == nil {
		return fmt.Errorf("openstack simulator: no server %q", id)
	}
	c.cause = cause{by: byHand}
	defer func() { c.cause = cause{} }()
	if err := do(s); err != nil {
		return err
	}
	c.touch(s, c.now())
	return nil
}

// FailServer puts a server into ERROR, as an operator's reset-state does: without a fault text unless there is a
// message. It goes on running.
func (c *Cloud) FailServer(id, message string) error {
	return c.lever(id, func(s *server) error {
		c.agenda.Cancel(s.next)
		s.VM, s.Task, s.Fault = vmError, taskNone, nil
		if message != "" {
			s.Fault = &serverFault{Code: 500, Message: message, At: c.now()}
		}
		e := s.event()
		e.Detail = message
		c.record(EventServerErrored, e)
		return nil
	})
}

// HealServer makes a server ACTIVE again that is in ERROR, as an operator's reset-state does.
func (c *Cloud) HealServer(id string) error {
	return c.lever(id, func(s *server) error {
		s.VM, s.Task, s.Fault, s.Power = vmActive, taskNone, nil, powerRunning
		return nil
	})
}

// StopGuest has the system in a server switch itself off: SHUTOFF, without an API call.
func (c *Cloud) StopGuest(id string) error {
	return c.lever(id, func(s *server) error {
		if s.VM != vmActive || s.Task != taskNone {
			return fmt.Errorf("openstack simulator: server %s is %s %s, not running", s.Name, s.VM, s.Task)
		}
		s.VM, s.Power = vmStopped, powerShutdown
		c.record(EventServerPower, s.event())
		return nil
	})
}

// RemoveServer has somebody else delete a server, at once. Its row stays for changes-since.
func (c *Cloud) RemoveServer(id string) error {
	return c.lever(id, func(s *server) error {
		c.gone(s, c.now())
		return nil
	})
}

// LoseServer has a server vanish without a trace: GET says 404 and no listing mentions it. Its ports stay bound.
func (c *Cloud) LoseServer(id string) error {
	return c.lever(id, func(s *server) error {
		c.agenda.Cancel(s.next)
		c.record(EventServerGone, s.event())
		delete(c.world.Servers, s.ID)
		return nil
	})
}

// HideServer leaves a server out of listings until [Cloud.ShowServer]; GET by
// id finds it all the while.
func (c *Cloud) HideServer(id string) error {
	return c.lever(id, func(s *server) error {
		s.Hidden = true
		return nil
	})
}

// ShowServer puts a row that was hidden back into listings.
func (c *Cloud) ShowServer(id string) error {
	return c.lever(id, func(s *server) error {
		s.Hidden = false
		return nil
	})
}

// CellDown has the part of the cloud that holds these servers stop answering: below 2.69 listings leave them out
// without a word and a GET by id is 500; from 2.69 both tell their status as UNKNOWN. Other requests about them are
// 500. It replaces what was down before; without ids everything is up.
func (c *Cloud) CellDown(ids ...string) {
	defer c.enter()()
	clear(c.made.down)
	for _, id := range ids {
		c.made.down[id] = true
	}
}

// DetachPort has somebody else take a port away from its server.
func (c *Cloud) DetachPort(serverID, port string) error {
	return c.lever(serverID, func(s *server) error {
		if !s.hasPort(port) {
			return fmt.Errorf("openstack simulator: server %s has no port %q", s.Name, port)
		}
		c.detach(s, port)
		return nil
	})
}

// AttachPort has somebody else give a server a new port on a network, and returns its id.
func (c *Cloud) AttachPort(serverID, networkName string) (id string, err error) {
	network := c.NetworkID(networkName)
	if network == "" {
		return "", fmt.Errorf("openstack simulator: no network %q", networkName)
	}
	err = c.lever(serverID, func(s *server) error {
		p := c.attach(s, wantedNIC{Network: network})
		if p == nil {
			return fmt.Errorf("openstack simulator: network %q has no address left", networkName)
		}
		id = p.ID
		return nil
	})
	return id, err
}

// byHands does something to the world that is not about a server.
func (c *Cloud) byHands(do func() error) error {
	defer c.enter()()
	c.cause = cause{by: byHand}
	defer func() { c.cause = cause{} }()
	defer c.markDirty()
	return do()
}

// AddPort has somebody else make a port on a network, and returns its id.
func (c *Cloud) AddPort(project, networkName, name, description string) (id string, err error) {
	network := c.NetworkID(networkName)
	err = c.byHands(func() error {
		n := c.networkByID(network)
		if n == nil {
			return fmt.Errorf("openstack simulator: no network %q", networkName)
		}
		p := c.newPort(plainID("project", project), n)
		p.Name, p.Description = name, description
		if bad := c.allocate(p, n, nil); bad != nil {
			return fmt.Errorf("openstack simulator: network %q has no address left", networkName)
		}
		c.world.Ports[p.ID] = p
		c.record(EventPortCreated, p.event())
		id = p.ID
		return nil
	})
	return id, err
}

// ChangePort has somebody else set the security groups (ids) of a port.
func (c *Cloud) ChangePort(id string, securityGroups ...string) error {
	return c.byHands(func() error {
		p := c.world.Ports[id]
		if p == nil {
			return fmt.Errorf("openstack simulator: no port %q", id)
		}
		p.SGs = sortedSet(securityGroups)
		c.forget(p.DeviceID)
		c.bump(&p.standard)
		c.record(EventPortChanged, p.event())
		return nil
	})
}

// RemovePort has somebody else delete a port.
func (c *Cloud) RemovePort(id string) error {
	return c.byHands(func() error {
		p := c.world.Ports[id]
		if p == nil {
			return fmt.Errorf("openstack simulator: no port %q", id)
		}
		c.dropPort(p)
		return nil
	})
}

// MoveFloatingIP has somebody else give a floating IP to a port, or, with an empty port, take it away.
func (c *Cloud) MoveFloatingIP(id, port string) error {
	return c.byHands(func() error {
		f, p := c.world.FIPs[id], c.world.Ports[port]
		if f == nil || p == nil && port != "" {
			return fmt.Errorf("openstack simulator: no floating IP %q or no port %q", id, port)
		}
		if other := c.floatingIPOf(port); other != nil && other != f {
			return fmt.Errorf("openstack simulator: port %q has floating IP %q", port, other.ID)
		}
		fixed := ""
		if p != nil && len(p.FixedIPs) > 0 {
			fixed = p.FixedIPs[0].Address
		}
		c.associate(f, p, fixed)
		c.record(EventFloatingIPChanged, f.event())
		return nil
	})
}

// AddImage puts an image on offer, besides others of its name, and returns its id.
func (c *Cloud) AddImage(i Image) (id string) {
	defer c.enter()()
	i.ID, i.Status = orElse(i.ID, newUUID()), orElse(i.Status, "active")
	c.offer.images = append(c.offer.images, &i)
	return i.ID
}

// RemoveImage takes an image off. It reports whether there was one.
func (c *Cloud) RemoveImage(id string) bool {
	defer c.enter()()
	before := len(c.offer.images)
	c.offer.images = slices.DeleteFunc(c.offer.images, func(i *Image) bool { return i.ID == id })
	return len(c.offer.images) < before
}
