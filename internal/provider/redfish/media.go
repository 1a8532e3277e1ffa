// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// mediaSlot is one slot for virtual media that takes a CD or DVD image, as read.
type mediaSlot struct {
	path   string
	insert string // target of the action, "" where the slot is changed by PATCH
	eject  string // likewise; some show it only while something is in the slot
	// ejecting: what it shows was ejected by us a moment ago, and is no longer believed (B113).
	ejecting bool
	provider.MediaSlot
}

// mediaSlots reads the slots of a system that take a CD or DVD image: those it links to itself, else those of its manager. An error
// means that they could not be read; no slots and no error, that there are none.
func (b *BMC) mediaSlots(ctx context.Context, from reader, s *system, g *gaps) ([]mediaSlot, error) {
	slots, err := b.slotsAt(ctx, from, s.path, s.doc, g)
	if len(slots) > 0 || hopeless(err) {
		return slots, err
	}
	managers, managersErr := b.managersOf(ctx, from, s, g)
	if hopeless(managersErr) {
		return nil, managersErr
	}
	unread := cmp.Or(err, managersErr)
	for _, m := range managers {
		slots, err := b.slotsAt(ctx, from, m.path, *m.doc, g)
		if len(slots) > 0 || hopeless(err) {
			return slots, err
		}
		unread = cmp.Or(unread, err)
	}
	return nil, unread
}

// slotsAt reads the slots that the document at path links to.
func (b *BMC) slotsAt(ctx context.Context, from reader, path string, doc document, g *gaps) ([]mediaSlot, error) {
	link := doc.link("VirtualMedia")
	if link == "" {
		return nil, nil
	}
	var slots []mediaSlot
	err := b.each(ctx, from, b.base.resolve(path, link), "VirtualMedia", g, func(path string, doc document) {
		if takesDiscs(doc) {
			slots = append(slots, b.readSlot(path, doc))
		}
	})
	return slots, err
}

// managersOf reads the managers of a system: those it names, else the only one there is (B152). A manager of several systems is left out:
// what is put into its drive might be seen by another.
func (b *BMC) managersOf(ctx context.Context, from reader, s *system, g *gaps) ([]member, error) {
	var list []member
	for _, l := range s.doc.object("Links").links("ManagedBy") {
		list = append(list, member{path: b.base.resolve(s.path, l)})
	}
	if len(list) == 0 {
		root, err := from.service(ctx)
		if err != nil || root.managers == "" {
			return nil, err
		}
		if list, err = b.members(ctx, from, root.managers, "Managers", g); err != nil {
			return nil, err
		}
		if len(list) != 1 {
			return nil, nil
		}
	}
	var out []member
	var unread error
	for _, m := range list {
		doc, err := b.open(ctx, from, m, "Manager", g)
		if hopeless(err) {
			return nil, err
		}
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		if len(doc.object("Links").links("ManagerForServers")) <= 1 {
			out = append(out, member{path: m.path, doc: &doc})
		}
	}
	return out, unread
}

// takesDiscs says that a CD or a DVD image can be put in (B116). A slot that tells no media types is taken by its name.
func takesDiscs(doc document) bool {
	isDisc := func(word string) bool {
		return strings.EqualFold(word, string(schemas.CDVirtualMediaType)) || strings.EqualFold(word, string(schemas.DVDVirtualMediaType))
	}
	if types := doc.texts("MediaTypes"); len(types) > 0 {
		return slices.ContainsFunc(types, isDisc)
	}
	name := strings.ToUpper(doc.text("Id") + " " + doc.text("Name"))
	return strings.Contains(name, "CD") || strings.Contains(name, "DVD")
}

func (b *BMC) readSlot(path string, doc document) mediaSlot {
	actions := doc.object("Actions")
	slot := mediaSlot{
		path:   path,
		insert: b.base.resolve(path, actions.object("#VirtualMedia.InsertMedia").text("target")),
		eject:  b.base.resolve(path, actions.object("#VirtualMedia.EjectMedia").text("target")),
		MediaSlot: provider.MediaSlot{
			Slot: doc.text("Id"), Image: toldImage(doc), Inserted: toldInserted(doc),
		},
	}
	if slot.Slot == "" {
		slot.Slot = lastSegment(path)
	}
	if slot.ejecting = b.known.ejectedLately(slot, b.opts.Clock()); slot.ejecting {
		slot.Inserted = false
	}
	return slot
}

func toldImage(doc document) string {
	for _, key := range []string{"Image", "ImageName"} {
		if image := doc.text(key); image != "" && !strings.EqualFold(image, "None") && !strings.EqualFold(image, "N/A") {
			return image
		}
	}
	return ""
}

// toldInserted: Inserted decides, and a slot that is not connected has nothing inserted whatever else it tells (B111).
func toldInserted(doc document) bool {
	via := doc.text("ConnectedVia")
	if via == string(schemas.NotConnectedConnectedVia) {
		return false
	}
	if inserted := doc.flag("Inserted"); inserted != nil {
		return *inserted
	}
	return via != ""
}

// mediaFacts are the facts of the slots; empty where there are none, nil and a gap where they could not be read.
func (o observer) mediaFacts(ctx context.Context, s *system, g *gaps) ([]provider.MediaSlot, error) {
	slots, err := o.mediaSlots(ctx, o, s, g)
	if hopeless(err) {
		return nil, err
	}
	if err != nil && len(slots) == 0 {
		g.note("VirtualMedia")
		return nil, nil
	}
	out := make([]provider.MediaSlot, 0, len(slots))
	for _, slot := range slots {
		out = append(out, slot.MediaSlot)
	}
	return out, nil
}
