// SPDX-License-Identifier: Apache-2.0

package redfish

func (c *call) getSystems() *reply {
	return c.showCollection("ComputerSystemCollection", "Computer System Collection", append(c.bmc.machineIDs(), c.bmc.profile.Trays...))
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
	path := m.path()
	s := &m.state
	doc := obj{
		"@odata.id": path, "@odata.type": "#ComputerSystem.v1_22_0.ComputerSystem", "Id": m.id, "Name": m.spec.Name, "SystemType": "Physical",
		"Manufacturer": m.spec.Manufacturer, "Model": m.spec.Model, "SerialNumber": m.spec.SerialNumber, "SKU": m.spec.SKU,
		"AssetTag": s.AssetTag, "BiosVersion": m.spec.BIOSVersion, "PowerState": m.shownPower(), "PowerRestorePolicy": s.Restore,
		"IndicatorLED": m.shownLED(), "LocationIndicatorActive": s.LED != "Off", "Status": statusOK(),
		"Boot": m.bootDoc(), "BootProgress": m.progressDoc(),
		"ProcessorSummary": m.processorSummary(), "MemorySummary": m.memorySummary(),
		"Processors": link(path + "/Processors"), "Memory": link(path + "/Memory"), "Storage": link(path + "/Storage"),
		"EthernetInterfaces": link(path + "/EthernetInterfaces"),
		"Links": obj{
			"Chassis":   []obj{link(m.chassisPath())},
			"ManagedBy": []obj{link(m.bmc.managerPath())},
		},
		"Actions": obj{"#ComputerSystem.Reset": m.resetAction(path)},
	}
	if m.spec.UUID != "" {
		doc["UUID"] = m.spec.UUID
	}
	if !s.ResetAt.IsZero() {
		doc["LastResetTime"] = m.bmc.time(s.ResetAt)
	}
	m.complete(doc)
	return doc
}

// complete adds what models differ in, and takes out what this one does not have.
func (m *Machine) complete(doc obj) {
	p, path := &m.bmc.profile, m.path()
	if media := m.mediaLink(path); media != "" {
		doc["VirtualMedia"] = link(media)
	}
	if p.Drives == DrivesSimple {
		doc["SimpleStorage"] = link(path + "/SimpleStorage")
	}
	if p.Settings != "" {
		doc["@Redfish.Settings"] = obj{"@odata.type": "#Settings.v1_3_5.Settings", "SettingsObject": link(path + "/" + p.Settings)}
	}
	if m.bmc.behaviour.UnknownWhileOff && m.state.Power == PowerOff {
		m.forget(doc)
	}
	p.prune(doc)
}

// forget takes out what a BMC does not know that has it from the host's firmware.
func (m *Machine) forget(doc obj) {
	for _, member := range []string{"Manufacturer", "Model", "SerialNumber", "SKU", "UUID", "BiosVersion"} {
		delete(doc, member)
	}
	doc["MemorySummary"] = obj{"TotalSystemMemoryGiB": 0.0, "Status": statusOK()}
	doc["ProcessorSummary"] = obj{"Count": 0, "CoreCount": 0, "Status": statusOK()}
}

// shownLED is the indicator as the model words it.
func (m *Machine) shownLED() string {
	if !m.bmc.profile.LitIsNormal {
		return m.state.LED
	}
	if m.state.LED == "Off" {
		return "Lit"
	}
	return "Blinking"
}

func (m *Machine) resetAction(path string) obj {
	action := obj{"target": path + "/Actions/ComputerSystem.Reset"}
	p := &m.bmc.profile
	if p.ActionInfo || p.ActionInfoToo {
		action["@Redfish.ActionInfo"] = path + "/ResetActionInfo"
	}
	if !p.ActionInfo {
		action["ResetType@Redfish.AllowableValues"] = p.ResetTypes
	}
	return action
}

func (c *call) getResetActionInfo(*Machine) *reply {
	if p := &c.bmc.profile; !p.ActionInfo && !p.ActionInfoToo {
		return notFound(c.path)
	}
	return c.show(obj{
		"@odata.type": "#ActionInfo.v1_4_2.ActionInfo", "Id": "ResetActionInfo", "Name": "Reset Action Info",
		"Parameters": []obj{{"Name": "ResetType", "Required": true, "DataType": "String", "AllowableValues": c.bmc.profile.ResetTypes}},
	})
}

// bootDoc is the Boot object of the system. Where the override is kept in the pending settings, it tells
// nothing of it.
func (m *Machine) bootDoc() obj {
	if !m.bmc.profile.BootAtSettings {
		return m.overrideDoc()
	}
	return obj{
		"BootSourceOverrideEnabled": overrideDisabled, "BootSourceOverrideTarget": targetNone, "BootSourceOverrideMode": nil,
		"HttpBootUri": nil,
	}
}

// overrideDoc is a Boot object with the override and what it takes.
func (m *Machine) overrideDoc() obj {
	p, o := &m.bmc.profile, m.state.Override
	doc := obj{
		"BootSourceOverrideEnabled": o.Enabled, "BootSourceOverrideEnabled@Redfish.AllowableValues": p.BootEnabled,
		"BootSourceOverrideTarget": o.Target, "BootSourceOverrideTarget@Redfish.AllowableValues": p.BootTargets,
	}
	if len(p.BootModes) > 0 {
		doc["BootSourceOverrideMode"], doc["BootSourceOverrideMode@Redfish.AllowableValues"] = o.Mode, p.BootModes
	}
	if p.hasBootURI() {
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
