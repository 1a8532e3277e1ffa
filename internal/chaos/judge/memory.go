// SPDX-License-Identifier: Apache-2.0

package judge

import "time"

// oblivion is whether something is forgotten, and was: a snapshot brings back what was known when it was taken, and what was not.
type oblivion struct{ turns []turn }

type turn struct {
	at        time.Time
	forgotten bool
}

func (o *oblivion) set(at time.Time, forgotten bool) {
	if o.now() != forgotten {
		o.turns = append(o.turns[:len(o.turns):len(o.turns)], turn{at, forgotten})
	}
}

func (o *oblivion) now() bool { return len(o.turns) > 0 && o.turns[len(o.turns)-1].forgotten }

// was says whether it was forgotten at a moment.
func (o *oblivion) was(at time.Time) bool {
	for i := len(o.turns) - 1; i >= 0; i-- {
		if !o.turns[i].at.After(at) {
			return o.turns[i].forgotten
		}
	}
	return false
}

// back is a restore of what was known at a moment, when something that came to be at made was there or not.
func (o *oblivion) back(e Event, exists bool, made time.Time) {
	if exists && (made.After(e.Since) || o.was(e.Since)) {
		o.set(e.At, true)
	}
}

// forget notes of what nobody can know any more: one machine's drive, one tenant's machine, or, with both named, the VM of a tenant.
func (h *history) forget(e Event) {
	switch {
	case e.Tenant != "":
		h.tenant(e.Tenant).forgotten.set(e.At, true)
		if e.Machine != "" {
			h.forgetVM(e)
		}
	case e.Machine != "":
		if m := h.machine(e.Machine); m.driven {
			m.forgotten.set(e.At, true)
		}
	default:
		h.unrecorded("names neither a machine nor a tenant", e)
	}
}

// forgetVM marks a tenant's VM and what hangs on it: there is no object of it any more.
func (h *history) forgetVM(e Event) {
	if m := h.machine(e.Machine); m.virtual && m.owner == e.Tenant {
		m.forgotten.set(e.At, true)
	}
	for port, l := range h.loose {
		if h.owners[l.identity] == e.Tenant {
			l.forgotten.set(e.At, true)
			h.loose[port] = l
		}
	}
}

// restored marks what came to be after the snapshot was taken: no memory tells of it. What is older was remembered when it was taken, because
// memory is written before an effect; unless it had been forgotten by then, as after a restore of an earlier one.
func (h *history) restored(e Event) {
	if e.Since.IsZero() {
		h.unrecorded("does not tell when the snapshot was taken", e)
		return
	}
	for _, m := range h.machines {
		m.forgotten.back(e, m.virtual, m.madeAt)
		m.forgotten.back(e, m.driven, m.drivenAt)
	}
	for _, t := range h.tenants {
		t.forgotten.back(e, t.booted, t.bootedAt)
	}
	for id, l := range h.loose {
		l.forgotten.back(e, true, l.madeAt)
		h.loose[id] = l
	}
}

// remember ends what was excused of a tenant: its machine is known again, and by that its VM and what hangs on it. An image in a drive is not:
// it is known by a memory of its own.
func (h *history) remember(e Event) {
	if e.Tenant == "" {
		h.unrecorded("names no tenant", e)
		return
	}
	h.tenant(e.Tenant).forgotten.set(e.At, false)
	for _, m := range h.machines {
		if m.virtual && m.owner == e.Tenant {
			m.forgotten.set(e.At, false)
		}
	}
	for id, l := range h.loose {
		if h.owners[l.identity] == e.Tenant {
			l.forgotten.set(e.At, false)
			h.loose[id] = l
		}
	}
}

// boots notes that a tenant's installer ran, or that its VM was launched: whatever was forgotten of it, it has its machine now.
func (h *history) boots(t *tenant, e Event) {
	if !t.booted {
		t.bootedAt = e.At
	}
	t.booted = true
	t.forgotten.set(e.At, false)
}
