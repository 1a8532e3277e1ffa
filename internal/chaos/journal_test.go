// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-dev/holdfast/internal/chaos/judge"
)

// An ask that waits while the past is brought back was not asked for before: it counts from when it is first sent.
func TestAnAskIsNotedWhenItIsFirstSent(t *testing.T) {
	var j journal
	var gate sync.RWMutex
	gate.Lock()
	asked := make(chan error)
	sent := 0
	go func() {
		asked <- j.ask(t.Context(), &gate, judge.Event{Kind: judge.AskedRestart}, func(context.Context) error {
			if sent++; sent == 1 {
				return errors.New("no answer")
			}
			return nil
		})
	}()
	j.note(judge.Event{Kind: judge.GaveUp})
	opened := time.Now()
	gate.Unlock()
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
	all := j.all()
	if len(all) != 2 || sent != 2 || all[1].At.Before(opened) || all[1].Acked.Sub(all[1].At) < retryPause {
		t.Errorf("opened at %s, sent %d times: %v", opened, sent, all)
	}
}

// What was sent is seen through after the campaign's faults are over: a claim that was to be On may have heard it, or not.
func TestAnAskIsSeenThrough(t *testing.T) {
	var j journal
	ctx, end := context.WithCancel(t.Context())
	sent := 0
	err := j.ask(ctx, &sync.RWMutex{}, judge.Event{Kind: judge.AskedOn}, func(ctx context.Context) error {
		if sent++; sent == 1 {
			end()
			return errors.New("no answer")
		}
		return ctx.Err()
	})
	if all := j.all(); err != nil || sent != 2 || len(all) != 1 || all[0].Acked.IsZero() {
		t.Errorf("%v, sent %d times: %v", err, sent, all)
	}
	if err := j.ask(ctx, &sync.RWMutex{}, judge.Event{Kind: judge.AskedOff}, nil); err == nil || len(j.all()) != 1 {
		t.Errorf("%v: something was asked for after the end: %v", err, j.all())
	}
}

// What says how something is to be is noted again where the past was brought back before it was acknowledged; one deed that is asked for is not.
func TestAnAskIsNotedAgainAfterThePastWasBroughtBack(t *testing.T) {
	for kind, want := range map[judge.Kind]int{judge.GaveUp: 2, judge.AskedOff: 2, judge.AskedRestart: 1, judge.ConsentedBoot: 1} {
		var j journal
		sent := 0
		err := j.ask(t.Context(), &sync.RWMutex{}, judge.Event{Kind: kind}, func(context.Context) error {
			if sent++; sent == 1 {
				j.rewrite()
				return errors.New("no answer")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all := j.all()
		if len(all) != want {
			t.Errorf("%s was noted %d times, want %d", kind, len(all), want)
		}
		for _, e := range all {
			if e.Acked.IsZero() {
				t.Errorf("not acknowledged: %s", e)
			}
		}
	}
}
