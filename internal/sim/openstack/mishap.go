// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"fmt"
	"regexp"
	"slices"
)

// MishapKind is what goes wrong below the API.
type MishapKind string

// The kinds of mishaps.
const (
	MishapNoValidHost MishapKind = "no-valid-host" // a new server finds no host: ERROR, never launched
	MishapSpawn       MishapKind = "spawn"         // a new server cannot be built on its host: ERROR, never launched
	MishapRebuild     MishapKind = "rebuild"       // a rebuild fails: ERROR, launched before
	MishapDelete      MishapKind = "delete"        // a delete fails: ERROR, and the server stays
)

// Mishap strikes servers, in the order that they come to the step it is about.
type Mishap struct {
	ID     string     `json:"id,omitempty"` // given by the cloud
	Kind   MishapKind `json:"kind"`
	Server string     `json:"server,omitempty"` // regular expression for name or id, matched anywhere; empty: all
	Count  int        `json:"count,omitempty"`  // strike so often, then be gone; 0: until cleared
	// Message is the fault of the server. Empty: what Nova would say.
	Message string `json:"message,omitempty"`
	Struck  int    `json:"struck,omitempty"`

	server *regexp.Regexp
}

// Befall arms a mishap and returns its id.
func (c *Cloud) Befall(m Mishap) (id string, err error) {
	known := []MishapKind{MishapNoValidHost, MishapSpawn, MishapRebuild, MishapDelete}
	if !slices.Contains(known, m.Kind) {
		return "", fmt.Errorf("mishap: kind %q is not one of %v", m.Kind, known)
	}
	if m.server, err = regexp.Compile(m.Server); err != nil {
		return "", fmt.Errorf("mishap: server: %w", err)
	}
	defer c.enter()()
	c.faultSeq++
	m.ID = fmt.Sprintf("m%d", c.faultSeq)
	c.mishaps = append(c.mishaps, &m)
	return m.ID, nil
}

// Mishaps returns those that are armed.
func (c *Cloud) Mishaps() []Mishap {
	defer c.enter()()
	all := make([]Mishap, 0, len(c.mishaps))
	for _, m := range c.mishaps {
		all = append(all, *m)
	}
	return all
}

// ClearMishaps disarms all mishaps.
func (c *Cloud) ClearMishaps() {
	defer c.enter()()
	c.mishaps = nil
}

// mishap is the one that strikes this server now; nil where none does.
func (c *Cloud) mishap(kind MishapKind, s *server) *Mishap {
	for i, m := range c.mishaps {
		if m.Kind != kind || !m.server.MatchString(s.Name) && !m.server.MatchString(s.ID) {
			continue
		}
		m.Struck++
		if m.Count > 0 && m.Struck >= m.Count {
			c.mishaps = slices.Delete(c.mishaps, i, i+1)
		}
		struck := *m
		return &struck
	}
	return nil
}

// text is the mishap's message; a nil or wordless one's is otherwise.
func (m *Mishap) text(otherwise string) string {
	if m == nil {
		return otherwise
	}
	return orElse(m.Message, otherwise)
}
