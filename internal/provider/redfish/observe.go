// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// observer looks: it takes the lane for one request at a time, so that an acting call waits for one at most (B236).
type observer struct{ *BMC }

var _ provider.Observer = observer{}

func (o observer) read(ctx context.Context, r request) (resp *response, err error) {
	err = o.hold(ctx, looking, func() error {
		resp, err = o.authorized(ctx, r)
		return err
	})
	return resp, err
}

func (o observer) service(ctx context.Context) (root *serviceRoot, err error) {
	err = o.hold(ctx, looking, func() error {
		root, err = o.BMC.service(ctx)
		return err
	})
	return root, err
}

// Observe implements provider.Observer. At rest it is one GET of the ComputerSystem, conditional where this BMC's ETags have
// proven to change with the facts. UUID is the one asked for where the machine says it in the other byte order (B155).
func (o observer) Observe(ctx context.Context, ref provider.SystemRef, depth provider.Depth, etag string) (provider.SystemFacts, error) {
	from := reader(o)
	if depth == provider.DepthState {
		answer := o.ifChanged(ctx, ref, etag)
		switch {
		case answer == nil:
		case answer.status == http.StatusNotModified:
			return provider.SystemFacts{NotModified: true, ETag: etag}, nil
		case answer.status == http.StatusOK:
			from = &answered{reader: o, answer: answer}
		}
	}
	g := &gaps{}
	s, err := o.find(ctx, from, ref, g)
	if err != nil {
		return provider.SystemFacts{}, err
	}
	facts := o.facts(s)
	if ref.UUID != "" {
		facts.UUID = normalUUID(ref.UUID)
	}
	if depth == provider.DepthInventory {
		if facts.Hardware, err = o.inventory(ctx, o, s, g); err != nil {
			return provider.SystemFacts{}, err
		}
		if facts.Capabilities, err = o.capabilities(ctx, o, s); err != nil {
			return provider.SystemFacts{}, err
		}
	}
	if depth == provider.DepthMedia {
		if facts.Media, err = o.mediaFacts(ctx, s, g); err != nil {
			return provider.SystemFacts{}, err
		}
	}
	facts.Gaps = g.list()
	o.known.learn(s.path, s.etag, facts.Power, digestOf(string(facts.Power), facts.AssetTag, string(facts.Indicator),
		string(facts.Boot.Target), string(facts.Boot.Enabled), facts.Boot.Mode, facts.Boot.HTTPURI, string(facts.BootProgress), facts.Health))
	return facts, nil
}

// ifChanged asks for the system where it was last, if it changed since the picture with that ETag; nil where it cannot be asked so, or where
// that failed. Whatever is answered but the system or that nothing changed, the normal look finds out.
func (o observer) ifChanged(ctx context.Context, ref provider.SystemRef, etag string) *response {
	at, known := o.known.place(ref)
	if !known || !at.whole || !o.known.conditional(at.path, etag) {
		return nil
	}
	answer, err := o.read(ctx, request{method: http.MethodGet, path: at.path, ifNone: etag})
	if err != nil {
		return nil
	}
	return answer
}

// answered is a reader that has one answer already: what changed is not asked for a second time.
type answered struct {
	reader
	answer *response
}

func (a *answered) read(ctx context.Context, r request) (*response, error) {
	if answer := a.answer; answer != nil && r.method == http.MethodGet && r.path == answer.sent.path {
		a.answer = nil // what is read again is asked for again
		return answer, nil
	}
	return a.reader.read(ctx, r)
}

// facts reads the state of a system from its document alone.
func (b *BMC) facts(s *system) provider.SystemFacts {
	return provider.SystemFacts{
		ID:           s.id,
		UUID:         s.uuid,
		Serial:       normalSerial(s.doc.text("SerialNumber")),
		Power:        powerState(s.doc.text("PowerState")),
		Health:       readHealth(s.doc.object("Status")),
		Indicator:    b.readIndicator(s),
		Boot:         readBoot(s),
		BootProgress: readBootProgress(s.doc.object("BootProgress")),
		AssetTag:     s.doc.text("AssetTag"),
		StampSupport: stampSupport(s),
		ETag:         s.etag,
	}
}

// Discover implements provider.Observer. A manager or a system that cannot be read is a gap, and hides nothing else (B130).
func (o observer) Discover(ctx context.Context) (provider.BMCFacts, error) {
	root, err := o.service(ctx)
	if err != nil {
		return provider.BMCFacts{}, err
	}
	g := &gaps{}
	systems, unread, err := o.systems(ctx, o, g)
	if err != nil {
		return provider.BMCFacts{}, err
	}
	if len(systems) == 0 && unread != nil {
		return provider.BMCFacts{}, unread
	}
	facts := provider.BMCFacts{UUID: root.uuid, Vendor: o.vendor(root, systems)}
	for _, s := range systems {
		facts.Systems = append(facts.Systems, provider.SystemSummary{ID: s.id, UUID: s.uuid, Serial: s.serial, CanReset: s.canReset()})
	}
	if err := o.describeManager(ctx, root, systems, g, &facts); err != nil {
		return provider.BMCFacts{}, err
	}
	_ = o.hold(ctx, looking, func() error { facts.AuthMode = o.auth.mode; return nil })
	facts.Quirks = quirksOf(facts.Vendor, systems)
	facts.Gaps = g.list()
	return facts, nil
}

// describeManager fills in what the BMC says about itself.
func (o observer) describeManager(ctx context.Context, root *serviceRoot, systems []*system, g *gaps, facts *provider.BMCFacts) error {
	m, err := o.findManager(ctx, root, systems, g)
	if err != nil {
		return err
	}
	facts.Model, facts.Firmware = m.text("Model"), m.text("FirmwareVersion")
	if facts.UUID == "" {
		facts.UUID = normalUUID(m.text("UUID"))
	}
	return nil
}

// findManager reads the manager that provides this service: the one the root names, else the one that manages the first host, else
// the first that is a BMC and tells its firmware. The empty document where there is none.
func (o observer) findManager(ctx context.Context, root *serviceRoot, systems []*system, g *gaps) (document, error) {
	candidates := []string{o.base.resolve(o.base.root(), root.manager)}
	for _, s := range systems {
		for _, l := range s.doc.object("Links").links("ManagedBy") {
			if s.canReset() {
				candidates = append(candidates, o.base.resolve(s.path, l))
			}
		}
	}
	for _, path := range candidates {
		if path == "" {
			continue
		}
		doc, _, err := o.get(ctx, o, path, "Manager", g)
		if hopeless(err) {
			return document{}, err
		}
		if err == nil && isBMC(doc) {
			return doc, nil
		}
	}
	return o.firstManager(ctx, root, g)
}

func (o observer) firstManager(ctx context.Context, root *serviceRoot, g *gaps) (document, error) {
	var first document
	if root.managers == "" {
		return first, nil
	}
	err := o.each(ctx, o, root.managers, "Manager", g, func(path string, doc document) {
		if isBMC(doc) && first.members == nil {
			first = doc
		}
	})
	if hopeless(err) {
		return first, err
	}
	if err != nil {
		g.note("Managers")
	}
	return first, nil
}

// isBMC says that a manager is a management controller that tells its firmware: fabric managers and services are managers too.
func isBMC(doc document) bool {
	switch schemas.ManagerType(doc.text("ManagerType")) {
	case "", schemas.BMCManagerType, schemas.ManagementControllerManagerType, schemas.EnclosureManagerManagerType:
		return doc.has("FirmwareVersion")
	}
	return false
}

// vendor is who made the BMC's software, or else the machine: what quirks are found by.
func (b *BMC) vendor(root *serviceRoot, systems []*system) string {
	if b.endpoint.Vendor != "" {
		return b.endpoint.Vendor
	}
	if root.vendor != "" {
		return root.vendor
	}
	for _, key := range root.oem {
		if key == "Supermicro" || key == "Dell" || key == "Hpe" || key == "Hp" || key == "Lenovo" || key == "Ami" {
			return key
		}
	}
	for _, s := range systems {
		if m := s.doc.text("Manufacturer"); m != "" && !strings.Contains(m, "://") {
			return m
		}
	}
	return ""
}
