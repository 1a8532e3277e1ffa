// SPDX-License-Identifier: Apache-2.0

package judge

import "slices"

// inCloud judges what happens to VMs and what hangs on them. It reports whether the event was such.
func (h *history) inCloud(e Event) bool {
	judge := map[Kind]func(Event){
		CreatedVM: h.created, LaunchedVM: h.launched, DeletedVM: h.deleted, GoneVM: h.goneVM, RebuiltVM: h.rebuilding,
		PortMade: h.made, PortGone: h.unmade, AddressMade: h.made, AddressGone: h.unmade,
	}
	do, known := judge[e.Kind]
	if known {
		do(e)
	}
	return known
}

// created judges a VM that is made: the only one of its identity (I3) and of its tenant (I8), and not in place of one that was launched
// (I2).
func (h *history) created(e Event) {
	m := h.machine(e.Machine)
	t := h.tenant(e.Tenant)
	if twin := h.vmOf(func(other *machine) bool { return e.Identity != "" && other.identity == e.Identity }); twin != nil {
		h.violated("I3", "a second VM is made of the identity of "+twin.id, m, e.Tenant)
	} else if e.Tenant != "" && h.machineOf(e.Tenant, m) != nil {
		h.violated("I8", "a tenant that has "+h.machineOf(e.Tenant, m).id+" gets a second VM", m, e.Tenant)
	}
	if e.Tenant != "" && t.booted && t.wants(e.arrived()) && h.machineOf(e.Tenant, m) == nil {
		h.violated("I2", "a VM is made anew in place of one that was launched", m, e.Tenant)
	}
	m.virtual, m.owned, m.owner, m.identity, m.madeAt = true, true, e.Tenant, e.Identity, e.At
	h.knowOwner(e)
}

// knowOwner ties an identity to the tenant whose VM bears it.
func (h *history) knowOwner(e Event) {
	if e.Identity != "" && e.Tenant != "" {
		h.owners[e.Identity] = e.Tenant
	}
}

// vmOf is a VM that is there and that the condition holds for; nil for none.
func (h *history) vmOf(is func(*machine) bool) *machine {
	for _, m := range h.machines {
		if m.virtual && !m.gone && is(m) {
			return m
		}
	}
	return nil
}

func (h *history) launched(e Event) {
	m := h.machine(e.Machine)
	m.launched, m.on = true, true
	h.boots(h.tenant(m.owner), e)
	h.switchedOn(m, e.At)
}

// deleted judges a delete: a VM that never was launched may be made anew, any other is its tenant's.
func (h *history) deleted(e Event) {
	m := h.machine(e.Machine)
	t, anybody := h.has(m, e)
	if anybody && m.launched {
		h.violated("I2", "a VM that was launched is deleted, and its tenant did not give it up", m, t.name)
	}
	m.leaving = m.leaving || m.owned && !anybody
}

func (h *history) goneVM(e Event) {
	m := h.machine(e.Machine)
	m.gone, m.on = true, false
	m.takenAway = e.Detail != ""
	if m.leaving {
		h.tenant(m.owner).booted = false
	}
}

// rebuilding judges a rebuild that is accepted; the ask is settled when the image is written.
func (h *history) rebuilding(e Event) {
	m := h.machine(e.Machine)
	if t, anybody := h.has(m, e); anybody && !t.rebuilds.by(e.arrived()) {
		h.violated("I1", "a VM is rebuilt whose tenant did not ask for it", m, t.name)
	}
}

// rebuilt is an image that is written over a VM.
func (h *history) rebuilt(m *machine, e Event) {
	if m.owned {
		t := h.tenant(m.owner)
		t.rebuilds = t.rebuilds.after(e.At)
	}
}

func (h *history) made(e Event) {
	h.knowOwner(e)
	h.loose[e.Machine] = loose{kind: looseKinds[e.Kind], identity: e.Identity, madeAt: e.At}
}

func (h *history) unmade(e Event) { delete(h.loose, e.Machine) }

var looseKinds = map[Kind]string{PortMade: "port", AddressMade: "floating IP"}

// sortedMachines are all machines, by id, so that reports repeat.
func (h *history) sortedMachines() []*machine {
	var all []*machine
	for _, id := range sortedKeys(h.machines) {
		all = append(all, h.machines[id])
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
