// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// standard is what every resource of the network service has.
type standard struct {
	ID, Name    string
	Project     string
	Description string
	Tags        []string
	Revision    int
	Created     time.Time
	Updated     time.Time

	row json.RawMessage // of listings, as it was last told
}

// bump notes that the resource was changed, and with a port what its floating IP shows of it.
func (c *Cloud) bump(s *standard) {
	s.Revision++
	s.Updated, s.row = c.now(), nil
	if f := c.floatingIPOf(s.ID); f != nil {
		f.row = nil
	}
	c.markDirty()
}

func (s *standard) doc() obj {
	return obj{
		"id": s.ID, "tenant_id": s.Project, "project_id": s.Project, "description": s.Description, "tags": orEmpty(s.Tags),
		"revision_number": s.Revision, "created_at": seconds(s.Created), "updated_at": seconds(s.Updated),
	}
}

// attribute is a filterable value by its name on the wire.
func (s *standard) attribute(name string) ([]string, bool) {
	switch name {
	case "id":
		return []string{s.ID}, true
	case "name":
		return []string{s.Name}, true
	case "project_id", "tenant_id":
		return []string{s.Project}, true
	case "description":
		return []string{s.Description}, true
	case "revision_number":
		return []string{strconv.Itoa(s.Revision)}, true
	}
	return nil, false
}

func (s *standard) common() *standard { return s }

// resource is what listings are made of.
type resource interface {
	common() *standard
	// attribute is a filterable value, and whether there is such a filter: others are ignored without a word.
	attribute(name string) ([]string, bool)
	show(cl *call) obj
}

// optional is a member of a request: absent, null or a value.
type optional[T any] struct {
	Set   bool
	Value T // the zero value for null
}

// UnmarshalJSON implements json.Unmarshaler; it is called for members that are there, null included.
func (o *optional[T]) UnmarshalJSON(data []byte) error {
	o.Set = true
	return json.Unmarshal(data, &o.Value)
}

var unknownField = regexp.MustCompile(`unknown field "(.*)"`)

// readNetwork decodes a request, whose only member is of that name, and refuses what the resource does not have.
func readNetwork[T any](cl *call, name string, into *T) *reply {
	var outer map[string]json.RawMessage
	if json.Unmarshal(cl.body, &outer) != nil {
		return neutronError(http.StatusBadRequest, "HTTPBadRequest", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	inner := outer[name]
	if inner == nil {
		return neutronError(http.StatusBadRequest, "HTTPBadRequest", "Unable to find '%s' in request body", name)
	}
	dec := json.NewDecoder(bytes.NewReader(inner))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		if found := unknownField.FindStringSubmatch(err.Error()); found != nil {
			return neutronError(http.StatusBadRequest, "HTTPBadRequest", "Unrecognized attribute(s) '%s'", found[1])
		}
		return neutronError(http.StatusBadRequest, "HTTPBadRequest", "Invalid input for operation: %s.", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

var revisionWanted = regexp.MustCompile(`^revision_number=(\d+)$`)

// ifMatch refuses a change of a resource that is at another revision than the client knows.
func (cl *call) ifMatch(s *standard) *reply {
	header := cl.r.Header.Get("If-Match")
	if header == "" {
		return nil
	}
	found := revisionWanted.FindStringSubmatch(header)
	if found == nil {
		return neutronError(http.StatusBadRequest, "HTTPBadRequest", "If-Match header must be revision_number=<int>")
	}
	if wanted, err := strconv.Atoi(found[1]); err != nil || wanted != s.Revision {
		return neutronError(http.StatusPreconditionFailed, "RevisionNumberConstraintFailed", "Constrained to %s, but current revision is %d", found[1], s.Revision)
	}
	return nil
}

// list answers a listing: the rows that the query wants, in order of their ids, by pages if it asks for them.
func list[R resource](cl *call, name string, rows []R) *reply {
	var wanted []R
	for _, row := range rows {
		if cl.wants(row) {
			wanted = append(wanted, row)
		}
	}
	slices.SortFunc(wanted, func(a, b R) int { return strings.Compare(a.common().ID, b.common().ID) })
	doc := obj{}
	wanted, bad := paginate(cl, name, wanted, doc)
	if bad != nil {
		return bad
	}
	docs := make([]any, 0, len(wanted))
	for _, row := range wanted {
		docs = append(docs, cl.listed(row))
	}
	doc[name] = docs
	return ok(doc)
}

// listed is a resource in a listing, kept until it changes, for the same reason as a server's.
func (cl *call) listed(r resource) any {
	if len(cl.query["fields"]) > 0 {
		return cl.fields(r.show(cl))
	}
	s := r.common()
	if s.row == nil {
		s.row = ok(r.show(cl)).encode()
	}
	return s.row
}

// paginate cuts the page that limit and marker ask for out of the rows, and links to the next one.
func paginate[R resource](cl *call, name string, rows []R, doc obj) ([]R, *reply) {
	if marker := cl.query.Get("marker"); marker != "" {
		i := slices.IndexFunc(rows, func(row R) bool { return row.common().ID == marker })
		if i < 0 {
			return nil, neutronError(http.StatusBadRequest, "HTTPBadRequest", "Invalid input for operation: Invalid pagination marker %s.", marker)
		}
		rows = rows[i+1:]
	}
	limit, err := strconv.Atoi(orElse(cl.query.Get("limit"), "0"))
	if err != nil || limit < 0 {
		return nil, neutronError(http.StatusBadRequest, "HTTPBadRequest", "Limit must be an integer 0 or greater and not '%s'", cl.query.Get("limit"))
	}
	if limit == 0 || len(rows) < limit {
		return rows, nil
	}
	rows = rows[:limit]
	query := cl.r.URL.Query()
	query.Set("marker", rows[limit-1].common().ID)
	doc[name+"_links"] = []obj{{"rel": "next", "href": fmt.Sprintf("%s?%s", cl.cloud.url(cl.r.URL.Path), query.Encode())}}
	return rows, nil
}

// fields cuts a document down to those that were asked for.
func (cl *call) fields(doc obj) obj {
	names := cl.query["fields"]
	if len(names) == 0 {
		return doc
	}
	cut := obj{}
	for _, name := range names {
		if value, known := doc[name]; known {
			cut[name] = value
		}
	}
	return cut
}

// wants reports whether a row passes all filters of the query.
func (cl *call) wants(row resource) bool {
	if !cl.wantsTags(row.common().Tags) {
		return false
	}
	for name, wanted := range cl.query {
		values, known := row.attribute(name)
		if known && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(wanted, v) }) {
			return false
		}
	}
	return true
}

// wantsTags is the filtering by tags that Neutron and Nova share.
func (cl *call) wantsTags(tags []string) bool {
	has := func(tag string) bool { return slices.Contains(tags, tag) }
	list := func(name string) []string {
		if text := cl.query.Get(name); text != "" {
			return strings.Split(text, ",")
		}
		return nil
	}
	all, some, notAll, none := list("tags"), list("tags-any"), list("not-tags"), list("not-tags-any")
	lacks := func(tag string) bool { return !has(tag) }
	return !slices.ContainsFunc(all, lacks) && (some == nil || slices.ContainsFunc(some, has)) &&
		(notAll == nil || slices.ContainsFunc(notAll, lacks)) && !slices.ContainsFunc(none, has)
}

func (cl *call) getNetworkVersions() *reply {
	return ok(obj{"versions": []obj{{
		"id": "v2.0", "status": "CURRENT", "links": []obj{{"rel": "self", "href": cl.cloud.url("/network/v2.0/")}},
	}}})
}

func (cl *call) getNetworkResources() *reply {
	resources := []obj{}
	for _, name := range []string{"subnets", "networks", "ports", "routers", "floatingips", "security-groups"} {
		resources = append(resources, obj{
			"name": strings.TrimSuffix(name, "s"), "collection": name,
			"links": []obj{{"rel": "self", "href": cl.cloud.url("/network/v2.0/" + name)}},
		})
	}
	return ok(obj{"resources": resources})
}

// extensions are what the network service says that it can besides the core.
func extensions() []string {
	return []string{
		"allowed-address-pairs", "external-net", "fip-port-details", "pagination", "port-security", "project-id", "quotas", "revision-if-match",
		"router", "security-group", "sorting", "standard-attr-description", "standard-attr-revisions", "standard-attr-tag", "standard-attr-timestamp",
	}
}

func showExtension(alias string) obj {
	return obj{"alias": alias, "name": alias, "description": "", "links": []obj{}, "updated": "2017-01-01T00:00:00-00:00"}
}

func (cl *call) getExtensions() *reply {
	all := []obj{}
	for _, alias := range extensions() {
		all = append(all, showExtension(alias))
	}
	return ok(obj{"extensions": all})
}

func (cl *call) getExtension() *reply {
	alias := cl.value("extension")
	if !slices.Contains(extensions(), alias) {
		return neutronError(http.StatusNotFound, "HTTPNotFound", "Extension with alias %s does not exist", alias)
	}
	return ok(obj{"extension": showExtension(alias)})
}
