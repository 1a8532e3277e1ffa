// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (cl *call) getServers() *reply {
	return cl.listServers("/compute/v2.1/servers", func(s *server) any { return cl.basicServer(s) })
}

func (cl *call) getServersDetail() *reply {
	return cl.listServers("/compute/v2.1/servers/detail", func(s *server) any { return cl.row(s) })
}

// row is a server in a listing. It is kept until the server or what it shows of ports and floating IPs changes: a
// monitor's listings of a thousand servers at rest would cost more than the monitor.
func (cl *call) row(s *server) json.RawMessage {
	if s.rows[cl.version] == nil {
		if s.rows == nil {
			s.rows = map[microversion]json.RawMessage{}
		}
		s.rows[cl.version] = ok(cl.showServer(s, inListing)).encode()
	}
	return s.rows[cl.version]
}

// forget has the server of that id told anew: something that its row shows has changed.
func (c *Cloud) forget(id string) {
	if s := c.world.Servers[id]; s != nil {
		s.rows = nil
	}
}

// listServers answers a listing of servers, by pages.
func (cl *call) listServers(path string, show func(*server) any) *reply {
	match, bad := cl.serverFilter()
	if bad != nil {
		return bad
	}
	rows := []*server{}
	for _, s := range cl.candidates() {
		if s.Project == cl.project() && match(s) {
			rows = append(rows, s)
		}
	}
	rows, next, bad := cl.page(rows)
	if bad != nil {
		return bad
	}
	docs := make([]any, 0, len(rows))
	for _, s := range rows {
		if cl.cloud.cellDown(s) {
			docs = append(docs, cl.showDown(s))
			continue
		}
		docs = append(docs, show(s))
	}
	doc := obj{"servers": docs}
	if next != "" {
		doc["servers_links"] = []obj{{"rel": "next", "href": cl.cloud.url(path) + "?" + next}}
	}
	return ok(doc)
}

// candidates are the rows that a listing chooses from: with changes-since, and only then, deleted ones too.
func (cl *call) candidates() []*server {
	c := cl.cloud
	rows := slices.DeleteFunc(slices.Clone(c.newestFirst()), func(s *server) bool {
		return s.Hidden || c.cellDown(s) && cl.version < cellsDownShown
	})
	if cl.query.Has("changes-since") {
		rows = append(rows, c.world.Deleted...)
		slices.SortStableFunc(rows, byCreation)
	}
	return rows
}

// serverQueries are the parameters of listings that a member may use; others are ignored below 2.75 and refused from
// there on.
func serverQueries() []string {
	return []string{
		"name", "status", "image", "flavor", "ip", "changes-since", "changes-before", "limit", "marker", "sort_key", "sort_dir", "all_tenants",
		"tags", "tags-any", "not-tags", "not-tags-any", "deleted", "reservation_id", "ip6", "key_name", "availability_zone", "config_drive",
		"created_at", "launched_at", "terminated_at", "power_state", "task_state", "vm_state", "progress", "user_id", "description", "hostname", "locked",
	}
}

// serverFilter is what the query wants of a server.
func (cl *call) serverFilter() (func(*server) bool, *reply) {
	var name *regexp.Regexp
	var since time.Time
	var err error
	if text := cl.query.Get("name"); text != "" {
		if name, err = regexp.Compile(text); err != nil {
			return nil, cl.refuse(http.StatusBadRequest, "Invalid input for query parameters name. Value: %s. '%s' is not a 'regex'", text, text)
		}
	}
	if text := cl.query.Get("changes-since"); text != "" {
		if since, err = parseTime(text); err != nil {
			return nil, cl.refuse(http.StatusBadRequest, "Invalid input for query parameters changes-since. Value: %s. '%s' is not a 'date-time'", text, text)
		}
	}
	if cl.query.Has("all_tenants") && cl.query.Get("all_tenants") != "0" && cl.query.Get("all_tenants") != "False" {
		return nil, cl.refuse(http.StatusForbidden, "Policy doesn't allow os_compute_api:servers:detail:get_all_tenants to be performed.")
	}
	if cl.version >= strictQueries {
		for parameter := range cl.query {
			if !slices.Contains(serverQueries(), parameter) && !strings.HasPrefix(parameter, "_") {
				return nil, cl.refuse(http.StatusBadRequest, "'%s' does not match any of the regexes: '^_'", parameter)
			}
		}
	}
	return func(s *server) bool {
		return (name == nil || name.MatchString(s.Name)) && cl.wantsValue("status", s.status()) && cl.wantsValue("image", s.Image) &&
			cl.wantsValue("flavor", s.Flavor) && !s.Updated.Truncate(time.Second).Before(since) &&
			(cl.version < serverTags || cl.wantsTags(s.Tags)) // below 2.26 tags are ignored without a word
	}, nil
}

func (cl *call) wantsValue(parameter, value string) bool {
	wanted := cl.query[parameter]
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, value) })
}

func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("time %q", text)
}

// page cuts the page that the request asks for out of the rows; next is the query of the one after it. A full page
// has a next one even when that will be empty, as the real service does.
func (cl *call) page(rows []*server) (page []*server, next string, bad *reply) {
	size := cl.cloud.behaviour.PageSize
	if size <= 0 {
		size = 1000
	}
	if text := cl.query.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 0 {
			return nil, "", cl.refuse(http.StatusBadRequest, "Invalid input for query parameters limit. Value: %s. '%s' does not match '^[0-9]*$'", text, text)
		}
		if limit > 0 {
			size = min(size, limit)
		}
	}
	if marker := cl.query.Get("marker"); marker != "" {
		i := slices.IndexFunc(rows, func(s *server) bool { return s.ID == marker })
		if i < 0 {
			if i, bad = cl.markerElsewhere(rows, marker); bad != nil {
				return nil, "", bad
			}
		}
		rows = rows[i+1:]
	}
	if len(rows) < size {
		return rows, "", nil
	}
	query := cl.r.URL.Query()
	query.Set("marker", rows[size-1].ID)
	return rows[:size], query.Encode(), nil
}

// markerElsewhere finds the place of a marker that the filter does not pass: any server of the project will do. It
// answers with the index of the last row before it.
func (cl *call) markerElsewhere(rows []*server, marker string) (int, *reply) {
	m := cl.server(marker)
	if m == nil {
		m = find(cl.cloud.world.Deleted, func(s *server) bool { return s.ID == marker && s.Project == cl.project() })
	}
	if m == nil {
		return 0, cl.refuse(http.StatusBadRequest, "marker [%s] not found", marker)
	}
	i := slices.IndexFunc(rows, func(s *server) bool { return byCreation(s, m) > 0 })
	if i < 0 {
		return len(rows) - 1, nil
	}
	return i - 1, nil
}

// cellDown reports whether the part of the cloud that holds the server does not answer.
func (c *Cloud) cellDown(s *server) bool { return c.made.down[s.ID] }

// inDownCell is the answer for one server of a cell that is down: from 2.69 a row of what is known elsewhere, before
// that an error.
func (cl *call) inDownCell(s *server) *reply {
	if cl.r.Method != http.MethodGet || cl.version < cellsDownShown {
		return cl.refuse(http.StatusInternalServerError,
			"Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n<class 'nova.exception.NovaException'>")
	}
	doc := cl.showDown(s)
	doc["image"], doc["flavor"] = obj{"id": s.Image, "links": cl.bookmark("images", s.Image)}, cl.embeddedFlavor(s.Flavor)
	doc["OS-EXT-AZ:availability_zone"], doc["OS-EXT-STS:power_state"], doc["user_id"] = orElse(s.Zone, "UNKNOWN"), powerNoState, s.User
	if cl.version >= groupsShown {
		doc["server_groups"] = []string{}
	}
	return ok(obj{"server": doc})
}

func (cl *call) showDown(s *server) obj {
	return obj{"id": s.ID, "status": "UNKNOWN", "tenant_id": s.Project, "created": seconds(s.Created), "links": cl.serverLinks(s.ID)}
}
