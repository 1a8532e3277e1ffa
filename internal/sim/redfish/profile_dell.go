// SPDX-License-Identifier: Apache-2.0

package redfish

// DellIDRAC9 is a PowerEdge with iDRAC9 6.00: Ids that name places, the service tag as SKU, an indicator that reads
// Lit at rest, no entity tags, colons in Ids of drives, UefiHttp without a URI to boot from, and virtual media at
// system and manager.
func DellIDRAC9() Profile {
	p := Conforming()
	p.Vendor, p.Product, p.RedfishVersion = "Dell", "Integrated Dell Remote Access Controller", "1.13.1"
	p.Firmware, p.ManagerModel = "6.00.30.00", "15G Monolithic"
	p.Manufacturer, p.Model = "Dell Inc.", "PowerEdge R750"
	p.SystemID, p.ManagerID, p.ChassisID = "System.Embedded.1", "iDRAC.Embedded.1", "System.Embedded.1"
	p.Machine = MachineSpec{SKU: "SIM0001", Hardware: dellHardware()}
	p.ResetTypes = []string{
		"On", "ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown", "PushPowerButton", "Nmi", "PowerCycle",
	}
	p.BootTargets = []string{"None", "Pxe", "Floppy", "Cd", "Hdd", "BiosSetup", "Utilities", "UefiTarget", "SDCard", "UefiHttp"}
	p.Without = []string{noRestore, noLocation, noBootURI, noEnabledTold, noModesTold, noProgress, noResetTime}
	p.LitIsNormal = true
	p.NoETags = true
	p.Media = MediaNature{AtSystem: true, AtManager: true, Slots: []MediaSlot{
		{ID: "1", Types: []string{"CD", "DVD", "USBStick"}}, {ID: "2", Types: []string{"CD", "DVD", "USBStick"}},
	}}
	p.Ailments = []Ailment{
		overrideShowsLate, noopRefused, bodyDemanded, blankAfterRestart,
		{Name: "actions-with-if-match-refused", Cases: []string{"B127"}, Behave: func(b *Behaviour) { b.NoMatchOnActions = true }},
		{Name: "new-task-not-found", Cases: []string{"B147"}, Behave: func(b *Behaviour) {
			b.AsyncPatch, b.TaskDuration, b.TaskHidden = true, seconds(5), seconds(2)
		}},
	}
	p.Rewrite = dellWords
	return p
}

func dellHardware() *Hardware {
	hw := DefaultHardware()
	hw.NICs = []NIC{
		{ID: "NIC.Embedded.1-1-1", SpeedMbps: 1000}, {ID: "NIC.Integrated.1-1-1", SpeedMbps: 25_000}, {ID: "NIC.Slot.5-1", LinkDown: true},
	}
	for i, bay := range []string{"0", "1"} {
		hw.Drives[i].ID = "Disk.Bay." + bay + ":Enclosure.Internal.0-1"
	}
	return &hw
}

// dellWords: the card in a slot tells its MAC and nothing else, and so does the system of its host name.
func dellWords(path string, doc obj) {
	switch {
	case under(path, "EthernetInterfaces") && doc["Id"] == "NIC.Slot.5-1":
		doc["LinkStatus"], doc["SpeedMbps"], doc["Status"] = nil, nil, obj{"Health": nil, "State": nil}
	case isSystem(path):
		doc["HostName"] = ""
	case path == root:
		delete(doc, "UUID")
	}
}
