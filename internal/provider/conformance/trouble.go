// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

// calls does one look and one acting call, and hands both errors to check.
func (f *fixture) calls(check func(err error)) {
	f.Helper()
	_, err := f.Observer().Observe(f.ctx, f.byUUID(), provider.DepthState, "")
	check(err)
	_, err = f.Actor().PowerOn(f.ctx, f.byUUID(), provider.Expect{})
	check(err)
}

// afterTrouble runs trouble between two looks: the machine is known before, and after Repair everything works at once.
func afterTrouble(trouble Trouble, during func(f *fixture)) func(f *fixture) {
	return func(f *fixture) {
		f.look()
		f.Break(trouble)
		during(f)
		f.Repair()
		f.look()
		f.done(f.Actor().SetIndicator(f.ctx, f.byUUID(), provider.IndicatorLit, provider.Expect{}))
	}
}

var troubleCases = []testCase{
	{name: "a refused connection is Transient(Unreachable), and passes by itself (B082)", run: afterTrouble(Unreachable, func(f *fixture) {
		f.calls(func(err error) { f.fails(err, provider.Transient, provider.ReasonUnreachable) })
	})},
	{name: "silence is Transient(Timeout) at the caller's deadline (B176)", run: afterTrouble(Silent, func(f *fixture) {
		ctx, cancel := context.WithTimeout(f.ctx, 300*time.Millisecond)
		defer cancel()
		begun := time.Now()
		_, err := f.Actor().PowerOn(ctx, f.byUUID(), provider.Expect{})
		f.fails(err, provider.Transient, provider.ReasonTimeout)
		if took := time.Since(begun); took > 10*time.Second {
			f.Errorf("a call with a deadline of 300 ms took %s", took)
		}
	})},
	{name: "a server error is Transient(ServerError) (B039)", run: afterTrouble(Fails, func(f *fixture) {
		f.calls(func(err error) { f.fails(err, provider.Transient, provider.ReasonServerError) })
	})},
	{name: "not now is Busy, with the time asked for", run: afterTrouble(Busy, func(f *fixture) {
		f.calls(func(err error) {
			f.fails(err, provider.Busy, "")
			if e := err.(*provider.Error); e.After != RetryAfter { //nolint:errorlint // fails has seen that it is one
				f.Errorf("after %s, want %s", e.After, RetryAfter)
			}
		})
	})},
	{name: "an answer that is cut off is Transient(ProtocolError)", run: afterTrouble(CutsAnswers, func(f *fixture) {
		f.calls(func(err error) { f.fails(err, provider.Transient, provider.ReasonProtocolError) })
	})},
	{name: "refused credentials are Denied, and not shown again and again (B165, B173)", run: func(f *fixture) {
		f.look()
		before := f.RefusedLogins()
		f.Break(WrongCredentials)
		for range 10 {
			f.calls(func(err error) { f.fails(err, provider.Denied, provider.ReasonCredentialsInvalid) })
		}
		if n := f.RefusedLogins() - before; n > 2 {
			f.Errorf("refused %d times, want 2 at most: accounts get locked", n)
		}
	}},
	{name: "a lost reply is Transient; the write is not repeated, and the next call looks first", start: on, run: func(f *fixture) {
		f.look()
		f.Break(LosesReply)
		f.once(func() {
			_, err := f.Actor().ForceOff(f.ctx, f.byUUID(), provider.Expect{})
			f.fails(err, provider.Transient, "")
		})
		f.Repair()
		f.Settle()
		f.same("power", provider.PowerOff, f.Power())
		f.quiet(func() { f.unchanged(f.Actor().ForceOff(f.ctx, f.byUUID(), provider.Expect{})) })
	}},
	{name: "no trouble in looking keeps a call past its context", run: func(f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		_, err := f.Observer().Observe(ctx, f.byUUID(), provider.DepthInventory, "")
		f.fails(err, provider.Transient, "")
		f.quiet(func() {
			_, err := f.Actor().PowerOn(ctx, f.byUUID(), provider.Expect{})
			f.fails(err, provider.Transient, "")
		})
	}},
}
