// SPDX-License-Identifier: Apache-2.0

package judge

// onMetal judges what happens to a machine, and what stops a VM. It reports whether the event was such.
func (h *history) onMetal(e Event) bool {
	judge := map[Kind]func(*machine, Event){
		Ran: h.ran, PoweredOn: h.poweredOn, PoweredOff: h.poweredOff, Reset: h.reset, Armed: h.armed, Disarmed: nil,
		MediaInserted: h.inserted, MediaEjected: h.ejected, NetworkBoot: h.networkBoot, Installed: h.installed,
		Began: h.began, WentOn: h.wentOn, WentOff: h.wentOff,
	}
	do, known := judge[e.Kind]
	if do != nil {
		do(h.machine(e.Machine), e)
	}
	return known
}

// has is the tenant that has a machine, and whether anybody has it whose wish counted when an event arrived.
func (h *history) has(m *machine, e Event) (t *tenant, anybody bool) {
	t = h.tenant(m.owner)
	return t, m.owned && t.wants(e.arrived())
}

func (h *history) ran(m *machine, e Event) {
	m.on, m.owned, m.owner = true, true, e.Tenant
	m.written, m.disk = true, e.Tenant
	h.boots(h.tenant(e.Tenant), e)
}

// poweredOff judges the ask, not what came of it: one that finds a machine Off already is as wrong.
func (h *history) poweredOff(m *machine, e Event) {
	t, anybody := h.has(m, e)
	if anybody && !h.mayGoOff(m, t, e.arrived()) {
		h.violated("I1", "a machine is powered off whose tenant did not ask for it", m, t.name)
	}
	m.leaving = m.leaving || m.owned && !anybody
}

func (h *history) poweredOn(m *machine, _ Event) { m.starting = true }

// reset judges a restart in one request. Holdfast asks for none: it powers off, records, and powers on (docs/decisions/0155).
func (h *history) reset(m *machine, e Event) {
	m.starting = true
	t, anybody := h.has(m, e)
	if !anybody || t.restarts.by(e.arrived()) {
		return
	}
	h.violated("I1", "a machine is restarted whose tenant did not ask for it", m, t.name)
}

// armed judges a boot override: the next start of the machine would run over what is there.
func (h *history) armed(m *machine, e Event) {
	t, anybody := h.has(m, e)
	switch {
	case !anybody || h.mayInstall(m, e.Tenant, e.arrived()):
	case e.Tenant != t.name || t.name == "":
		h.violated("I1", "an installer is armed for a machine that another tenant has", m, t.name)
	default:
		h.violated("I10", "a second installation for one claim is armed", m, t.name)
	}
}

func (h *history) inserted(m *machine, e Event) {
	t, anybody := h.has(m, e)
	switch {
	case !anybody || h.mayInstall(m, e.Tenant, e.arrived()):
	case e.Tenant != t.name || t.name == "":
		h.violated("I1", "an image is put into the drive of a machine that another tenant has", m, t.name)
	default:
		h.violated("I10", "a tenant's image is put into its drive a second time", m, t.name)
	}
	m.driven, m.drive, m.drivenAt = true, e.Tenant, e.At
	m.forgotten.set(e.At, false)
}

func (h *history) ejected(m *machine, e Event) {
	if t, anybody := h.has(m, e); anybody && m.installing && m.driven && m.drive == t.name {
		h.violated("I1", "an image is taken out while its installer runs", m, t.name)
	}
	m.driven = false
}

// networkBoot judges an installer that starts to run, by when it starts: what armed and switched on was judged by when that arrived.
func (h *history) networkBoot(m *machine, e Event) {
	h.overwrites(m, e)
	h.elsewhere(m, e)
	h.tenant(e.Tenant).installsAgreed(m, e.At)
	m.owned, m.owner, m.installing = true, e.Tenant, true
	m.written = false
	h.boots(h.tenant(e.Tenant), e)
}

// overwrites judges what an installer runs over.
func (h *history) overwrites(m *machine, e Event) {
	t, anybody := h.has(m, e)
	switch {
	case !anybody || h.mayInstall(m, e.Tenant, e.At):
	case t.name != e.Tenant || t.name == "":
		h.violated("I1", "an installer runs over what another tenant has", m, t.name)
	default:
		h.violated("I10", "a second installation for one claim", m, t.name)
	}
}

// elsewhere judges whether an installer's tenant has another machine already.
func (h *history) elsewhere(m *machine, e Event) {
	if e.Tenant == "" || !h.tenant(e.Tenant).wants(e.At) {
		return
	}
	if other := h.machineOf(e.Tenant, m); other != nil {
		h.limited(h.tenant(e.Tenant).forgotten.now(), "I8", "a tenant that has "+other.id+" gets a second machine", m, e.Tenant)
	}
}

// machineOf is a machine that a tenant has, but one; nil for none.
func (h *history) machineOf(name string, but *machine) *machine {
	for _, m := range h.machines {
		if m != but && m.owned && m.owner == name && !m.gone {
			return m
		}
	}
	return nil
}

// installed is the end of an installer, also of one that was not seen to start.
func (h *history) installed(m *machine, e Event) {
	if m.virtual {
		h.rebuilt(m, e)
		return
	}
	if !m.installing || !m.owned || m.owner != e.Tenant {
		h.networkBoot(m, e)
	}
	m.installing, m.written, m.disk = false, true, e.Tenant
}

// began is a system that is up. Who was given up, or forgotten, and runs again while it wants a machine has this one; if it has another, and
// somebody had this one switched on, it has two. Power that came back by itself, or a stranger's, is nobody's doing.
func (h *history) began(m *machine, e Event) {
	t, anybody := h.has(m, e)
	switch {
	case anybody && m.written && t.name != e.Tenant:
		h.violated("I8", "another tenant's system runs on a machine that a tenant has", m, t.name)
	case anybody || e.Tenant == "" || !h.tenant(e.Tenant).wants(e.At):
	case h.machineOf(e.Tenant, m) != nil:
		if other := h.machineOf(e.Tenant, m); m.requested {
			h.limited(h.tenant(e.Tenant).forgotten.now(), "I8", "a tenant that has "+other.id+" is up on a second machine that was switched on", m, e.Tenant)
		}
	default:
		m.owned, m.owner, m.written, m.disk = true, e.Tenant, true, e.Tenant
	}
}

// wentOn settles what is owed until the machine is switched on: power that comes back by itself is nobody's answer to a restart.
func (h *history) wentOn(m *machine, e Event) {
	m.on, m.leaving, m.requested = true, false, m.starting
	if m.starting {
		m.starting = false
		h.switchedOn(m, e.At)
	}
}

// wentOff is the moment without power. An installer that ran is lost, and a tenant leaves the machine that had given up, now or when the
// power-off arrived: a release that was on its way is finished also where the tenant is brought back meanwhile.
func (h *history) wentOff(m *machine, e Event) {
	m.on, m.installing, m.requested = false, false, false
	if t := h.tenant(m.owner); m.owned && !m.virtual && (m.leaving || !t.wants(e.At)) {
		m.owned, m.written, m.leaving = false, false, false
		t.booted = false
	}
}
