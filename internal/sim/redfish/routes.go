// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	root        = "/redfish/v1"
	systemsPath = root + "/Systems"
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
	mux.Handle(system, methods{http.MethodGet: onMachine((*call).getSystem), http.MethodPatch: onMachine((*call).patchSystem)})
	get(system+"/ResetActionInfo", onMachine((*call).getResetActionInfo))
	post(system+"/Actions/ComputerSystem.Reset", onMachine((*call).resetSystem))
	r.inventoryRoutes(get, system)

	media := methods{http.MethodGet: onMachine((*call).getMedia)}
	for _, owner := range []string{system, root + "/Managers/{manager}"} {
		get(owner+"/VirtualMedia", onMachine((*call).getMediaCollection))
		mux.Handle(owner+"/VirtualMedia/CD", media)
		post(owner+"/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia", onMachine((*call).insertMedia))
		post(owner+"/VirtualMedia/CD/Actions/VirtualMedia.EjectMedia", onMachine((*call).ejectMedia))
	}

	get(root+"/Managers", fixedCollection("ManagerCollection", "Managers", managerID))
	get(root+"/Managers/"+managerID, (*call).getManager)
	post(root+"/Managers/"+managerID+"/Actions/Manager.Reset", (*call).resetManager)
	get(root+"/Chassis", (*call).getChassisCollection)
	get(root+"/Chassis/{system}", onMachine((*call).getChassis))

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
}

// onMachine finds the machine a path is about. A path under the manager is about its only machine: with
// several, media belongs to the systems alone.
func onMachine(handle func(*call, *Machine) *reply) func(*call) *reply {
	return func(c *call) *reply {
		id := c.value("system")
		if c.value("manager") == managerID && len(c.bmc.machines) == 1 {
			id = c.bmc.machines[0].id
		}
		if m := c.bmc.machine(id); m != nil {
			return handle(c, m)
		}
		return notFound(c.path)
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

// show answers a GET with a document: named by its path, rewritten by the profile, tagged, and not sent
// again to a client that has it (If-None-Match).
func (c *call) show(doc obj) *reply {
	doc, tag := c.finish(c.path, doc)
	r := newReply(http.StatusOK, doc)
	if tag == "" {
		return r
	}
	if known := c.r.Header.Values("If-None-Match"); len(known) > 0 && tagListed(known, tag) {
		r = newReply(http.StatusNotModified, nil)
	}
	r.header.Set("ETag", tag)
	return r
}

// finish makes a document what the BMC shows at path, and returns its entity tag.
func (c *call) finish(path string, doc obj) (finished obj, tag string) {
	if doc["@odata.id"] == nil {
		doc["@odata.id"] = path
	}
	if rewrite := c.bmc.profile.Rewrite; rewrite != nil {
		rewrite(path, doc)
	}
	if c.bmc.profile.NoETags {
		return doc, ""
	}
	tag = etagOf(doc)
	doc["@odata.etag"] = tag
	return doc, tag
}

// tagListed reports whether a header of entity tags holds tag, or is "*". Weak tags compare like strong
// ones: the simulator makes strong ones only.
func tagListed(header []string, tag string) bool {
	for _, item := range strings.Split(strings.Join(header, ","), ",") {
		item = strings.TrimSpace(item)
		if item == "*" || strings.TrimPrefix(item, "W/") == tag {
			return true
		}
	}
	return false
}

// showCollection answers with a collection, by pages where the profile has them.
func (c *call) showCollection(schema, name string, ids []string) *reply {
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
		}
	}
	doc["Members"] = links(c.path, page)
	return c.show(doc)
}

// numbered are ids "1" to "n", and itemIndex the way back.
func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	return ids
}

func (c *call) itemIndex(n int) (index int, ok bool) {
	index = slices.Index(numbered(n), c.value("item"))
	return index, index >= 0
}
