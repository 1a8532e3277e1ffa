// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

func TestOneEventWhenThePersistedReadyChangedInStatusOrReason(t *testing.T) {
	progressing := func(reason, message string) func(*status.Session) {
		return func(s *status.Session) { s.Progressing(reason, message) }
	}
	for name, test := range map[string]struct {
		before, now func(*status.Session)
		want        []event
	}{
		"status changed":               {progressing("Waiting", ""), converged, []event{{"Normal", "Succeeded", "Reconcile", "the widget runs"}}},
		"reason changed":               {progressing("Waiting", ""), progressing("Booting", "boots"), []event{{"Normal", "Booting", "Reconcile", "boots"}}},
		"status changed alone":         {progressing("Waiting", ""), func(s *status.Session) { s.Unknown("Waiting", "") }, []event{{"Normal", "Waiting", "Reconcile", ""}}},
		"message changed":              {progressing("Waiting", "1 of 3"), progressing("Waiting", "2 of 3"), nil},
		"first report":                 {nil, converged, []event{{"Normal", "Succeeded", "Reconcile", "the widget runs"}}},
		"stalled warns":                {converged, func(s *status.Session) { s.Stalled("BadSpec", "fix it") }, []event{{"Warning", "BadSpec", "Reconcile", "fix it"}}},
		"not established is no alarm":  {converged, func(s *status.Session) { s.Unknown("NotSeen", "") }, []event{{"Normal", "NotSeen", "Reconcile", ""}}},
		"another condition changed":    {converged, func(s *status.Session) { s.Set("Other", yes, "R", ""); converged(s) }, nil},
		"provisional values are mute":  {converged, func(s *status.Session) { s.Set("Other", no, "R", ""); s.Set("Other", yes, "R", ""); converged(s) }, nil},
		"a percent sign is plain text": {converged, progressing("Waiting", "100%d"), []event{{"Normal", "Waiting", "Reconcile", "100%d"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWidget()
			if test.before != nil {
				w = settled(t, test.before)
			}
			r := &recorder{}
			commit(t, &server{}, r, w, test.now)
			if diff := cmp.Diff(test.want, r.events, cmp.AllowUnexported(event{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Severity is read off Stalled as persisted; where that does not say no, be loud.
func TestWithoutAStalledThatSaysNoTheEventIsAWarning(t *testing.T) {
	for name, persist := range map[string]func([]metav1.Condition) []metav1.Condition{
		"absent": func(conditions []metav1.Condition) []metav1.Condition {
			return slices.DeleteFunc(conditions, func(c metav1.Condition) bool { return c.Type == "Stalled" })
		},
		"unknown": func(conditions []metav1.Condition) []metav1.Condition {
			for i := range conditions {
				if conditions[i].Type == "Stalled" {
					conditions[i].Status = unknown
				}
			}
			return conditions
		},
	} {
		answer := &server{onPatch: func(object client.Object) {
			switch o := object.(type) {
			case *widget.Widget:
				o.Status.Conditions = persist(o.Status.Conditions)
			case *unstructured.Unstructured:
				w := &widget.Widget{}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, w); err != nil {
					t.Error(err)
				}
				w.Status.Conditions = persist(w.Status.Conditions)
				o.Object = toUnstructured(t, w).Object
			}
		}}
		for form, object := range map[string]status.Object{
			"structured": newWidget(), "unstructured": mustUnstructured(t, toUnstructured(t, newWidget())),
		} {
			t.Run(name+" "+form, func(t *testing.T) {
				r := &recorder{}
				commit(t, answer, r, object, converged)
				if len(r.events) != 1 || r.events[0].eventType != "Warning" {
					t.Errorf("%+v", r.events)
				}
			})
		}
	}
}

func TestAnEventIsAboutTheObjectTheCallerHolds(t *testing.T) {
	u, r := toUnstructured(t, newWidget()), &recorder{}
	commit(t, &server{}, r, mustUnstructured(t, u), converged)
	if len(r.regarding) != 1 || r.regarding[0] != u {
		t.Errorf("%T", r.regarding)
	}
}

// The API server refuses longer ones, and the event is lost.
func TestAnEventIsCutToWhatTheAPIAllows(t *testing.T) {
	r := &recorder{}
	commit(t, &server{}, r, newWidget(), func(s *status.Session) {
		s.Stalled(strings.Repeat("R", 200), strings.Repeat("ü", 2000))
	})
	if e := r.events[0]; len(e.reason) > 128 || len(e.note) > 1024 || !strings.HasSuffix(e.note, "ü…") {
		t.Errorf("reason %d bytes, note %d bytes", len(e.reason), len(e.note))
	}
}
