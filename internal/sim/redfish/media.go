// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

func (c *call) getMediaCollection(*Machine) *reply {
	if !c.hasMedia() {
		return notFound(c.path)
	}
	return c.showCollection("VirtualMediaCollection", "Virtual Media", c.bmc.profile.Media.ids())
}

func (c *call) getMedia(m *Machine, slot *MediaSlot) *reply {
	r := c.show(m.mediaDoc(c.path, slot, c.now()))
	if m.bmc.profile.Media.ByPatch { // how a client learns that it can
		r.header.Set("Allow", "GET, HEAD, PATCH")
	}
	return r
}

func (m *Machine) mediaDoc(at string, slot *MediaSlot, now time.Time) obj {
	doc := obj{
		"@odata.type": "#VirtualMedia.v1_6_3.VirtualMedia", "Id": slot.ID, "Name": "Virtual Media " + slot.ID, "MediaTypes": slot.Types,
		"Image": nil, "ImageName": nil, "Inserted": false, "WriteProtected": true, "ConnectedVia": "NotConnected", "Status": statusOK(),
	}
	if slot.Untold {
		delete(doc, "MediaTypes")
	}
	if !m.bmc.profile.Media.ByPatch {
		doc["Actions"] = obj{
			"#VirtualMedia.InsertMedia": obj{"target": at + "/Actions/VirtualMedia.InsertMedia"},
			"#VirtualMedia.EjectMedia":  obj{"target": at + "/Actions/VirtualMedia.EjectMedia"},
		}
	}
	held := m.state.Media
	if orElse(held.Slot, m.bmc.profile.Media.Slots[0].ID) != slot.ID {
		return doc
	}
	image, inserted := held.Image, held.Inserted
	if !inserted && now.Before(held.ShownTill) { // Behaviour.EjectLag
		image, inserted = held.ShownAs, true
	}
	doc["Inserted"] = inserted
	if image != "" {
		doc["Image"], doc["ImageName"], doc["ConnectedVia"] = image, path.Base(image), "URI"
	}
	return doc
}

func (c *call) insertMedia(m *Machine, slot *MediaSlot) *reply {
	if c.bmc.profile.Media.ByPatch {
		return notFound(c.path)
	}
	var props map[string]any
	if bad := c.decode(&props); bad != nil {
		return bad
	}
	const action = "VirtualMedia.InsertMedia"
	for _, name := range append([]string{"Image"}, c.bmc.behaviour.MediaNeeds...) {
		if props[name] == nil || props[name] == "" {
			return redfishError(http.StatusBadRequest, "ActionParameterMissing",
				fmt.Sprintf("The action %s requires that the parameter %s be present in the request body.", action, name), action, name)
		}
	}
	if c.bmc.behaviour.MediaOnlyImage {
		for name := range props {
			if name != "Image" && !slices.Contains(c.bmc.behaviour.MediaNeeds, name) {
				return redfishError(http.StatusBadRequest, "ActionParameterUnknown",
					fmt.Sprintf("The action %s was submitted with the invalid parameter %s.", action, name), action, name)
			}
		}
	}
	image, isText := props["Image"].(string)
	inserted, isFlag := props["Inserted"].(bool)
	if !isText || props["Inserted"] != nil && !isFlag {
		return redfishError(http.StatusBadRequest, "ActionParameterValueTypeError", "A parameter is of a different type than the action can accept.", action)
	}
	return c.insert(m, slot, media{Image: image, Inserted: props["Inserted"] == nil || inserted, Slot: slot.ID})
}

// insert puts an image into an empty slot.
func (c *call) insert(m *Machine, slot *MediaSlot, next media) *reply {
	switch {
	case slot.Fixed:
		return redfishError(http.StatusBadRequest, "PropertyNotWritable", "The property Image is a read-only property and cannot be assigned a value.", "Image")
	case c.bmc.behaviour.MediaNoQuery && strings.Contains(next.Image, "?"):
		return redfishError(http.StatusBadRequest, "PropertyValueFormatError", "The value for the property Image is of a different format than the property can accept.", next.Image, "Image")
	case m.state.Media.Image != "":
		return redfishError(http.StatusConflict, "ResourceInUse", "The change to the requested resource failed because the resource is in use or in transition.")
	}
	return c.changeMedia(m, next)
}

func (c *call) ejectMedia(m *Machine, slot *MediaSlot) *reply {
	if c.bmc.profile.Media.ByPatch {
		return notFound(c.path)
	}
	return c.eject(m, slot)
}

func (c *call) eject(m *Machine, slot *MediaSlot) *reply {
	if held := m.state.Media; held.Image != "" && held.Slot != slot.ID {
		return noContent() // it is in another slot
	}
	return c.changeMedia(m, media{Slot: slot.ID})
}

// patchMedia inserts and ejects where there are no actions.
func (c *call) patchMedia(m *Machine, slot *MediaSlot) *reply {
	if !c.bmc.profile.Media.ByPatch {
		return redfishError(http.StatusMethodNotAllowed, "OperationNotAllowed", "The HTTP method is not allowed on this resource.")
	}
	if bad := c.precondition(func() obj { return m.mediaDoc(c.path, slot, c.now()) }); bad != nil {
		return bad
	}
	var props map[string]any
	if bad := c.decode(&props); bad != nil {
		return bad
	}
	value, named := props["Image"]
	image, isText := value.(string)
	switch {
	case !named:
		return redfishError(http.StatusBadRequest, "PropertyMissing", "The property Image is a required property and must be included in the request.", "Image")
	case value == nil || isText && image == "":
		return c.eject(m, slot)
	case !isText:
		return redfishError(http.StatusBadRequest, "PropertyValueTypeError", "The value for the property Image is of a different type than the property can accept.", "Image")
	}
	inserted, told := props["Inserted"].(bool)
	return c.insert(m, slot, media{Image: image, Inserted: inserted || !told && !c.bmc.behaviour.MediaNeedsInserted, Slot: slot.ID})
}

// changeMedia does what an insert or eject asked for, now or as a task.
func (c *call) changeMedia(m *Machine, next media) *reply {
	why := c.cause()
	if c.bmc.behaviour.AsyncMedia {
		return c.startTask("Virtual media of system "+m.id, func(at time.Time) { m.setMedia(at, next, why) })
	}
	m.setMedia(c.now(), next, why)
	return noContent()
}

func (m *Machine) setMedia(at time.Time, next media, why cause) {
	from := m.state.Media.Image
	if lag := m.bmc.behaviour.EjectLag.Std(); lag > 0 && from != "" && next.Image == "" {
		next.ShownAs, next.ShownTill = from, at.Add(lag)
	}
	if from != next.Image {
		m.record(Event{At: at, Kind: EventMedia, From: from, To: next.Image, cause: why})
	}
	m.state.Media = next
	m.changed()
}

// hasBootableCD reports whether firmware finds a CD.
func (m *Machine) hasBootableCD() bool {
	held := m.state.Media
	n := &m.bmc.profile.Media
	if held.Slot == "" && len(n.Slots) > 0 { // state kept from before slots had names
		held.Slot = n.Slots[0].ID
	}
	return held.Inserted && n.slot(held.Slot).bootable()
}
