// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// readIndicator reads the identification light: from IndicatorLED, which knows blinking, else from LocationIndicatorActive. "" where
// the system tells neither.
func (b *BMC) readIndicator(s *system) provider.IndicatorLED {
	switch led := schemas.IndicatorLED(s.doc.text("IndicatorLED")); {
	case led == schemas.LitIndicatorLED && b.litIsNormal(s), led == schemas.OffIndicatorLED:
		return provider.IndicatorOff
	case led == schemas.LitIndicatorLED:
		return provider.IndicatorLit
	case led == schemas.BlinkingIndicatorLED && b.litIsNormal(s):
		return provider.IndicatorLit
	case led == schemas.BlinkingIndicatorLED:
		return provider.IndicatorBlinking
	}
	switch active := s.doc.flag("LocationIndicatorActive"); {
	case active == nil:
		return ""
	case *active:
		return provider.IndicatorLit
	default:
		return provider.IndicatorOff
	}
}

// SetIndicator implements provider.Indicator. A light that cannot blink is Terminal(IndicatorMissing) when asked to.
func (a actor) SetIndicator(ctx context.Context, ref provider.SystemRef, want provider.IndicatorLED, expect provider.Expect) (provider.Outcome, error) {
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		if t.readIndicator(s) == want {
			return provider.Outcome{Unchanged: true}, nil
		}
		body, ok := t.indicatorBody(s, want)
		if !ok {
			return provider.Outcome{}, fail(provider.Terminal, provider.ReasonIndicatorMissing, "the system has no indicator that can be "+string(want), nil)
		}
		return t.patchSystem(ctx, s, expect, body)
	})
}

func (b *BMC) indicatorBody(s *system, want provider.IndicatorLED) (map[string]any, bool) {
	switch {
	case s.doc.has("IndicatorLED") && b.litIsNormal(s):
		word := map[provider.IndicatorLED]schemas.IndicatorLED{
			provider.IndicatorOff: schemas.LitIndicatorLED, provider.IndicatorLit: schemas.BlinkingIndicatorLED,
		}[want]
		return map[string]any{"IndicatorLED": word}, word != ""
	case s.doc.has("IndicatorLED"):
		return map[string]any{"IndicatorLED": want}, true
	case s.doc.has("LocationIndicatorActive") && want != provider.IndicatorBlinking:
		return map[string]any{"LocationIndicatorActive": want == provider.IndicatorLit}, true
	}
	return nil, false
}
