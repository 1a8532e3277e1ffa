// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Call is a request as a proxy saw it. Neither headers nor bodies are kept: a log is no place for tokens and user data.
type Call struct {
	At      time.Time
	Service string
	Method  string
	Path    string
	Query   url.Values
	// Action is what a POST to a server's /action asks for: rebuild, os-stop.
	Action string
	// Code is what the service answered; 0 where it was not reached, or died.
	Code int
	// Struck says that a fault of the proxy met it.
	Struck bool
}

var ids = regexp.MustCompile(`[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)

// Kind is what a call asks for, whatever the id: "GET compute /v2.1/servers/{id}", "POST compute /v2.1/servers/{id}/action rebuild".
func (c Call) Kind() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Method, c.Service, ids.ReplaceAllString(c.Path, "{id}"), c.Action))
}

// Changes says that a call asks a service to change something; a login changes nothing.
func (c Call) Changes() bool {
	return c.Service != TypeIdentity && c.Method != http.MethodGet && c.Method != http.MethodHead
}

// actionOf is the only key of the body of a POST to /action.
func actionOf(path string, body []byte) string {
	if !strings.HasSuffix(path, "/action") {
		return ""
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(body, &keys) != nil {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(keys)), "+")
}

// Calls are all requests so far that had an answer or were struck, the oldest first.
func (p *Proxy) Calls() Calls {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// Calls is a log of requests.
type Calls []Call

// Since are the calls from a time on.
func (c Calls) Since(begin time.Time) Calls {
	return c.where(func(call Call) bool { return !call.At.Before(begin) })
}

// Changes are the calls that ask for a change.
func (c Calls) Changes() Calls {
	return c.where(Call.Changes)
}

// Of are the calls of a method whose kind contains a text.
func (c Calls) Of(method, text string) Calls {
	return c.where(func(call Call) bool { return call.Method == method && strings.Contains(call.Kind(), text) })
}

func (c Calls) where(keep func(Call) bool) Calls {
	return slices.DeleteFunc(slices.Clone(c), func(call Call) bool { return !keep(call) })
}

// String counts the calls by kind and answer, one line each, the most frequent first.
func (c Calls) String() string {
	counts := map[string]int{}
	for _, call := range c {
		line := fmt.Sprintf("%s → %d", call.Kind(), call.Code)
		if call.Struck {
			line += " (struck)"
		}
		counts[line]++
	}
	lines := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	var out strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&out, "%5d  %s\n", counts[line], line)
	}
	return out.String()
}
