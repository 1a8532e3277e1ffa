// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
)

// editable are the states in which metadata and tags of a server may be changed: not in ERROR.
func (cl *call) editable(s *server, action string) *reply {
	if !slices.Contains([]string{vmActive, vmStopped}, s.VM) {
		return cl.refuse(http.StatusConflict, "Cannot '%s' instance %s while it is in vm_state %s", action, s.ID, s.VM)
	}
	return nil
}

func (cl *call) getMetadata(s *server) *reply { return ok(obj{"metadata": orEmptyMap(s.Metadata)}) }

// postMetadata adds to the metadata, putMetadata replaces it.
func (cl *call) postMetadata(s *server) *reply { return cl.writeMetadata(s, maps.Clone(s.Metadata)) }

func (cl *call) putMetadata(s *server) *reply { return cl.writeMetadata(s, nil) }

func (cl *call) writeMetadata(s *server, base map[string]string) *reply {
	var in struct{ Metadata map[string]string }
	if json.Unmarshal(cl.body, &in) != nil || in.Metadata == nil {
		return cl.schema("metadata", "it is no object of strings")
	}
	if bad := cl.editable(s, "update metadata"); bad != nil {
		return bad
	}
	merged := orEmptyMap(base)
	maps.Copy(merged, in.Metadata)
	if bad := cl.checkMetadata(merged); bad != nil {
		return bad
	}
	s.Metadata = merged
	cl.changed(s, "metadata")
	return cl.getMetadata(s)
}

func (cl *call) noItem() *reply {
	return cl.refuse(http.StatusNotFound, "Metadata item was not found")
}

func (cl *call) getMetadataItem(s *server) *reply {
	value, known := s.Metadata[cl.value("key")]
	if !known {
		return cl.noItem()
	}
	return ok(obj{"meta": obj{cl.value("key"): value}})
}

func (cl *call) putMetadataItem(s *server) *reply {
	var in struct{ Meta map[string]string }
	if json.Unmarshal(cl.body, &in) != nil || len(in.Meta) != 1 {
		return cl.schema("meta", "it must have one member")
	}
	value, named := in.Meta[cl.value("key")]
	if !named {
		return cl.refuse(http.StatusBadRequest, "Request body and URI mismatch")
	}
	if bad := cl.editable(s, "update metadata"); bad != nil {
		return bad
	}
	merged := orEmptyMap(maps.Clone(s.Metadata))
	merged[cl.value("key")] = value
	if bad := cl.checkMetadata(merged); bad != nil {
		return bad
	}
	s.Metadata = merged
	cl.changed(s, "metadata")
	return ok(obj{"meta": in.Meta})
}

func (cl *call) deleteMetadataItem(s *server) *reply {
	if _, known := s.Metadata[cl.value("key")]; !known {
		return cl.noItem()
	}
	if bad := cl.editable(s, "delete metadata"); bad != nil {
		return bad
	}
	rest := maps.Clone(s.Metadata)
	delete(rest, cl.value("key"))
	s.Metadata = rest
	cl.changed(s, "metadata")
	return noContent()
}

// withTags guards the tags of servers: they came with 2.26.
func withTags(handle func(*call, *server) *reply) func(*call) *reply {
	return onServer(func(cl *call, s *server) *reply {
		if cl.version < serverTags {
			return cl.refuse(http.StatusNotFound, "The resource could not be found.")
		}
		return handle(cl, s)
	})
}

func (cl *call) getServerTags(s *server) *reply { return ok(obj{"tags": orEmpty(s.Tags)}) }

func (cl *call) putServerTags(s *server) *reply {
	tags, valid := cl.readTags()
	if !valid {
		return cl.schema("tags", "it is no list of strings")
	}
	if bad := cl.checkTags(tags); bad != nil {
		return bad
	}
	if bad := cl.editable(s, "update tags"); bad != nil {
		return bad
	}
	s.Tags = tags
	cl.changed(s, "tags")
	return cl.getServerTags(s)
}

func (cl *call) deleteServerTags(s *server) *reply {
	if bad := cl.editable(s, "delete tags"); bad != nil {
		return bad
	}
	s.Tags = nil
	cl.changed(s, "tags")
	return noContent()
}

func (cl *call) noServerTag(s *server) *reply {
	return cl.refuse(http.StatusNotFound, "Instance %s has no tag '%s'", s.ID, cl.value("tag"))
}

func (cl *call) getServerTag(s *server) *reply {
	if !slices.Contains(s.Tags, cl.value("tag")) {
		return cl.noServerTag(s)
	}
	return noContent()
}

func (cl *call) putServerTag(s *server) *reply {
	tag := cl.value("tag")
	if bad := cl.checkTags([]string{tag}); bad != nil {
		return bad
	}
	if bad := cl.editable(s, "update tag"); bad != nil {
		return bad
	}
	if slices.Contains(s.Tags, tag) {
		return noContent()
	}
	s.Tags = sortedSet(append(slices.Clone(s.Tags), tag))
	cl.changed(s, "tags")
	r := newReply(http.StatusCreated, nil)
	r.header.Set("Location", cl.cloud.url(cl.r.URL.Path))
	return r
}

func (cl *call) deleteServerTag(s *server) *reply {
	if !slices.Contains(s.Tags, cl.value("tag")) {
		return cl.noServerTag(s)
	}
	if bad := cl.editable(s, "delete tag"); bad != nil {
		return bad
	}
	s.Tags = slices.DeleteFunc(slices.Clone(s.Tags), func(t string) bool { return t == cl.value("tag") })
	cl.changed(s, "tags")
	return noContent()
}
