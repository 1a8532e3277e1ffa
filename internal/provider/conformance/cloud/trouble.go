// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"time"

	"github.com/holdfast-dev/holdfast/internal/provider"
)

var withTroubles = []Feature{Troubles}

// calls does one look and one acting call, and hands both errors to check.
func (f *fixture) calls(check func(err error)) {
	f.Helper()
	_, err := f.Observer().ListInstances(f.ctx, f.ref.Owner, time.Time{})
	check(err)
	check(drop(f.Actor().Create(f.ctx, f.ref, f.spec)))
}

// afterTrouble runs trouble between two looks: the cloud is known before, and after Repair everything works at once.
func afterTrouble(trouble Trouble, during func(f *fixture)) func(f *fixture) {
	return func(f *fixture) {
		f.looked()
		f.Break(trouble)
		during(f)
		f.Repair()
		f.looked()
		f.LetLapse()
		f.create()
		f.theVM()
		f.thePort()
	}
}

var troubleCases = []testCase{
	{name: "a refused connection is Transient(Unreachable), and passes by itself (B082)", needs: withTroubles, run: afterTrouble(Unreachable, func(f *fixture) {
		f.calls(func(err error) { f.fails(err, provider.Transient, provider.ReasonUnreachable) })
	})},
	{name: "a server error is Transient(ServerError)", needs: withTroubles, run: afterTrouble(Fails, func(f *fixture) {
		f.calls(func(err error) { f.fails(err, provider.Transient, provider.ReasonServerError) })
	})},
	{name: "an answer that is cut off is Transient(ProtocolError)", needs: withTroubles, run: afterTrouble(Garbage, func(f *fixture) {
		f.calls(func(err error) { f.fails(err, provider.Transient, provider.ReasonProtocolError) })
	})},
	{name: "a cloud that asks for a pause is left alone that long, by every call (B210)", needs: []Feature{Troubles, Time}, run: func(f *fixture) {
		f.looked()
		f.Break(RateLimits)
		e := f.failure(drop(f.Actor().Create(f.ctx, f.ref, f.spec)), provider.Busy, provider.ReasonRateLimited)
		f.same("pause", RetryAfter, e.After)
		before := f.Requests()
		for range 3 {
			f.calls(func(err error) {
				e := f.failure(err, provider.Busy, provider.ReasonRateLimited)
				if e.After <= 0 || e.After > RetryAfter {
					f.Errorf("after %s, want %s at most", e.After, RetryAfter)
				}
			})
		}
		f.same("requests in the pause", 0, f.Requests()-before)
		f.Repair()
		f.Settle()
		f.create()
	}},
	{name: "tokens that died are renewed once for all who find out, and no call fails (B177)", needs: withTroubles, run: func(f *fixture) {
		f.create()
		for range 3 {
			f.Break(TokensDie)
			f.calls(func(err error) {
				if err != nil {
					f.Errorf("a call failed for a token that can be renewed: %v", err)
				}
			})
		}
		f.theVM()
	}},
	{name: "refused credentials are Denied, and not shown again and again (B176, B177)", needs: withTroubles, run: func(f *fixture) {
		f.looked()
		f.Break(WrongCredentials)
		before := f.Requests()
		for range 10 {
			f.calls(func(err error) { f.fails(err, provider.Denied, provider.ReasonCredentialsInvalid) })
		}
		if n := f.Requests() - before; n > 2 {
			f.Errorf("%d requests, want two at most: the one that was refused and one login", n)
		}
	}},
	{name: "a token that is refused as soon as it is issued is Denied, and not renewed again and again", needs: withTroubles, run: func(f *fixture) {
		f.looked()
		f.Break(TokensAreRefused)
		before := f.Requests()
		for range 10 {
			f.calls(func(err error) { f.fails(err, provider.Denied, provider.ReasonCredentialsInvalid) })
		}
		if n := f.Requests() - before; n > 3 {
			f.Errorf("%d requests, want three at most: one, a login, and one more", n)
		}
	}},
	{name: "a login that is limited is Busy, and no refusal (B212)", needs: []Feature{Troubles, Time}, run: func(f *fixture) {
		f.looked()
		f.Break(LoginIsLimited)
		f.calls(func(err error) { f.fails(err, provider.Busy, provider.ReasonRateLimited) })
		f.Repair()
		f.Settle()
		f.looked()
	}},
	{name: "a cloud without tags is CloudTooOld before it is listed, and an upgrade shows", needs: withTroubles, run: func(f *fixture) {
		f.Break(OldCompute)
		f.calls(func(err error) { f.fails(err, provider.Terminal, provider.ReasonCloudTooOld) })
		_, err := f.Observer().Cloud(f.ctx)
		f.fails(err, provider.Terminal, provider.ReasonCloudTooOld)
		f.Repair()
		f.looked()
		f.create()
	}},
	{name: "no trouble keeps a call past its context", run: func(f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		_, err := f.Observer().ListInstances(ctx, f.ref.Owner, time.Time{})
		f.fails(err, provider.Transient, "")
		f.quiet(func() { f.fails(drop(f.Actor().Create(ctx, f.ref, f.spec)), provider.Transient, "") })
	}},
}
