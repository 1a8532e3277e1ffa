// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

const (
	yes     = metav1.ConditionTrue
	no      = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
)

var (
	start  = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	scheme = func() *runtime.Scheme {
		scheme := runtime.NewScheme()
		if err := widget.AddToScheme(scheme); err != nil {
			panic(err)
		}
		return scheme
	}()
	widgetKind = widget.GroupVersion.WithKind("Widget")
	resource   = schema.GroupResource{Group: widgetKind.Group, Resource: "widgets"}
)

// errors an API server answers with, and one that is none.
var (
	errConflict = apierrors.NewConflict(resource, "w", errors.New("the object has been modified"))
	errNotFound = apierrors.NewNotFound(resource, "w")
	errRefused  = apierrors.NewForbidden(resource, "w", errors.New("quota"))
	errNoRoute  = apierrors.NewGenericServerResponse(404, "patch", resource, "w", "404 page not found", 0, true)
)

// server stands in for the client: it counts and keeps what is sent, and answers with err. What a real API
// server does with it is tested on one, in test/integration/status.
type server struct {
	client.SubResourceWriter // nil: any call but Patch panics

	patches []string
	targets []client.Object
	kinds   []types.PatchType
	err     error
	// onPatch runs before the answer, to play the API server's part on the local object.
	onPatch func(client.Object)
}

func (s *server) Status() client.SubResourceWriter { return s }

func (s *server) GroupVersionKindFor(object runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(object, scheme)
}

func (s *server) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	s.patches = append(s.patches, string(data))
	s.targets = append(s.targets, object)
	s.kinds = append(s.kinds, patch.Type())
	if s.onPatch != nil {
		s.onPatch(object)
	}
	return s.err
}

// only returns the one patch that was sent.
func (s *server) only(t *testing.T) string {
	t.Helper()
	if len(s.patches) != 1 {
		t.Fatalf("%d patches were sent, want 1: %q", len(s.patches), s.patches)
	}
	return s.patches[0]
}

// event is one call of the recorder.
type event struct{ eventType, reason, action, note string }

type recorder struct {
	events    []event
	regarding []runtime.Object
}

func (r *recorder) Eventf(regarding, _ runtime.Object, eventType, reason, action, note string, args ...any) {
	r.events = append(r.events, event{eventType, reason, action, fmt.Sprintf(note, args...)})
	r.regarding = append(r.regarding, regarding)
}

func newWidget(conditions ...metav1.Condition) *widget.Widget {
	return &widget.Widget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "w", UID: "u1", ResourceVersion: "7", Generation: 3},
		Status:     widget.WidgetStatus{ObservedGeneration: 3, Conditions: conditions},
	}
}

// settled returns a widget as one pass of report leaves it.
func settled(t *testing.T, report func(*status.Session)) *widget.Widget {
	t.Helper()
	w := newWidget()
	commit(t, &server{}, nil, w, report)
	return w
}

// commit runs one pass that must not fail.
func commit(t *testing.T, s *server, r *recorder, object status.Object, report func(*status.Session), options ...status.Option) status.Outcome {
	t.Helper()
	outcome, err := try(s, r, object, report, options...)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// try runs one pass, its clock at start.
func try(s *server, r *recorder, object status.Object, report func(*status.Session), options ...status.Option) (status.Outcome, error) {
	options = append([]status.Option{status.WithClock(clocktesting.NewFakePassiveClock(start))}, options...)
	var session *status.Session
	if r == nil {
		session = status.Begin(s, nil, object, options...)
	} else {
		session = status.Begin(s, r, object, options...)
	}
	report(session)
	return session.Commit(context.Background())
}

func converged(s *status.Session) { s.Converged("Succeeded", "the widget runs") }

func conditionOf(t *testing.T, object status.Object, conditionType string) metav1.Condition {
	t.Helper()
	for _, c := range *object.StatusConditions() {
		if c.Type == conditionType {
			return c
		}
	}
	t.Fatalf("no condition %s in %v", conditionType, *object.StatusConditions())
	return metav1.Condition{}
}

func toUnstructured(t testing.TB, w *widget.Widget) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(widgetKind)
	return u
}

func mustContain(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s\ndoes not contain %s", text, part)
	}
}
