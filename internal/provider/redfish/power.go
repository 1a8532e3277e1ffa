// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

type resetBody struct {
	ResetType schemas.ResetType `json:"ResetType"`
}

// PowerOn implements provider.Power.
func (a actor) PowerOn(ctx context.Context, ref provider.SystemRef, expect provider.Expect) (provider.Outcome, error) {
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		switch power := t.facts(s).Power; power {
		case provider.PowerOn, provider.PoweringOn:
			return provider.Outcome{Unchanged: true}, nil
		case provider.PowerOff:
			return t.reset(ctx, s, provider.PowerOn, schemas.OnResetType, schemas.ForceOnResetType)
		default:
			return provider.Outcome{}, notNow(power)
		}
	})
}

// ShutDown implements provider.Power. Where the system allows no graceful shutdown it is Terminal(ResetTypeMissing): it never
// becomes a cut of power by itself (B025).
func (a actor) ShutDown(ctx context.Context, ref provider.SystemRef, expect provider.Expect) (provider.Outcome, error) {
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		switch power := t.facts(s).Power; power {
		case provider.PowerOff, provider.PoweringOff:
			return provider.Outcome{Unchanged: true}, nil
		case provider.PowerOn:
			return t.reset(ctx, s, provider.PowerOff, schemas.GracefulShutdownResetType)
		default:
			return provider.Outcome{}, notNow(power)
		}
	})
}

// ForceOff implements provider.Power. A machine on its way on or off is switched off too: it may be stuck there.
func (a actor) ForceOff(ctx context.Context, ref provider.SystemRef, expect provider.Expect) (provider.Outcome, error) {
	return a.act(ctx, ref, expect, func(t turn, s *system) (provider.Outcome, error) {
		switch power := t.facts(s).Power; power {
		case provider.PowerOff:
			return provider.Outcome{Unchanged: true}, nil
		case provider.PowerOn, provider.PoweringOn, provider.PoweringOff:
			return t.reset(ctx, s, provider.PowerOff, schemas.ForceOffResetType)
		default:
			return provider.Outcome{}, notNow(power)
		}
	})
}

// ConfirmOff implements provider.Power.
func (a actor) ConfirmOff(ctx context.Context, ref provider.SystemRef, expect provider.Expect) error {
	return a.confirm(ctx, ref, expect, provider.PowerOff)
}

// ConfirmOn implements provider.Power.
func (a actor) ConfirmOn(ctx context.Context, ref provider.SystemRef, expect provider.Expect) error {
	return a.confirm(ctx, ref, expect, provider.PowerOn)
}

func (a actor) confirm(ctx context.Context, ref provider.SystemRef, expect provider.Expect, power provider.PowerState) error {
	expect.Power = power
	_, err := a.act(ctx, ref, expect, func(turn, *system) (provider.Outcome, error) { return provider.Outcome{}, nil })
	return err
}

// notNow refuses to act on a state that does not allow it: one nobody knows (B028), or one that passes.
func notNow(power provider.PowerState) error {
	if power == provider.PowerUnknown {
		return mismatch("the power state of the machine is not known")
	}
	return fail(provider.Busy, provider.ReasonBusy, "the machine is "+string(power), nil)
}

// reset starts the first of the wanted resets that the system allows. Where the BMC refuses because of the machine's state, the
// state is read anew: a machine that got there in the meantime is no error (B033).
func (t turn) reset(ctx context.Context, s *system, goal provider.PowerState, wanted ...schemas.ResetType) (provider.Outcome, error) {
	allowed, err := t.allowedResets(ctx, t, s)
	if err != nil {
		return provider.Outcome{}, err
	}
	kind, ok := firstAllowed(allowed, wanted...)
	target := t.base.resolve(s.path, s.resetAction().text("target"))
	if !ok || target == "" {
		return provider.Outcome{}, fail(provider.Terminal, provider.ReasonResetTypeMissing,
			"the system does not offer the reset type "+string(wanted[0]), nil)
	}
	out, err := t.start(ctx, s, goal, target, kind)
	if err == nil || !aboutState(err) {
		return out, tried(err)
	}
	t.known.rememberResets(t.actionInfo(s), nil) // should it be about the type after all
	fresh, lookErr := t.again(ctx, s)
	if lookErr != nil {
		return provider.Outcome{}, tried(err) // the refusal is the better news
	}
	if t.facts(fresh).Power == goal {
		return provider.Outcome{}, nil
	}
	return provider.Outcome{}, tried(t.waitOut(s, err))
}

// tried marks what went wrong with a reset that was sent, as all are but those for which no connection was to be had.
func tried(err error) error {
	var (
		e    *provider.Error
		dial *net.OpError
	)
	if !errors.As(err, &e) || (errors.As(err, &dial) && dial.Op == "dial") {
		return err
	}
	marked := *e
	marked.Tried = true
	return &marked
}

// start sends a reset, unless the last start of the machine became a task that goes on; that it failed is told before it is asked for again
// (B142). A power-off is announced, and its task is followed by the intent (docs/decisions/0075, 0162).
func (t turn) start(ctx context.Context, s *system, goal provider.PowerState, target string, kind schemas.ResetType) (provider.Outcome, error) {
	if goal != provider.PowerOn {
		t.known.noteWork(target, "", time.Time{})
	} else if err := t.underWay(ctx, target, "switching the machine on"); err != nil {
		return provider.Outcome{}, err
	}
	out, err := t.post(ctx, target, resetBody{ResetType: kind})
	if status := statusOf(err); status == 0 || status >= http.StatusInternalServerError { // taken, or perhaps: no answer came, or another's
		t.known.noteReset(s.path, t.opts.Clock())
	}
	if err == nil {
		t.known.noteTaken(s.path)
	}
	if goal == provider.PowerOn && out.Task != "" {
		t.known.noteWork(target, out.Task, t.opts.Clock())
	}
	return out, err
}

// aboutState says that a reset was refused because of the state the machine is in.
func aboutState(err error) bool {
	var s *statusError
	if !errors.As(err, &s) {
		return false
	}
	return s.status == http.StatusConflict || s.status == http.StatusBadRequest || s.status == http.StatusServiceUnavailable ||
		anyOf(s.messages, stateMessages)
}

// waitOut turns a refusal of a reset that the system allows into patience: it is about the machine's state, and that passes. A complaint about
// the request itself stays what it is, and so does a refusal that comes for longer than any state lasts.
func (t turn) waitOut(s *system, err error) error {
	var status *statusError
	if !errors.As(err, &status) || provider.ClassOf(err) == provider.Busy || anyOf(status.messages, formMessages) ||
		t.known.refusedFor(s.path, t.opts.Clock()) >= postTime {
		return err
	}
	return inThisState(status)
}
