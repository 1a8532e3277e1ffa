// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// Describe tells how a BMC stands, from what the monitor found: conditions, and the gates that keep it from being ready. What other
// objects say of the same machines is not looked at. It is pure.
func Describe(bmc *v1alpha1.BMC) ([]lifecycle.Condition, []lifecycle.Gate) {
	return reachability(bmc), gates(bmc, nil)
}

// ServersOf are the Servers that are made of the hosts that were seen behind a BMC, where there are none of them yet. It is pure.
func ServersOf(bmc *v1alpha1.BMC) []*v1alpha1.Server {
	hosts := hostsOf(bmc)
	servers := make([]*v1alpha1.Server, len(hosts))
	for i, host := range hosts {
		servers[i] = newServer(bmc, host, len(hosts))
	}
	return servers
}
