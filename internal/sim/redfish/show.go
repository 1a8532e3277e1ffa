// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

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
	if c.bmc.behaviour.GzipTags { // a front end that compresses names its variant (B128)
		tag = strings.TrimSuffix(tag, `"`) + `-gzip"`
	}
	r.header.Set("ETag", tag)
	return r
}

// finish makes a document what the BMC shows at path, and returns its entity tag.
func (c *call) finish(path string, doc obj) (finished obj, tag string) {
	if doc["@odata.id"] == nil {
		doc["@odata.id"] = path
	}
	p, mood := &c.bmc.profile, &c.bmc.behaviour
	if p.Rewrite != nil {
		p.Rewrite(path, doc)
	}
	if mood.NumbersAsText {
		asText(doc)
	}
	switch {
	case p.NoETags:
		return doc, ""
	case mood.EmptyTags:
		doc["@odata.etag"] = ""
		return doc, ""
	case mood.StaleTags:
		tag = etagOf(steady(doc))
	default:
		tag = etagOf(doc)
	}
	if p.WeakETags {
		tag = "W/" + tag
	}
	if !p.HeaderETags {
		doc["@odata.etag"] = tag
	}
	return doc, tag
}

// steady is a document without what changes as a machine runs.
func steady(doc obj) obj {
	rest := obj{}
	for member, value := range doc {
		switch member {
		case "PowerState", "BootProgress", "LastResetTime":
		default:
			rest[member] = value
		}
	}
	return rest
}

// tagListed reports whether a header of entity tags holds tag, or is "*". Weak tags compare like strong
// ones: the content is the same.
func tagListed(header []string, tag string) bool {
	for _, item := range strings.Split(strings.Join(header, ","), ",") {
		item = strings.TrimSpace(item)
		if item == "*" || tag != "" && strings.TrimPrefix(item, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// inOrder is the order a collection lists its members in: with ShuffleMembers the other way round at every
// second look.
func (c *call) inOrder(ids []string) []string {
	if !c.bmc.behaviour.ShuffleMembers {
		return ids
	}
	if c.r.URL.Query().Get("$skip") == "" {
		c.bmc.shuffled = !c.bmc.shuffled
	}
	if c.bmc.shuffled {
		ids = slices.Clone(ids)
		slices.Reverse(ids)
	}
	return ids
}

// numbered are ids "1" to "n".
func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	return ids
}

// item finds the part a path names among ids.
func (c *call) item(ids []string) (index int, ok bool) {
	index = slices.Index(ids, c.value("item"))
	return index, index >= 0
}
