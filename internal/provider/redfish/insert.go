// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

const (
	// ejectLag is how long a slot may go on showing what was ejected (B113).
	ejectLag = 30 * time.Second
	// afterEject is when an insertion is tried again that waits for an ejection.
	afterEject = 2 * time.Second
)

// InsertMedia implements provider.Media. Slots that hold another image are emptied first: firmware told to boot "the CD" takes any of them.
func (a actor) InsertMedia(ctx context.Context, ref provider.SystemRef, image string, expect provider.Expect) (provider.Outcome, error) {
	if err := checkImage(image); err != nil {
		return provider.Outcome{}, err
	}
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		slots, err := t.orderedSlots(ctx, s, image)
		if err != nil {
			return provider.Outcome{}, err
		}
		if err := t.emptyOthers(ctx, s, slots, image); err != nil {
			return provider.Outcome{}, err
		}
		if slots[0].Holds(image) {
			return provider.Outcome{Unchanged: true}, nil
		}
		return t.insertAnywhere(ctx, s, slots, image)
	})
}

// EjectMedia implements provider.Media.
func (a actor) EjectMedia(ctx context.Context, ref provider.SystemRef, image string, expect provider.Expect) (provider.Outcome, error) {
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		slots, err := t.mediaSlots(ctx, t, s, &gaps{})
		if err != nil && len(slots) == 0 {
			return provider.Outcome{}, err
		}
		out := provider.Outcome{Unchanged: true}
		for _, slot := range slots {
			if !slot.Holds(image) {
				continue
			}
			if out, err = t.ejectSlot(ctx, s, slot); err != nil {
				return provider.Outcome{}, err
			}
		}
		return out, nil
	})
}

func checkImage(image string) error {
	u, err := url.Parse(image)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return fail(provider.Terminal, provider.ReasonMediaRefused, "the image is not an http or https URL", nil)
	}
	return nil
}

// orderedSlots gives the slots in the order in which they are tried: one that holds the image, then those with an action, then others.
func (t turn) orderedSlots(ctx context.Context, s *system, image string) ([]mediaSlot, error) {
	slots, err := t.mediaSlots(ctx, t, s, &gaps{})
	if err != nil && len(slots) == 0 {
		return nil, err
	}
	if len(slots) == 0 {
		return nil, fail(provider.Terminal, provider.ReasonMediaMissing, "the system has no drive for virtual media", nil)
	}
	rank := func(slot mediaSlot) int {
		switch {
		case slot.Holds(image):
			return 0
		case slot.insert != "":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(slots, func(x, y mediaSlot) int { return rank(x) - rank(y) })
	return slots, nil
}

// emptyOthers ejects every image but the one that stays, and what is left over in the first slot.
func (t turn) emptyOthers(ctx context.Context, s *system, slots []mediaSlot, image string) error {
	for i, slot := range slots {
		full := slot.Inserted || (i == 0 && slot.Image != "")
		if slot.ejecting || !full || (i == 0 && slot.Holds(image)) {
			continue
		}
		out, err := t.ejectSlot(ctx, s, slot)
		switch {
		case hopeless(err), err != nil && slot.Inserted:
			return err
		case out.Task != "":
			e := fail(provider.Busy, provider.ReasonBusy, "the BMC is ejecting what was in the drive", nil)
			e.After = afterEject
			return e
		}
	}
	return nil
}

// ejectSlot empties a slot. A refusal by a slot that is empty by now is no error: ejecting twice is ejecting (B111).
func (t turn) ejectSlot(ctx context.Context, s *system, slot mediaSlot) (provider.Outcome, error) {
	var out provider.Outcome
	var err error
	if slot.eject != "" {
		out, err = t.post(ctx, slot.eject, struct{}{}) // an empty object: no body is refused by some (B120)
	} else {
		out, err = t.patchSlot(ctx, slot, map[string]any{"Image": nil, "Inserted": false})
		if malformed(err) {
			out, err = t.patchSlot(ctx, slot, map[string]any{"Image": nil})
		}
	}
	if malformed(err) {
		if fresh, lookErr := t.rereadSlot(ctx, slot); lookErr == nil && !fresh.Inserted {
			return provider.Outcome{}, nil
		}
	}
	if err != nil {
		return provider.Outcome{}, t.waitable(s, err)
	}
	t.known.noteEjection(slot.path, slot.Image, t.opts.Clock())
	t.known.noteWork(slot.path, out.Task, t.opts.Clock())
	return out, nil
}

// insertAnywhere inserts at the first slot that takes the image, and reads it back.
func (t turn) insertAnywhere(ctx context.Context, s *system, slots []mediaSlot, image string) (provider.Outcome, error) {
	var refusal error
	for _, slot := range slots {
		if err := t.underWay(ctx, slot.path, "changing what is in the drive"); err != nil {
			return provider.Outcome{}, err
		}
		out, err := t.insertInto(ctx, slot, image)
		if err != nil && malformed(err) {
			if refusal == nil {
				refusal = err
			}
			continue
		}
		if err != nil {
			return provider.Outcome{}, t.waitable(s, err)
		}
		t.known.noteInsertion(slot.path)
		t.known.noteWork(slot.path, out.Task, t.opts.Clock())
		if out.Task != "" {
			return out, nil // it shows when the task is done
		}
		return out, t.confirmInserted(ctx, slot, image)
	}
	return provider.Outcome{}, t.refusedMedia(s, refusal)
}

// confirmInserted reads the slot back: nothing boots from a drive that was only said to be filled.
func (t turn) confirmInserted(ctx context.Context, slot mediaSlot, image string) error {
	fresh, err := t.rereadSlot(ctx, slot)
	if err != nil {
		return err
	}
	if !fresh.Holds(image) {
		return fail(provider.Transient, provider.ReasonProtocolError, "the BMC took the image and does not show it inserted yet", nil)
	}
	return nil
}

func (t turn) rereadSlot(ctx context.Context, slot mediaSlot) (mediaSlot, error) {
	doc, _, err := t.get(ctx, t, slot.path, "VirtualMedia", &gaps{})
	if err != nil {
		return mediaSlot{}, err
	}
	return t.readSlot(slot.path, doc), nil
}

// refusedMedia is the error where every slot refused the form of the request.
func (t turn) refusedMedia(s *system, refusal error) error {
	refusal = t.waitable(s, refusal)
	var e *provider.Error
	if errors.As(refusal, &e) && e.Class == provider.Terminal {
		return fail(provider.Terminal, provider.ReasonMediaRefused, e.Message, refusal)
	}
	return refusal
}

// insertInto sends the least that names the image, and adds what the refusals ask for (B117, B119); where they name nothing, all. Where
// the image is written, as there is no action, the least has Inserted: some keep an image that comes without it and do not attach it.
func (t turn) insertInto(ctx context.Context, slot mediaSlot, image string) (provider.Outcome, error) {
	if slot.insert == "" {
		if out, err := t.sendInsert(ctx, slot, map[string]any{"Image": image, "Inserted": true}); err == nil || !malformed(err) {
			return out, err
		}
	}
	body := map[string]any{"Image": image}
	possible := mediaParameters(image)
	for {
		out, err := t.sendInsert(ctx, slot, body)
		if err == nil || !malformed(err) || statusOf(err) == http.StatusNotFound {
			return out, err
		}
		wanted := named(err, possible)
		if len(wanted) == 0 && len(body) == 1 && !namesAnything(err) {
			wanted = possible
		}
		grown := false
		for name, value := range wanted {
			if _, there := body[name]; !there {
				body[name], grown = value, true
			}
		}
		if !grown {
			return out, err
		}
	}
}

func (t turn) sendInsert(ctx context.Context, slot mediaSlot, body map[string]any) (provider.Outcome, error) {
	if slot.insert != "" {
		return t.post(ctx, slot.insert, body)
	}
	return t.patchSlot(ctx, slot, body)
}

func (t turn) patchSlot(ctx context.Context, slot mediaSlot, body any) (provider.Outcome, error) {
	return t.patch(ctx, slot.path, body, func(ctx context.Context) (string, error) {
		doc, resp, err := t.get(ctx, t, slot.path, "VirtualMedia", &gaps{})
		if err != nil {
			return "", err
		}
		if fresh := t.readSlot(slot.path, doc); fresh.Image != slot.Image || fresh.Inserted != slot.Inserted {
			return "", mismatch("the virtual media changed meanwhile")
		}
		return resp.etag(doc), nil
	})
}

// mediaParameters are the parameters of InsertMedia that BMCs were seen to insist on, with what an ISO over HTTP needs.
func mediaParameters(image string) map[string]any {
	protocol, _, _ := strings.Cut(image, "://")
	return map[string]any{
		"Inserted": true, "WriteProtected": true, "TransferMethod": "Stream", "TransferProtocolType": strings.ToUpper(protocol),
	}
}

// named gives the parameters that a refusal names as missing, wherever it does: in the arguments of its messages or in their text (B119).
func named(err error, possible map[string]any) map[string]any {
	var status *statusError
	if !errors.As(err, &status) {
		return nil
	}
	out := map[string]any{}
	for _, m := range status.messages {
		if anyOf([]message{m}, unwantedMessages) {
			continue
		}
		for name, value := range possible {
			if slices.ContainsFunc(append([]string{m.text}, m.args...), func(text string) bool { return hasWord(text, name) }) {
				out[name] = value
			}
		}
	}
	return out
}

// namesAnything says that a refusal names what it is about.
func namesAnything(err error) bool {
	var status *statusError
	return errors.As(err, &status) && slices.ContainsFunc(status.messages, func(m message) bool {
		return m.id != "" && m.id != "GeneralError" && m.id != "InternalError"
	})
}

func hasWord(text, word string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, notWord), func(w string) bool { return strings.EqualFold(w, word) })
}
