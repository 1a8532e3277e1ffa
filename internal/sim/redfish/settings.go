// SPDX-License-Identifier: Apache-2.0

package redfish

import "net/http"

// getPart shows what hangs from a system under a name that models choose.
func (c *call) getPart(m *Machine) *reply {
	switch part := c.value("part"); {
	case part == m.bmc.profile.Settings:
		return c.show(m.settingsDoc())
	case c.isMediaPart(part):
		return c.showCollection("VirtualMediaCollection", "Virtual Media", c.bmc.profile.Media.ids())
	}
	return notFound(c.path)
}

func (c *call) isMediaPart(part string) bool {
	n := &c.bmc.profile.Media
	return n.AtSystem && part == n.collection()
}

// patchPart changes the pending settings, the only part that takes it.
func (c *call) patchPart(m *Machine) *reply {
	part := c.value("part")
	switch {
	case part == m.bmc.profile.Settings:
		return c.patchSettings(m)
	case c.isMediaPart(part):
		return redfishError(http.StatusMethodNotAllowed, "OperationNotAllowed", "The HTTP method is not allowed on this resource.")
	}
	return notFound(c.path)
}

// settingsDoc is the resource of settings that wait for a reset.
func (m *Machine) settingsDoc() obj {
	p := &m.bmc.profile
	doc := obj{"@odata.type": "#ComputerSystem.v1_22_0.ComputerSystem", "Id": p.Settings, "Name": "Pending settings", "SystemType": "Physical"}
	if p.BootAtSettings {
		doc["Boot"] = m.overrideDoc()
	}
	return doc
}

// patchSettings changes settings that wait for a reset.
func (c *call) patchSettings(m *Machine) *reply {
	if bad := c.precondition(m.settingsDoc); bad != nil {
		return bad
	}
	d, bad := c.readDraft(m, func(d *draft, name string) bool { return name == "Boot" && m.bmc.profile.BootAtSettings })
	if bad != nil {
		return bad
	}
	return c.carryOut(d, func() *reply { return c.show(m.settingsDoc()) })
}
