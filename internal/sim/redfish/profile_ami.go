// SPDX-License-Identifier: Apache-2.0

package redfish

import "strings"

// GigabyteMegaRAC is a Gigabyte with AMI's MegaRAC: Ids of Self, four reset types behind ActionInfo, legacy boot at
// first, weak entity tags, placeholders for SKU and asset tag, two NICs with one MAC, drives without media type, a
// slot of virtual media that tells no types and says "None" for no image, and a vendor that is not the
// machine's maker.
func GigabyteMegaRAC() Profile {
	p := megaRAC()
	p.RedfishVersion, p.Firmware, p.ManagerModel = "1.7.0", "12.84.13", "410810600"
	p.Manufacturer, p.Model = "GIGABYTE", "H262-Z63-00"
	p.SystemID, p.ManagerID, p.ChassisID = "Self", "Self", "Self"
	p.Machine = MachineSpec{SKU: "01234567890123456789AB", AssetTag: "Free form asset tag", Hardware: gigabyteHardware()}
	p.BootMode = "Legacy"
	p.Without = []string{noRestore, noLocation, noBootURI, noProgress, noResetTime}
	p.WeakETags = true
	p.Media = MediaNature{AtManager: true, Slots: []MediaSlot{{ID: "CD1", Types: []string{"CD", "DVD"}, Untold: true}}}
	p.Rewrite = gigabyteWords
	return p
}

// NVIDIADGXH100 is a DGX with AMI's MegaRAC: a second system that cannot be started, a boot override that lives in
// the pending settings alone and has no mode while disabled, drives in SimpleStorage beside an emulated one, a
// storage collection without members, and a collection of virtual media that is empty.
func NVIDIADGXH100() Profile {
	p := megaRAC()
	p.RedfishVersion, p.Firmware, p.ManagerModel = "1.11.0", "23.11.20", "77171220"
	p.Manufacturer, p.Model = "NVIDIA", "DGXH100"
	p.SystemID, p.ManagerID, p.ChassisID = "DGX", "BMC", "DGX"
	p.Machine = MachineSpec{SKU: "920-24387-2540-000", AssetTag: "Free form asset tag"}
	p.Trays = []string{"HGX_Baseboard_0"}
	p.BootModes = []string{"UEFI"}
	p.Settings, p.BootAtSettings = "SD", true
	p.Drives = DrivesSimple
	p.Without = []string{noLocation, noProgress, noResetTime}
	p.Media = MediaNature{AtManager: true}
	p.Ailments = append(p.Ailments, matchDemanded,
		Ailment{Name: "trays-need-power", Cases: []string{"B130"}, Behave: func(b *Behaviour) { b.TraysNeedPower = true }},
		Ailment{Name: "members-change-order", Cases: []string{"B149", "B154", "B158"}, Behave: func(b *Behaviour) { b.ShuffleMembers = true }},
	)
	p.Rewrite = dgxWords
	return p
}

// megaRAC is what AMI's firmware has whoever builds the machine.
func megaRAC() Profile {
	p := Conforming()
	p.Vendor, p.Product = "AMI", "AMI Redfish Server"
	p.ResetTypes = []string{"GracefulShutdown", "ForceRestart", "ForceOff", "On"}
	p.ActionInfo = true
	p.BootTargets = []string{
		"None", "Pxe", "Floppy", "Cd", "Usb", "Hdd", "BiosSetup", "Utilities", "UefiShell", "UefiTarget", "SDCard", "UefiHttp",
		"RemoteDrive", "UefiBootNext",
	}
	p.BootModes = []string{"Legacy", "UEFI"}
	p.Ailments = []Ailment{
		busyAfterReset, ejectShowsLate, bodyDemanded,
		{Name: "stale-entity-tags", Cases: []string{"B037"}, Behave: func(b *Behaviour) { b.StaleTags = true }},
		{Name: "resets-are-tasks", Cases: []string{"B144"}, Behave: func(b *Behaviour) { b.AsyncReset, b.TaskDuration = true, seconds(3) }},
		{Name: "media-needs-transfer", Cases: []string{"B119"}, Behave: func(b *Behaviour) { b.MediaNeeds = []string{"TransferProtocolType"} }},
	}
	return p
}

func gigabyteHardware() *Hardware {
	hw := DefaultHardware()
	hw.NICs = []NIC{{ID: "EthernetInterface0", SpeedMbps: 1000}, {ID: "EthernetInterface1", SpeedMbps: 1000, Twin: true}}
	return &hw
}

func gigabyteWords(path string, doc obj) {
	switch {
	case path == systemsPath:
		doc["@Redfish.CollectionCapabilities"] = obj{"Capabilities": []obj{{
			"CapabilitiesObject": link(systemsPath + "/Capabilities"), "UseCase": "ComputerSystemComposition",
		}}}
	case under(path, "VirtualMedia") && doc["Image"] == nil:
		doc["Image"], doc["ImageName"] = "None", "None"
	case under(path, "Drives"):
		delete(doc, "MediaType")
	}
}

func dgxWords(path string, doc obj) {
	switch {
	case strings.HasSuffix(path, "/SD"):
		if boot := doc["Boot"].(obj); boot["BootSourceOverrideEnabled"] == overrideDisabled {
			boot["BootSourceOverrideMode"] = nil
		}
	case isSystem(path):
		upper(doc)
	case under(path, "Managers"):
		delete(doc["Links"].(obj), "ManagerForServers")
	case under(path, "Chassis"):
		doc["ChassisType"], doc["PowerState"], doc["IndicatorLED"] = "ChassisType", nil, nil
	}
}
