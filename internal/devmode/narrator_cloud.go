// SPDX-License-Identifier: Apache-2.0

package devmode

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/sim/openstack"
)

// tellCloud tells what is new in the cloud's logs.
func (n *narrator) tellCloud(seen *logs) error {
	requests, err := n.stack.Cloud.Requests(openstack.RequestFilter{After: seen.request})
	if err != nil {
		return err
	}
	for _, r := range requests {
		if r.Status == 0 {
			break // not answered yet: it is told, and those after it, the next time
		}
		seen.request = r.Seq
		if changesCloud(r) {
			n.say("request", CloudName, fmt.Sprintf("%s %s → %d", r.Method, CloudCall(r), r.Status))
		}
	}
	for _, e := range n.stack.Cloud.Events(openstack.EventFilter{After: seen.event}) {
		seen.event = e.Seq
		if what, text := happenedAtCloud(e); text != "" {
			n.say(what, e.Name, text)
		}
	}
	return nil
}

// changesCloud tells whether a request changes anything but sessions.
func changesCloud(r openstack.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Service != "identity"
}

// CloudCall is what a request was for: its path without the service's root, with ids left out; of an action with its name.
func CloudCall(r openstack.Request) string {
	_, path, found := strings.Cut(r.Route, "/v2.")
	if !found {
		return r.Path
	}
	_, path, _ = strings.Cut(path, "/")
	if rest, tags := strings.CutPrefix(path, "{kind}/"); tags {
		parts := strings.Split(r.Path, "/") // "", network, v2.0, the kind
		path = parts[3] + "/" + rest
	}
	return path
}

// happenedAtCloud says to what something happens in a cloud, and what; "" for what the request before it says already.
func happenedAtCloud(e openstack.Event) (what, text string) {
	by := ""
	if e.By == "hand" {
		by = " (by hand)"
	}
	switch e.Kind {
	case openstack.EventServerCreated:
		return "vm", "is being made"
	case openstack.EventServerLaunched:
		return "vm", "runs"
	case openstack.EventServerErrored:
		return "vm", "ERROR: " + e.Detail + by
	case openstack.EventServerPower:
		return "vm", "is " + e.State + by
	case openstack.EventServerRebuilt:
		return "vm", "is rebuilt: its disk is new"
	case openstack.EventServerDelete:
		return "vm", "is being deleted"
	case openstack.EventServerGone:
		return "vm", "is gone" + by
	case openstack.EventPortCreated:
		return "port", "is made"
	case openstack.EventPortDeleted:
		return "port", "is gone" + by
	case openstack.EventFloatingIPCreated:
		return "ip", "is allocated"
	case openstack.EventFloatingIPDeleted:
		return "ip", "is given back" + by
	}
	return "", ""
}
