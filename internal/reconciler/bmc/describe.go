// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Describe tells how a BMC stands, from what the monitor found and the Servers that name it: conditions, and the gates that keep it from
// being ready. What other BMCs say of the same machines is not looked at. It is pure.
func Describe(bmc *v1alpha1.BMC, servers []*v1alpha1.Server) ([]lifecycle.Condition, []lifecycle.Gate) {
	standing := gates(bmc, nil)
	if missing := without(bmc, servers); len(missing) > 0 && restored(bmc) {
		standing = append([]lifecycle.Gate{awaitingServers(bmc, missing)}, standing...)
	}
	return reachability(bmc), standing
}

// ServersOf are the Servers that will be made of the hosts that were seen behind a BMC and that none of the servers is, which are those
// that name it. It is pure.
func ServersOf(bmc *v1alpha1.BMC, servers []*v1alpha1.Server) []*v1alpha1.Server {
	if restored(bmc) {
		return nil
	}
	return without(bmc, servers)
}

// without are new Servers of the hosts that none of the servers is.
func without(bmc *v1alpha1.BMC, servers []*v1alpha1.Server) []*v1alpha1.Server {
	hosts := hostsOf(bmc)
	var missing []*v1alpha1.Server
	for _, host := range hosts {
		is := func(s *v1alpha1.Server) bool { return isSystem(s.Spec.Redfish, host, len(hosts)) }
		if !slices.ContainsFunc(servers, is) {
			missing = append(missing, newServer(bmc, host, len(hosts)))
		}
	}
	return missing
}
