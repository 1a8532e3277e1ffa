// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"strings"
)

func (c *call) getProcessors(m *Machine) *reply {
	return c.showCollection("ProcessorCollection", "Processors", m.processorIDs())
}

func (m *Machine) processorIDs() []string {
	ids := numbered(len(m.hardware.Processors))
	for _, n := range numbered(m.hardware.Accelerators) {
		ids = append(ids, "GPU"+n)
	}
	return ids
}

func (c *call) getProcessor(m *Machine) *reply {
	i, ok := c.item(m.processorIDs())
	switch {
	case !ok:
		return notFound(c.path)
	case i >= len(m.hardware.Processors):
		return c.show(obj{
			"@odata.type": "#Processor.v1_20_0.Processor", "Id": c.value("item"), "Name": c.value("item"), "ProcessorType": "GPU",
			"Model": nil, "TotalCores": nil, "Status": nil,
		})
	}
	p := m.hardware.Processors[i]
	return c.show(obj{
		"@odata.type": "#Processor.v1_20_0.Processor", "Id": c.value("item"), "Name": "Processor " + c.value("item"), "Socket": "CPU" + c.value("item"),
		"ProcessorType": "CPU", "ProcessorArchitecture": "x86", "InstructionSet": "x86-64", "Model": p.Model,
		"TotalCores": p.Cores, "TotalThreads": p.Threads, "Status": statusOK(),
	})
}

func (c *call) getMemoryCollection(m *Machine) *reply {
	return c.showCollection("MemoryCollection", "Memory", numbered(len(m.hardware.MemoryGiB)+m.hardware.EmptySlots))
}

func (c *call) getMemory(m *Machine) *reply {
	i, ok := c.item(numbered(len(m.hardware.MemoryGiB) + m.hardware.EmptySlots))
	if !ok {
		return notFound(c.path)
	}
	doc := obj{
		"@odata.type": "#Memory.v1_20_0.Memory", "Id": c.value("item"), "Name": "DIMM " + c.value("item"), "MemoryType": "DRAM",
		"CapacityMiB": nil, "Status": obj{"State": "Absent"},
	}
	if i < len(m.hardware.MemoryGiB) {
		doc["MemoryDeviceType"], doc["CapacityMiB"], doc["Status"] = "DDR5", int(m.hardware.MemoryGiB[i]*1024), statusOK()
	}
	return c.show(doc)
}

func (m *Machine) nicIDs() []string {
	ids := numbered(len(m.hardware.NICs))
	for i, nic := range m.hardware.NICs {
		ids[i] = orElse(nic.ID, ids[i])
	}
	return ids
}

func (c *call) getNICs(m *Machine) *reply {
	return c.showCollection("EthernetInterfaceCollection", "Ethernet Interfaces", m.nicIDs())
}

func (c *call) getNIC(m *Machine) *reply {
	i, ok := c.item(m.nicIDs())
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

func (m *Machine) driveIDs() []string {
	ids := numbered(len(m.hardware.Drives))
	for i, d := range m.hardware.Drives {
		ids[i] = orElse(d.ID, ids[i])
	}
	return ids
}

func (c *call) getStorageCollection(m *Machine) *reply {
	switch m.bmc.profile.Drives {
	case DrivesNowhere:
		return notFound(c.path)
	case DrivesSimple:
		return c.show(obj{"@odata.type": "#StorageCollection.StorageCollection"}) // neither members nor count
	}
	return c.showCollection("StorageCollection", "Storage", []string{"1"})
}

func (c *call) getStorage(m *Machine) *reply {
	ids, parent := m.driveIDs(), c.path+"/Drives"
	switch m.bmc.profile.Drives {
	case DrivesNowhere, DrivesSimple:
		return notFound(c.path)
	case DrivesInChassis:
		parent = m.chassisPath() + "/Drives"
	}
	return c.show(obj{
		"@odata.type": "#Storage.v1_17_1.Storage", "Id": "1", "Name": "Storage 1", "Status": statusOK(),
		"Drives@odata.count": len(ids), "Drives": links(parent, ids),
	})
}

func (c *call) getDrive(m *Machine) *reply { return c.drive(m, DrivesInStorage) }

func (c *call) getChassisDrive(m *Machine) *reply { return c.drive(m, DrivesInChassis) }

// drive shows a drive where the model lists it.
func (c *call) drive(m *Machine, at DriveListing) *reply {
	i, ok := c.item(m.driveIDs())
	if !ok || m.bmc.profile.Drives != at {
		return notFound(c.path)
	}
	d := m.hardware.Drives[i]
	doc := obj{"@odata.type": "#Drive.v1_20_1.Drive", "Id": c.value("item"), "Name": "Drive " + c.value("item"), "Status": obj{"State": "Absent"}}
	if !d.Absent {
		doc["Model"], doc["SerialNumber"], doc["MediaType"], doc["Protocol"], doc["CapacityBytes"] = d.Model, d.Serial, d.MediaType, d.Protocol, d.Bytes
		doc["Manufacturer"], doc["Status"] = strings.Fields(d.Model + " -")[0], statusOK()
	}
	return c.show(doc)
}

func (c *call) getSimpleStorages(m *Machine) *reply {
	if m.bmc.profile.Drives != DrivesSimple {
		return notFound(c.path)
	}
	return c.showCollection("SimpleStorageCollection", "Simple Storage", numbered(len(m.hardware.Drives)+1))
}

// getSimpleStorage shows one drive each, and last a stick the BMC emulates.
func (c *call) getSimpleStorage(m *Machine) *reply {
	i, ok := c.item(numbered(len(m.hardware.Drives) + 1))
	if !ok || m.bmc.profile.Drives != DrivesSimple {
		return notFound(c.path)
	}
	device := obj{"Name": "USB_Device1", "Manufacturer": "American Megatrends Inc.", "Model": "Virtual HDISK0", "CapacityBytes": nil, "Status": statusOK()}
	if i < len(m.hardware.Drives) {
		d := m.hardware.Drives[i]
		device = obj{
			"Name": fmt.Sprintf("%s_Device%d", d.Protocol, i+1), "Manufacturer": "N/A", "Model": d.Model, "CapacityBytes": d.Bytes, "Status": statusOK(),
		}
	}
	return c.show(obj{
		"@odata.type": "#SimpleStorage.v1_3_0.SimpleStorage", "Id": c.value("item"), "Name": "Controller " + c.value("item"),
		"Devices": []obj{device}, "Status": statusOK(),
	})
}
