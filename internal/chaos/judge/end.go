// SPDX-License-Identifier: Apache-2.0

package judge

// end judges what must be true when all has come to rest.
func (h *history) end(e Event) {
	for _, m := range h.sortedMachines() {
		h.drives(m, e)
		h.orphan(m, e)
	}
	h.looseEnds(e)
	for _, name := range sortedKeys(h.tenants) {
		h.stillHas(h.tenants[name], e)
	}
}

// drives: no image stays in the drive of a machine that its tenant gave up, or that another tenant has: the next one would boot from it.
func (h *history) drives(m *machine, e Event) {
	if !m.driven || h.abandoned(m, m.drive) {
		return
	}
	const how = "an image is left in the drive of a machine that is no more its tenant's"
	gone := !h.tenant(m.drive).wants(e.At)
	if gone || m.owned && m.owner != m.drive || h.machineOf(m.drive, m) != nil {
		h.limited(m.forgotten.now(), "I3", how, m, m.drive)
	}
}

// orphan: no VM with an identity stays whose tenant gave it up, or that has none.
func (h *history) orphan(m *machine, e Event) {
	if !m.virtual || m.gone || m.identity == "" || h.abandoned(m, m.owner) {
		return
	}
	if m.owner == "" || !h.tenant(m.owner).wants(e.At) {
		h.limited(m.forgotten.now(), "I3", "a VM is left behind", m, m.owner)
	}
}

// looseEnds: no port or floating IP with an identity stays whose tenant gave it up. One whose identity no VM ever had may belong to a
// tenant that waits for its first; there are no more such identities than tenants that wait.
func (h *history) looseEnds(e Event) {
	waiting := h.waiting(e)
	unknown := map[string]bool{}
	for _, id := range sortedKeys(h.loose) {
		l := h.loose[id]
		owner, known := h.owners[l.identity]
		m := &machine{id: id}
		switch {
		case l.identity == "":
		case !known && (unknown[l.identity] || len(unknown) < waiting):
			unknown[l.identity] = true
		case !known:
			h.limited(l.forgotten.now(), "I3", "a "+l.kind+" is left behind whose owner nobody knows", m, "")
		case !h.tenant(owner).wants(e.At) && !h.abandoned(m, owner):
			h.limited(l.forgotten.now(), "I3", "a "+l.kind+" is left behind", m, owner)
		}
	}
}

// waiting counts the tenants that want a machine and never had one.
func (h *history) waiting(e Event) int {
	count := 0
	for name, t := range h.tenants {
		if name != "" && t.wants(e.At) && !t.booted && h.machineOf(name, nil) == nil {
			count++
		}
	}
	return count
}

// stillHas: whoever had a machine and did not give it up has it yet, with the very installation that it had, but where somebody took the
// VM away by hand.
func (h *history) stillHas(t *tenant, e Event) {
	if t.name == "" || !t.booted || !t.wants(e.At) {
		return
	}
	lost := &machine{}
	for _, m := range h.sortedMachines() {
		switch {
		case m.owner != t.name:
		case m.takenAway, m.owned && !m.gone && (m.virtual || m.written && m.disk == t.name):
			return
		default:
			lost = m
		}
	}
	h.violated("I6", "a tenant that did not give up has no machine with its installation any more", lost, t.name)
}
