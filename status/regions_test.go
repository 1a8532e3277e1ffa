// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"encoding/json"
	"fmt"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

var region = status.WithRegions("observed")

func part(name string) *widget.WidgetObserved {
	return &widget.WidgetObserved{Parts: []widget.Part{{Name: name}}}
}

// The proof is by mutating the local copy: replaced, edited inside, emptied, invented.
func TestARegionIsNeverInThePatchWhateverHappenedToTheLocalCopy(t *testing.T) {
	for name, test := range map[string]struct {
		stored *widget.WidgetObserved
		mutate func(*widget.Widget)
	}{
		"replaced":      {part("a"), func(w *widget.Widget) { w.Status.Observed = part("b") }},
		"edited inside": {part("a"), func(w *widget.Widget) { w.Status.Observed.Parts[0].Name = "b" }},
		"removed":       {part("a"), func(w *widget.Widget) { w.Status.Observed = nil }},
		"invented":      {nil, func(w *widget.Widget) { w.Status.Observed = part("b") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, converged)
			w.Status.Observed = test.stored
			s := &server{}
			if outcome := commit(t, s, nil, w, func(session *status.Session) {
				test.mutate(w)
				converged(session)
			}, region); outcome != status.Unchanged {
				t.Errorf("the region alone gave %s: %q", outcome, s.patches)
			}
			commit(t, s, nil, w, func(session *status.Session) {
				test.mutate(w)
				w.Status.Phase = "Other"
				converged(session)
			}, region)
			mustHaveFields(t, s.only(t), "phase")
		})
	}
}

func TestWithoutTheOptionTheSameFieldIsCommitted(t *testing.T) {
	w, s := settled(t, converged), &server{}
	commit(t, s, nil, w, func(session *status.Session) {
		w.Status.Observed = part("b")
		converged(session)
	})
	mustHaveFields(t, s.only(t), "observed")
}

func TestARegionOfAnUnstructuredObjectIsNeverInThePatch(t *testing.T) {
	w := settled(t, converged)
	w.Status.Observed = part("a")
	u := toUnstructured(t, w)
	s := &server{}
	commit(t, s, nil, mustUnstructured(t, u), func(session *status.Session) {
		parts, _, _ := unstructured.NestedSlice(u.Object, "status", "observed", "parts")
		u.Object["status"].(map[string]any)["observed"] = map[string]any{"parts": append(parts, "b")}
		u.Object["status"].(map[string]any)["phase"] = "Other"
		converged(session)
	}, region)
	mustHaveFields(t, s.only(t), "phase")
}

// Misspelt, a region would protect nothing.
func TestARegionTheKindDoesNotHaveIsAnError(t *testing.T) {
	s := &server{}
	outcome, err := try(s, nil, newWidget(), converged, status.WithRegions("obsreved"))
	if outcome != status.Failed || err == nil || len(s.patches) != 0 {
		t.Errorf("%s, %v", outcome, err)
	}
	mustContain(t, fmt.Sprint(err), "obsreved")
}

// bare is a kind that keeps its status behind a pointer, as some do.
type bare struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            *widget.WidgetStatus `json:"status,omitempty"`
}

func (b *bare) DeepCopyObject() runtime.Object {
	c := *b
	b.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Status = b.Status.DeepCopy()
	return &c
}

func (b *bare) status() *widget.WidgetStatus {
	if b.Status == nil {
		b.Status = &widget.WidgetStatus{}
	}
	return b.Status
}

func (b *bare) SetObservedGeneration(g int64)         { b.status().ObservedGeneration = g }
func (b *bare) StatusConditions() *[]metav1.Condition { return &b.status().Conditions }

func TestAStatusBehindAPointerWorksTheSame(t *testing.T) {
	b := &bare{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "7", Generation: 1}}
	s := &server{}
	commit(t, s, nil, b, func(session *status.Session) {
		b.Status.Observed = part("mine")
		converged(session)
	}, region)
	mustHaveFields(t, s.only(t), "conditions", "observedGeneration")
	if outcome := commit(t, s, nil, b, func(session *status.Session) {
		b.Status.Observed.Parts[0].Name = "changed"
		converged(session)
	}, region); outcome != status.Unchanged {
		t.Errorf("%s: %q", outcome, s.patches)
	}
}

// statusless has no status to write: a mistake of its author, reported and not panicked about.
type statusless struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	conditions        []metav1.Condition
}

func (s *statusless) DeepCopyObject() runtime.Object        { c := *s; return &c }
func (s *statusless) SetObservedGeneration(int64)           {}
func (s *statusless) StatusConditions() *[]metav1.Condition { return &s.conditions }

func TestAKindWithoutStatusIsAnError(t *testing.T) {
	outcome, err := try(&server{}, nil, &statusless{}, converged)
	if outcome != status.Failed || err == nil {
		t.Errorf("%s, %v", outcome, err)
	}
}

// The patch, applied as RFC 7386 says, gives exactly what was reported, and leaves the region as stored.
func TestThePatchAppliedGivesTheReportAndKeepsTheRegion(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SampledFrom([]string{"", "a", "b"})
		lists := rapid.SliceOfN(names, 0, 2)
		w := newWidget()
		w.Status.Phase, w.Status.Addresses = names.Draw(rt, "phase"), lists.Draw(rt, "addresses")
		w.Status.Observed = part("stored")
		if _, err := try(&server{}, nil, w, drawReport(rt)); err != nil {
			rt.Fatal(err)
		}
		stored, _ := json.Marshal(w)

		s := &server{}
		if _, err := try(s, nil, w, func(session *status.Session) {
			drawReport(rt)(session)
			w.Status.Phase, w.Status.Addresses = names.Draw(rt, "new phase"), lists.Draw(rt, "new addresses")
			w.Status.Observed = part("local")
		}, region); err != nil {
			rt.Fatal(err)
		}
		w.Status.Observed = part("stored")
		want, _ := json.Marshal(w)
		got := stored
		for _, patch := range s.patches {
			var err error
			if got, err = jsonpatch.MergePatch(got, []byte(patch)); err != nil {
				rt.Fatal(err)
			}
		}
		if !jsonpatch.Equal(want, got) {
			rt.Fatalf("stored %s\npatch  %q\ngives  %s\nwant   %s", stored, s.patches, got, want)
		}
	})
}

// mustHaveFields checks which fields of status a patch touches, all of them.
func mustHaveFields(t *testing.T, patch string, want ...string) {
	t.Helper()
	var document struct {
		Status map[string]json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal([]byte(patch), &document); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for field := range document.Status {
		got[field] = true
	}
	wanted := map[string]bool{}
	for _, field := range want {
		wanted[field] = true
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s\n%s", patch, diff)
	}
}
