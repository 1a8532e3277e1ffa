// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/testenv"
	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

// newRecorder returns the recorder a manager gives, sending to the API server.
func newRecorder(t *testing.T) events.EventRecorder {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: clientset.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broadcaster.Shutdown)
	return broadcaster.NewRecorder(scheme, "widget-controller")
}

func eventsOf(ctx context.Context, w *widget.Widget) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	if err := api.List(ctx, list, client.InNamespace(w.Namespace)); err != nil {
		return nil, err
	}
	var own []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.UID == w.UID {
			own = append(own, e)
		}
	}
	return own, nil
}

// waitForEvent waits for the one event with the reason.
func waitForEvent(t *testing.T, w *widget.Widget, reason string) eventsv1.Event {
	t.Helper()
	var found eventsv1.Event
	testenv.Eventually(t, "the event "+reason, func(ctx context.Context) error {
		own, err := eventsOf(ctx, w)
		if err != nil {
			return err
		}
		for _, e := range own {
			if strings.HasPrefix(e.Reason, reason) {
				found = e
				return nil
			}
		}
		return fmt.Errorf("%d events, not this one", len(own))
	})
	return found
}

func report(t *testing.T, recorder events.EventRecorder, object status.Object, want status.Outcome, say func(*status.Session)) {
	t.Helper()
	session := status.Begin(api, recorder, object)
	say(session)
	if outcome, err := session.Commit(t.Context()); outcome != want {
		t.Fatalf("%s (%v), want %s", outcome, err, want)
	}
}

func TestEachPersistedTransitionOfReadyIsOneEventAndNothingElseIs(t *testing.T) {
	eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
		recorder := newRecorder(t)
		report(t, recorder, object, status.Written, func(s *status.Session) { s.Progressing("Waiting", "for 100% of it") })
		waiting := waitForEvent(t, w, "Waiting")
		if waiting.Type != corev1.EventTypeNormal || waiting.Action != status.EventAction || waiting.Note != "for 100% of it" ||
			waiting.Regarding.Kind != "Widget" || waiting.Regarding.Name != w.Name || waiting.ReportingController != "widget-controller" {
			t.Errorf("%+v", waiting)
		}
		stale := read(t, w)
		report(t, recorder, read(t, w), status.Unchanged, func(s *status.Session) { s.Progressing("Waiting", "for 100% of it") })
		report(t, recorder, read(t, w), status.Written, func(s *status.Session) { s.Progressing("Waiting", "another message") })
		report(t, recorder, stale, status.LostRace, func(s *status.Session) { s.Stalled("NeverPersisted", "") })
		report(t, recorder, read(t, w), status.Written, func(s *status.Session) { s.Stalled("BadSpec", "correct it") })
		if e := waitForEvent(t, w, "BadSpec"); e.Type != corev1.EventTypeWarning {
			t.Errorf("%+v", e)
		}
		report(t, recorder, read(t, w), status.Written, converged)
		waitForEvent(t, w, "Succeeded")

		own, err := eventsOf(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		if len(own) != 3 {
			t.Errorf("%d events, want 3: %+v", len(own), own)
		}
	})
}

// The API server refuses an event whose note is longer than a kilobyte, and the recorder drops it.
func TestAnEventWithAnOverlongMessageArrives(t *testing.T) {
	w := create(t)
	report(t, newRecorder(t), read(t, w), status.Written, func(s *status.Session) {
		s.Stalled("Broken"+strings.Repeat("R", 200), strings.Repeat("ü", 2000))
	})
	if e := waitForEvent(t, w, "Broken"); !strings.HasSuffix(e.Note, "…") {
		t.Errorf("%q", e.Note)
	}
}
