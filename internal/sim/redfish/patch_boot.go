// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// readBoot reads a change of the boot override.
func (d *draft) readBoot(raw json.RawMessage) *reply {
	var props members
	if bad := readValue("Boot", raw, &props); bad != nil {
		return bad
	}
	if bad := d.refuseBoot(props); bad != nil {
		return bad
	}
	b := d.machine.bmc
	next := d.machine.state.Override
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if bad := readOverride(&b.profile, &next, name, props[name]); bad != nil {
			return bad
		}
	}
	_, modeTold := props["BootSourceOverrideMode"]
	if _, targetTold := props["BootSourceOverrideTarget"]; targetTold && !modeTold && b.behaviour.LegacyUnlessTold {
		next.Mode = "Legacy"
	}
	if next.Enabled == overrideDisabled {
		next.Target = targetNone
	} else if next.Target == targetNone { // DMTF: the target None ends the override
		next.Enabled = overrideDisabled
	}
	d.override = &next
	return nil
}

// refuseBoot is what keeps a BMC from reading a change of the boot override at all.
func (d *draft) refuseBoot(props members) *reply {
	m := d.machine
	p, mood := &m.bmc.profile, &m.bmc.behaviour
	if settings := m.path() + "/" + p.Settings; p.BootAtSettings && d.path != settings {
		return redfishError(http.StatusBadRequest, "PropertyNotWritable",
			"The property Boot is a read-only property and cannot be assigned a value. Use "+settings+".", "Boot", settings)
	}
	if mood.NoBootInPOST && (m.state.Step == stepPOST || m.state.Step == stepPowerOn) {
		return redfishError(http.StatusBadRequest, "iLO.2.15.UnableToModifyDuringSystemPOST",
			"The property or operation cannot be modified while the system is in power-on self-test.")
	}
	for _, name := range mood.BootNeeds {
		if _, named := props[name]; !named {
			return redfishError(http.StatusBadRequest, "PropertyMissing",
				fmt.Sprintf("The property %s is a required property and must be included in the request.", name), name)
		}
	}
	return nil
}

func readOverride(p *Profile, next *bootOverride, name string, raw json.RawMessage) *reply {
	switch {
	case p.lacks(name):
	case name == "BootSourceOverrideEnabled":
		return readEnum(name, raw, p.BootEnabled, &next.Enabled)
	case name == "BootSourceOverrideTarget":
		return readEnum(name, raw, p.BootTargets, &next.Target)
	case name == "BootSourceOverrideMode" && len(p.BootModes) > 0:
		return readEnum(name, raw, p.BootModes, &next.Mode)
	case name == "HttpBootUri":
		return readBootURI(p, raw, &next.URI)
	}
	return unknown(name)
}

func readBootURI(p *Profile, raw json.RawMessage, into *string) *reply {
	if !p.hasBootURI() {
		return unknown("HttpBootUri")
	}
	*into = ""
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return readValue("HttpBootUri", raw, into)
}
