// SPDX-License-Identifier: Apache-2.0

package redfish

import "strings"

// NVIDIABlueField3 is a DPU with a BMC of its own: a URL for a maker, no UUID, no BIOS version, neither indicator nor
// asset tag, 0 GiB and no processors, a storage collection whose Members are null, NICs that call themselves by
// another resource's name, UefiHttp as target though the override is disabled, no disk among the targets, and
// boot progress in words of its own.
func NVIDIABlueField3() Profile {
	p := Conforming()
	p.Vendor, p.Product, p.RedfishVersion = "Nvidia", "Nvidia-BMCMezz", "1.17.0"
	p.Firmware, p.ManagerModel = "BF-24.10-10", "OpenBmc"
	p.Manufacturer, p.Model = "https://www.mellanox.com", "BlueField-3 SmartNIC Main Card"
	p.SystemID, p.ManagerID, p.ChassisID = "Bluefield", "Bluefield_BMC", "Card1"
	p.Machine.Hardware = &Hardware{NICs: []NIC{{ID: "eth0"}, {ID: "eth1"}, {ID: "oob0"}}}
	p.ResetTypes = []string{"ForceOff", "PowerCycle", "Nmi", "GracefulShutdown", "On", "ForceOn", "GracefulRestart", "ForceRestart"}
	p.ActionInfo = true
	p.BootTargets = []string{"None", "Pxe", "UefiHttp", "UefiShell", "UefiTarget", "UefiBootNext"}
	p.BootModes = []string{"Legacy", "UEFI"}
	p.Settings = "Settings"
	p.Without = []string{noUUID, noAssetTag, noLED, noLocation, "SKU", "BiosVersion"}
	p.HeaderETags = true
	p.Media = MediaNature{}
	p.Ailments = []Ailment{transitionsHidden, blankAfterRestart}
	p.Rewrite = bluefieldWords
	return p
}

func bluefieldWords(path string, doc obj) {
	switch {
	case isSystem(path):
		boot := doc["Boot"].(obj)
		if boot["BootSourceOverrideEnabled"] == overrideDisabled {
			boot["BootSourceOverrideTarget"] = targetUEFIHTTP
		}
		if boot["HttpBootUri"] == nil {
			boot["HttpBootUri"] = ""
		}
		if progress := doc["BootProgress"].(obj); progress["LastState"] == progressRunning {
			progress["LastState"], progress["OemLastState"] = "OEM", "OsIsRunning"
		}
	case strings.HasSuffix(path, "/Storage"):
		doc["Members"], doc["Members@odata.count"] = nil, 0
	case under(path, "EthernetInterfaces"):
		doc["@odata.id"] = managersPath + "/Bluefield_BMC/EthernetInterfaces/" + doc["Id"].(string)
	}
}
