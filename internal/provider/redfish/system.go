// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// system is one ComputerSystem as read.
type system struct {
	path   string
	etag   string
	doc    document
	id     string
	uuid   string // normal form, "" where it has none
	serial string
	// pending is the resource for pending settings, read only where the system does not tell its boot targets itself: such
	// BMCs keep the boot override there (B103).
	pending document
}

func (b *BMC) newSystem(path string, doc document, resp *response) *system {
	s := &system{
		path: path, doc: doc, id: doc.text("Id"),
		uuid: normalUUID(doc.text("UUID")), serial: normalSerial(doc.text("SerialNumber")),
	}
	if s.id == "" {
		s.id = lastSegment(path)
	}
	if resp != nil {
		s.etag = resp.etag(doc)
	}
	return s
}

// canReset says that the system is a host: others are trays and boards.
func (s *system) canReset() bool { return s.resetAction().text("target") != "" }

func (s *system) resetAction() document {
	return s.doc.object("Actions").object("#ComputerSystem.Reset")
}

// is says that this is the system meant by ref. A UUID decides where one is given.
func (s *system) is(ref provider.SystemRef) bool {
	switch {
	case ref.UUID != "":
		return provider.SameUUID(s.uuid, ref.UUID)
	case ref.ID != "":
		return s.id == ref.ID
	default:
		return s.canReset()
	}
}

// find reads the system meant by ref. The place where it was found before is asked first, and believed only while what is there
// says the same identity; otherwise all systems of this BMC are read (B043, B154).
func (b *BMC) find(ctx context.Context, from reader, ref provider.SystemRef, g *gaps) (*system, error) {
	if s, err := b.revisit(ctx, from, ref, g); s != nil || err != nil {
		return s, err
	}
	return b.search(ctx, from, ref, g)
}

// revisit reads the system where it was last. nil without an error: not known, or no longer there.
func (b *BMC) revisit(ctx context.Context, from reader, ref provider.SystemRef, g *gaps) (*system, error) {
	place, known := b.known.place(ref)
	if !known {
		return nil, nil
	}
	doc, resp, err := b.get(ctx, from, place.path, systemName, g)
	if status := statusOf(err); status == http.StatusNotFound || status == http.StatusGone {
		b.known.forget(ref)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := b.newSystem(place.path, doc, resp)
	if !place.still(s, ref) {
		b.known.forget(ref)
		return nil, nil
	}
	return s, b.complete(ctx, from, s, g)
}

// pendingPath is where the pending settings are that decide about booting; "" where the system itself does.
func (b *BMC) pendingPath(s *system) string {
	if s.doc.object("Boot").has(allowedTargetsKey) {
		return ""
	}
	return b.announcedSettings(s)
}

// announcedSettings is the resource for pending settings that the system names, "" where it names none.
func (b *BMC) announcedSettings(s *system) string {
	return b.base.resolve(s.path, s.doc.object("@Redfish.Settings").link("SettingsObject"))
}

// complete reads the pending settings where they decide about booting.
func (b *BMC) complete(ctx context.Context, from reader, s *system, g *gaps) error {
	at := b.pendingPath(s)
	if at == "" {
		return nil
	}
	doc, _, err := b.get(ctx, from, at, "Settings", g)
	if hopeless(err) {
		return err
	}
	if err != nil {
		g.note("Settings")
	}
	s.pending = doc
	return nil
}

// systemName is how gaps speak of the members of a ComputerSystem.
const systemName = "ComputerSystem"

// search reads all systems and takes the one meant by ref. A system that cannot be read does not keep the others from being
// found (B130), but while there is one, or one that does not tell its UUID, nothing is said not to exist (P10).
func (b *BMC) search(ctx context.Context, from reader, ref provider.SystemRef, g *gaps) (*system, error) {
	all, unread, err := b.systems(ctx, from, g)
	if err != nil {
		return nil, err
	}
	found := choose(all, ref)
	switch {
	case len(found) == 1 && (ref != provider.SystemRef{} || unread == nil):
		b.known.remember(ref, found[0], b.pendingPath(found[0]) == "")
		return found[0], b.complete(ctx, from, found[0], g)
	case len(found) > 1:
		return nil, fail(provider.Terminal, provider.ReasonAmbiguousSystem, ambiguous(found, ref), nil)
	case unread != nil:
		return nil, unread
	case ref.UUID != "" && silentAboutUUID(all):
		return nil, fail(provider.Transient, provider.ReasonProtocolError, "the BMC does not tell the UUID of its system now", nil)
	default:
		return nil, fail(provider.NotFound, provider.ReasonSystemNotFound, "none of the systems at this BMC is the one meant", nil)
	}
}

// systems reads every system of the BMC. unread is why the first unreadable one could not be read.
func (b *BMC) systems(ctx context.Context, from reader, g *gaps) (all []*system, unread, err error) {
	root, err := from.service(ctx)
	if err != nil {
		return nil, nil, err
	}
	list, err := b.members(ctx, from, root.systems, "Systems", g)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range list {
		doc, resp, err := b.get(ctx, from, m.path, systemName, g) // always anew: a copy in the collection has no ETag
		if hopeless(err) {
			return nil, nil, err
		}
		if err != nil {
			g.note("Systems/" + lastSegment(m.path))
			if unread == nil {
				unread = err
			}
			continue
		}
		all = append(all, b.newSystem(m.path, doc, resp))
	}
	return all, unread, nil
}

// choose gives the systems that ref may mean. One whose UUID is written exactly so comes before one in the other byte order (B155),
// and of several with one UUID an Id decides.
func choose(all []*system, ref provider.SystemRef) []*system {
	var exact, loose []*system
	for _, s := range all {
		if !s.is(ref) {
			continue
		}
		loose = append(loose, s)
		if ref.UUID == "" || strings.EqualFold(s.uuid, normalUUID(ref.UUID)) {
			exact = append(exact, s)
		}
	}
	if len(exact) == 0 {
		exact = loose
	}
	if len(exact) > 1 && ref.UUID != "" && ref.ID != "" {
		return choose(exact, provider.SystemRef{ID: ref.ID})
	}
	return exact
}

func ambiguous(found []*system, ref provider.SystemRef) string {
	ids := make([]string, 0, len(found))
	for _, s := range found {
		ids = append(ids, s.id)
	}
	text := "several systems at this BMC (" + strings.Join(ids, ", ") + ") and none named"
	if ref.UUID != "" {
		text = "several systems at this BMC (" + strings.Join(ids, ", ") + ") say the same UUID"
	}
	return shorten(text)
}

func silentAboutUUID(all []*system) bool {
	for _, s := range all {
		if s.uuid == "" && s.canReset() {
			return true
		}
	}
	return false
}

// shorten keeps a message within what conditions show.
func shorten(s string) string {
	const limit = 250
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
