// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"slices"
	"time"
)

// EventKind is what kind of thing happened in the cloud.
type EventKind string

// The kinds of events.
const (
	EventServerCreated  EventKind = "ServerCreated"  // a POST was accepted
	EventServerLaunched EventKind = "ServerLaunched" // it is ACTIVE for the first time
	EventServerErrored  EventKind = "ServerErrored"  // it went to ERROR; Detail is the fault
	EventServerAction   EventKind = "ServerAction"   // an action was accepted; Detail is its name, of a rebuild with the image's id
	EventServerPower    EventKind = "ServerPower"    // it is now running or stopped, as State says
	EventServerRebuilt  EventKind = "ServerRebuilt"  // the image is written
	EventServerDelete   EventKind = "ServerDelete"   // a DELETE was accepted
	EventServerGone     EventKind = "ServerGone"     // it is no more
	EventServerChanged  EventKind = "ServerChanged"  // name, metadata, tags or an attached port, as Detail says

	EventPortCreated EventKind = "PortCreated"
	EventPortChanged EventKind = "PortChanged" // by a user, not by Nova
	EventPortDeleted EventKind = "PortDeleted"

	EventFloatingIPCreated EventKind = "FloatingIPCreated"
	EventFloatingIPChanged EventKind = "FloatingIPChanged" // Detail is the port, empty: none
	EventFloatingIPDeleted EventKind = "FloatingIPDeleted"
)

// Who made something happen, where no request did it directly.
const (
	byRequest = "request"
	byHand    = "hand" // a lever of the simulator
)

// cause says who makes something happen; the zero value is the cloud itself, going on with what was begun.
type cause struct {
	by      string
	request uint64
	arrived time.Time
}

// Event is one entry of the log of effects.
type Event struct {
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
	Kind    EventKind `json:"kind"`
	ID      string    `json:"id"` // of the server, port or floating IP
	Name    string    `json:"name,omitempty"`
	Project string    `json:"project,omitempty"`
	// Tags and Description are what it bore then: what its maker stamped it with.
	Tags        []string `json:"tags,omitempty"`
	Description string   `json:"description,omitempty"`
	State       string   `json:"state,omitempty"` // a server's status
	Detail      string   `json:"detail,omitempty"`
	// UserData is what a server is created with, in base64 as it was sent: what it will boot.
	UserData string `json:"userData,omitempty"`
	// By is who caused it: request, hand; empty for the cloud going on with what was begun. Request is the Seq of
	// the request, where there was one, and Arrived when that came: faults put off what it does.
	By      string    `json:"by,omitempty"`
	Request uint64    `json:"request,omitempty"`
	Arrived time.Time `json:"arrived,omitzero"`
}

// EventFilter selects events; zero fields select all.
type EventFilter struct {
	ID    string
	Kinds []EventKind
	After uint64 // only events with a greater Seq
}

func (f EventFilter) matches(e *Event) bool {
	return (f.ID == "" || f.ID == e.ID) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind)) && e.Seq > f.After
}

// Events returns what happened since the cloud was started, oldest first. Nothing is ever dropped from it: judges of
// fault campaigns read it.
func (c *Cloud) Events(filter EventFilter) []Event {
	defer c.enter()()
	found := []Event{}
	for i := range c.events {
		if filter.matches(&c.events[i]) {
			found = append(found, c.events[i])
		}
	}
	return found
}

func (c *Cloud) record(kind EventKind, e Event) {
	e.Kind, e.At, e.Seq = kind, c.now(), uint64(len(c.events))+1
	e.By, e.Request, e.Arrived = c.cause.by, c.cause.request, c.cause.arrived
	c.events = append(c.events, e)
}

func (s *server) event() Event {
	return Event{ID: s.ID, Name: s.Name, Project: s.Project, Tags: s.Tags, State: s.status()}
}
