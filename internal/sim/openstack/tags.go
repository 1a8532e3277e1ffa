// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// onTagged finds the resource of the network service whose tags a path is about.
func onTagged(handle func(*call, *standard) *reply) func(*call) *reply {
	return func(cl *call) *reply {
		s, bad := cl.taggable()
		if bad != nil {
			return bad
		}
		return handle(cl, s)
	}
}

func (cl *call) getTags(s *standard) *reply { return ok(obj{"tags": orEmpty(s.Tags)}) }

// readTags decodes {"tags": [...]}.
func (cl *call) readTags() ([]string, bool) {
	var in struct{ Tags *[]string }
	if json.Unmarshal(cl.body, &in) != nil || in.Tags == nil {
		return nil, false
	}
	return sortedSet(*in.Tags), true
}

func (cl *call) putTags(s *standard) *reply {
	tags, valid := cl.readTags()
	if !valid {
		return neutronError(http.StatusBadRequest, "HTTPBadRequest", "Invalid input for operation: Invalid tags body.")
	}
	cl.retag(s, tags)
	return ok(obj{"tags": orEmpty(tags)})
}

// retag replaces the tags. That is a change of the resource, and counted as one.
func (cl *call) retag(s *standard, tags []string) {
	s.Tags = tags
	cl.cloud.bump(s)
	e := Event{ID: s.ID, Name: s.Name, Project: s.Project, Tags: s.Tags, Description: s.Description}
	switch cl.value("kind") {
	case "ports":
		cl.cloud.record(EventPortChanged, e)
	case "floatingips":
		cl.cloud.record(EventFloatingIPChanged, e)
	}
}

func (cl *call) deleteTags(s *standard) *reply {
	cl.retag(s, nil)
	return noContent()
}

func (cl *call) getTag(s *standard) *reply {
	if !slices.Contains(s.Tags, cl.value("tag")) {
		return cl.noTag()
	}
	return noContent()
}

func (cl *call) noTag() *reply {
	return neutronError(http.StatusNotFound, "TagNotFound", "Tag %s could not be found.", cl.value("tag"))
}

func (cl *call) putTag(s *standard) *reply {
	cl.retag(s, sortedSet(append(slices.Clone(s.Tags), cl.value("tag"))))
	r := newReply(http.StatusCreated, nil)
	r.raw = []byte("null")
	return r
}

func (cl *call) deleteTag(s *standard) *reply {
	if !slices.Contains(s.Tags, cl.value("tag")) {
		return cl.noTag()
	}
	cl.retag(s, slices.DeleteFunc(slices.Clone(s.Tags), func(t string) bool { return t == cl.value("tag") }))
	return noContent()
}

// taggable are the collections whose members' tags can be written, by name in the path.
func (cl *call) taggable() (*standard, *reply) {
	w, id := cl.cloud.world, cl.value("id")
	var found *standard
	switch kind := cl.value("kind"); {
	case kind == "ports" && w.Ports[id] != nil:
		found = &w.Ports[id].standard
	case kind == "floatingips" && w.FIPs[id] != nil:
		found = &w.FIPs[id].standard
	case kind == "security-groups" && w.SGs[id] != nil:
		found = &w.SGs[id].standard
	}
	if found == nil || found.Project != cl.project() {
		return nil, neutronError(http.StatusNotFound, "TagResourceNotFound", "Resource %s %s could not be found.", strings.ReplaceAll(cl.value("kind"), "-", "_"), id)
	}
	return found, nil
}
