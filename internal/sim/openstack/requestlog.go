// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// Request is one entry of the request log.
type Request struct {
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`      // when it arrived
	Service string    `json:"service"` // identity, compute, network, image
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Query   string    `json:"query,omitempty"`
	Route   string    `json:"route,omitempty"`  // the path's pattern, where it was routed; of actions with their name
	Body    string    `json:"body,omitempty"`   // of writes, secrets and user data redacted
	Status  int       `json:"status,omitempty"` // 0: not answered (yet)
	Fault   FaultKind `json:"fault,omitempty"`  // what struck it
}

// RequestFilter selects requests; zero fields select all.
type RequestFilter struct {
	Service string
	Method  string // exact
	Path    string // regular expression, matched anywhere in path and query
	After   uint64 // only requests with a greater Seq
}

// Total counts requests of one kind since the cloud was started.
type Total struct {
	Service string `json:"service"`
	Method  string `json:"method"`
	Route   string `json:"route"` // the path's pattern; empty where nothing was routed
	Count   int    `json:"count"`
}

// requestLog remembers the last requests in a ring, and counts all.
type requestLog struct {
	limit  int
	seq    uint64
	ring   []Request
	totals map[Total]int // by Total without its Count
}

func (l *requestLog) begin(at time.Time, cl *call) uint64 {
	l.seq++
	entry := Request{
		Seq: l.seq, At: at, Service: string(cl.service), Method: cl.r.Method, Path: cl.r.URL.Path, Query: cl.r.URL.RawQuery,
		Route: cl.route(), Body: loggedBody(cl),
	}
	if len(l.ring) < l.limit {
		l.ring = append(l.ring, entry)
	} else {
		*l.at(l.seq) = entry
	}
	return l.seq
}

func (l *requestLog) at(seq uint64) *Request { return &l.ring[(seq-1)%uint64(l.limit)] }

// finish counts a request and completes its entry, unless that has been pushed out meanwhile.
func (l *requestLog) finish(cl *call, outcome Request) {
	l.totals[Total{Service: string(cl.service), Method: cl.r.Method, Route: cl.route()}]++
	if entry := l.at(cl.seq); entry.Seq == cl.seq {
		entry.Status, entry.Fault = outcome.Status, outcome.Fault
	}
}

// Requests returns the requests still remembered, oldest first, those in progress with Status 0.
// It fails on a Path that is not a regular expression.
func (c *Cloud) Requests(filter RequestFilter) ([]Request, error) {
	path, err := regexp.Compile(filter.Path)
	if err != nil {
		return nil, fmt.Errorf("openstack simulator: request filter: %w", err)
	}
	defer c.enter()()
	found := []Request{}
	for i := range c.requests.ring {
		e := &c.requests.ring[i]
		if (filter.Service == "" || filter.Service == e.Service) && (filter.Method == "" || filter.Method == e.Method) &&
			e.Seq > filter.After && path.MatchString(target(e.Path, e.Query)) {
			found = append(found, *e)
		}
	}
	slices.SortFunc(found, func(a, b Request) int { return cmp.Compare(a.Seq, b.Seq) })
	return found, nil
}

// Totals returns the counts of all finished requests, by service, method and route.
func (c *Cloud) Totals() []Total {
	defer c.enter()()
	totals := make([]Total, 0, len(c.requests.totals))
	for key, count := range c.requests.totals {
		key.Count = count
		totals = append(totals, key)
	}
	slices.SortFunc(totals, func(a, b Total) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Route, b.Route))
	})
	return totals
}

// target is a path with its query.
func target(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

// loggedBody is the body of a write, without secrets.
func loggedBody(cl *call) string {
	if cl.r.Method == http.MethodGet || cl.r.Method == http.MethodHead || len(cl.body) == 0 {
		return ""
	}
	var parsed any
	if json.Unmarshal(cl.body, &parsed) != nil {
		return fmt.Sprintf("(%d bytes that are not JSON)", len(cl.body))
	}
	redact(parsed)
	out, err := json.Marshal(parsed)
	if err != nil {
		return "(unprintable)"
	}
	return string(out)
}

var secretKey = regexp.MustCompile(`(?i)^(password|adminPass|secret|user_data|private_key)$`)

func redact(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			if text, isText := v[key].(string); isText && secretKey.MatchString(key) {
				v[key] = fmt.Sprintf("(%d bytes)", len(text))
				continue
			}
			redact(v[key])
		}
	case []any:
		for _, item := range v {
			redact(item)
		}
	}
}
