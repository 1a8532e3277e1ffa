// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/http"
	"net/netip"
	"strings"
)

// allocate gives a port the addresses that are wanted, or any one.
func (c *Cloud) allocate(p *port, n *netRecord, wanted []fixedIP) *reply {
	if len(wanted) == 0 {
		wanted = []fixedIP{{}}
	}
	var got []fixedIP
	for _, w := range wanted {
		a, bad := n.take(w)
		if bad != nil {
			for _, ip := range got {
				delete(n.used, netip.MustParseAddr(ip.Address))
			}
			return bad
		}
		got = append(got, fixedIP{Subnet: n.SubnetID, Address: a.String()})
	}
	p.FixedIPs = got
	return nil
}

// take allocates one address.
func (n *netRecord) take(w fixedIP) (netip.Addr, *reply) {
	if w.Subnet != "" && w.Subnet != n.SubnetID {
		return netip.Addr{}, neutronError(http.StatusBadRequest, "InvalidInput",
			"Invalid input for operation: Failed to create port on network %s, because fixed_ips included invalid subnet %s.", n.ID, w.Subnet)
	}
	if w.Address == "" {
		a, free := n.takeFree()
		if !free {
			return a, neutronError(http.StatusConflict, "IpAddressGenerationFailure", "No more IP addresses available on network %s.", n.ID)
		}
		return a, nil
	}
	a, err := netip.ParseAddr(strings.TrimSpace(w.Address))
	switch {
	case err != nil:
		return a, neutronError(http.StatusBadRequest, "HTTPBadRequest", "Invalid input for fixed_ips. Reason: '%s' is not a valid IP address.", w.Address)
	case !n.Prefix.Contains(a):
		return a, neutronError(http.StatusBadRequest, "InvalidIpForNetwork", "IP address %s is not a valid IP for any of the subnets on the specified network.", a)
	case n.used[a]:
		return a, neutronError(http.StatusConflict, "IpAddressAlreadyAllocated", "IP address %s already allocated in subnet %s", a, n.SubnetID)
	}
	n.used[a] = true
	return a, nil
}
