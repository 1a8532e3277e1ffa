// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// members are those of a JSON object, undecoded.
type members map[string]json.RawMessage

// draft is a PATCH of a system being read: nothing changes before all of it is found good. What the
// request does not name stays nil.
type draft struct {
	machine  *Machine
	path     string // of the resource that is written
	assetTag *string
	led      *string
	restore  *string
	override *bootOverride
}

// patchSystem carries out a PATCH of a ComputerSystem, wholly or not at all.
func (c *call) patchSystem(m *Machine) *reply {
	if bad := c.precondition(m.document); bad != nil {
		return bad
	}
	d, bad := c.readDraft(m, func(*draft, string) bool { return true })
	if bad != nil {
		return bad
	}
	return c.carryOut(d, func() *reply { return c.getSystem(m) })
}

// readDraft reads a PATCH; has says which members the resource has.
func (c *call) readDraft(m *Machine, has func(d *draft, name string) bool) (*draft, *reply) {
	var props members
	if bad := c.decode(&props); bad != nil {
		return nil, bad
	}
	if len(props) == 0 {
		return nil, redfishError(http.StatusBadRequest, "NoOperation", "The request body submitted contain no data to act upon and no changes to the resource took place.")
	}
	d := &draft{machine: m, path: c.path}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		bad := unknown(name)
		if has(d, name) {
			bad = d.read(name, props[name])
		}
		if bad != nil {
			return nil, bad
		}
	}
	return d, nil
}

// carryOut makes the change, now or as a task, and answers with what the resource shows then.
func (c *call) carryOut(d *draft, show func() *reply) *reply {
	why := c.cause()
	if wait := d.machine.notNow(c.now()); wait != nil {
		return wait
	}
	if c.bmc.behaviour.AsyncPatch {
		return c.startTask("Change of system "+d.machine.id, func(at time.Time) { d.commit(at, why) })
	}
	d.commit(c.now(), why)
	return show()
}

// precondition checks If-Match against the entity tag of the document as it is shown.
func (c *call) precondition(document func() obj) *reply {
	tags := c.r.Header.Values("If-Match")
	switch {
	case c.bmc.profile.NoETags:
		return nil
	case len(tags) == 0 && c.bmc.behaviour.RequireIfMatch:
		return redfishError(http.StatusPreconditionRequired, "PreconditionRequired",
			"A precondition header or annotation is required to change this resource.")
	case len(tags) == 0:
		return nil
	}
	if _, tag := c.finish(c.path, document()); !tagListed(tags, tag) {
		return redfishError(http.StatusPreconditionFailed, "PreconditionFailed",
			"The ETag supplied did not match the ETag required to change this resource.")
	}
	return nil
}

func (d *draft) read(name string, raw json.RawMessage) *reply {
	if d.machine.bmc.profile.lacks(name) {
		return unknown(name)
	}
	switch name {
	case "AssetTag":
		return d.readAssetTag(raw)
	case "IndicatorLED":
		return d.readLED(name, raw)
	case "LocationIndicatorActive":
		var active bool
		if bad := readValue(name, raw, &active); bad != nil {
			return bad
		}
		led := map[bool]string{true: "Blinking", false: "Off"}[active]
		d.led = &led
		return nil
	case "PowerRestorePolicy":
		d.restore = new(string)
		return readEnum(name, raw, []string{string(RestoreOff), string(RestoreOn), string(RestoreLast)}, d.restore)
	case "Boot":
		return d.readBoot(raw)
	}
	if _, shown := d.machine.document()[name]; shown {
		return redfishError(http.StatusBadRequest, "PropertyNotWritable",
			fmt.Sprintf("The property %s is a read-only property and cannot be assigned a value.", name), name)
	}
	return unknown(name)
}

// readLED reads the indicator, in the model's words.
func (d *draft) readLED(name string, raw json.RawMessage) *reply {
	d.led = new(string)
	bad := readEnum(name, raw, []string{"Off", "Lit", "Blinking"}, d.led)
	if *d.led == "Lit" && d.machine.bmc.profile.LitIsNormal {
		*d.led = "Off"
	}
	return bad
}

func unknown(property string) *reply {
	return redfishError(http.StatusBadRequest, "PropertyUnknown",
		fmt.Sprintf("The property %s is not in the list of valid properties for the resource.", property), property)
}

func (d *draft) readAssetTag(raw json.RawMessage) *reply {
	var tag string
	if bad := readValue("AssetTag", raw, &tag); bad != nil {
		return bad
	}
	b := d.machine.bmc
	switch b.behaviour.AssetTag {
	case AssetTagRefused:
		return redfishError(http.StatusBadRequest, "PropertyNotWritable",
			"The property AssetTag is a read-only property and cannot be assigned a value.", "AssetTag")
	case AssetTagIgnored:
		return nil
	case AssetTagTruncated:
		tag = tag[:min(len(tag), b.behaviour.AssetTagLength)]
	case AssetTagWritten:
	}
	if len(tag) > b.profile.AssetTagMax {
		return redfishError(http.StatusBadRequest, "StringValueTooLong",
			fmt.Sprintf("The string '%s' exceeds the length limit %d.", tag, b.profile.AssetTagMax), tag, fmt.Sprint(b.profile.AssetTagMax))
	}
	d.assetTag = &tag
	return nil
}

func (d *draft) commit(at time.Time, why cause) {
	m, s := d.machine, &d.machine.state
	if d.assetTag != nil && *d.assetTag != s.AssetTag {
		m.record(Event{At: at, Kind: EventAssetTag, From: s.AssetTag, To: *d.assetTag, cause: why})
		s.AssetTag = *d.assetTag
	}
	if d.led != nil && *d.led != s.LED {
		m.record(Event{At: at, Kind: EventLED, From: s.LED, To: *d.led, cause: why})
		s.LED = *d.led
	}
	if d.restore != nil {
		s.Restore = *d.restore
	}
	if d.override != nil && (*d.override != s.Override || m.lag != nil) {
		m.setOverride(at, *d.override, why)
	}
	m.changed()
}

func readValue(name string, raw json.RawMessage, into any) *reply {
	if bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, into) != nil {
		return redfishError(http.StatusBadRequest, "PropertyValueTypeError",
			fmt.Sprintf("The value '%s' for the property %s is of a different type than the property can accept.", raw, name), string(raw), name)
	}
	return nil
}

func readEnum(name string, raw json.RawMessage, allowed []string, into *string) *reply {
	var value string
	if bad := readValue(name, raw, &value); bad != nil {
		return bad
	}
	if !slices.Contains(allowed, value) {
		return redfishError(http.StatusBadRequest, "PropertyValueNotInList",
			fmt.Sprintf("The value '%s' for the property %s is not in the list of acceptable values.", value, name), value, name)
	}
	*into = value
	return nil
}
