// SPDX-License-Identifier: Apache-2.0

package judge

// forget notes of what nobody can know any more: one machine's drive, one tenant's machine, or, with both named, the VM of a tenant.
func (h *history) forget(e Event) {
	switch {
	case e.Tenant != "":
		h.tenant(e.Tenant).forgotten = true
		if e.Machine != "" {
			h.forgetVM(e.Machine, e.Tenant)
		}
	case e.Machine != "":
		m := h.machine(e.Machine)
		m.forgotten = m.forgotten || m.driven
	default:
		h.unrecorded("names neither a machine nor a tenant", e)
	}
}

// forgetVM marks a tenant's VM and what hangs on it: there is no object of it any more.
func (h *history) forgetVM(id, tenant string) {
	if m := h.machine(id); m.virtual && m.owner == tenant {
		m.forgotten = true
	}
	for port, l := range h.loose {
		if h.owners[l.identity] == tenant {
			l.forgotten = true
			h.loose[port] = l
		}
	}
}

// restored marks what came to be after the snapshot was taken: no memory tells of it. What is older was remembered when it was taken, because
// memory is written before an effect.
func (h *history) restored(e Event) {
	if e.Since.IsZero() {
		h.unrecorded("does not tell when the snapshot was taken", e)
		return
	}
	for _, m := range h.machines {
		newer := m.virtual && m.madeAt.After(e.Since) || m.driven && m.drivenAt.After(e.Since)
		m.forgotten = m.forgotten || newer
	}
	for _, t := range h.tenants {
		t.forgotten = t.forgotten || t.booted && t.bootedAt.After(e.Since)
	}
	for id, l := range h.loose {
		l.forgotten = l.forgotten || l.madeAt.After(e.Since)
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
	h.tenant(e.Tenant).forgotten = false
	for _, m := range h.machines {
		if m.virtual && m.owner == e.Tenant {
			m.forgotten = false
		}
	}
	for id, l := range h.loose {
		if h.owners[l.identity] == e.Tenant {
			l.forgotten = false
			h.loose[id] = l
		}
	}
}

// boots notes that a tenant's installer ran, or that its VM was launched: whatever was forgotten of it, it has its machine now.
func (h *history) boots(t *tenant, e Event) {
	if !t.booted {
		t.bootedAt = e.At
	}
	t.booted, t.forgotten = true, false
}
