// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"slices"
	"strconv"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// network brings ports and floating IP to the spec, where they differ: a VM whose network says what is wanted costs the cloud nothing.
var network = rules.Named("Network", steps{
	{Name: "PortMissing", When: func(s *state) bool { return s.missingPort() >= 0 }, Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonPortMissing, "the port for spec.openstack.networks["+strconv.Itoa(s.missingPort())+"] is not at the cloud any more: it was deleted by somebody else, and a VM that runs gets no other by itself")
	}},
	{Name: "UpdatePorts", When: (*state).portsDiffer, Then: func(s *state) answer {
		a := s.act(v1alpha1.ReasonNetworkUpdating, "bring the ports' security groups and address pairs to the spec", lifecycle.OpUpdatePorts, "", lifecycle.VirtualEffect{
			Spec: provider.InstanceSpec{Ports: s.ports()},
		})
		return s.recordingOnce(a, s.Ledger.Network == nil || s.Ledger.Network.Hash != s.networkHash())
	}},
	{Name: "ReleaseFloatingIP", When: (*state).floatingIPUnwanted, Then: func(s *state) answer {
		return s.act(v1alpha1.ReasonNetworkUpdating, "release the floating IP that the spec does not ask for any more", lifecycle.OpReleaseFloatingIP, "", lifecycle.VirtualEffect{}).
			Recording(lifecycle.Patch{Ledger: ledger.Entries{}.Network(s.networkWith(func(n *ledger.Network) { n.FloatingIP = "" }))})
	}},
	{Name: "AttachFloatingIP", When: (*state).floatingIPDiffers, Then: func(s *state) answer {
		a := s.act(v1alpha1.ReasonNetworkUpdating, "give the VM its floating IP", lifecycle.OpAttachFloatingIP, "", lifecycle.VirtualEffect{Network: selector(s.openstack.FloatingIP.Network)})
		return s.recordingOnce(a, s.floatingIPKept() != s.floatingIPWanted())
	}},
})

// recordingOnce asks for a record where there is something to record: what is asked for again, because a picture is late or somebody
// else changed it, is paced like any effect.
func (s *state) recordingOnce(a answer, differs bool) answer {
	if differs {
		a = a.Recording(lifecycle.Patch{})
	}
	return a
}

// ports are what the VM is to have.
func (s *state) ports() []provider.PortSpec {
	out := make([]provider.PortSpec, len(s.openstack.Networks))
	for i, n := range s.openstack.Networks {
		out[i] = provider.PortSpec{Network: selector(n.Network), FixedIP: n.FixedIP, SecurityGroups: groups(n), AddressPairs: pairs(n)}
	}
	return out
}

func groups(n v1alpha1.NetworkAttachment) []provider.Selector {
	if n.SecurityGroups == nil {
		return nil
	}
	out := make([]provider.Selector, len(*n.SecurityGroups))
	for i, g := range *n.SecurityGroups {
		out[i] = selector(g)
	}
	return out
}

func pairs(n v1alpha1.NetworkAttachment) []provider.AddressPair {
	if n.AllowedAddressPairs == nil {
		return nil
	}
	out := make([]provider.AddressPair, len(*n.AllowedAddressPairs))
	for i, p := range *n.AllowedAddressPairs {
		out[i] = provider.AddressPair{IP: p.IPAddress, MAC: p.MACAddress}
	}
	return out
}

// mutable is the part of a port that may be edited.
type mutable struct {
	Groups *[]v1alpha1.ResourceSelector `json:"groups,omitempty"`
	Pairs  *[]v1alpha1.AddressPair      `json:"pairs,omitempty"`
}

// networkHash tells one mutable part of the networks from another; "" where nothing of it is asked for.
func (s *state) networkHash() string { return networkHash(s.openstack.Networks) }

func networkHash(networks []v1alpha1.NetworkAttachment) string {
	asked := false
	parts := make([]mutable, len(networks))
	for i, n := range networks {
		parts[i] = mutable{Groups: n.SecurityGroups, Pairs: n.AllowedAddressPairs}
		asked = asked || n.SecurityGroups != nil || n.AllowedAddressPairs != nil
	}
	if !asked {
		return ""
	}
	return hashOf(parts)
}

// portsDiffer says that the ports were not yet brought to this spec, or that the cloud shows something else since.
func (s *state) portsDiffer() bool {
	hash := s.networkHash()
	if hash == "" {
		return false
	}
	if s.Ledger.Network == nil || s.Ledger.Network.Hash != hash {
		return true
	}
	for _, port := range s.Facts.Ports {
		if i := int(port.Index); i >= 0 && i < len(s.openstack.Networks) && s.drifted(i, port) {
			return true
		}
	}
	return false
}

// drifted compares what is asked for with what is seen. What is left alone never differs.
func (s *state) drifted(i int, port v1alpha1.ObservedPort) bool {
	if kept := s.Ledger.Network.Groups; i < len(kept) && kept[i] != nil && !sameSet(kept[i], port.SecurityGroups) {
		return true
	}
	asked := s.openstack.Networks[i].AllowedAddressPairs
	if asked == nil {
		return false
	}
	wanted := make([]string, len(*asked))
	for j, p := range *asked {
		wanted[j] = PairText(p.IPAddress, p.MACAddress)
	}
	return !sameSet(wanted, port.AllowedAddressPairs)
}

// PairText is an address pair as status.observed tells it: the address, and the MAC address where it is not the port's own.
func PairText(ip, mac string) string {
	if mac == "" {
		return ip
	}
	return ip + " " + mac
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// missingPort is the index of a port that is not seen although others of this VM are; -1 for none. The monitor asks for a port that is
// not listed by its id, so what is missing in a picture is missing at the cloud.
func (s *state) missingPort() int {
	if len(s.Facts.Ports) == 0 {
		return -1
	}
	for i := range s.openstack.Networks {
		if !slices.ContainsFunc(s.Facts.Ports, func(p v1alpha1.ObservedPort) bool { return int(p.Index) == i }) {
			return i
		}
	}
	return -1
}

// floatingIPWanted is the network that the floating IP is to come from; "" for none.
func (s *state) floatingIPWanted() string {
	if s.openstack.FloatingIP == nil {
		return ""
	}
	return s.openstack.FloatingIP.Network.String()
}

// floatingIPKept is the network that our floating IP is remembered to come from; "" for none.
func (s *state) floatingIPKept() string {
	if s.Ledger.Network == nil {
		return ""
	}
	return s.Ledger.Network.FloatingIP
}

// floatingIPUnwanted says that the floating IP that we remember is not asked for any more, or from another network. One that we do not
// remember is left alone until the server is deleted: what an older memory does not know must not be taken away (I9).
func (s *state) floatingIPUnwanted() bool {
	return s.floatingIPKept() != "" && s.floatingIPKept() != s.floatingIPWanted()
}

// floatingIPDiffers says that the VM is to have a floating IP, and has none, or not on its first port.
func (s *state) floatingIPDiffers() bool {
	if s.floatingIPWanted() == "" {
		return false
	}
	if s.floatingIPKept() != s.floatingIPWanted() || s.Facts.FloatingIP == nil {
		return true
	}
	for _, port := range s.Facts.Ports {
		if port.Index == 0 {
			return s.Facts.FloatingIP.PortID != port.ID
		}
	}
	return s.Facts.FloatingIP.PortID == ""
}

// networkWith is what is remembered of the network, with a change.
func (s *state) networkWith(change func(*ledger.Network)) *ledger.Network {
	n := ledger.Network{}
	if s.Ledger.Network != nil {
		n = *s.Ledger.Network
	}
	change(&n)
	return &n
}
