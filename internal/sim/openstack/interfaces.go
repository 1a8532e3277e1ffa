// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"encoding/json"
	"net/http"
	"slices"
)

func (cl *call) showInterface(p *port) obj {
	ips := []obj{}
	for _, ip := range p.FixedIPs {
		ips = append(ips, obj{"subnet_id": ip.Subnet, "ip_address": ip.Address})
	}
	doc := obj{"net_id": p.Network, "port_id": p.ID, "mac_addr": p.MAC, "port_state": p.status(), "fixed_ips": ips}
	if cl.version >= 70 {
		doc["tag"] = nil
	}
	return doc
}

func (cl *call) getInterfaces(s *server) *reply {
	rows := []obj{}
	for _, n := range s.NICs {
		if p := cl.cloud.world.Ports[n.Port]; p != nil && p.DeviceID == s.ID {
			rows = append(rows, cl.showInterface(p))
		}
	}
	return ok(obj{"interfaceAttachments": rows})
}

func (cl *call) getInterface(s *server) *reply {
	p := cl.cloud.world.Ports[cl.value("port")]
	if p == nil || !s.hasPort(p.ID) {
		return cl.refuse(http.StatusNotFound, "Instance %s does not have a port with id %s", s.ID, cl.value("port"))
	}
	return ok(obj{"interfaceAttachment": cl.showInterface(p)})
}

// attachInterface gives a server a port, or a new one on a network.
func (cl *call) attachInterface(s *server) *reply {
	var in struct {
		Attachment struct {
			PortID   string    `json:"port_id"`
			NetID    string    `json:"net_id"`
			FixedIPs []fixedIP `json:"fixed_ips"`
		} `json:"interfaceAttachment"`
	}
	if json.Unmarshal(cl.body, &in) != nil || (in.Attachment.PortID == "") == (in.Attachment.NetID == "") {
		return cl.refuse(http.StatusBadRequest, "Must input network_id when request IP address, or a port_id")
	}
	if bad := cl.ready(s, "attach_interface", vmActive, vmStopped); bad != nil {
		return bad
	}
	w := wantedNIC{Port: in.Attachment.PortID, Network: in.Attachment.NetID}
	if len(in.Attachment.FixedIPs) > 0 {
		w.FixedIP = in.Attachment.FixedIPs[0].Address
	}
	if bad := cl.checkNIC(w); bad != nil {
		return bad
	}
	p := cl.cloud.attach(s, w)
	if p == nil {
		return cl.refuse(http.StatusBadRequest, "Failed to allocate the network(s), not rescheduling.")
	}
	cl.changed(s, "port "+p.ID+" attached")
	return ok(obj{"interfaceAttachment": cl.showInterface(p)})
}

// attach gives a server a port at once; nil where none could be made.
func (c *Cloud) attach(s *server, w wantedNIC) *port {
	p := c.world.Ports[w.Port]
	if w.Port == "" {
		p = c.makePort(s, w)
	}
	if p == nil {
		return nil
	}
	s.NICs = append(slices.Clone(s.NICs), nic{Port: p.ID, Made: w.Port == ""})
	c.bind(p, s)
	return p
}

// detachInterface takes a port away. One that Nova made is deleted, another is free again. A port that the server
// does not have is accepted too: that is found out only later, as in the real service.
func (cl *call) detachInterface(s *server) *reply {
	if bad := cl.ready(s, "detach_interface", vmActive, vmStopped); bad != nil {
		return bad
	}
	cl.cloud.detach(s, cl.value("port"))
	cl.changed(s, "port "+cl.value("port")+" detached")
	return accepted()
}

func (c *Cloud) detach(s *server, portID string) {
	i := slices.IndexFunc(s.NICs, func(n nic) bool { return n.Port == portID })
	if i < 0 {
		return
	}
	made := s.NICs[i].Made
	s.NICs = slices.Delete(slices.Clone(s.NICs), i, i+1)
	switch p := c.world.Ports[portID]; {
	case p == nil:
	case made:
		c.dropPort(p)
	default:
		c.unbind(p)
	}
	c.touch(s, c.now())
}
