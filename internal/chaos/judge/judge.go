// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"slices"
	"time"
)

// Judge says what a history shows. Events may come in any order: they are judged in that of their times, and at one instant in the
// order given, asks first, so that what was asked for at the instant of its effect was asked for.
func Judge(events []Event) Report {
	h := &history{
		events: slices.Clone(events), tenants: map[string]*tenant{}, machines: map[string]*machine{}, loose: map[string]loose{},
		owners: map[string]string{}, consents: map[string]*consents{}, about: map[string][]int{}, report: Report{Counts: map[Kind]int{}},
	}
	slices.SortStableFunc(h.events, inOrder)
	for i, e := range h.events {
		h.now = i
		h.report.Counts[e.Kind]++
		h.note(e)
		if !h.asked(e) && !h.onMetal(e) && !h.inCloud(e) {
			h.ofCampaign(e)
		}
	}
	return h.report
}

// history is what is known at one event of it.
type history struct {
	events []Event
	now    int // the event that is judged

	tenants  map[string]*tenant
	machines map[string]*machine  // and VMs
	loose    map[string]loose     // ports and floating IPs that are there
	owners   map[string]string    // tenants by the identities that VMs of theirs were stamped with
	consents map[string]*consents // by machine or tenant
	about    map[string][]int     // the events about a machine or tenant

	report Report
}

// machine is a machine or a VM.
type machine struct {
	id string
	// owner has it; only where owned. disk is whose installation is on it, the same way.
	owner           string
	owned           bool
	disk            string
	written         bool
	on              bool
	starting        bool     // a power-on or restart was accepted since it last came on
	requested       bool     // it came on because that was asked for, not by itself
	leaving         bool     // its tenant had given up when the end of what runs was asked for
	forgotten       oblivion // the memory of what is in its drive, or of the VM, was taken away
	installing      bool
	drive           string // whose image is in its virtual drive
	driven          bool
	drivenAt        time.Time // when that image came there
	identity        string
	virtual         bool
	madeAt          time.Time // of VMs
	launched        bool
	gone, takenAway bool // of VMs; takenAway: by hand
}

// loose is a port or floating IP.
type loose struct {
	kind, identity string
	madeAt         time.Time
	forgotten      oblivion // the memory of it was taken away
}

func inOrder(a, b Event) int {
	if order := a.At.Compare(b.At); order != 0 {
		return order
	}
	return rank(a.Kind) - rank(b.Kind)
}

// rank puts asks before all else at one instant, and the end last.
func rank(k Kind) int {
	switch k {
	case Asked, GaveUp, AskedOff, AskedOn, AskedRestart, AskedRebuild, ConsentedOff, ConsentedBoot, MaintenanceBegan, MaintenanceEnded,
		Abandoned:
		return 0
	case Settled:
		return 2
	}
	return 1
}

func (h *history) machine(id string) *machine {
	m := h.machines[id]
	if m == nil {
		m = &machine{id: id}
		h.machines[id] = m
	}
	return m
}

// ofCampaign takes in what the campaign says of itself.
func (h *history) ofCampaign(e Event) {
	switch e.Kind {
	case Forgot:
		h.forget(e)
	case RestoredSnapshot:
		h.restored(e)
	case Remembered:
		h.remember(e)
	case Settled:
		h.report.Settled = true
		h.end(e)
	}
}

// violated reports that the event judged now breaks a rule about a machine that a tenant has.
func (h *history) violated(rule, how string, m *machine, owner string) {
	h.report.Violations = append(h.report.Violations, h.finding(rule, how, m, owner))
}

// ofRecord is the rule that the record itself must keep: whatever excuses names whom it excuses.
const ofRecord = "record"

// unrecorded reports an event that cannot be judged, and excuses nobody.
func (h *history) unrecorded(how string, e Event) {
	h.violated(ofRecord, string(e.Kind)+" "+how, &machine{id: e.Machine}, e.Tenant)
}

// limited is violated, but where memory was taken away without which nobody can know better.
func (h *history) limited(forgotten bool, rule, how string, m *machine, owner string) {
	if forgotten {
		h.excuse(rule, how, m, owner)
		return
	}
	h.violated(rule, how, m, owner)
}

// excuse reports what breaks a rule within a limit that is known.
func (h *history) excuse(rule, how string, m *machine, owner string) {
	h.report.Excused = append(h.report.Excused, h.finding(rule, how, m, owner))
}

func (h *history) finding(rule, how string, m *machine, owner string) Violation {
	return Violation{Rule: rule, How: how, Machine: m.id, Tenant: owner, Trace: h.trace(m.id, owner)}
}

// The length of traces: what one machine, and what one tenant, went through lately.
const (
	traceOfMachine = 40
	traceOfTenant  = 15
)

// note remembers what an event is about, for traces.
func (h *history) note(e Event) {
	for _, name := range []string{"machine " + e.Machine, "tenant " + e.Tenant} {
		if name != "machine " && name != "tenant " {
			h.about[name] = append(h.about[name], h.now)
		}
	}
}

func (h *history) trace(machine, owner string) []Event {
	last := func(all []int, n int) []int { return all[max(0, len(all)-n):] }
	which := slices.Concat(last(h.about["machine "+machine], traceOfMachine), last(h.about["tenant "+owner], traceOfTenant), []int{h.now})
	slices.Sort(which)
	var events []Event
	for _, i := range slices.Compact(which) {
		events = append(events, h.events[i])
	}
	return events
}

// span is a time from its first instant to its last; open while till is zero.
type span struct{ from, till time.Time }

// spans are times during which something was asked for.
type spans []span

func (s spans) isOpen() bool { return len(s) > 0 && s[len(s)-1].till.IsZero() }

// opened begins at an instant, where none is open.
func (s spans) opened(at time.Time) spans {
	if s.isOpen() {
		return s
	}
	return append(s, span{from: at})
}

// shut ends the one that is open.
func (s spans) shut(at time.Time) spans {
	if s.isOpen() {
		s[len(s)-1].till = at
	}
	return s
}

func (s spans) holds(at time.Time) bool {
	return slices.ContainsFunc(s, func(one span) bool {
		return !at.Before(one.from) && (one.till.IsZero() || !at.After(one.till))
	})
}
