// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"path"
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
	m.record(Event{At: c.now(), Kind: EventMedia, To: *body.Image, cause: c.cause()})
	m.state.Media = media{Image: *body.Image, Inserted: body.Inserted == nil || *body.Inserted}
	m.changed()
	return noContent()
}

func (c *call) ejectMedia(m *Machine) *reply {
	from := m.state.Media.Image
	m.state.Media = media{}
	if from != "" {
		m.record(Event{At: c.now(), Kind: EventMedia, From: from, cause: c.cause()})
		if lag := c.bmc.behaviour.EjectLag.std(); lag > 0 {
			m.state.Media.ShownAs, m.state.Media.ShownTill = from, c.now().Add(lag)
		}
	}
	m.changed()
	return noContent()
}
