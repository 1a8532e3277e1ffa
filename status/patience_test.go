// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/holdfast-dev/holdfast/status"
)

// How an object is on its way can wait; that it has arrived, set off, needs a person, or does no more is told at once.
func TestOnlyWhatHappensOnTheWayCanWait(t *testing.T) {
	waiting := func(s *status.Session) { s.Progressing("Waiting", "for a volume") }
	starting := func(s *status.Session) { s.Progressing("Starting", "the volume is there") }
	unknown := func(s *status.Session) { s.Unknown("NotSeen", "nobody looked") }
	stalled := func(s *status.Session) { s.Stalled("Broken", "replace it") }
	silent := func(*status.Session) {}
	for _, c := range []struct {
		name          string
		before, after func(*status.Session)
		want          status.Outcome
	}{
		{"another step on the way", waiting, starting, status.PutOff},
		{"something is not known any more on the way", waiting, unknown, status.PutOff},
		{"the first report", silent, waiting, status.PutOff},
		{"the same step: nothing to tell", waiting, waiting, status.Unchanged},
		{"arrived", waiting, converged, status.Written},
		{"set off", converged, waiting, status.Written},
		{"needs a person", waiting, stalled, status.Written},
		{"needs no person any more", stalled, waiting, status.Written},
		{"a pass that reported nothing", waiting, silent, status.Written},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, s, r, callbacks := settled(t, c.before), &server{}, &recorder{}, 0
			outcome := commit(t, s, r, w, func(session *status.Session) {
				session.AfterPersist(func() { callbacks++ })
				c.after(session)
			}, status.WithPatience(&status.Patience{}))
			if outcome != c.want {
				t.Errorf("%s, want %s", outcome, c.want)
			}
			if outcome == status.PutOff && (len(s.patches) != 0 || len(r.events) != 0 || callbacks != 0) {
				t.Errorf("put off, with %d patches, %d events, %d callbacks", len(s.patches), len(r.events), callbacks)
			}
		})
	}
}

// A report waits for PutOffRequeue and no longer, however many steps follow upon each other; the next one waits anew.
func TestAReportIsPutOffForASecondAtMost(t *testing.T) {
	patience, clock := &status.Patience{}, clocktesting.NewFakePassiveClock(start)
	w, s, step := settled(t, func(s *status.Session) { s.Progressing("Waiting", "") }), &server{}, 0
	next := func(after time.Duration) status.Outcome {
		step++
		clock.SetTime(clock.Now().Add(after))
		read := w.DeepCopy() // each pass reads what is there: nothing of what was put off
		outcome := commit(t, s, nil, read, func(s *status.Session) { s.Progressing(fmt.Sprintf("Step%d", step), "") },
			status.WithPatience(patience), status.WithClock(clock))
		if outcome == status.Written {
			w = read
		}
		return outcome
	}
	for i, c := range []struct {
		after time.Duration
		want  status.Outcome
	}{
		{0, status.PutOff}, {status.PutOffRequeue / 2, status.PutOff}, {status.PutOffRequeue / 2, status.Written},
		{0, status.PutOff}, {status.PutOffRequeue, status.Written},
	} {
		if outcome := next(c.after); outcome != c.want {
			t.Errorf("pass %d: %s, want %s", i+1, outcome, c.want)
		}
	}
	mustContain(t, s.patches[0], "Step3")
	if again := status.PutOff.Requeue(time.Hour); again != status.PutOffRequeue {
		t.Errorf("comes back after %s", again)
	}
	if again := status.PutOff.Requeue(time.Millisecond); again != time.Millisecond {
		t.Errorf("a pass that is due soon comes after %s", again)
	}
}

// What keeps coming back for moments, between reports that the object is as it was, is told: it was put off, not dropped.
func TestAReportThatKeepsComingBackIsTold(t *testing.T) {
	patience, clock := &status.Patience{}, clocktesting.NewFakePassiveClock(start)
	w := settled(t, func(s *status.Session) { s.Progressing("Waiting", "") })
	pass := func(reason string, after time.Duration) status.Outcome {
		clock.SetTime(clock.Now().Add(after))
		return commit(t, &server{}, nil, w.DeepCopy(), func(s *status.Session) { s.Progressing(reason, "") },
			status.WithPatience(patience), status.WithClock(clock))
	}
	const moment = status.PutOffRequeue / 2
	for i, c := range []struct {
		reason string
		after  time.Duration
		want   status.Outcome
	}{
		{"TaskGone", 0, status.PutOff}, {"Waiting", moment, status.Unchanged}, {"TaskGone", moment, status.Written},
		{"TaskGone", 0, status.PutOff}, {"Waiting", time.Minute, status.Unchanged}, {"TaskGone", moment, status.PutOff},
	} {
		if outcome := pass(c.reason, c.after); outcome != c.want {
			t.Errorf("pass %d: %s, want %s", i+1, outcome, c.want)
		}
	}
}

// A write that was lost was not put off long enough to be lost a second time: it is tried again with the next pass.
func TestAReportThatWasLostDoesNotWaitAgain(t *testing.T) {
	patience, clock := &status.Patience{}, clocktesting.NewFakePassiveClock(start)
	w := settled(t, func(s *status.Session) { s.Progressing("Waiting", "") })
	pass := func(answer error) status.Outcome {
		return commit(t, &server{err: answer}, nil, w.DeepCopy(), func(s *status.Session) { s.Progressing("Starting", "") },
			status.WithPatience(patience), status.WithClock(clock))
	}
	pass(nil)
	clock.SetTime(start.Add(status.PutOffRequeue))
	if outcome := pass(errConflict); outcome != status.LostRace {
		t.Fatalf("%s, want %s", outcome, status.LostRace)
	}
	if outcome := pass(nil); outcome != status.Written {
		t.Errorf("after a lost race: %s, want %s", outcome, status.Written)
	}
}
