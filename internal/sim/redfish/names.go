// SPDX-License-Identifier: Apache-2.0

package redfish

// What things of a BMC are called, by its profile.

func (b *BMC) managerID() string { return orElse(b.profile.ManagerID, "BMC") }

func (b *BMC) managerPath() string { return managersPath + "/" + b.managerID() }

func (m *Machine) path() string { return systemsPath + "/" + m.id }

// chassisID is the Id of a machine's chassis.
func (m *Machine) chassisID() string {
	if m.bmc.machines[0] == m {
		return orElse(m.bmc.profile.ChassisID, m.id)
	}
	return m.id
}

func (m *Machine) chassisPath() string { return chassisPath + "/" + m.chassisID() }

func (b *BMC) machineIDs() []string {
	ids := make([]string, 0, len(b.machines))
	for _, m := range b.machines {
		ids = append(ids, m.id)
	}
	return ids
}

func (b *BMC) chassisIDs() []string {
	ids := make([]string, 0, len(b.machines))
	for _, m := range b.machines {
		ids = append(ids, m.chassisID())
	}
	return ids
}

func (b *BMC) machineIn(chassis string) *Machine {
	for _, m := range b.machines {
		if m.chassisID() == chassis {
			return m
		}
	}
	return nil
}

// tell sets a member that is told only where it has a value.
func tell(doc obj, member, value string) {
	if value != "" {
		doc[member] = value
	}
}
