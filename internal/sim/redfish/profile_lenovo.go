// SPDX-License-Identifier: Apache-2.0

package redfish

import "strings"

// LenovoXCC is a ThinkSystem with XClarity Controller: one UUID for system, manager and root in two cases, Once as
// the only override, reset types inline and behind ActionInfo, pending settings that hold no boot override, the
// in-band interface among the NICs, accelerators that tell nothing, and ten slots of virtual media without
// actions: images are inserted by PATCH.
func LenovoXCC() Profile {
	p := Conforming()
	p.Vendor, p.Product, p.RedfishVersion = "Lenovo", "", "1.15.0"
	p.Firmware, p.ManagerModel = "TGBT42S 2.83 2023-07-05", "Lenovo XClarity Controller"
	p.Manufacturer, p.Model = "Lenovo", "ThinkSystem SR670 V2"
	p.SystemID, p.ManagerID, p.ChassisID = "1", "1", "1"
	p.Machine = MachineSpec{SKU: "7Z23CTO1WW", Hardware: lenovoHardware()}
	p.UUIDs = UUIDShared
	p.ResetTypes = []string{"On", "Nmi", "GracefulShutdown", "GracefulRestart", "ForceOn", "ForceOff", "ForceRestart"}
	p.ActionInfoToo = true
	p.BootTargets = []string{"None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup", "Diags", "UefiTarget"}
	p.BootEnabled = []string{"Once", "Disabled"}
	p.Settings = "Pending"
	p.Without = []string{noRestore, noLocation, noModesTold, noProgress, noResetTime}
	p.Media = MediaNature{AtSystem: true, AtManager: true, ByPatch: true, Slots: lenovoSlots()}
	p.Ailments = []Ailment{
		matchDemanded, queryRefused, ejectShowsLate,
		{Name: "media-not-attached-unless-told", Cases: []string{"B111"}, Behave: func(b *Behaviour) { b.MediaNeedsInserted = true }},
		{Name: "tasks-that-fail", Cases: []string{"B142", "B148"}, Behave: func(b *Behaviour) {
			b.AsyncReset, b.TaskFails, b.TaskDuration = true, true, seconds(2)
		}},
	}
	p.Rewrite = lenovoWords
	return p
}

func lenovoHardware() *Hardware {
	hw := DefaultHardware()
	hw.NICs = append([]NIC{{ID: "ToManager", SpeedMbps: 100}}, hw.NICs...)
	hw.NICs[1].ID, hw.NICs[2].ID = "NIC1", "NIC2"
	hw.EmptySlots, hw.Accelerators = 8, 8
	return &hw
}

// lenovoSlots: images are mounted on the four external slots; the others are filled at the console.
func lenovoSlots() []MediaSlot {
	var slots []MediaSlot
	for _, id := range []string{"EXT1", "EXT2", "EXT3", "EXT4", "Remote1", "Remote2", "Remote3", "Remote4", "RDOC1", "RDOC2"} {
		slots = append(slots, MediaSlot{
			ID: id, Types: []string{"CD", "DVD", "Floppy", "USBStick"}, Fixed: !strings.HasPrefix(id, "EXT"),
		})
	}
	return slots
}

func lenovoWords(path string, doc obj) {
	switch {
	case path == root, under(path, "Managers"):
		upper(doc)
	case isSystem(path):
		doc["HostName"] = "XCC-SIM"
	}
}
