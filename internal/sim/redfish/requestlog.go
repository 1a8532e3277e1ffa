// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Request is one entry of the request log.
type Request struct {
	Seq    uint64    `json:"seq"`
	At     time.Time `json:"at"` // when it arrived
	BMC    string    `json:"bmc"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	Route  string    `json:"route,omitempty"`  // the path's pattern, where it was routed
	Body   string    `json:"body,omitempty"`   // of writes, secrets redacted
	Status int       `json:"status,omitempty"` // 0: not answered (yet)
	Fault  FaultKind `json:"fault,omitempty"`  // what struck it
}

// RequestFilter selects requests; zero fields select all.
type RequestFilter struct {
	BMC    string
	Method string // exact
	Path   string // regular expression, matched anywhere
	After  uint64 // only requests with a greater Seq
}

// Total counts requests of one kind to one BMC since the rack was made.
type Total struct {
	BMC    string `json:"bmc"`
	Method string `json:"method"`
	Route  string `json:"route"` // the path's pattern; empty where nothing was routed
	Count  int    `json:"count"`
}

type totalKey struct{ bmc, method, route string }

// requestLog remembers the last requests in a ring, and counts all.
type requestLog struct {
	limit  int
	seq    uint64
	ring   []Request
	totals map[totalKey]int
}

func (l *requestLog) begin(at time.Time, c *call) uint64 {
	l.seq++
	entry := Request{Seq: l.seq, At: at, BMC: c.bmc.spec.Name, Method: c.r.Method, Path: c.path, Route: c.pattern, Body: loggedBody(c)}
	if len(l.ring) < l.limit {
		l.ring = append(l.ring, entry)
	} else {
		*l.at(l.seq) = entry
	}
	return l.seq
}

func (l *requestLog) at(seq uint64) *Request { return &l.ring[(seq-1)%uint64(l.limit)] }

// finish counts a request and completes its entry, unless that has been pushed out meanwhile.
func (l *requestLog) finish(c *call, outcome Request) {
	if l.totals == nil {
		l.totals = map[totalKey]int{}
	}
	l.totals[totalKey{c.bmc.spec.Name, c.r.Method, c.pattern}]++
	if entry := l.at(c.seq); entry.Seq == c.seq {
		entry.Status, entry.Fault = outcome.Status, outcome.Fault
	}
}

// Requests returns the requests still remembered, oldest first, those in progress with Status 0.
// It fails on a Path that is not a regular expression.
func (r *Rack) Requests(filter RequestFilter) ([]Request, error) {
	path, err := regexp.Compile(filter.Path)
	if err != nil {
		return nil, fmt.Errorf("redfish rack: request filter: %w", err)
	}
	defer r.enter()()
	log := &r.requests
	var found []Request
	for seq := max(filter.After, log.seq-uint64(len(log.ring))) + 1; seq <= log.seq; seq++ {
		e := log.at(seq)
		if (filter.BMC == "" || filter.BMC == e.BMC) && (filter.Method == "" || filter.Method == e.Method) && path.MatchString(e.Path) {
			found = append(found, *e)
		}
	}
	return found, nil
}

// Logged tells how far the logs are: the Seq of the last request that arrived and of the last event, zero for none.
func (r *Rack) Logged() (request, event uint64) {
	defer r.enter()()
	return r.requests.seq, uint64(len(r.events))
}

// Totals returns the counts of all finished requests, by BMC, method and route.
func (r *Rack) Totals() []Total {
	defer r.enter()()
	totals := make([]Total, 0, len(r.requests.totals))
	for key, count := range r.requests.totals {
		totals = append(totals, Total{BMC: key.bmc, Method: key.method, Route: key.route, Count: count})
	}
	slices.SortFunc(totals, func(a, b Total) int {
		return strings.Compare(a.BMC+"\x00"+a.Method+"\x00"+a.Route, b.BMC+"\x00"+b.Method+"\x00"+b.Route)
	})
	return totals
}

// loggedBody is the body of a write, without secrets.
func loggedBody(c *call) string {
	if c.r.Method == http.MethodGet || c.r.Method == http.MethodHead || len(c.body) == 0 {
		return ""
	}
	var parsed map[string]any
	if json.Unmarshal(c.body, &parsed) != nil {
		return fmt.Sprintf("(%d bytes that are no JSON object)", len(c.body))
	}
	redact(parsed)
	out, err := json.Marshal(parsed)
	if err != nil {
		return "(unprintable)"
	}
	return string(out)
}

var secretKey = regexp.MustCompile(`(?i)password|token|secret`)

func redact(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			if secretKey.MatchString(key) {
				v[key] = "REDACTED"
			} else {
				redact(v[key])
			}
		}
	case []any:
		for _, item := range v {
			redact(item)
		}
	}
}
