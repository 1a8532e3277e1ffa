// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// States of a VM, as Nova tells them in status.
const (
	stateActive      = "ACTIVE"
	stateBuild       = "BUILD"
	stateError       = "ERROR"
	stateShutoff     = "SHUTOFF"
	stateRebuild     = "REBUILD"
	stateDeleted     = "DELETED"
	stateSoftDeleted = "SOFT_DELETED"
)

// Tasks that a VM is about, as Nova tells them in task_state.
const (
	taskScheduling   = "scheduling"
	taskDeleting     = "deleting"
	taskPoweringOn   = "powering-on"
	taskPoweringOff  = "powering-off"
	taskSoftDeleting = "soft-deleting"
)

func instanceFacts(s *servers.Server) provider.InstanceFacts {
	m := marksOfServer(s)
	return provider.InstanceFacts{
		ID: s.ID, Name: s.Name, Identity: m.identity, Owner: m.owner, Claim: s.Metadata[provider.MetadataClaim],
		State: s.Status, TaskState: s.TaskState, Deleted: s.Status == stateDeleted,
		Errored: s.Status == stateError, Fault: cut(s.Fault.Message),
		LaunchedAt: s.LaunchedAt, CreatedAt: s.Created, Power: powerOf(s),
		ImageID: imageOf(s), Flavor: text(s.Flavor["original_name"]), HostID: s.HostID, VCPUs: number(s.Flavor["vcpus"]), MemoryMiB: number(s.Flavor["ram"]),
		Addresses: addressesOf(s),
	}
}

// powerOf is the power of a VM as far as Nova's state tells it. States that a person brought about (paused, suspended, shelved, rescued)
// and those on the way to another are Unknown: nothing is done for their power.
func powerOf(s *servers.Server) provider.PowerState {
	switch {
	case s.TaskState == taskPoweringOn:
		return provider.PoweringOn
	case s.TaskState == taskPoweringOff:
		return provider.PoweringOff
	case s.Status == stateShutoff:
		return provider.PowerOff
	case s.Status == stateActive, s.Status == "REBOOT", s.Status == "HARD_REBOOT", s.Status == "PASSWORD":
		if s.PowerState == servers.SHUTDOWN || s.PowerState == servers.CRASHED {
			return provider.PowerOff // the guest is off, and Nova has not put it into the state yet
		}
		return provider.PowerOn
	case s.Status == stateError && s.PowerState == servers.RUNNING:
		return provider.PowerOn
	case s.Status == stateError && s.PowerState == servers.SHUTDOWN:
		return provider.PowerOff
	default:
		return provider.PowerUnknown
	}
}

// launched says that there is a trace of a launch: Nova remembers one, or shows it.
func launched(s *servers.Server) bool {
	return !s.LaunchedAt.IsZero() || s.Status == stateActive || s.VmState == "active"
}

func imageOf(s *servers.Server) string { return text(s.Image["id"]) }

// addressesOf are the fixed and floating addresses, sorted, each once.
func addressesOf(s *servers.Server) []string {
	var out []string
	for _, network := range s.Addresses {
		list, _ := network.([]any)
		for _, item := range list {
			entry, _ := item.(map[string]any)
			if address := text(entry["addr"]); address != "" {
				out = append(out, address)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func portFacts(p *ports.Port) provider.PortFacts {
	m := marksOfPort(p)
	index, _ := indexOf(p)
	fixed := make([]string, 0, len(p.FixedIPs))
	for _, ip := range p.FixedIPs {
		fixed = append(fixed, ip.IPAddress)
	}
	slices.Sort(fixed)
	groups := slices.Clone(p.SecurityGroups)
	slices.Sort(groups)
	return provider.PortFacts{
		ID: p.ID, Identity: m.identity, Owner: m.owner, Index: index, NetworkID: p.NetworkID, DeviceID: p.DeviceID,
		FixedIPs: fixed, SecurityGroups: groups, AddressPairs: pairsOf(p),
	}
}

// pairsOf are the address pairs of a port, sorted, in the one notation that is compared: the port's own MAC is "".
func pairsOf(p *ports.Port) []provider.AddressPair {
	out := make([]provider.AddressPair, 0, len(p.AllowedAddressPairs))
	for _, pair := range p.AllowedAddressPairs {
		out = append(out, normalPair(provider.AddressPair{IP: pair.IPAddress, MAC: pair.MACAddress}, p.MACAddress))
	}
	return sortedPairs(out)
}

func normalPair(pair provider.AddressPair, own string) provider.AddressPair {
	pair.MAC = strings.ToLower(pair.MAC)
	if pair.MAC == strings.ToLower(own) {
		pair.MAC = ""
	}
	pair.IP = normalAddress(pair.IP)
	return pair
}

// normalAddress writes an address without the prefix length that says nothing, since Neutron gives back what was sent.
func normalAddress(s string) string {
	if prefix, err := netip.ParsePrefix(s); err == nil {
		if prefix.IsSingleIP() {
			return prefix.Addr().String()
		}
		return prefix.String()
	}
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.String()
	}
	return s
}

func sortedPairs(pairs []provider.AddressPair) []provider.AddressPair {
	slices.SortFunc(pairs, func(a, b provider.AddressPair) int {
		if c := strings.Compare(a.IP, b.IP); c != 0 {
			return c
		}
		return strings.Compare(a.MAC, b.MAC)
	})
	return slices.Compact(pairs)
}

func floatingIPFacts(f *floatingips.FloatingIP) provider.FloatingIPFacts {
	m := marksOfFloatingIP(f)
	return provider.FloatingIPFacts{ID: f.ID, Identity: m.identity, Owner: m.owner, Address: f.FloatingIP, PortID: f.PortID}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// number reads a number that JSON may have left as one of several types; 0 where it is none.
func number(v any) int {
	switch n := v.(type) {
	case float64:
		return int(n)
	case interface{ Int64() (int64, error) }: // json.Number
		if i, err := n.Int64(); err == nil {
			return int(i)
		}
	}
	return 0
}
