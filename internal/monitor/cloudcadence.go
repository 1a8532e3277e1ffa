// SPDX-License-Identifier: Apache-2.0

package monitor

import "time"

// CloudCadence says how often clouds are looked at. A look at a cloud is a look at all of its servers: what it costs does not grow with
// their number, but for the pages of a listing and for what is missing from one.
type CloudCadence struct {
	// Slow is the pace of a cloud whose servers are all settled, give or take a tenth.
	Slow time.Duration
	// Floor is the least time between the beginnings of two looks, however many servers are unsettled: what changes meanwhile is seen
	// together. A cloud that takes long is left alone for as long as it took.
	Floor time.Duration
	// Full and FullFast are the longest time between two listings of everything; listings of what changed are between them. FullFast is
	// for clouds with servers that are unsettled: there are changes, as of tags, that no cloud counts among changes.
	Full, FullFast time.Duration
	// Overlap is how far a listing of changes reaches back beyond the look before it: the cloud's clock is not ours.
	Overlap time.Duration
	// About is the pace at which a cloud is asked what it is, and how much of the quota is used.
	About time.Duration
	// LookDeadline bounds a look, from its first request to its last.
	LookDeadline time.Duration
	// Doubts is how many VMs, ports and floating IPs that a listing misses are asked for by id in one look.
	Doubts int
	// Writes to the API server at a time.
	Writes int
}

// DefaultCloudCadence are the defaults of the operator's flags.
func DefaultCloudCadence() CloudCadence {
	return CloudCadence{
		Slow:         30 * time.Second,
		Floor:        time.Second,
		Full:         5 * time.Minute,
		FullFast:     10 * time.Second,
		Overlap:      2 * time.Minute,
		About:        5 * time.Minute,
		LookDeadline: 2 * time.Minute,
		Doubts:       32,
		Writes:       8,
	}
}
