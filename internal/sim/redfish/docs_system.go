// SPDX-License-Identifier: Apache-2.0

package redfish

import "strings"

func (c *call) getSystems() *reply {
	return c.showCollection("ComputerSystemCollection", "Computer System Collection", c.bmc.machineIDs())
}

func (c *call) getSystem(m *Machine) *reply { return c.show(m.document()) }

// shownPower is the power state as the BMC tells it.
func (m *Machine) shownPower() PowerState {
	if m.bmc.blank() {
		return PowerOff
	}
	if m.bmc.behaviour.HideTransitions {
		was := map[PowerState]PowerState{PoweringOn: PowerOff, PoweringOff: PowerOn}
		if old, moving := was[m.state.Power]; moving {
			return old
		}
	}
	return m.state.Power
}

// document is the ComputerSystem resource, before the profile's last word.
func (m *Machine) document() obj {
	path := systemsPath + "/" + m.id
	s := &m.state
	doc := obj{
		"@odata.id": path, "@odata.type": "#ComputerSystem.v1_22_0.ComputerSystem", "Id": m.id, "Name": m.spec.Name, "SystemType": "Physical",
		"Manufacturer": m.spec.Manufacturer, "Model": m.spec.Model, "SerialNumber": m.spec.SerialNumber, "SKU": m.spec.SKU,
		"AssetTag": s.AssetTag, "BiosVersion": m.spec.BIOSVersion, "PowerState": m.shownPower(), "PowerRestorePolicy": s.Restore,
		"IndicatorLED": s.LED, "LocationIndicatorActive": s.LED != "Off", "Status": statusOK(),
		"Boot": m.bootDoc(), "BootProgress": m.progressDoc(),
		"ProcessorSummary": m.processorSummary(), "MemorySummary": m.memorySummary(),
		"Processors": link(path + "/Processors"), "Memory": link(path + "/Memory"), "Storage": link(path + "/Storage"),
		"EthernetInterfaces": link(path + "/EthernetInterfaces"), "VirtualMedia": link(path + "/VirtualMedia"),
		"Links": obj{
			"Chassis":   []obj{link(root + "/Chassis/" + m.id)},
			"ManagedBy": []obj{link(root + "/Managers/" + managerID)},
		},
		"Actions": obj{"#ComputerSystem.Reset": m.resetAction(path)},
	}
	if m.spec.UUID != "" {
		doc["UUID"] = m.spec.UUID
	}
	if !s.ResetAt.IsZero() {
		doc["LastResetTime"] = m.bmc.time(s.ResetAt)
	}
	return doc
}

func (m *Machine) resetAction(path string) obj {
	action := obj{"target": path + "/Actions/ComputerSystem.Reset"}
	if m.bmc.profile.ActionInfo {
		action["@Redfish.ActionInfo"] = path + "/ResetActionInfo"
	} else {
		action["ResetType@Redfish.AllowableValues"] = m.bmc.profile.ResetTypes
	}
	return action
}

func (c *call) getResetActionInfo(*Machine) *reply {
	if !c.bmc.profile.ActionInfo {
		return notFound(c.path)
	}
	return c.show(obj{
		"@odata.type": "#ActionInfo.v1_4_2.ActionInfo", "Id": "ResetActionInfo", "Name": "Reset Action Info",
		"Parameters": []obj{{"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": c.bmc.profile.ResetTypes}},
	})
}

func (m *Machine) bootDoc() obj {
	p, o := &m.bmc.profile, m.state.Override
	doc := obj{
		"BootSourceOverrideEnabled": o.Enabled, "BootSourceOverrideEnabled@Redfish.AllowableValues": p.BootEnabled,
		"BootSourceOverrideTarget": o.Target, "BootSourceOverrideTarget@Redfish.AllowableValues": p.BootTargets,
		"BootSourceOverrideMode": o.Mode, "BootSourceOverrideMode@Redfish.AllowableValues": p.BootModes,
	}
	if p.hasTarget(targetUEFIHTTP) {
		doc["HttpBootUri"] = nil
		if o.URI != "" {
			doc["HttpBootUri"] = o.URI
		}
	}
	return doc
}

func (m *Machine) progressDoc() obj {
	if m.bmc.blank() {
		return obj{"LastState": progressNone}
	}
	doc := obj{"LastState": m.state.Progress}
	if !m.state.ProgressAt.IsZero() {
		doc["LastStateTime"] = m.bmc.time(m.state.ProgressAt)
	}
	return doc
}

func (m *Machine) processorSummary() obj {
	cores, threads, model := 0, 0, ""
	for _, p := range m.hardware.Processors {
		cores, threads, model = cores+p.Cores, threads+p.Threads, p.Model
	}
	return obj{
		"Count": len(m.hardware.Processors), "CoreCount": cores, "LogicalProcessorCount": threads, "Model": model, "Status": statusOK(),
	}
}

func (m *Machine) memorySummary() obj {
	total := 0.0
	for _, gib := range m.hardware.MemoryGiB {
		total += gib
	}
	return obj{"TotalSystemMemoryGiB": total, "Status": statusOK()}
}

func (c *call) getProcessors(m *Machine) *reply {
	return c.showCollection("ProcessorCollection", "Processors", numbered(len(m.hardware.Processors)))
}

func (c *call) getProcessor(m *Machine) *reply {
	i, ok := c.itemIndex(len(m.hardware.Processors))
	if !ok {
		return notFound(c.path)
	}
	p := m.hardware.Processors[i]
	return c.show(obj{
		"@odata.type": "#Processor.v1_20_0.Processor", "Id": c.value("item"), "Name": "Processor " + c.value("item"), "Socket": "CPU" + c.value("item"),
		"ProcessorType": "CPU", "ProcessorArchitecture": "x86", "InstructionSet": "x86-64", "Model": p.Model,
		"TotalCores": p.Cores, "TotalThreads": p.Threads, "Status": statusOK(),
	})
}

func (c *call) getMemoryCollection(m *Machine) *reply {
	return c.showCollection("MemoryCollection", "Memory", numbered(len(m.hardware.MemoryGiB)))
}

func (c *call) getMemory(m *Machine) *reply {
	i, ok := c.itemIndex(len(m.hardware.MemoryGiB))
	if !ok {
		return notFound(c.path)
	}
	return c.show(obj{
		"@odata.type": "#Memory.v1_20_0.Memory", "Id": c.value("item"), "Name": "DIMM " + c.value("item"), "MemoryType": "DRAM",
		"MemoryDeviceType": "DDR5", "CapacityMiB": int(m.hardware.MemoryGiB[i] * 1024), "Status": statusOK(),
	})
}

func (c *call) getNICs(m *Machine) *reply {
	return c.showCollection("EthernetInterfaceCollection", "Ethernet Interfaces", numbered(len(m.hardware.NICs)))
}

func (c *call) getNIC(m *Machine) *reply {
	i, ok := c.itemIndex(len(m.hardware.NICs))
	if !ok {
		return notFound(c.path)
	}
	nic := m.hardware.NICs[i]
	linkStatus := "LinkUp"
	if nic.LinkDown {
		linkStatus = "LinkDown"
	}
	return c.show(obj{
		"@odata.type": "#EthernetInterface.v1_12_2.EthernetInterface", "Id": c.value("item"), "Name": "NIC " + c.value("item"),
		"MACAddress": nic.MAC, "PermanentMACAddress": nic.MAC, "SpeedMbps": nic.SpeedMbps, "LinkStatus": linkStatus,
		"InterfaceEnabled": true, "Status": statusOK(),
	})
}

func (c *call) getStorageCollection(*Machine) *reply {
	return c.showCollection("StorageCollection", "Storage", []string{"1"})
}

func (c *call) getStorage(m *Machine) *reply {
	ids := numbered(len(m.hardware.Drives))
	return c.show(obj{
		"@odata.type": "#Storage.v1_17_1.Storage", "Id": "1", "Name": "Storage 1", "Status": statusOK(),
		"Drives@odata.count": len(ids), "Drives": links(c.path+"/Drives", ids),
	})
}

func (c *call) getDrive(m *Machine) *reply {
	i, ok := c.itemIndex(len(m.hardware.Drives))
	if !ok {
		return notFound(c.path)
	}
	d := m.hardware.Drives[i]
	return c.show(obj{
		"@odata.type": "#Drive.v1_20_1.Drive", "Id": c.value("item"), "Name": "Drive " + c.value("item"), "Model": d.Model,
		"SerialNumber": d.Serial, "MediaType": d.MediaType, "Protocol": d.Protocol, "CapacityBytes": d.Bytes,
		"Manufacturer": strings.Fields(d.Model + " -")[0], "Status": statusOK(),
	})
}
