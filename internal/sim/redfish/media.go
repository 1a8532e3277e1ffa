// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"path"
	"time"
)

func (c *call) getMediaCollection(*Machine) *reply {
	return c.showCollection("VirtualMediaCollection", "Virtual Media", []string{"CD"})
}

func (c *call) getMedia(m *Machine) *reply {
	slot := m.state.Media
	image, inserted := slot.Image, slot.Inserted
	if !inserted && c.now().Before(slot.ShownTill) { // Behaviour.EjectLag
		image, inserted = slot.ShownAs, true
	}
	doc := obj{
		"@odata.type": "#VirtualMedia.v1_6_3.VirtualMedia", "Id": "CD", "Name": "Virtual CD", "MediaTypes": []string{"CD", "DVD"},
		"Image": nil, "ImageName": nil, "Inserted": inserted, "WriteProtected": true, "ConnectedVia": "NotConnected", "Status": statusOK(),
		"Actions": obj{
			"#VirtualMedia.InsertMedia": obj{"target": c.path + "/Actions/VirtualMedia.InsertMedia"},
			"#VirtualMedia.EjectMedia":  obj{"target": c.path + "/Actions/VirtualMedia.EjectMedia"},
		},
	}
	if image != "" {
		doc["Image"], doc["ImageName"], doc["ConnectedVia"] = image, path.Base(image), "URI"
	}
	return c.show(doc)
}

func (c *call) insertMedia(m *Machine) *reply {
	var body struct {
		Image    *string
		Inserted *bool
	}
	if bad := c.decode(&body); bad != nil {
		return bad
	}
	if body.Image == nil || *body.Image == "" {
		return redfishError(http.StatusBadRequest, "ActionParameterMissing",
			"The action VirtualMedia.InsertMedia requires that the parameter Image be present in the request body.", "VirtualMedia.InsertMedia", "Image")
	}
	if m.state.Media.Image != "" {
		return redfishError(http.StatusConflict, "ResourceInUse", "The change to the requested resource failed because the resource is in use or in transition.")
	}
	next := media{Image: *body.Image, Inserted: body.Inserted == nil || *body.Inserted}
	return c.changeMedia(m, next)
}

func (c *call) ejectMedia(m *Machine) *reply { return c.changeMedia(m, media{}) }

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
	if lag := m.bmc.behaviour.EjectLag.std(); lag > 0 && from != "" && next.Image == "" {
		next.ShownAs, next.ShownTill = from, at.Add(lag)
	}
	if from != next.Image {
		m.record(Event{At: at, Kind: EventMedia, From: from, To: next.Image, cause: why})
	}
	m.state.Media = next
	m.changed()
}
