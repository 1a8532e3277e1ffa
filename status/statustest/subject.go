// SPDX-License-Identifier: Apache-2.0

package statustest

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/status"
)

// subject is one object on the API server and what the checks do to it. Sessions use the form that
// Kind.New returns; everything that others would do goes by unstructured objects.
type subject struct {
	TB
	kind   Kind
	client client.Client
	// sample names the object, unstructured.
	sample *unstructured.Unstructured
	// loose: the kind is used unstructured.
	loose bool
}

// newSubject creates the object, or reports why it cannot and returns nil.
func newSubject(t TB, kind Kind, c client.Client) *subject {
	t.Helper()
	object := kind.New()
	_, loose := object.(runtime.Unstructured)
	u, err := toUnstructured(object, c)
	if err != nil {
		t.Errorf("what New returns cannot be created: %v", err)
		return nil
	}
	if err := c.Create(t.Context(), u); err != nil {
		t.Errorf("what New returns is refused: %v", err)
		return nil
	}
	s := &subject{TB: t, kind: kind, client: c, sample: u, loose: loose}
	t.Cleanup(func() {
		// The test's own context has ended; and the object may be gone already, which is what is wanted.
		_ = c.Delete(context.Background(), s.sample.DeepCopy())
	})
	return s
}

func toUnstructured(object client.Object, c client.Client) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	delete(u.Object, "status") // creation drops it
	if u.GroupVersionKind().Empty() {
		gvk, err := c.GroupVersionKindFor(object)
		if err != nil {
			return nil, err
		}
		u.SetGroupVersionKind(gvk)
	}
	return u, nil
}

// pass is one pass over the object as it is now.
func (s *subject) pass(what string, report func(*status.Session), want status.Outcome) {
	s.Helper()
	s.ends(what, s.begin(), report, want)
}

// begin reads the object and opens a session on it; nil after reporting that it could not.
func (s *subject) begin() *status.Session {
	s.Helper()
	object, err := s.read()
	if err != nil {
		s.Errorf("the object cannot be read: %v", err)
		return nil
	}
	return status.Begin(s.client, nil, object, status.WithRegions(s.kind.Regions...))
}

func (s *subject) read() (status.Object, error) {
	if s.loose {
		u, err := s.readLoose()
		if err != nil {
			return nil, err
		}
		return status.FromUnstructured(u)
	}
	empty, err := s.client.Scheme().New(s.sample.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	object, ok := empty.(status.Object)
	if !ok {
		return nil, fmt.Errorf("the scheme makes a %T of the kind, which is not a status.Object", empty)
	}
	return object, s.client.Get(s.Context(), client.ObjectKeyFromObject(s.sample), object)
}

func (s *subject) readLoose() (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(s.sample.GroupVersionKind())
	return u, s.client.Get(s.Context(), client.ObjectKeyFromObject(s.sample), u)
}

// ends reports into a session and checks how it ends.
func (s *subject) ends(what string, session *status.Session, report func(*status.Session), want status.Outcome) {
	s.Helper()
	if session == nil {
		return
	}
	report(session)
	if outcome, err := session.Commit(s.Context()); outcome != want {
		s.Errorf("%s ends in %s, not in %s (%v)", what, outcome, want, err)
	}
}

// reads checks what kstatus reads from the object, its generation moved on by so many.
func (s *subject) reads(what string, generationsLater int64, want kstatus.Status) {
	s.Helper()
	u, err := s.readLoose()
	if err != nil {
		s.Errorf("the object cannot be read: %v", err)
		return
	}
	u.SetGeneration(u.GetGeneration() + generationsLater)
	result, err := kstatus.Compute(u)
	if err != nil {
		s.Errorf("kstatus cannot read %s: %v", what, err)
		return
	}
	if result.Status != want {
		s.Errorf("kstatus reads %s as %s, not as %s: %s", what, result.Status, want, result.Message)
	}
}

// The rest is what others do to the object.

func (s *subject) annotate() {
	s.Helper()
	body := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"statustest":"raced"}}}`))
	if err := s.client.Patch(s.Context(), s.sample.DeepCopy(), body); err != nil {
		s.Errorf("the object cannot be annotated: %v", err)
	}
}

func (s *subject) patchStatus(body string) {
	s.Helper()
	if err := s.client.Status().Patch(s.Context(), s.sample.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		s.Errorf("the status cannot be patched with %s: %v", body, err)
	}
}

func (s *subject) replaceStatus(with map[string]any) {
	s.Helper()
	u, err := s.readLoose()
	if err == nil {
		u.Object["status"] = with
		err = s.client.Status().Update(s.Context(), u)
	}
	if err != nil {
		s.Errorf("the status cannot be replaced by %v: %v", with, err)
	}
}

func (s *subject) remove() {
	s.Helper()
	if err := s.client.Delete(s.Context(), s.sample.DeepCopy()); err != nil {
		s.Errorf("the object cannot be deleted: %v", err)
	}
}
