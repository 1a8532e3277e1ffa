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
	c.record(EventServerCreated, s.event())
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

// checkReferences checks flavor, image and key.
func (cl *call) checkReferences(s *server) *reply {
	c := cl.cloud
	f := c.flavor(s.Flavor)
	if f == nil {
		return cl.refuse(http.StatusBadRequest, "Flavor %s could not be found.", s.Flavor)
	}
	if bad := cl.checkImage(s.Image, f); bad != nil {
		return bad
	}
	if s.Key != "" && c.keyOf(s.User, s.Key) == nil {
		return cl.refuse(http.StatusBadRequest, "Invalid key_name provided.")
	}
	for _, g := range s.SGs {
		if len(cl.securityGroups(g)) != 1 {
			return cl.refuse(http.StatusBadRequest, "Unable to find security_group with name or id '%s'", g)
		}
	}
	return nil
}

func (cl *call) checkImage(id string, f *Flavor) *reply {
	i := cl.cloud.image(id)
	switch {
	case i == nil:
		return cl.refuse(http.StatusBadRequest, "Can not find requested image")
	case i.Status != "active":
		return cl.refuse(http.StatusBadRequest, "Image %s is not active.", i.ID)
	case i.MinRAM > f.RAM:
		return cl.refuse(http.StatusBadRequest, "Flavor's memory is too small for requested image.")
	case i.MinDisk > f.Disk:
		return cl.refuse(http.StatusBadRequest, "Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is %d bytes, minimum size is %d bytes.",
			f.Disk<<30, i.MinDisk<<30)
	}
	return nil
}

// checkPlacement checks where the server is to run.
func (cl *call) checkPlacement(s *server) *reply {
	c := cl.cloud
	if s.Zone != "" && !slices.ContainsFunc(c.offer.zones, func(z Zone) bool { return z.Name == s.Zone && !z.Unavailable }) {
		return cl.refuse(http.StatusBadRequest, "The requested availability zone is not available")
	}
	if s.Group != "" {
		if g := c.world.Groups[s.Group]; g == nil || g.Project != s.Project {
			return cl.refuse(http.StatusBadRequest, "Instance group %s could not be found.", s.Group)
		}
	}
	return nil
}

// checkServerQuota checks quotas, that of ports too: Nova would make them.
func (cl *call) checkServerQuota(s *server) *reply {
	c := cl.cloud
	used, f := c.usage(s.Project), c.flavor(s.Flavor)
	limits := []struct {
		name           string
		limit, used, n int
	}{
		{"instances", c.quotas.Instances, used.servers, 1}, {"cores", c.quotas.Cores, used.cores, f.CPUs}, {"ram", c.quotas.RAM, used.ram, f.RAM},
	}
	for _, l := range limits {
		if l.limit >= 0 && l.used+l.n > l.limit {
			return cl.refuse(http.StatusForbidden, "Quota exceeded for %s: Requested %d, but already used %d of %d %s", l.name, l.n, l.used, l.limit, l.name)
		}
	}
	missing := 0
	for _, w := range s.Wanted {
		if w.Port == "" {
			missing++
		}
	}
	if missing > 0 && c.quotas.Ports >= 0 && c.portsOf(s.Project)+missing > c.quotas.Ports {
		return cl.refuse(http.StatusForbidden, "Maximum number of ports exceeded")
	}
	return nil
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
