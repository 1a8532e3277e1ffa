// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"slices"
	"time"
)

// tenant is one claim's, or one server's that nobody claims.
type tenant struct {
	name     string
	gaveUp   spans
	off      spans
	restarts owed
	rebuilds owed
	// forgotten says that its claim may not tell any more that it has a machine.
	forgotten oblivion
	// booted says that an installer ran, or that a VM was launched, since it last began to want a machine.
	booted bool
	// bootedAt is when that was first so.
	bootedAt time.Time
	// boots are installations that people agreed to beyond its first.
	boots []bootConsent
}

// bootConsent lets a tenant's installer run on one machine once more, from asked on; not when it arrives after till, where that is not zero.
type bootConsent struct {
	machine     string
	asked, till time.Time
}

// consents are what people agreed to, for a machine or for whatever a tenant has.
type consents struct {
	off         owed
	maintenance spans
	abandoned   bool
}

// owed are asks for one effect each, by their times.
type owed []time.Time

// by says that one was asked for when an effect arrived.
func (o owed) by(arrived time.Time) bool {
	return slices.ContainsFunc(o, func(asked time.Time) bool { return !asked.After(arrived) })
}

// after is what was asked for later.
func (o owed) after(at time.Time) owed {
	return slices.DeleteFunc(o, func(asked time.Time) bool { return !asked.After(at) })
}

// tenant is never nil: of whom nobody heard asks for nothing and never gives up.
func (h *history) tenant(name string) *tenant {
	t := h.tenants[name]
	if t == nil {
		t = &tenant{name: name}
		h.tenants[name] = t
	}
	return t
}

func (h *history) consent(name string) *consents {
	c := h.consents[name]
	if c == nil {
		c = &consents{}
		h.consents[name] = c
	}
	return c
}

// wants says that a tenant wants its machine at an instant.
func (t *tenant) wants(at time.Time) bool { return !t.gaveUp.holds(at) }

// asked takes in what tenants and people ask for. It reports whether the event was such.
func (h *history) asked(e Event) bool {
	t := h.tenant(e.Tenant)
	switch e.Kind {
	case Asked:
		h.wantsAgain(t, e)
	case GaveUp:
		t.gaveUp = t.gaveUp.opened(e.At)
		t.dropBoots(e.over())
	case AskedOff:
		t.off = t.off.opened(e.At)
	case AskedOn:
		t.off = t.off.shut(e.over())
	case AskedRestart:
		t.restarts = append(t.restarts, e.At)
	case AskedRebuild:
		t.rebuilds = append(t.rebuilds, e.At)
	default:
		return h.consented(e)
	}
	return true
}

// consented takes in what people agree to. What names nobody would be agreed for all: it is a fault of the record.
func (h *history) consented(e Event) bool {
	switch e.Kind {
	case ConsentedBoot:
		h.consentedBoot(e)
		return true
	case ConsentedOff, MaintenanceBegan, MaintenanceEnded, Abandoned:
		if subject(e) == "" {
			h.unrecorded("names neither a machine nor a tenant", e)
			return true
		}
	default:
		return false
	}
	c := h.consent(subject(e))
	switch e.Kind {
	case ConsentedOff:
		c.off = append(c.off, e.At)
	case MaintenanceBegan:
		c.maintenance = c.maintenance.opened(e.At)
	case MaintenanceEnded:
		c.maintenance = c.maintenance.shut(e.over())
	default:
		c.abandoned = true
	}
	return true
}

func (h *history) consentedBoot(e Event) {
	if e.Machine == "" || e.Tenant == "" {
		h.unrecorded("does not name both a machine and a tenant", e)
		return
	}
	t := h.tenant(e.Tenant)
	t.boots = append(t.boots, bootConsent{machine: e.Machine, asked: e.At})
}

// dropBoots ends consents with the tenancy that they were for.
func (t *tenant) dropBoots(till time.Time) {
	for i := range t.boots {
		if t.boots[i].till.IsZero() {
			t.boots[i].till = till
		}
	}
}

// subject is whom or what a consent is about.
func subject(e Event) string {
	if e.Machine != "" {
		return e.Machine
	}
	return e.Tenant
}

// wantsAgain is a tenant that gave up and was brought back: it has again what still runs for it, and what it had on a machine that is
// Off was given up.
func (h *history) wantsAgain(t *tenant, e Event) {
	if !t.gaveUp.isOpen() {
		return
	}
	t.gaveUp = t.gaveUp.shut(e.over())
	t.booted = false
	for _, m := range h.machines {
		switch {
		case !m.owned || m.owner != t.name:
		case m.on:
			t.booted = true
		case !m.virtual:
			m.owned, m.written = false, false
		}
	}
}

// agreed are all consents about a machine and the tenant that has it.
func (h *history) agreed(m *machine, owner string) []*consents {
	return []*consents{h.consent(m.id), h.consent(owner)}
}

func (h *history) abandoned(m *machine, owner string) bool {
	return slices.ContainsFunc(h.agreed(m, owner), func(c *consents) bool { return c.abandoned })
}

// mayGoOff says that a machine's tenant, or a person, had asked that it be powered off when that arrived.
func (h *history) mayGoOff(m *machine, t *tenant, arrived time.Time) bool {
	if !t.wants(arrived) || t.off.holds(arrived) || t.restarts.by(arrived) {
		return true
	}
	return slices.ContainsFunc(h.agreed(m, t.name), func(c *consents) bool {
		return c.off.by(arrived) || c.maintenance.holds(arrived)
	})
}

// mayInstall says that a person had agreed that this tenant's installer run on this machine over what is there.
func (h *history) mayInstall(m *machine, installer string, arrived time.Time) bool {
	return slices.ContainsFunc(h.tenant(installer).boots, func(c bootConsent) bool {
		return c.machine == m.id && !c.asked.After(arrived) && (c.till.IsZero() || !arrived.After(c.till))
	})
}

// installsAgreed uses up the consents to an installation.
func (t *tenant) installsAgreed(m *machine, at time.Time) {
	t.boots = slices.DeleteFunc(t.boots, func(c bootConsent) bool { return c.machine == m.id && !c.asked.After(at) })
}

// switchedOn settles what is owed until a machine is next switched on.
func (h *history) switchedOn(m *machine, at time.Time) {
	for _, c := range h.agreed(m, m.owner) {
		c.off = c.off.after(at)
	}
	if m.owned {
		t := h.tenant(m.owner)
		// Objects keep times to the second: whether a restart that was asked for in the second of a start is older than that cannot be told, and
		// it may be carried out as a newer one.
		t.restarts = t.restarts.after(at.Truncate(time.Second))
	}
}
