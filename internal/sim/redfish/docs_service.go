// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"strings"
	"time"
)

func (c *call) getVersions() *reply { return newReply(http.StatusOK, obj{"v1": root + "/"}) }

func (c *call) getRoot() *reply {
	p := &c.bmc.profile
	doc := obj{
		"@odata.id": root + "/", "@odata.type": "#ServiceRoot.v1_17_0.ServiceRoot", "Id": "RootService", "Name": "Root Service",
		"RedfishVersion": p.RedfishVersion, "UUID": c.bmc.spec.UUID,
		"ProtocolFeaturesSupported": obj{
			"ExpandQuery": obj{"ExpandAll": false, "Levels": false, "Links": false, "NoLinks": false},
			"FilterQuery": false, "SelectQuery": false, "OnlyMemberQuery": false, "ExcerptQuery": false,
		},
		"Systems": link(systemsPath), "Chassis": link(root + "/Chassis"), "Managers": link(root + "/Managers"),
		"AccountService": link(accountPath), "Tasks": link(root + "/TaskService"),
		"Links": obj{},
	}
	tell(doc, "Vendor", p.Vendor)
	tell(doc, "Product", p.Product)
	if !p.NoSessionService {
		doc["SessionService"] = link(root + "/SessionService")
		doc["Links"] = obj{"Sessions": link(sessionPath)}
	}
	if !p.NoEventService {
		doc["EventService"] = link(eventPath)
	}
	return c.show(doc)
}

// services are the documents that hang from the root, by name.
var services = []string{
	"AccountService", "Chassis", "EventService", "Managers", "SessionService", "Systems", "TaskService",
}

func (c *call) getOData() *reply {
	value := []obj{{"name": "Service", "kind": "Singleton", "url": root + "/"}}
	for _, name := range services {
		value = append(value, obj{"name": name, "kind": "Singleton", "url": root + "/" + name})
	}
	return newReply(http.StatusOK, obj{"@odata.context": root + "/$metadata", "value": value})
}

func (c *call) getMetadata() *reply {
	const metadata = `<?xml version="1.0" encoding="UTF-8"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
  <edmx:Reference Uri="http://redfish.dmtf.org/schemas/v1/ServiceRoot_v1.xml">
    <edmx:Include Namespace="ServiceRoot"/>
    <edmx:Include Namespace="ServiceRoot.v1_17_0"/>
  </edmx:Reference>
  <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">
      <EntityContainer Name="Service" Extends="ServiceRoot.v1_17_0.ServiceContainer"/>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
`
	return &reply{status: http.StatusOK, header: http.Header{"Content-Type": {"application/xml"}}, raw: []byte(metadata)}
}

func (c *call) getManagers() *reply {
	return c.showCollection("ManagerCollection", "Managers", []string{c.bmc.managerID()})
}

func (c *call) getManager() *reply {
	b := c.bmc
	if c.value("manager") != b.managerID() {
		return notFound(c.path)
	}
	doc := obj{
		"@odata.type": "#Manager.v1_19_1.Manager", "Id": b.managerID(), "Name": "Manager", "ManagerType": "BMC",
		"UUID": b.spec.UUID, "Model": orElse(b.profile.ManagerModel, b.profile.Product),
		"FirmwareVersion": orElse(b.spec.Firmware, b.profile.Firmware), "PowerState": "On", "Status": statusOK(),
		"DateTimeLocalOffset": "+00:00",
		"Links": obj{
			"ManagerForServers": links(systemsPath, b.machineIDs()), "ManagerForChassis": links(chassisPath, b.chassisIDs()),
		},
		"Actions": obj{"#Manager.Reset": obj{
			"target":                            c.path + "/Actions/Manager.Reset",
			"ResetType@Redfish.AllowableValues": []string{"GracefulRestart", "ForceRestart"},
		}},
	}
	tell(doc, "Manufacturer", b.profile.Vendor)
	if len(b.machines) == 1 {
		if media := b.machines[0].mediaLink(c.path); media != "" {
			doc["VirtualMedia"] = link(media)
		}
	}
	r := c.show(doc)
	if r.body != nil { // a clock would make every picture a new one: shown, but not tagged
		r.body["DateTime"] = b.time(c.now())
	}
	return r
}

// lastWords is the time a BMC takes to answer before it restarts.
const lastWords = 200 * time.Millisecond

func (c *call) resetManager() *reply {
	if c.value("manager") != c.bmc.managerID() {
		return notFound(c.path)
	}
	var body struct{ ResetType *string }
	if len(strings.TrimSpace(string(c.body))) > 0 {
		if bad := c.decode(&body); bad != nil {
			return bad
		}
	}
	if body.ResetType != nil && *body.ResetType != "GracefulRestart" && *body.ResetType != "ForceRestart" {
		return notAllowable("ResetType", *body.ResetType)
	}
	why, at := c.cause(), c.now()
	c.bmc.record(Event{At: at, Kind: EventReset, To: "Manager", cause: why})
	c.rack.schedule(at.Add(lastWords), func(at time.Time) { c.bmc.reboot(at, why) })
	return noContent()
}

func (c *call) getChassisCollection() *reply {
	return c.showCollection("ChassisCollection", "Chassis", c.bmc.chassisIDs())
}

func (c *call) getChassis(m *Machine) *reply {
	power := m.shownPower()
	if c.bmc.behaviour.ChassisSaysOn {
		power = PowerOn
	}
	return c.show(obj{
		"@odata.type": "#Chassis.v1_25_1.Chassis", "Id": m.chassisID(), "Name": "Chassis " + m.chassisID(), "ChassisType": "RackMount",
		"Manufacturer": m.spec.Manufacturer, "Model": m.spec.Model, "SerialNumber": m.spec.SerialNumber, "PartNumber": m.spec.SKU,
		"PowerState": power, "IndicatorLED": m.shownLED(), "LocationIndicatorActive": m.state.LED != "Off", "Status": statusOK(),
		"Links": obj{
			"ComputerSystems": []obj{link(m.path())},
			"ManagedBy":       []obj{link(c.bmc.managerPath())},
		},
	})
}
