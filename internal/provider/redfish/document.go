// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxGaps bounds how many gaps one look names; the rest is counted.
const maxGaps = 20

// gaps collects by name what could not be read, so that one odd value hides nothing else and is told (B135, B141).
type gaps struct{ names []string }

func (g *gaps) note(name string) {
	if !slices.Contains(g.names, name) {
		g.names = append(g.names, name)
	}
}

// list gives the gaps in order of name, bounded.
func (g *gaps) list() []string {
	slices.Sort(g.names)
	if len(g.names) <= maxGaps {
		return g.names
	}
	more := len(g.names) - maxGaps
	return append(slices.Clone(g.names[:maxGaps]), "and "+strconv.Itoa(more)+" more")
}

// document is a JSON object read leniently: each getter takes what it can use, and notes as a gap what is there but of no use.
// The zero value is an empty document. A missing or null member is no gap.
type document struct {
	members map[string]any
	name    string // for gaps, like "ComputerSystem.Boot"
	gaps    *gaps
}

var errNoObject = errors.New("not a JSON object")

// parseDocument reads a body. An error means that it is no JSON object at all.
func parseDocument(body []byte, name string, g *gaps) (document, error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return document{}, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return document{}, errNoObject
	}
	return document{members: m, name: name, gaps: g}, nil
}

func (d document) gap(key string) {
	if d.gaps == nil {
		return
	}
	if key != "" && d.name != "" {
		key = "." + key
	}
	d.gaps.note(d.name + key)
}

// has says that the member is there and not null.
func (d document) has(key string) bool { return d.members[key] != nil }

// hollow says that nothing but OData control information is there: some services link documents that hold nothing.
func (d document) hollow() bool {
	for key, value := range d.members {
		if value != nil && !strings.HasPrefix(key, "@odata.") && key != "Links" {
			return false
		}
	}
	return true
}

// text is a string without surrounding blanks; numbers are taken as written.
func (d document) text(key string) string {
	switch v := d.members[key].(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	default:
		d.gap(key)
		return ""
	}
}

// number is a number, also one written as a string. False where there is none.
func (d document) number(key string) (float64, bool) {
	var raw string
	switch v := d.members[key].(type) {
	case nil:
		return 0, false
	case json.Number:
		raw = v.String()
	case string:
		raw = strings.TrimSpace(v)
	default:
		d.gap(key)
		return 0, false
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		d.gap(key)
		return 0, false
	}
	return f, true
}

// count is a whole number that is not negative, 0 where there is none.
func (d document) count(key string) int64 {
	f, ok := d.number(key)
	if !ok {
		return 0
	}
	if f < 0 || f > math.MaxInt64/2 {
		d.gap(key)
		return 0
	}
	return int64(f)
}

// flag is a boolean, also one written as a string; nil where there is none.
func (d document) flag(key string) *bool {
	switch v := d.members[key].(type) {
	case nil:
		return nil
	case bool:
		return &v
	case string:
		if b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(v))); err == nil {
			return &b
		}
	}
	d.gap(key)
	return nil
}

// object is a member that is an object; the empty document where there is none.
func (d document) object(key string) document {
	child := document{name: join(d.name, key), gaps: d.gaps}
	switch v := d.members[key].(type) {
	case nil:
	case map[string]any:
		child.members = v
	default:
		d.gap(key)
	}
	return child
}

// list is a member that is a list of objects. Null is an empty list, entries of other kinds are dropped with a note.
func (d document) list(key string) []document {
	var out []document
	for _, v := range d.values(key) {
		if m, ok := v.(map[string]any); ok {
			out = append(out, document{members: m, name: join(d.name, key), gaps: d.gaps})
		} else if v != nil {
			d.gap(key)
		}
	}
	return out
}

// texts is a member that is a list of strings.
func (d document) texts(key string) []string {
	var out []string
	for _, v := range d.values(key) {
		if s, ok := v.(string); ok {
			out = append(out, strings.TrimSpace(s))
		} else if v != nil {
			d.gap(key)
		}
	}
	return out
}

func (d document) values(key string) []any {
	switch v := d.members[key].(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		d.gap(key)
		return nil
	}
}

// link is the target of a reference: an object with @odata.id, or a bare string as old services write. "" where there is none.
func (d document) link(key string) string {
	switch v := d.members[key].(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case map[string]any:
		return document{members: v, name: join(d.name, key), gaps: d.gaps}.text("@odata.id")
	default:
		d.gap(key)
		return ""
	}
}

// links is a list of references.
func (d document) links(key string) []string {
	var out []string
	for _, v := range d.values(key) {
		if target := (document{members: map[string]any{"x": v}}).link("x"); target != "" {
			out = append(out, target)
		}
	}
	return out
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}
