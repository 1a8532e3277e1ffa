// SPDX-License-Identifier: Apache-2.0

// Package server chooses who decides about a server by what it is: metal or virtual. It is the one place that does.
package server

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

// IsVirtual says whether a server is a VM.
func IsVirtual(server *v1alpha1.Server) bool { return server != nil && server.Spec.OpenStack != nil }

// Decide answers what a pass over a server does, and what it reports: see metal.Decide and virtual.Decide.
func Decide(v lifecycle.ServerView) lifecycle.Decision {
	if IsVirtual(v.Server) {
		return virtual.Decide(v)
	}
	return metal.Decide(v)
}

// Describe decides about v and puts the decision into words.
func Describe(v lifecycle.ServerView) lifecycle.Description {
	if IsVirtual(v.Server) {
		return virtual.Describe(v)
	}
	return metal.Describe(v)
}

// Unsettled says whether something is under way with the server that a picture would bring forward, and since when at least: what the
// monitor's pace goes by. The time is the last one that the object itself tells; zero: none.
func Unsettled(server *v1alpha1.Server) (since time.Time, unsettled bool) {
	if IsVirtual(server) {
		return virtual.Unsettled(server)
	}
	return metal.Unsettled(server)
}

// Available says whether a server, on what its own object tells, is free for any claim. A VM never is: it is made for one claim, or
// belongs to a person.
func Available(server *v1alpha1.Server, settings lifecycle.Settings) bool {
	return !IsVirtual(server) && metal.Available(server, settings)
}
