// SPDX-License-Identifier: Apache-2.0

package redfish

import "strings"

// HPEiLO5 is a ProLiant Gen10 with iLO 5: weak entity tags, an IndicatorLED alone, empty memory slots with a
// capacity of zero, CPU models that end in blanks, NICs that tell a MAC and nothing else, links with and without
// trailing slashes, virtual media at the manager with an empty string for no image, and a boot override that
// cannot be changed during POST.
func HPEiLO5() Profile {
	p := Conforming()
	p.Vendor, p.Product, p.RedfishVersion = "HPE", "ProLiant DL385 Gen10 Plus v2", "1.6.0"
	p.Firmware, p.ManagerModel = "iLO 5 v2.72", "iLO 5"
	p.Manufacturer, p.Model = "HPE", "ProLiant DL385 Gen10 Plus v2"
	p.SystemID, p.ManagerID, p.ChassisID = "1", "1", "1"
	p.Machine = MachineSpec{SKU: "P38411-B21", Hardware: hpeHardware()}
	p.ResetTypes = []string{"On", "ForceOff", "GracefulShutdown", "ForceRestart", "Nmi", "PushPowerButton", "GracefulRestart"}
	p.BootTargets = []string{
		"None", "Cd", "Hdd", "Usb", "SDCard", "Utilities", "Diags", "BiosSetup", "Pxe", "UefiShell", "UefiHttp", "UefiTarget",
	}
	p.Without = []string{noRestore, noLocation, noBootURI, noEnabledTold, noModesTold, noProgress, noResetTime}
	p.WeakETags = true
	p.Media = MediaNature{AtManager: true, Slots: []MediaSlot{
		{ID: "1", Types: []string{"Floppy", "USBStick"}}, {ID: "2", Types: []string{"CD", "DVD"}},
	}}
	p.Ailments = []Ailment{
		noopRefused, bodyDemanded, queryRefused, ejectShowsLate,
		{Name: "no-boot-changes-in-post", Behave: func(b *Behaviour) { b.NoBootInPOST = true }},
		{Name: "part-of-inventory-refused", Cases: []string{"B162"}, Faults: []Fault{
			{Kind: FaultStatus, Status: 400, Method: "GET", Path: "/EthernetInterfaces$"},
		}},
	}
	p.Rewrite = hpeWords
	return p
}

// HPEiLO6 is a ProLiant Gen11 with iLO 6: as iLO 5, but with LocationIndicatorActive alone, UUIDs in upper case,
// boot progress, accelerators among its processors and an empty bay among its drives.
func HPEiLO6() Profile {
	p := HPEiLO5()
	p.Product, p.RedfishVersion, p.Firmware, p.ManagerModel = "ProLiant DL380a Gen11", "1.20.0", "iLO 6 v1.66", "iLO 6"
	p.Model, p.Machine.SKU = "ProLiant DL380a Gen11", "P54903-B21"
	p.Without = []string{noRestore, noLED, noBootURI, noEnabledTold, noModesTold, noResetTime}
	hw := hpeHardware()
	hw.Accelerators = 2
	hw.Drives = append(hw.Drives, Drive{Absent: true})
	p.Machine.Hardware = hw
	p.Rewrite = func(path string, doc obj) {
		hpeWords(path, doc)
		if isSystem(path) {
			upper(doc)
		}
	}
	return p
}

func hpeHardware() *Hardware {
	hw := DefaultHardware()
	for i := range hw.Processors {
		hw.Processors[i].Model += strings.Repeat(" ", 16)
	}
	hw.EmptySlots = len(hw.MemoryGiB)
	return &hw
}

func hpeWords(path string, doc obj) {
	switch {
	case under(path, "Memory") && doc["CapacityMiB"] == nil:
		doc["CapacityMiB"] = 0
	case under(path, "EthernetInterfaces"):
		for _, member := range []string{"SpeedMbps", "LinkStatus", "InterfaceEnabled"} {
			doc[member] = nil
		}
		doc["Name"] = ""
	case under(path, "VirtualMedia") && doc["Image"] == nil:
		doc["Image"] = ""
		delete(doc, "ImageName")
	case path == root:
		doc["Systems"], doc["Chassis"] = link(systemsPath+"/"), link(chassisPath+"/")
	case isSystem(path):
		if summary, told := doc["ProcessorSummary"].(obj); told {
			delete(summary, "CoreCount")
		}
	}
}
