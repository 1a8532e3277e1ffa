// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

const (
	root        = "/redfish/v1"
	systemsPath = root + "/Systems"

	managersPath = root + "/Managers"
	chassisPath  = root + "/Chassis"
)

// routes is the whole tree of a BMC. Wildcards are checked by the handlers.
func (r *Rack) routes() *http.ServeMux {
	mux := http.NewServeMux()
	get := func(pattern string, handle func(*call) *reply) {
		mux.Handle(pattern, methods{http.MethodGet: handle})
	}
	post := func(pattern string, handle func(*call) *reply) {
		mux.Handle(pattern, methods{http.MethodPost: handle})
	}
	system := systemsPath + "/{system}"

	get("/redfish", (*call).getVersions)
	get(root, (*call).getRoot)
	get(root+"/odata", (*call).getOData)
	get(root+"/$metadata", (*call).getMetadata)

	get(root+"/SessionService", ifSessions((*call).getSessionService))
	mux.Handle(sessionPath, methods{
		http.MethodGet: ifSessions((*call).getSessions), http.MethodPost: ifSessions((*call).createSession),
	})
	mux.Handle(sessionPath+"/{session}", methods{
		http.MethodGet: ifSessions((*call).getSession), http.MethodDelete: ifSessions((*call).deleteSession),
	})
	get(accountPath, (*call).getAccountService)
	get(accountPath+"/Accounts", fixedCollection("ManagerAccountCollection", "Accounts", "1"))
	mux.Handle(accountPath+"/Accounts/1", methods{http.MethodGet: (*call).getAccount, http.MethodPatch: (*call).patchAccount})
	get(accountPath+"/Roles", fixedCollection("RoleCollection", "Roles", "Administrator"))
	get(accountPath+"/Roles/Administrator", (*call).getRole)

	get(systemsPath, (*call).getSystems)
	mux.Handle(system, methods{http.MethodGet: orTray((*call).getSystem), http.MethodPatch: onMachine((*call).patchSystem)})
	mux.Handle(system+"/{part}", methods{http.MethodGet: onMachine((*call).getPart), http.MethodPatch: onMachine((*call).patchPart)})
	get(system+"/ResetActionInfo", onMachine((*call).getResetActionInfo))
	post(system+"/Actions/ComputerSystem.Reset", onMachine((*call).resetSystem))
	r.inventoryRoutes(get, system)

	slot := methods{http.MethodGet: onSlot((*call).getMedia), http.MethodPatch: onSlot((*call).patchMedia)}
	for _, owner := range []string{system, managersPath + "/{manager}"} {
		mux.Handle(owner+"/{media}/{slot}", slot)
		post(owner+"/{media}/{slot}/Actions/VirtualMedia.InsertMedia", onSlot((*call).insertMedia))
		post(owner+"/{media}/{slot}/Actions/VirtualMedia.EjectMedia", onSlot((*call).ejectMedia))
	}
	get(managersPath, (*call).getManagers)
	get(managersPath+"/{manager}", (*call).getManager)
	get(managersPath+"/{manager}/{media}", onMachine((*call).getMediaCollection))
	post(managersPath+"/{manager}/Actions/Manager.Reset", (*call).resetManager)
	get(chassisPath, (*call).getChassisCollection)
	get(chassisPath+"/{chassis}", onMachine((*call).getChassis))
	get(chassisPath+"/{chassis}/Drives/{item}", onMachine((*call).getChassisDrive))

	get(root+"/TaskService", (*call).getTaskService)
	get(root+"/TaskService/Tasks", (*call).getTasks)
	get(root+"/TaskService/Tasks/{task}", (*call).getTask)
	get(monitorPath+"/{task}", (*call).getTaskMonitor)
	get(eventPath, ifEvents((*call).getEventService))
	get(eventPath+"/Subscriptions", ifEvents(fixedCollection("EventDestinationCollection", "Subscriptions")))
	get(eventPath+"/SSE", ifEvents((*call).getEventStream))
	return mux
}

func (r *Rack) inventoryRoutes(get func(string, func(*call) *reply), system string) {
	get(system+"/Processors", onMachine((*call).getProcessors))
	get(system+"/Processors/{item}", onMachine((*call).getProcessor))
	get(system+"/Memory", onMachine((*call).getMemoryCollection))
	get(system+"/Memory/{item}", onMachine((*call).getMemory))
	get(system+"/EthernetInterfaces", onMachine((*call).getNICs))
	get(system+"/EthernetInterfaces/{item}", onMachine((*call).getNIC))
	get(system+"/Storage", onMachine((*call).getStorageCollection))
	get(system+"/Storage/1", onMachine((*call).getStorage))
	get(system+"/Storage/1/Drives/{item}", onMachine((*call).getDrive))
	get(system+"/SimpleStorage", onMachine((*call).getSimpleStorages))
	get(system+"/SimpleStorage/{item}", onMachine((*call).getSimpleStorage))
}

// onMachine finds the machine a path is about. A path under the manager is about its only machine: with
// several, media belongs to the systems alone.
func onMachine(handle func(*call, *Machine) *reply) func(*call) *reply {
	return func(c *call) *reply {
		m := c.bmc.machine(c.value("system"))
		switch {
		case c.value("chassis") != "":
			m = c.bmc.machineIn(c.value("chassis"))
		case c.value("manager") == c.bmc.managerID() && len(c.bmc.machines) == 1:
			m = c.bmc.machines[0]
		}
		if m == nil {
			return notFound(c.path)
		}
		return handle(c, m)
	}
}

// orTray is onMachine for what trays have too.
func orTray(handle func(*call, *Machine) *reply) func(*call) *reply {
	return func(c *call) *reply {
		if slices.Contains(c.bmc.profile.Trays, c.value("system")) {
			return c.getTray()
		}
		return onMachine(handle)(c)
	}
}

func ifSessions(handle func(*call) *reply) func(*call) *reply {
	return func(c *call) *reply {
		if c.bmc.profile.NoSessionService {
			return notFound(c.path)
		}
		return handle(c)
	}
}

func ifEvents(handle func(*call) *reply) func(*call) *reply {
	return func(c *call) *reply {
		if c.bmc.profile.NoEventService {
			return notFound(c.path)
		}
		return handle(c)
	}
}

func fixedCollection(schema, name string, ids ...string) func(*call) *reply {
	return func(c *call) *reply { return c.showCollection(schema, name, ids) }
}

func link(path string) obj { return obj{"@odata.id": path} }

func links(parent string, ids []string) []obj {
	members := make([]obj, 0, len(ids))
	for _, id := range ids {
		members = append(members, link(parent+"/"+id))
	}
	return members
}

func statusOK() obj { return obj{"State": "Enabled", "Health": "OK"} }

// showCollection answers with a collection, by pages where the profile has them.
func (c *call) showCollection(schema, name string, ids []string) *reply {
	ids = c.inOrder(ids)
	page := ids
	doc := obj{
		"@odata.type": fmt.Sprintf("#%s.%s", schema, schema), "Name": name, "Members@odata.count": len(ids),
	}
	if size := c.bmc.profile.PageSize; size > 0 {
		skip, err := strconv.Atoi(orElse(c.r.URL.Query().Get("$skip"), "0"))
		if err != nil || skip < 0 {
			return redfishError(http.StatusBadRequest, "QueryParameterValueFormatError",
				"The value for the parameter $skip is of a different format than the parameter can accept.", "$skip")
		}
		skip = min(skip, len(ids))
		page = ids[skip:min(skip+size, len(ids))]
		if skip+size < len(ids) {
			doc["Members@odata.nextLink"] = fmt.Sprintf("%s?$skip=%d", c.path, skip+size)
		} else if c.bmc.behaviour.PagesLoop {
			doc["Members@odata.nextLink"] = fmt.Sprintf("%s?$skip=%d", c.path, skip)
		}
	}
	doc["Members"] = links(c.path, page)
	return c.show(doc)
}
