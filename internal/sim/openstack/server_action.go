// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"encoding/json"
	"net/http"
	"slices"
)

// actOn answers POST /servers/{id}/action.
func (cl *call) actOn(s *server) *reply {
	name := cl.actionName()
	var body map[string]json.RawMessage
	_ = json.Unmarshal(cl.body, &body)
	act := map[string]func(*server, json.RawMessage) *reply{
		"os-start": cl.startServer, "os-stop": cl.stopServer, "reboot": cl.rebootServer, "rebuild": cl.rebuildServer,
	}[name]
	if act == nil {
		return cl.refuse(http.StatusBadRequest, "There is no such action: %s", name)
	}
	r := act(s, body[name])
	if r.status == http.StatusAccepted {
		c := cl.cloud
		c.touch(s, c.now())
		e := s.event()
		e.Detail = name
		if name == "rebuild" {
			e.Detail += " " + s.Image
		}
		c.record(EventServerAction, e)
	}
	return r
}

// ready refuses an action for a server in another state than those, or that is busy with something.
func (cl *call) ready(s *server, action string, states ...string) *reply {
	switch {
	case !slices.Contains(states, s.VM):
		return cl.refuse(http.StatusConflict, "Cannot '%s' instance %s while it is in vm_state %s", action, s.ID, s.VM)
	case s.Task != taskNone:
		return cl.refuse(http.StatusConflict, "Cannot '%s' instance %s while it is in task_state %s", action, s.ID, s.Task)
	}
	return nil
}

func (cl *call) startServer(s *server, _ json.RawMessage) *reply {
	if bad := cl.ready(s, "start", vmStopped); bad != nil {
		return bad
	}
	c := cl.cloud
	s.Task = taskPoweringOn
	c.settle(s, c.now(), c.timing.PowerOn, vmActive, powerRunning)
	return accepted()
}

// stopServer stops a server; one in ERROR too, which is then SHUTOFF.
func (cl *call) stopServer(s *server, _ json.RawMessage) *reply {
	if bad := cl.ready(s, "stop", vmActive, vmError); bad != nil {
		return bad
	}
	if s.Host == "" {
		return cl.refuse(http.StatusConflict, "Instance %s is not ready", s.ID)
	}
	c := cl.cloud
	s.Task = taskPoweringOff
	c.settle(s, c.now(), c.timing.PowerOff, vmStopped, powerShutdown)
	return accepted()
}

func (cl *call) rebootServer(s *server, raw json.RawMessage) *reply {
	var in struct{ Type string }
	if json.Unmarshal(raw, &in) != nil || in.Type != "SOFT" && in.Type != "HARD" {
		return cl.schema("type", "'%s' is not one of ['HARD', 'Hard', 'hard', 'SOFT', 'Soft', 'soft']", in.Type)
	}
	states, task := []string{vmActive}, taskRebooting
	if in.Type == "HARD" {
		states, task = []string{vmActive, vmStopped, vmError}, taskRebootingHard
	}
	if bad := cl.ready(s, "reboot", states...); bad != nil {
		return bad
	}
	c := cl.cloud
	s.Task = task
	c.settle(s, c.now(), c.timing.Reboot, vmActive, powerRunning)
	return accepted()
}

// rebuildServer writes an image over a server. The server shows the new image from now on, whatever comes of it.
func (cl *call) rebuildServer(s *server, raw json.RawMessage) *reply {
	var in struct {
		ImageRef    string
		Name        *string
		Description *string
		AdminPass   string
		Metadata    *map[string]string
		KeyName     *string `json:"key_name"`
		UserData    *string `json:"user_data"`
	}
	if json.Unmarshal(raw, &in) != nil || in.ImageRef == "" {
		return cl.schema("rebuild", "'imageRef' is a required property")
	}
	if in.KeyName != nil && cl.version < rebuildKey || in.UserData != nil && cl.version < rebuildUserData {
		return cl.schema("rebuild", "Additional properties are not allowed")
	}
	if bad := cl.ready(s, "rebuild", vmActive, vmStopped, vmError); bad != nil {
		return bad
	}
	if s.Launched.IsZero() {
		return cl.refuse(http.StatusConflict, "Instance %s is in an invalid state for 'rebuild'", s.ID)
	}
	c := cl.cloud
	if bad := cl.checkImage(in.ImageRef, c.flavor(s.Flavor)); bad != nil {
		return bad
	}
	s.Image, s.Task = in.ImageRef, taskRebuilding
	replace(&s.Name, in.Name)
	replace(&s.Key, in.KeyName)
	replace(&s.UserData, in.UserData)
	if in.Description != nil {
		s.Description = in.Description
	}
	if in.Metadata != nil {
		s.Metadata = *in.Metadata
	}
	c.rebuild(s, c.now())
	c.touch(s, c.now())
	doc := cl.showServer(s, ofRebuild)
	doc["adminPass"] = orElse(in.AdminPass, randomHex(6))
	r := newReply(http.StatusAccepted, obj{"server": doc})
	r.header.Set("Location", c.url("/compute/v2.1/servers/"+s.ID))
	return r
}

func replace(into, from *string) {
	if from != nil {
		*into = *from
	}
}

func (cl *call) deleteServer(s *server) *reply {
	c := cl.cloud
	c.record(EventServerDelete, s.event())
	if s.Task != taskDeleting {
		c.remove(s, c.now())
	}
	return noContent()
}

// updateServer answers PUT /servers/{id}.
func (cl *call) updateServer(s *server) *reply {
	var in struct {
		Server struct {
			Name        *string
			Description *string
		}
	}
	if json.Unmarshal(cl.body, &in) != nil {
		return cl.refuse(http.StatusBadRequest, "Malformed request body")
	}
	replace(&s.Name, in.Server.Name)
	if in.Server.Description != nil && cl.version >= descriptions {
		s.Description = in.Server.Description
	}
	cl.changed(s, "name")
	return ok(obj{"server": cl.showServer(s, afterwards)})
}

// changed notes a change that is no action.
func (cl *call) changed(s *server, what string) {
	c := cl.cloud
	c.touch(s, c.now())
	e := s.event()
	e.Detail = what
	c.record(EventServerChanged, e)
}
