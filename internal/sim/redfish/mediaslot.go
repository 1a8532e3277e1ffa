// SPDX-License-Identifier: Apache-2.0

package redfish

import "slices"

// MediaNature is where virtual media hangs and how images are inserted.
type MediaNature struct {
	// AtSystem and AtManager are where the collection is; AtSystem also links it from the system. With
	// LinkedFromSystem the system links the manager's.
	AtSystem, AtManager, LinkedFromSystem bool
	// Collection is the collection's Id. Empty: VirtualMedia.
	Collection string
	// Slots are the slots there are. One image can be inserted at a time.
	Slots []MediaSlot
	// ByPatch: slots have no actions; an image is inserted by writing the member Image, and ejected by
	// writing null.
	ByPatch bool
}

// MediaSlot is one slot of virtual media.
type MediaSlot struct {
	ID string
	// Types are its MediaTypes; only a slot for CDs or DVDs boots as Cd. Untold does not show them.
	Types  []string
	Untold bool
	// Fixed slots take no image over Redfish: they are filled by a person at the console.
	Fixed bool
}

func (n *MediaNature) collection() string { return orElse(n.Collection, "VirtualMedia") }

func (n *MediaNature) slot(id string) *MediaSlot {
	for i := range n.Slots {
		if n.Slots[i].ID == id {
			return &n.Slots[i]
		}
	}
	return nil
}

func (n *MediaNature) ids() []string {
	ids := make([]string, 0, len(n.Slots))
	for _, s := range n.Slots {
		ids = append(ids, s.ID)
	}
	return ids
}

// bootable reports whether firmware finds a CD in the slot.
func (s *MediaSlot) bootable() bool {
	return s != nil && (slices.Contains(s.Types, "CD") || slices.Contains(s.Types, "DVD"))
}

// link is the collection's path as a system or manager links it, empty where it does not.
func (m *Machine) mediaLink(owner string) string {
	n := &m.bmc.profile.Media
	isSystem := owner == m.path()
	switch {
	case isSystem && n.AtSystem, !isSystem && n.AtManager:
		return owner + "/" + n.collection()
	case isSystem && n.LinkedFromSystem:
		return m.bmc.managerPath() + "/" + n.collection()
	}
	return ""
}

// onSlot finds the slot a path names, where the model has such.
func onSlot(handle func(*call, *Machine, *MediaSlot) *reply) func(*call) *reply {
	return onMachine(func(c *call, m *Machine) *reply {
		slot := c.bmc.profile.Media.slot(c.value("slot"))
		if slot == nil || !c.hasMedia() {
			return notFound(c.path)
		}
		return handle(c, m, slot)
	})
}

// hasMedia reports whether the model has the collection where the path looks for it.
func (c *call) hasMedia() bool {
	n := &c.bmc.profile.Media
	at := n.AtSystem
	if c.value("manager") != "" {
		at = n.AtManager
	}
	return at && c.value("media") == n.collection()
}
