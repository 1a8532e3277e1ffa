// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// actor acts: it holds the lane from the look at the precondition to the read-back, so that nothing of ours comes between.
type actor struct{ *BMC }

var _ provider.Actor = actor{}

// turn is an acting call that holds the lane.
type turn struct{ *BMC }

func (t turn) read(ctx context.Context, r request) (*response, error) { return t.authorized(ctx, r) }

func (t turn) service(ctx context.Context) (*serviceRoot, error) { return t.BMC.service(ctx) }

// act reads the system on this connection, checks what the caller relies on, and only then runs f.
func (a actor) act(ctx context.Context, ref provider.SystemRef, expect provider.Expect,
	f func(t turn, s *system) (provider.Outcome, error)) (out provider.Outcome, err error) {
	err = a.hold(ctx, acting, func() error {
		t := turn(a)
		s, err := t.meant(ctx, ref)
		if err != nil {
			return err
		}
		if err := t.check(s, expect); err != nil {
			return err
		}
		out, err = f(t, s)
		return err
	})
	return out, err
}

// meant reads the system meant by ref, as the last thing before its state is checked: after a search through several systems it is
// read once more.
func (t turn) meant(ctx context.Context, ref provider.SystemRef) (*system, error) {
	s, err := t.revisit(ctx, t, ref, &gaps{})
	if s != nil || err != nil {
		return s, err
	}
	if s, err = t.search(ctx, t, ref, &gaps{}); err != nil {
		return nil, err
	}
	return t.again(ctx, s)
}

// check compares the system with what the caller relies on.
func (b *BMC) check(s *system, expect provider.Expect) error {
	facts := b.facts(s)
	switch {
	case expect.Serial != "" && facts.Serial != "" && facts.Serial != expect.Serial:
		return mismatch("another machine answers: its serial number is not the one that was seen")
	case expect.Power != "" && facts.Power != expect.Power:
		return mismatch("power is " + string(facts.Power) + ", expected " + string(expect.Power))
	case expect.AssetTag != nil && facts.AssetTag != *expect.AssetTag:
		return mismatch("the asset tag is not as expected")
	case expect.Boot != nil && facts.Boot.Armed() != expect.Boot.Armed:
		if expect.Boot.Armed {
			return mismatch("the boot override is not armed")
		}
		return mismatch("a boot override is armed")
	case expect.Boot != nil && expect.Boot.Armed && expect.Boot.Target != facts.Boot.Target:
		return mismatch("the boot override is not for the expected target")
	}
	return nil
}

func mismatch(what string) error {
	return fail(provider.Mismatch, provider.ReasonStateMismatch, what, nil)
}

// again reads the same system anew.
func (t turn) again(ctx context.Context, s *system) (*system, error) {
	doc, resp, err := t.get(ctx, t, s.path, systemName, &gaps{})
	if err != nil {
		return nil, err
	}
	fresh := t.newSystem(s.path, doc, resp)
	if fresh.id != s.id || fresh.uuid != s.uuid {
		return nil, mismatch("another system answers where this one was a moment ago")
	}
	return fresh, t.complete(ctx, t, fresh, &gaps{})
}

// post starts an action. Never with If-Match (B127), and always with a body (B120).
func (t turn) post(ctx context.Context, path string, body any) (provider.Outcome, error) {
	return t.write(ctx, request{method: http.MethodPost, path: path, body: body})
}

// write sends a write and gives its outcome. It is sent once: where no answer came the outcome is unknown, and the next call looks.
func (t turn) write(ctx context.Context, r request) (provider.Outcome, error) {
	resp, err := t.authorized(ctx, r)
	if err != nil {
		return provider.Outcome{}, err
	}
	if !resp.ok() {
		return provider.Outcome{}, t.answerError(resp)
	}
	return provider.Outcome{Task: t.taskOf(resp)}, nil
}

// taskOf finds the task monitor of work that was accepted and goes on: the Location, else what the body names. The path alone.
func (b *BMC) taskOf(r *response) string {
	if r.status != http.StatusAccepted {
		return ""
	}
	if p := b.base.resolve(r.sent.path, r.header.Get("Location")); p != "" {
		return p
	}
	doc, err := parseDocument(r.body, "Task", &gaps{})
	if err != nil {
		return ""
	}
	if p := b.base.resolve(r.sent.path, doc.text("TaskMonitor")); p != "" {
		return p
	}
	return b.base.resolve(r.sent.path, doc.text("@odata.id"))
}

// patch changes a resource. Where the service demands a precondition, or says that ours is out of date (428, 412), confirm
// reads the resource anew and decides whether the write is still right, and it is sent once more with the fresh ETag. A service
// that demanded it once gets it unasked from then on.
func (t turn) patch(ctx context.Context, path string, body any, confirm func(context.Context) (etag string, err error)) (out provider.Outcome, err error) {
	r := request{method: http.MethodPatch, path: path, body: body}
	const attempts = 3
	for n := range attempts {
		if n > 0 || t.known.wantsMatch.Load() {
			if r.ifMatch, err = confirm(ctx); err != nil {
				return provider.Outcome{}, err
			}
			if r.ifMatch == "" {
				r.ifMatch = "*" // it has no ETag, and yet demands a precondition
			}
		}
		out, err = t.write(ctx, r)
		switch statusOf(err) {
		case http.StatusPreconditionRequired:
			t.known.wantsMatch.Store(true)
		case http.StatusPreconditionFailed:
		default:
			return out, err
		}
	}
	return out, err
}

// patchSystem is patch on the system itself, as long as expect still holds.
func (t turn) patchSystem(ctx context.Context, s *system, expect provider.Expect, body any) (provider.Outcome, error) {
	return t.patch(ctx, s.path, body, func(ctx context.Context) (string, error) {
		fresh, err := t.again(ctx, s)
		if err != nil {
			return "", err
		}
		return fresh.etag, t.check(fresh, expect)
	})
}
