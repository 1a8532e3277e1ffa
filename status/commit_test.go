// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/status"
)

func TestWhatACommitMayEndIn(t *testing.T) {
	changed := func(s *status.Session) { s.Progressing("Waiting", "") }
	for _, test := range []struct {
		name      string
		answer    error
		report    func(*status.Session)
		want      status.Outcome
		sent      int
		callbacks int
		events    int
		fails     bool
	}{
		{"nothing changed: nothing sent, callbacks run", nil, converged, status.Unchanged, 0, 1, 0, false},
		{"written: event, callbacks run", nil, changed, status.Written, 1, 1, 1, false},
		{"gone: no error, no callback", errNotFound, changed, status.Gone, 1, 0, 0, false},
		{"lost race: no error, no retry, nothing published, no callback", errConflict, changed, status.LostRace, 1, 0, 0, false},
		{"refused: error", errRefused, changed, status.Failed, 1, 0, 0, true},
		{"a 404 that is not about the object: error", errNoRoute, changed, status.Failed, 1, 0, 0, true},
		{"no answer: error", context.DeadlineExceeded, changed, status.Failed, 1, 0, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, s, r, callbacks := settled(t, converged), &server{err: test.answer}, &recorder{}, 0
			outcome, err := try(s, r, w, func(session *status.Session) {
				session.AfterPersist(func() { callbacks++ })
				test.report(session)
			})
			if outcome != test.want || (err != nil) != test.fails {
				t.Errorf("%s, %v", outcome, err)
			}
			if len(s.patches) != test.sent || callbacks != test.callbacks || len(r.events) != test.events {
				t.Errorf("%d patches, %d callbacks, %d events", len(s.patches), callbacks, len(r.events))
			}
		})
	}
}

func TestAnErrorIsWrappedWithTheObjectsKey(t *testing.T) {
	_, err := try(&server{err: errRefused}, nil, newWidget(), converged)
	mustContain(t, fmt.Sprint(err), "status of Widget default/w: ")
	if !apierrors.IsForbidden(err) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestCallbacksRunInOrderAfterTheWriteAndTheEvent(t *testing.T) {
	var order []string
	s, r := &server{onPatch: func(client.Object) { order = append(order, "write") }}, &recorder{}
	commit(t, s, r, newWidget(), func(session *status.Session) {
		session.AfterPersist(func() { order = append(order, fmt.Sprintf("first, after %d event", len(r.events))) })
		session.AfterPersist(func() { order = append(order, "second") })
		converged(session)
	})
	if diff := cmp.Diff([]string{"write", "first, after 1 event", "second"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestASessionIsCommittedOnce(t *testing.T) {
	s := &server{}
	session := status.Begin(s, nil, newWidget())
	session.Converged("Succeeded", "")
	if _, err := session.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	if outcome, err := session.Commit(context.Background()); outcome != status.Failed || err == nil {
		t.Errorf("%s, %v", outcome, err)
	}
	s.only(t)
}

func TestThePatchIsAMergePatchLockedOnTheVersionRead(t *testing.T) {
	w, s := newWidget(), &server{}
	commit(t, s, nil, w, func(session *status.Session) {
		w.ResourceVersion = "tampered"
		converged(session)
	})
	if s.kinds[0] != types.MergePatchType {
		t.Errorf("patch type %s", s.kinds[0])
	}
	var patch map[string]map[string]any
	if err := json.Unmarshal([]byte(s.only(t)), &patch); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"resourceVersion": "7"}, patch["metadata"]); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyStatusIsInThePatch(t *testing.T) {
	for name, edit := range map[string]func(client.Object){
		"annotation": func(o client.Object) { o.SetAnnotations(map[string]string{"a": "b"}) },
		"label":      func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) },
		"finalizer":  func(o client.Object) { o.SetFinalizers([]string{"example.com/f"}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, converged)
			s := &server{}
			commit(t, s, nil, w, func(session *status.Session) {
				edit(w)
				w.Spec.Parts++
				converged(session)
			})
			if len(s.patches) != 0 {
				t.Errorf("metadata and spec alone were sent: %q", s.patches)
			}
			commit(t, s, nil, w, func(session *status.Session) {
				edit(w)
				w.Spec.Parts++
				session.Progressing("Waiting", "")
			})
			var patch map[string]json.RawMessage
			if err := json.Unmarshal([]byte(s.only(t)), &patch); err != nil {
				t.Fatal(err)
			}
			if len(patch) != 2 || string(patch["metadata"]) != `{"resourceVersion":"7"}` {
				t.Errorf("%s", s.patches[0])
			}
		})
	}
}

func TestOtherStatusFieldsAreCommittedToo(t *testing.T) {
	w := settled(t, converged)
	w.Status.Addresses = []string{"192.0.2.1"}
	s := &server{}
	commit(t, s, nil, w, func(session *status.Session) {
		w.Status.Phase, w.Status.Addresses = "Running", nil
		converged(session)
	})
	want := `{"metadata":{"resourceVersion":"7"},"status":{"addresses":null,"phase":"Running"}}`
	if s.only(t) != want {
		t.Errorf("%s", s.patches[0])
	}
}

func TestADifferenceThatIsNoneOnTheWireSendsNothing(t *testing.T) {
	w, s := settled(t, converged), &server{}
	outcome := commit(t, s, nil, w, func(session *status.Session) {
		w.Status.Addresses = []string{} // omitempty: absent, like nil
		converged(session)
	})
	if outcome != status.Unchanged || len(s.patches) != 0 {
		t.Errorf("%s, sent %q", outcome, s.patches)
	}
}

func TestAnObjectThatWasNeverReadCannotBeLocked(t *testing.T) {
	w, s := newWidget(), &server{}
	w.ResourceVersion = ""
	outcome, err := try(s, nil, w, converged)
	if outcome != status.Failed || err == nil || len(s.patches) != 0 {
		t.Errorf("%s, %v, sent %q", outcome, err, s.patches)
	}
}

// B230, B225, B228: deterministic status from the same inputs; a settled object is silent.
func TestAHundredSteadyPassesSendNothingAndRecordNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		report := drawReport(rt)
		w, s, r := newWidget(), &server{}, &recorder{}
		if _, err := try(s, r, w, report); err != nil {
			rt.Fatal(err)
		}
		written, announced := len(s.patches), len(r.events)
		for range 100 {
			if outcome, err := try(s, r, w, report); outcome != status.Unchanged {
				rt.Fatalf("%s, %v", outcome, err)
			}
		}
		if len(s.patches) != written || len(r.events) != announced {
			rt.Fatalf("%d patches, %d events more", len(s.patches)-written, len(r.events)-announced)
		}
	})
}

// drawReport draws what one pass reports, in any order and repeatedly.
func drawReport(rt *rapid.T) func(*status.Session) {
	type step func(*status.Session)
	words := rapid.SampledFrom([]string{"", "R", "Other", "not a reason"})
	values := rapid.SampledFrom([]string{"True", "False", "Unknown", ""})
	kinds := rapid.SampledFrom([]string{"A", "B", "C"})
	draw := rapid.Custom(func(rt *rapid.T) step {
		name, value := kinds.Draw(rt, "type"), values.Draw(rt, "value")
		reason, message := words.Draw(rt, "reason"), words.Draw(rt, "message")
		return []step{
			func(s *status.Session) {
				s.SetValue(name, status.Value{Status: metav1.ConditionStatus(value), Reason: reason, Message: message})
			},
			func(s *status.Session) { s.Converged(reason, message) },
			func(s *status.Session) { s.Progressing(reason, message) },
			func(s *status.Session) { s.Unknown(reason, message) },
			func(s *status.Session) { s.Stalled(reason, message) },
		}[rapid.IntRange(0, 4).Draw(rt, "kind")]
	})
	steps := rapid.SliceOfN(draw, 0, 8).Draw(rt, "steps")
	return func(s *status.Session) {
		for _, step := range steps {
			step(s)
		}
	}
}

func TestRequeue(t *testing.T) {
	for _, test := range []struct {
		outcome       status.Outcome
		cadence, want time.Duration
	}{
		{status.Written, time.Hour, time.Hour},
		{status.Written, 0, 0},
		{status.Unchanged, time.Hour, time.Hour},
		{status.Failed, time.Hour, time.Hour},
		{status.Gone, time.Hour, 0},
		{status.LostRace, time.Hour, status.LostRaceRequeue},
		{status.LostRace, 0, status.LostRaceRequeue},
		{status.LostRace, time.Millisecond, time.Millisecond},
	} {
		if got := test.outcome.Requeue(test.cadence); got != test.want {
			t.Errorf("%s with cadence %s: %s, want %s", test.outcome, test.cadence, got, test.want)
		}
	}
}

// A level, not an event: a process that restarted over a settled fleet publishes all the same, and so does
// a pass that loses its race.
func TestConditionMetricsArePublishedBeforeAnythingIsSuppressed(t *testing.T) {
	for name, answer := range map[string]error{"unchanged": nil, "lost race": errConflict, "refused": errRefused} {
		t.Run(name, func(t *testing.T) {
			w, metrics := settled(t, converged), status.NewMetrics(status.PerObject("Widget"))
			report := converged
			if answer != nil {
				report = func(s *status.Session) { s.Progressing("Waiting", "") }
			}
			_, err := try(&server{err: answer}, nil, w, report, status.WithMetrics(metrics))
			if err != nil && !errors.Is(err, answer) {
				t.Fatal(err)
			}
			if series := testutil.CollectAndCount(metrics, "status_condition"); series != 3 {
				t.Errorf("%d conditions published, want 3", series)
			}
		})
	}
}
