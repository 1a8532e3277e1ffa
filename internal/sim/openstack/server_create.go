// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits of Nova's defaults.
const (
	maxUserData = 65535 // bytes after base64
	maxMetadata = 128   // entries
	maxText     = 255   // bytes of names, of metadata keys and values
	maxTags     = 50
	maxTag      = 60
)

// createRequest is what is posted to /servers.
type createRequest struct {
	Server struct {
		Name        string
		FlavorRef   string
		ImageRef    string
		Networks    json.RawMessage
		Metadata    map[string]string
		Tags        []string
		UserData    string `json:"user_data"`
		ConfigDrive any    `json:"config_drive"`
		KeyName     string `json:"key_name"`
		Zone        string `json:"availability_zone"`
		Description *string
		AdminPass   string
		SGs         []struct{ Name string } `json:"security_groups"`
		MinCount    json.Number             `json:"min_count"`
		MaxCount    json.Number             `json:"max_count"`
	}
	Hints struct{ Group string } `json:"os:scheduler_hints"`
}

// fieldSince says which members of a new server came with which microversion. Those that are not here are not
// simulated and refused like unknown ones.
func fieldSince() map[string]microversion {
	return map[string]microversion{
		"name": 1, "flavorRef": 1, "imageRef": 1, "networks": 1, "metadata": 1, "user_data": 1, "config_drive": 1, "key_name": 1,
		"availability_zone": 1, "adminPass": 1, "security_groups": 1, "min_count": 1, "max_count": 1, "OS-DCF:diskConfig": 1,
		"description": descriptions, "tags": tagsAtCreation,
	}
}

// createServer answers POST /servers.
func (cl *call) createServer() *reply {
	in, bad := cl.readCreate()
	if bad != nil {
		return bad
	}
	s, bad := cl.planServer(in)
	if bad != nil {
		return bad
	}
	c := cl.cloud
	c.world.Servers[s.ID] = s
	c.touch(s, c.now())
	e := s.event()
	e.UserData = s.UserData
	c.record(EventServerCreated, e)
	c.begin(s, c.now())
	groups := []obj{}
	for _, g := range orDefault(s.SGs) {
		groups = append(groups, obj{"name": g})
	}
	r := newReply(http.StatusAccepted, obj{"server": obj{
		"id": s.ID, "links": cl.serverLinks(s.ID), "OS-DCF:diskConfig": "MANUAL", "security_groups": groups,
		"adminPass": orElse(in.Server.AdminPass, randomHex(6)),
	}})
	r.header.Set("Location", c.url("/compute/v2.1/servers/"+s.ID))
	return r
}

func orDefault(groups []string) []string {
	if len(groups) == 0 {
		return []string{"default"}
	}
	return groups
}

// readCreate decodes the request and checks it as the schema of its microversion does.
func (cl *call) readCreate() (*createRequest, *reply) {
	var raw struct {
		Server map[string]json.RawMessage
	}
	var in createRequest
	if json.Unmarshal(cl.body, &raw) != nil || json.Unmarshal(cl.body, &in) != nil || raw.Server == nil {
		return nil, cl.refuse(http.StatusBadRequest, "Malformed request body")
	}
	since := fieldSince()
	for name := range raw.Server {
		if first, known := since[name]; !known || cl.version < first {
			return nil, cl.schema("server", "Additional properties are not allowed ('%s' was unexpected)", name)
		}
	}
	for _, name := range []string{"name", "flavorRef", "networks"} {
		if raw.Server[name] == nil && (name != "networks" || cl.version >= networksRequired) {
			return nil, cl.schema("server", "'%s' is a required property", name)
		}
	}
	switch {
	case in.Server.Name == "" || len(in.Server.Name) > maxText:
		return nil, cl.schema("name", "'%s' is too long or too short", in.Server.Name)
	case len(in.Server.UserData) > maxUserData:
		return nil, cl.schema("user_data", "'…' is too long")
	}
	if bad := cl.checkTags(in.Server.Tags); bad != nil {
		return nil, bad
	}
	return &in, cl.checkMetadata(in.Server.Metadata)
}

// schema is a refusal by the schema of the request.
func (cl *call) schema(field, format string, args ...any) *reply {
	return cl.refuse(http.StatusBadRequest, "Invalid input for field/attribute %s. %s", field, fmt.Sprintf(format, args...))
}

func (cl *call) checkMetadata(m map[string]string) *reply {
	if len(m) > maxMetadata {
		return cl.refuse(http.StatusForbidden, "Maximum number of metadata items exceeds %d", maxMetadata)
	}
	for key, value := range m {
		if key == "" || len(key) > maxText || len(value) > maxText {
			return cl.schema("metadata", "'%s' is too long", key)
		}
	}
	return nil
}

var goodTag = regexp.MustCompile(`^[^,/]*$`)

func (cl *call) checkTags(tags []string) *reply {
	if len(tags) > maxTags {
		return cl.schema("tags", "the list is too long")
	}
	for i, tag := range tags {
		switch {
		case tag == "" || len(tag) > maxTag:
			return cl.schema(fmt.Sprint(i), "'%s' is too long or too short", tag)
		case !goodTag.MatchString(tag):
			return cl.schema(fmt.Sprint(i), "Value: %s. '%s' does not match '^[^,/]*$'", tag, tag)
		}
	}
	return nil
}

// planServer resolves all that the request names.
func (cl *call) planServer(in *createRequest) (*server, *reply) {
	c, w := cl.cloud, &in.Server
	s := &server{
		ID: newUUID(), Name: w.Name, Project: cl.project(), User: cl.token.Account.ID, Description: w.Description, Flavor: w.FlavorRef,
		Image: w.ImageRef, Key: w.KeyName, Zone: w.Zone, Group: in.Hints.Group, UserData: w.UserData, Metadata: w.Metadata,
		Tags: sortedSet(w.Tags), ConfigDrive: fmt.Sprint(w.ConfigDrive) == "true" || fmt.Sprint(w.ConfigDrive) == "True",
		VM: vmBuilding, Task: taskScheduling, Created: c.now().Truncate(time.Second),
	}
	for _, g := range w.SGs {
		s.SGs = append(s.SGs, g.Name)
	}
	if bad := cl.checkReferences(s); bad != nil {
		return nil, bad
	}
	var bad *reply
	if s.Wanted, bad = cl.readNetworks(w.Networks); bad != nil {
		return nil, bad
	}
	if bad := cl.checkPlacement(s); bad != nil {
		return nil, bad
	}
	if w.MinCount > "1" || w.MaxCount > "1" {
		return nil, cl.refuse(http.StatusBadRequest, "The simulator makes one server at a time.")
	}
	return s, cl.checkServerQuota(s)
}

// sortedSet is tags as Nova returns them: each once, in order.
func sortedSet(tags []string) []string {
	set := slices.Clone(tags)
	slices.Sort(set)
	return slices.Compact(set)
}

// readNetworks resolves "networks": a list, "auto", "none", or, below 2.37, nothing, which means auto.
func (cl *call) readNetworks(raw json.RawMessage) ([]wantedNIC, *reply) {
	switch text := strings.TrimSpace(string(raw)); text {
	case `"none"`:
		return nil, nil
	case "", "null", `"auto"`, "[]":
		return cl.anyNetwork()
	}
	var list []struct {
		UUID, Port string
		FixedIP    string `json:"fixed_ip"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, cl.schema("networks", "it is neither a list nor 'auto' nor 'none'")
	}
	var wanted []wantedNIC
	for _, n := range list {
		w := wantedNIC{Port: n.Port, Network: n.UUID, FixedIP: n.FixedIP}
		if bad := cl.checkNIC(w); bad != nil {
			return nil, bad
		}
		wanted = append(wanted, w)
	}
	return wanted, nil
}

func (cl *call) checkNIC(w wantedNIC) *reply {
	if w.Port == "" {
		if cl.cloud.network(cl.project(), w.Network) == nil {
			return cl.refuse(http.StatusBadRequest, "Network %s could not be found.", w.Network)
		}
		return nil
	}
	p := cl.port(w.Port)
	switch {
	case p == nil:
		return cl.refuse(http.StatusBadRequest, "Port id %s could not be found.", w.Port)
	case p.DeviceID != "":
		return cl.refuse(http.StatusConflict, "Port %s is still in use.", w.Port)
	}
	return nil
}

// anyNetwork is the one network that there is for who names none.
func (cl *call) anyNetwork() ([]wantedNIC, *reply) {
	var inner []*netRecord
	for _, n := range cl.cloud.offer.networks {
		if !n.External && n.visible(cl.project()) {
			inner = append(inner, n)
		}
	}
	if len(inner) != 1 {
		return nil, cl.refuse(http.StatusConflict, "Multiple possible networks found, use a Network ID to be more specific.")
	}
	return []wantedNIC{{Network: inner[0].ID}}, nil
}
