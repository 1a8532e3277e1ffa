// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// serviceRoot is what is needed of the root document. Read once a connection, and kept: so the document itself is not.
type serviceRoot struct {
	uuid     string
	vendor   string
	sessions string // path of the collection of sessions, "" where there is none
	systems  string
	managers string
	accounts string   // link to the service of accounts, "" where there is none
	manager  string   // link to the manager that provides the service, "" where none is named
	oem      []string // names of vendors' parts
	// guarded: the root itself asks for credentials, against the specification.
	guarded bool
}

// conventional links, for a root that cannot be read without credentials.
const (
	sessionsPath = servicePath + "SessionService/Sessions"
	systemsPath  = servicePath + "Systems"
	managersPath = servicePath + "Managers"
)

// fetchRoot reads the service root without credentials: before the service has shown what it is, it gets none.
func (b *BMC) fetchRoot(ctx context.Context) (*serviceRoot, error) {
	if root := b.root.Load(); root != nil {
		return root, nil
	}
	r, err := b.exchange(ctx, request{method: http.MethodGet, path: b.base.root()}, nil)
	if err != nil {
		return nil, err
	}
	if r.status == http.StatusUnauthorized {
		root := b.guardedRoot()
		b.root.Store(root)
		return root, nil
	}
	if !r.ok() {
		return nil, b.answerError(r)
	}
	root, err := b.parseRoot(r)
	if err != nil {
		return nil, err
	}
	b.root.Store(root)
	return root, nil
}

// service gives the root document, having logged in. The holder of the gate calls it.
func (b *BMC) service(ctx context.Context) (*serviceRoot, error) {
	if err := b.login(ctx); err != nil {
		return nil, err
	}
	root, err := b.fetchRoot(ctx)
	if err != nil || !root.guarded {
		return root, err
	}
	r, err := b.authorized(ctx, request{method: http.MethodGet, path: b.base.root()})
	if err != nil {
		return nil, err
	}
	if !r.ok() {
		return nil, b.answerError(r)
	}
	if root, err = b.parseRoot(r); err != nil {
		return nil, err
	}
	b.root.Store(root)
	return root, nil
}

func (b *BMC) guardedRoot() *serviceRoot {
	root := b.base.root()
	return &serviceRoot{
		sessions: b.base.resolve(root, sessionsPath), systems: b.base.resolve(root, systemsPath),
		managers: b.base.resolve(root, managersPath), guarded: true,
	}
}

// parseRoot reads a root document. What is no Redfish root is Terminal(NotRedfish): another device answers there (B125).
func (b *BMC) parseRoot(r *response) (*serviceRoot, error) {
	doc, err := parseDocument(r.body, "ServiceRoot", &gaps{})
	if err != nil && isJSON(r.body) {
		return nil, fail(provider.Transient, provider.ReasonProtocolError, "the BMC's service root is cut off or malformed", err)
	}
	if err != nil || !(doc.has("Systems") || doc.has("RedfishVersion") || doc.has("@odata.type")) {
		return nil, fail(provider.Terminal, provider.ReasonNotRedfish, "what answers at this endpoint is no Redfish service", err)
	}
	return b.readRoot(doc), nil
}

func (b *BMC) readRoot(doc document) *serviceRoot {
	at := b.base.root()
	out := &serviceRoot{
		uuid:     normalUUID(doc.text("UUID")),
		vendor:   doc.text("Vendor"),
		sessions: b.base.resolve(at, doc.object("Links").link("Sessions")),
		systems:  b.base.resolve(at, doc.link("Systems")),
		managers: b.base.resolve(at, doc.link("Managers")),
		accounts: b.base.resolve(at, doc.link("AccountService")),
		manager:  doc.object("Links").link("ManagerProvidingService"),
		oem:      slices.Sorted(maps.Keys(doc.object("Oem").members)),
	}
	if out.sessions == "" && doc.link("SessionService") != "" {
		out.sessions = b.base.resolve(at, doc.link("SessionService")) + "/Sessions"
	}
	if out.systems == "" {
		out.systems = b.base.resolve(at, systemsPath)
	}
	return out
}
