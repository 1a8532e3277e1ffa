// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// newMachine builds a machine at rest from its spec, deriving what the spec leaves open.
func newMachine(b *BMC, spec MachineSpec) *Machine {
	seed := b.spec.Name + "/" + spec.ID
	spec.Name = orElse(spec.Name, b.spec.Name+"-"+spec.ID)
	spec.Manufacturer = orElse(spec.Manufacturer, b.profile.Manufacturer)
	spec.Model = orElse(spec.Model, b.profile.Model)
	usual := &b.profile.Machine
	spec.SerialNumber = orElse(orElse(spec.SerialNumber, usual.SerialNumber), strings.ToUpper("SN"+derivedHex("serial", seed)[:10]))
	spec.SKU = orElse(orElse(spec.SKU, usual.SKU), "SKU-"+spec.Model)
	spec.BIOSVersion = orElse(spec.BIOSVersion, "1.0.0")
	if !spec.NoUUID {
		spec.UUID = orElse(spec.UUID, b.profile.UUIDs.of("system", seed))
	} else {
		spec.UUID = ""
	}
	m := &Machine{rack: b.rack, bmc: b, id: spec.ID, spec: spec, hardware: DefaultHardware()}
	if usual.Hardware != nil {
		m.hardware = *usual.Hardware
	}
	if spec.Hardware != nil {
		m.hardware = *spec.Hardware
	}
	m.nameParts(seed)
	m.state = machineState{
		Power: PowerOff, Progress: progressNone, Disk: spec.Disk, AssetTag: orElse(spec.AssetTag, usual.AssetTag), LED: "Off",
		Override: bootOverride{Enabled: overrideDisabled, Target: targetNone, Mode: orElse(b.profile.BootMode, "UEFI")},
		Restore:  orElse(string(spec.Restored), string(RestoreLast)),
	}
	if spec.Power == PowerOn {
		m.state.Power, m.state.Progress, m.state.Running = PowerOn, progressRunning, orElse(spec.Disk, "unknown")
	}
	return m
}

// nameParts gives NICs and drives the addresses and serials their spec leaves open.
func (m *Machine) nameParts(seed string) {
	m.hardware.NICs = append([]NIC(nil), m.hardware.NICs...)
	for i := range m.hardware.NICs {
		if m.hardware.NICs[i].Twin && i > 0 {
			m.hardware.NICs[i].MAC = m.hardware.NICs[i-1].MAC
		}
		if m.hardware.NICs[i].MAC == "" {
			h := derivedHex(fmt.Sprint("mac", i), seed)
			m.hardware.NICs[i].MAC = strings.ToUpper(fmt.Sprintf("02:%s:%s:%s:%s:%s", h[0:2], h[2:4], h[4:6], h[6:8], h[8:10]))
		}
	}
	m.hardware.Drives = append([]Drive(nil), m.hardware.Drives...)
	for i := range m.hardware.Drives {
		if m.hardware.Drives[i].Serial == "" {
			m.hardware.Drives[i].Serial = strings.ToUpper("D" + derivedHex(fmt.Sprint("drive", i), seed)[:12])
		}
	}
}

func derivedHex(kind, seed string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + seed))
	return hex.EncodeToString(sum[:])
}

// derivedUUID is a version 8 UUID: 122 bits of a hash.
func derivedUUID(kind, seed string) string {
	sum := sha256.Sum256([]byte("simulated-rack\x00" + kind + "\x00" + seed))
	sum[6] = sum[6]&0x0F | 0x80
	sum[8] = sum[8]&0x3F | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// of makes a UUID of a thing.
func (u UUIDMaking) of(kind, seed string) string {
	if u == UUIDOfMAC || u == UUIDSharedMAC {
		return "00000000-0000-0000-0000-" + strings.ToUpper("02"+derivedHex(kind+"-mac", seed)[:10])
	}
	return derivedUUID(kind, seed)
}

func (u UUIDMaking) ofBMC(name string) string { return u.of("bmc", name) }

// ofFirstSystem is the UUID the first system has from its BMC; empty where it has its own.
func (u UUIDMaking) ofFirstSystem(spec BMCSpec) string {
	if u == UUIDShared || u == UUIDSharedMAC {
		return spec.UUID
	}
	return ""
}
