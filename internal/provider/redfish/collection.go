// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"net/http"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// reader reads documents: a look takes the lane for each of them, an acting call holds it throughout.
type reader interface {
	read(ctx context.Context, r request) (*response, error)
	service(ctx context.Context) (*serviceRoot, error)
}

// maxPages and maxMembers bound a collection, whatever its links say (B137).
const (
	maxPages   = 200
	maxMembers = 5000
)

// member is one member of a collection: where it is and, where the collection held it in place, the document.
type member struct {
	path string
	doc  *document
}

// get reads one document. name is how gaps speak of it.
func (b *BMC) get(ctx context.Context, from reader, path, name string, g *gaps) (document, *response, error) {
	resp, err := from.read(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return document{}, nil, err
	}
	if !resp.ok() {
		return document{}, resp, b.answerError(resp)
	}
	doc, err := parseDocument(resp.body, name, g)
	if err != nil {
		return document{}, resp, fail(provider.Transient, provider.ReasonProtocolError, describe(resp)+"the BMC's answer is no JSON document, or cut off", err)
	}
	return doc, resp, nil
}

// members lists a collection: all pages, each member once, links and whole documents alike, in the BMC's order.
// Members null or missing is an empty collection. A page that links to an earlier one ends the list (B137).
func (b *BMC) members(ctx context.Context, from reader, path, name string, g *gaps) ([]member, error) {
	var out []member
	pages, seen := map[string]bool{}, map[string]bool{}
	for next := path; next != "" && !pages[next]; {
		if len(pages) == maxPages || len(out) > maxMembers {
			g.note(name + " (too long)")
			return out, nil
		}
		pages[next] = true
		page, _, err := b.get(ctx, from, next, name, g)
		if err != nil {
			return out, err
		}
		for _, entry := range memberEntries(page) {
			m := member{path: b.base.resolve(next, entry.link("x"))}
			if m.path == "" || seen[m.path] {
				continue
			}
			seen[m.path] = true
			if doc := entry.object("x"); !doc.hollow() {
				m.doc = &doc
			}
			out = append(out, m)
		}
		next = b.base.resolve(next, page.text("Members@odata.nextLink"))
	}
	return out, nil
}

// memberEntries wraps each member so that a link, a bare string and a whole document read alike.
func memberEntries(page document) []document {
	var out []document
	for _, v := range page.values("Members") {
		out = append(out, document{members: map[string]any{"x": v}})
	}
	return out
}

// each reads every member of a collection and hands it to use. Members that cannot be read become a gap and stop nothing, except
// when the connection or the credentials failed: then the rest would fail too.
func (b *BMC) each(ctx context.Context, from reader, path, name string, g *gaps, use func(path string, doc document)) error {
	list, err := b.members(ctx, from, path, name, g)
	if err != nil {
		return err
	}
	for _, m := range list {
		doc, err := b.open(ctx, from, m, name, g)
		if hopeless(err) {
			return err
		}
		if err != nil {
			g.note(name + "/" + lastSegment(m.path))
			continue
		}
		use(m.path, doc)
	}
	return nil
}

// open gives the document of a member.
func (b *BMC) open(ctx context.Context, from reader, m member, name string, g *gaps) (document, error) {
	if m.doc != nil {
		doc := *m.doc
		doc.name, doc.gaps = name, g
		return doc, nil
	}
	doc, _, err := b.get(ctx, from, m.path, name, g)
	return doc, err
}

// hopeless says that after err the next request would fail as well: no answer came, or the credentials were refused.
func hopeless(err error) bool {
	var e *provider.Error
	if err == nil || !errors.As(err, &e) {
		return err != nil
	}
	switch e.Reason {
	case provider.ReasonUnreachable, provider.ReasonTimeout, provider.ReasonTLSVerifyFailed, provider.ReasonRateLimited:
		return statusOf(err) != http.StatusRequestTimeout
	case provider.ReasonCredentialsInvalid:
		return statusOf(err) != http.StatusForbidden
	}
	return false
}
