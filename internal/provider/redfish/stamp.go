// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

type tagBody struct {
	AssetTag string `json:"AssetTag"`
}

// stampSupport says that the system has an asset tag to write on. Whether the BMC keeps one is seen when it is written.
func stampSupport(s *system) bool {
	_, there := s.doc.members["AssetTag"]
	return there
}

// WriteAssetTag implements provider.Stamper. What stood there before is put back where the BMC altered what was written.
func (a actor) WriteAssetTag(ctx context.Context, ref provider.SystemRef, tag string, expect provider.Expect) (provider.Outcome, error) {
	if expect.AssetTag == nil {
		return provider.Outcome{}, mismatch("nobody said which asset tag is to be overwritten")
	}
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		before := s.doc.text("AssetTag")
		if before == tag {
			return provider.Outcome{Unchanged: true}, nil
		}
		if !stampSupport(s) {
			return provider.Outcome{}, noStamp("the system has no asset tag", nil)
		}
		if err := t.underWay(ctx, s.path, "changing the system"); err != nil {
			return provider.Outcome{}, err
		}
		out, err := t.patchSystem(ctx, s, expect, tagBody{tag})
		if malformed(err) {
			return provider.Outcome{}, noStamp("the BMC refuses to write the asset tag", err)
		}
		if err != nil {
			return provider.Outcome{}, err
		}
		t.known.noteWork(s.path, out.Task, t.opts.Clock())
		return out, t.confirmTag(ctx, s, tag, before, out.Task != "")
	})
}

// confirmTag reads the tag back. An older value may show for a moment; an altered one is undone and means that no stamp can be kept.
func (t turn) confirmTag(ctx context.Context, s *system, tag, before string, later bool) error {
	fresh, err := t.again(ctx, s)
	if err != nil {
		return err
	}
	shown := fresh.doc.text("AssetTag")
	switch {
	case shown == tag:
		return nil
	case shown == before, later:
		return fail(provider.Transient, provider.ReasonProtocolError, "the BMC took the asset tag and does not show it yet", nil)
	}
	altered := provider.Expect{AssetTag: &shown}
	if _, err := t.patchSystem(ctx, fresh, altered, tagBody{before}); err != nil {
		return err
	}
	return noStamp("the BMC does not keep the asset tag as it was written", nil)
}

func noStamp(message string, cause error) error {
	return fail(provider.Terminal, provider.ReasonStampUnsupported, message, cause)
}
