// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// bootBody is a change of the boot override; members left out stay as they are.
type bootBody struct {
	Enabled provider.BootEnabled `json:"BootSourceOverrideEnabled,omitempty"`
	Target  string               `json:"BootSourceOverrideTarget,omitempty"`
	Mode    string               `json:"BootSourceOverrideMode,omitempty"`
	HTTPURI string               `json:"HttpBootUri,omitempty"`
}

type bootPatch struct {
	Boot bootBody `json:"Boot"`
}

// SetBootOverride implements provider.Boot. An empty Mode keeps the mode the machine tells.
func (a actor) SetBootOverride(ctx context.Context, ref provider.SystemRef, want provider.BootOverride, expect provider.Expect) (provider.Outcome, error) {
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		now := t.facts(s).Boot
		want.Enabled = allowedEnabled(s, want.Enabled)
		if shows(now, want) {
			return provider.Outcome{Unchanged: true}, nil
		}
		target, ok := allowedTarget(s, want.Target)
		if !ok {
			return provider.Outcome{}, fail(provider.Terminal, provider.ReasonBootTargetMissing,
				"the system does not offer the boot target "+string(want.Target), nil)
		}
		if want.HTTPURI != "" && !httpBootable(s) {
			return provider.Outcome{}, fail(provider.Terminal, provider.ReasonBootTargetMissing, "the system takes no URI to boot from over HTTP", nil)
		}
		body := bootBody{Enabled: want.Enabled, Target: target, Mode: want.Mode, HTTPURI: want.HTTPURI}
		if body.Mode == "" {
			body.Mode = now.Mode // left out, some fall back to legacy boot (B094)
		}
		out, shown, err := t.changeBoot(ctx, s, expect, bootLadder(body), func(shown provider.BootOverride) bool { return shows(shown, want) })
		if err != nil {
			return out, err
		}
		return out, t.keepMode(ctx, s, expect, body.Mode, shown.Mode)
	})
}

// ClearBootOverride implements provider.Boot.
func (a actor) ClearBootOverride(ctx context.Context, ref provider.SystemRef, expect provider.Expect) (provider.Outcome, error) {
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		now := t.facts(s).Boot
		if !now.Armed() {
			return provider.Outcome{Unchanged: true}, nil
		}
		ladder := []bootForm{
			{{Enabled: provider.BootDisabled}},
			{{Enabled: provider.BootDisabled, Target: string(provider.BootNone), Mode: now.Mode}},
			{{Enabled: provider.BootDisabled, Target: s.doc.object("Boot").text("BootSourceOverrideTarget"), Mode: now.Mode}}, // "repeat the current values" (B095)
		}
		out, _, err := t.changeBoot(ctx, s, expect, ladder, func(shown provider.BootOverride) bool { return !shown.Armed() })
		return out, err
	})
}

// bootForm is one way to say a wish: writes that are sent one after the other.
type bootForm []bootBody

// bootLadder gives the forms of one wish in the order they are tried: whole (B110), without the mode where that cannot be written
// (B101), and the target before what arms it, for those that take both but not together (B091).
func bootLadder(body bootBody) []bootForm {
	plain := body
	plain.Mode = ""
	armed := bootBody{Enabled: body.Enabled}
	target := plain
	target.Enabled = ""
	ladder := []bootForm{{body}, {plain}, {target, armed}}
	if body.Mode == "" {
		return ladder[1:]
	}
	return ladder
}

// changeBoot writes the override, in the first form and at the first place that the BMC takes, and reads it back (B097).
func (t turn) changeBoot(ctx context.Context, s *system, expect provider.Expect, ladder []bootForm,
	done func(provider.BootOverride) bool) (out provider.Outcome, shown provider.BootOverride, err error) {
	const arming = "changing the system"
	if err := t.underWay(ctx, s.path, arming); err != nil {
		return provider.Outcome{}, shown, err
	}
	var refusal error
	for _, form := range ladder {
		if out, err = t.writeForm(ctx, s, expect, form); err == nil || !malformed(err) {
			break
		}
		if refusal == nil {
			refusal = err // what it said of the whole form is the better reason
		}
	}
	if err != nil {
		if malformed(err) {
			err = refusal
		}
		return provider.Outcome{}, shown, t.waitable(s, err)
	}
	t.known.noteWork(s.path, out.Task, t.opts.Clock())
	fresh, err := t.again(ctx, s)
	if err != nil {
		return provider.Outcome{}, shown, err
	}
	if shown = t.facts(fresh).Boot; !done(shown) {
		if err := t.underWay(ctx, s.path, arming); err != nil {
			return out, shown, err
		}
		return out, shown, fail(provider.Transient, provider.ReasonProtocolError, "the BMC took the boot override and does not show it yet", nil)
	}
	return out, shown, nil
}

func (t turn) writeForm(ctx context.Context, s *system, expect provider.Expect, form bootForm) (out provider.Outcome, err error) {
	for _, body := range form {
		if out, err = t.writeBoot(ctx, s, expect, body); err != nil {
			return out, err
		}
	}
	return out, nil
}

// keepMode sees to it that the machine boots in the mode it booted in before: some BMCs fall back to legacy boot where the mode
// was not, or could not be, written with the target (B094). Where it cannot be kept the override is taken back.
func (t turn) keepMode(ctx context.Context, s *system, expect provider.Expect, wanted, shown string) error {
	if wanted == "" || shown == "" || strings.EqualFold(wanted, shown) {
		return nil
	}
	expect.Boot = nil // it was checked, and is no longer so since we armed the override
	if _, err := t.writeBoot(ctx, s, expect, bootBody{Mode: wanted}); err != nil && !malformed(err) {
		return err
	}
	fresh, err := t.again(ctx, s)
	if err != nil {
		return err
	}
	if now := t.facts(fresh).Boot; now.Armed() && strings.EqualFold(now.Mode, wanted) {
		return nil
	}
	if _, err := t.writeBoot(ctx, s, expect, bootBody{Enabled: provider.BootDisabled}); err != nil {
		return err
	}
	return fail(provider.Terminal, provider.ReasonBootTargetMissing, "the BMC arms this boot target in the mode "+shorten(shown)+" only, and the machine boots in "+wanted, nil)
}

// malformed says that the BMC refused the form of a request, so that another form may do.
func malformed(err error) bool {
	switch statusOf(err) {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusUnprocessableEntity, http.StatusNotFound:
		return provider.ClassOf(err) != provider.Busy
	}
	return false
}

// writeBoot writes to the system, else to the resource of its pending settings where it has one or names one (B092, B128). Where
// those tell the boot targets and the system does not, they come first (B103).
func (t turn) writeBoot(ctx context.Context, s *system, expect provider.Expect, body bootBody) (provider.Outcome, error) {
	if at := t.pendingPath(s); at != "" && s.pending.object("Boot").has(allowedTargetsKey) {
		out, err := t.patchSettings(ctx, s, at, expect, body)
		if err == nil || !malformed(err) {
			return out, err
		}
		if second, err := t.patchSystem(ctx, s, expect, bootPatch{body}); err == nil || !malformed(err) {
			return second, err
		}
		return out, err
	}
	out, err := t.patchSystem(ctx, s, expect, bootPatch{body})
	if err == nil || !malformed(err) {
		return out, err
	}
	settings := t.settingsOf(s, err)
	if settings == "" {
		return out, err
	}
	second, settingsErr := t.patchSettings(ctx, s, settings, expect, body)
	if settingsErr != nil && malformed(settingsErr) {
		return out, err // what the system itself said is the better reason
	}
	return second, settingsErr
}

// patchSettings writes to the pending settings as long as expect still holds of the system.
func (t turn) patchSettings(ctx context.Context, s *system, settings string, expect provider.Expect, body bootBody) (provider.Outcome, error) {
	return t.patch(ctx, settings, bootPatch{body}, func(ctx context.Context) (string, error) {
		doc, resp, err := t.get(ctx, t, settings, "Settings", &gaps{})
		if err != nil {
			return "", err
		}
		fresh, err := t.again(ctx, s)
		if err != nil {
			return "", err
		}
		return resp.etag(doc), t.check(fresh, expect)
	})
}

// settingsOf finds the resource for pending settings: announced by the system, or named by its refusal.
func (t turn) settingsOf(s *system, err error) string {
	if p := t.announcedSettings(s); p != "" {
		return p
	}
	var status *statusError
	if !errors.As(err, &status) {
		return ""
	}
	for _, m := range status.messages {
		for _, text := range append([]string{m.text}, m.args...) {
			for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\'' || r == '"' || r == ',' }) {
				p := t.base.resolve(s.path, strings.TrimRight(word, "."))
				if strings.HasPrefix(word, "/redfish/") && strings.HasPrefix(p, strings.TrimRight(s.path, "/")+"/") {
					return p
				}
			}
		}
	}
	return ""
}

// shows says that the override is armed as wanted. What is not wanted in particular may be anything.
func shows(now, want provider.BootOverride) bool {
	return now.Armed() && now.Target == want.Target && now.Enabled == want.Enabled &&
		(want.Mode == "" || strings.EqualFold(now.Mode, want.Mode)) && (want.HTTPURI == "" || now.HTTPURI == want.HTTPURI)
}
