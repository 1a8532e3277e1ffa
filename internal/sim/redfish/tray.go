// SPDX-License-Identifier: Apache-2.0

package redfish

import "net/http"

// getTray shows a system that is no machine: it can be looked at and nothing else.
func (c *call) getTray() *reply {
	id := c.value("system")
	host := c.bmc.machines[0]
	if c.bmc.behaviour.TraysNeedPower && host.state.Power != PowerOn {
		return redfishError(http.StatusServiceUnavailable, "ResourceInStandby", "The request could not be performed because the resource is in standby.")
	}
	return c.show(obj{
		"@odata.type": "#ComputerSystem.v1_22_0.ComputerSystem", "Id": id, "Name": id, "SystemType": "Physical",
		"Manufacturer": host.spec.Manufacturer, "UUID": c.bmc.profile.UUIDs.of("tray", c.bmc.spec.Name+"/"+id),
		"PowerState": host.shownPower(), "Status": statusOK(),
		"Links": obj{"Chassis": []obj{link(host.chassisPath())}, "ManagedBy": []obj{link(c.bmc.managerPath())}},
	})
}
