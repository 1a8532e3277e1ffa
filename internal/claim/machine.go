// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

const mebibyte = 1 << 20

// machineOf is what a tenant may know of its machine; nil until something was seen.
func machineOf(s *v1alpha1.Server) *v1alpha1.ClaimedMachine {
	seen := s.Status.Observed
	if seen == nil {
		return nil
	}
	m := &v1alpha1.ClaimedMachine{PowerState: seen.PowerState}
	if vm := seen.Instance; vm != nil && vm.Exists {
		m.Model, m.Addresses = vm.Flavor, vm.Addresses
		m.CPUs = v1alpha1.CPUSummary{Cores: vm.VCPUs}
		m.Memory = resource.NewQuantity(int64(vm.MemoryMiB)*mebibyte, resource.BinarySI)
	}
	if seen.FloatingIP != nil {
		m.FloatingIP = seen.FloatingIP.Address
	}
	if h := seen.Hardware; h != nil {
		m.Manufacturer, m.Model, m.CPUs, m.Memory = h.Manufacturer, h.Model, h.CPUs, h.Memory
		for _, nic := range h.NICs {
			if nic.MAC != "" {
				m.MACs = append(m.MACs, nic.MAC)
			}
		}
		slices.Sort(m.MACs)
	}
	return m
}
