// SPDX-License-Identifier: Apache-2.0

package redfish

// OpenBMC is a server with stock bmcweb: the root tells no vendor, Ids in lower case, reset types behind
// ActionInfo, both indicators, entity tags in the header alone, no asset tag, and no virtual media.
func OpenBMC() Profile {
	p := Conforming()
	p.Vendor, p.Product, p.RedfishVersion = "", "", "1.17.0"
	p.Firmware, p.ManagerModel = "2.15.0-dev-686-g100c36de90", "OpenBmc"
	p.Manufacturer, p.Model = "Simulated", "OpenBMC Board"
	p.SystemID, p.ManagerID, p.ChassisID = "system", "bmc", "chassis"
	p.ResetTypes = []string{"On", "ForceOff", "ForceOn", "ForceRestart", "GracefulRestart", "GracefulShutdown", "PowerCycle", "Nmi"}
	p.ActionInfo = true
	p.BootTargets = []string{"None", "Pxe", "Hdd", "Cd", "Diags", "BiosSetup", "Usb"}
	p.BootModes = []string{"Legacy", "UEFI"}
	p.Without = []string{noAssetTag, noEnabledTold}
	p.HeaderETags = true
	p.Media = MediaNature{}
	p.Ailments = []Ailment{
		transitionsHidden, blankAfterRestart,
		{Name: "nothing-known-while-off", Cases: []string{"B141"}, Behave: func(b *Behaviour) { b.UnknownWhileOff = true }},
		{Name: "chassis-says-on", Cases: []string{"B031"}, Behave: func(b *Behaviour) { b.ChassisSaysOn = true }},
		{Name: "compressed-tags", Cases: []string{"B128"}, Behave: func(b *Behaviour) { b.GzipTags = true }},
	}
	return p
}

// OpenBMCUnknownHost is stock bmcweb on a board whose host never told it anything: no maker, model, serial number
// or UUID, memory of 0 GiB, no NICs and no drives.
func OpenBMCUnknownHost() Profile {
	p := OpenBMC()
	p.Without = append(p.Without, noUUID, noManufacturer, "Model", "SerialNumber", "SKU", "BiosVersion", noNICLink)
	p.Machine.Hardware = &Hardware{}
	return p
}
