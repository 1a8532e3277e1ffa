// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Asked counts requests to a cloud by method and route, sessions apart.
type Asked map[string]int

// Asked is what was asked of the cloud so far.
func (c *Cloud) Asked() Asked {
	counts := Asked{}
	for _, total := range c.Totals() {
		if total.Service == "identity" {
			continue
		}
		_, route, _ := strings.Cut(strings.TrimPrefix(total.Route, "/"), "/")
		_, route, _ = strings.Cut(route, "/")
		counts[total.Method+" "+route] += total.Count
	}
	return counts
}

// Less is what was asked since.
func (a Asked) Less(before Asked) Asked {
	left := maps.Clone(a)
	for what, n := range before {
		if left[what] -= n; left[what] == 0 {
			delete(left, what)
		}
	}
	return left
}

// Reads counts what changes nothing.
func (a Asked) Reads() int {
	n := 0
	for what, count := range a {
		if OnlyReads(what) {
			n += count
		}
	}
	return n
}

// Writes tells what changes something, for people.
func (a Asked) Writes() string {
	return a.Told(func(what string) bool { return !OnlyReads(what) })
}

// Told tells what was asked of those that are of interest, for people.
func (a Asked) Told(which func(string) bool) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(a)) {
		if which(what) {
			parts = append(parts, fmt.Sprintf("%d %s", a[what], what))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// OnlyReads picks what changes nothing, of the keys of [Asked].
func OnlyReads(what string) bool {
	return strings.HasPrefix(what, "GET ") || strings.HasPrefix(what, "HEAD ")
}
