// SPDX-License-Identifier: Apache-2.0

package redfish

import "strings"

// SupermicroX13 is a Supermicro of 2023: the root tells no vendor; system, manager and root share a UUID of zeros and
// the BMC's MAC; reset types stand behind ActionInfo; the boot target reads Pxe though the override is disabled;
// drives are under the chassis without media type or protocol; MACs are in lower case but for the in-band
// interface; virtual media hangs off the manager and the system links it there; there is no asset tag.
func SupermicroX13() Profile {
	p := Conforming()
	p.Vendor, p.Product, p.RedfishVersion = "", "", "1.11.0"
	p.Firmware, p.ManagerModel = "11.01.01", "ASPEED"
	p.Manufacturer, p.Model = "Supermicro", "SYS-821GE-TNHR"
	p.SystemID, p.ManagerID, p.ChassisID = "1", "1", "1"
	p.Machine = MachineSpec{SKU: "0x1D1415D9", Hardware: supermicroHardware()}
	p.UUIDs = UUIDSharedMAC
	p.ResetTypes = []string{"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "Nmi", "ForceOn", "PowerCycle"}
	p.ActionInfo = true
	p.BootTargets = []string{"None", "Pxe", "Floppy", "Cd", "Usb", "Hdd", "BiosSetup", "UsbCd", "UefiBootNext", "UefiHttp"}
	p.Drives = DrivesInChassis
	p.Without = []string{noAssetTag, noRestore, noBootURI, noEnabledTold, noModesTold, noResetTime}
	p.Media = MediaNature{AtManager: true, LinkedFromSystem: true, Slots: []MediaSlot{
		{ID: "VirtualMedia1", Types: []string{"CD", "DVD", "Floppy", "USBStick"}},
		{ID: "VirtualMedia2", Types: []string{"CD", "DVD", "Floppy", "USBStick"}},
		{ID: "VirtualMedia3", Types: []string{"CD", "DVD", "Floppy", "USBStick"}},
	}}
	p.Ailments = []Ailment{
		transitionsHidden, ejectShowsLate,
		{Name: "boot-change-must-be-whole", Cases: []string{"B095", "B110"}, Behave: func(b *Behaviour) {
			b.BootNeeds = []string{"BootSourceOverrideEnabled", "BootSourceOverrideTarget", "BootSourceOverrideMode"}
		}},
		{Name: "legacy-unless-told", Cases: []string{"B094"}, Behave: func(b *Behaviour) { b.LegacyUnlessTold = true }},
		{Name: "media-takes-only-image", Cases: []string{"B117"}, Behave: func(b *Behaviour) { b.MediaOnlyImage = true }},
	}
	p.Rewrite = supermicroWords
	return p
}

// SupermicroX10 is a Supermicro with old firmware: Redfish 1.0, ten blanks for a serial number, placeholders,
// boot targets outside the schema and no boot mode, no entity tags, no asset tag, storage that is linked and not
// there, and a collection of virtual media under a name of its own that has no Members.
func SupermicroX10() Profile {
	p := Conforming()
	p.Vendor, p.Product, p.RedfishVersion = "", "", "1.0.1"
	p.Firmware, p.ManagerModel = "4.0", "ASPEED"
	p.Manufacturer, p.Model = "Supermicro", "Super Server"
	p.SystemID, p.ManagerID, p.ChassisID = "1", "1", "1"
	p.Machine = MachineSpec{SerialNumber: strings.Repeat(" ", 10), SKU: "To be filled by O.E.M."}
	p.UUIDs = UUIDOfMAC
	p.ResetTypes = []string{"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "Nmi", "ForceOn"}
	p.BootTargets = []string{
		"None", "Pxe", "Hdd", "Diags", "CD/DVD", "BiosSetup", "FloppyRemovableMedia", "UsbKey", "UsbHdd", "UsbFloppy", "UsbCd",
		"UefiUsbKey", "UefiCd", "UefiHdd", "UefiUsbHdd", "UefiUsbCd",
	}
	p.BootModes = nil
	p.Drives = DrivesNowhere
	p.NoETags = true
	p.NoEventService = true
	p.Without = []string{noAssetTag, noRestore, noLocation, noEnabledTold, noProgress, noResetTime}
	p.Media = MediaNature{AtManager: true, Collection: "VM1"}
	p.Ailments = []Ailment{transitionsHidden, noopRefused, resetsIgnored}
	p.Rewrite = supermicroOldWords
	return p
}

func supermicroHardware() *Hardware {
	hw := DefaultHardware()
	hw.NICs = append(hw.NICs, NIC{ID: "ToManager"})
	for i, bay := range []string{"0", "1"} {
		hw.Drives[i].ID = "Disk.Bay." + bay
	}
	return &hw
}

func supermicroWords(path string, doc obj) {
	switch {
	case isSystem(path):
		if boot, told := doc["Boot"].(obj); told && boot["BootSourceOverrideEnabled"] == overrideDisabled {
			boot["BootSourceOverrideTarget"] = targetPXE
		}
	case under(path, "Drives"):
		delete(doc, "MediaType")
		delete(doc, "Protocol")
	case under(path, "EthernetInterfaces") && doc["Id"] != "ToManager":
		if mac, told := doc["MACAddress"].(string); told {
			doc["MACAddress"], doc["PermanentMACAddress"] = strings.ToLower(mac), strings.ToLower(mac)
		}
	}
}

func supermicroOldWords(path string, doc obj) {
	switch {
	case strings.HasSuffix(path, "/VM1"):
		delete(doc, "Members")
	case under(path, "EthernetInterfaces"):
		doc["Status"] = obj{"State": "Disabled"}
	case under(path, "Managers"):
		if reset, told := doc["Actions"].(obj)["#Manager.Reset"].(obj); told {
			delete(reset, "ResetType@Redfish.AllowableValues")
		}
	}
}
