// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"net/http"

	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// maxPages bounds a listing: a service that never comes to an end is not followed for ever.
const maxPages = 10_000

// listing is one listing of a collection, page by page.
type listing[T any] struct {
	what string // for a person
	// page asks for the page after marker, "" for the first. Pages are asked for by marker and not by the link that a page names: many
	// clouds write links to addresses that only they can reach, and a token goes to no address but the catalog's.
	page    func(marker string) pagination.Pager
	extract func(pagination.Page) ([]T, error)
	id      func(*T) string
}

// all reads the listing to its end. A row that moved from one page to the next while it was read is given once.
func (l listing[T]) all(ctx context.Context, s *session) ([]T, error) {
	var rows []T
	seen := map[string]bool{}
	marker := ""
	for range maxPages {
		page, more, err := l.one(ctx, marker)
		if err = s.checked(l.what, err); err != nil {
			if marker != "" && statusOf(err) == http.StatusBadRequest {
				return nil, fail(provider.Transient, provider.ReasonProtocolError, l.what+": the listing changed while it was read", err)
			}
			return nil, err
		}
		grown := false
		for i := range page {
			if id := l.id(&page[i]); !seen[id] {
				seen[id], grown = true, true
				rows = append(rows, page[i])
			}
		}
		if !more {
			return rows, nil
		}
		if !grown {
			break
		}
		marker = l.id(&page[len(page)-1])
	}
	return nil, fail(provider.Transient, provider.ReasonProtocolError, l.what+": the listing has no end", nil)
}

// one reads one page, and whether another follows.
func (l listing[T]) one(ctx context.Context, marker string) (rows []T, more bool, err error) {
	err = l.page(marker).EachPage(ctx, func(_ context.Context, page pagination.Page) (bool, error) {
		if rows, err = l.extract(page); err != nil {
			return false, err
		}
		next, err := page.NextPageURL()
		more = next != "" && len(rows) > 0
		return false, err
	})
	return rows, more, err
}
