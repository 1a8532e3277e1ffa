// SPDX-License-Identifier: Apache-2.0

package status

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

const counted = `{"status":{"observed":{"parts":[{"name":"axle","serial":"A1","healthy":true}]}}}`

var region = status.WithRegions("observed")

func TestARegionStaysAsItsWriterLeftItWhateverHappenedToTheLocalCopy(t *testing.T) {
	for name, mutate := range map[string]func(*widget.Widget){
		"untouched": func(*widget.Widget) {},
		"removed":   func(w *widget.Widget) { w.Status.Observed = nil },
		"replaced":  func(w *widget.Widget) { w.Status.Observed = &widget.WidgetObserved{} },
		"edited":    func(w *widget.Widget) { w.Status.Observed.Parts[0].Healthy = false },
	} {
		t.Run(name, func(t *testing.T) {
			w := create(t)
			patch(t, w, "status", counted)
			want := read(t, w).Status.Observed
			local := read(t, w)
			commit(t, local, status.Written, func(s *status.Session) {
				mutate(local)
				converged(s)
			}, region)
			if diff := cmp.Diff(want, read(t, w).Status.Observed); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// P7, B227: one writer a field. The API server's own books of who wrote what show two disjoint sets, though
// the reconciler's copy of the region was made different.
func TestTheTwoWritersOwnDisjointFields(t *testing.T) {
	w := create(t)
	patch(t, w, "status", counted, client.FieldOwner("monitor"))
	local := read(t, w)
	owned := client.WithFieldOwner(api, "reconciler")
	session := status.Begin(owned, nil, local, region)
	local.Status.Observed.Parts[0].Name = "edited"
	session.Converged("Succeeded", "")
	if outcome, err := session.Commit(t.Context()); outcome != status.Written {
		t.Fatal(outcome, err)
	}
	monitor, reconciler := fieldsOf(t, w, "monitor"), fieldsOf(t, w, "reconciler")
	if monitor.Empty() || reconciler.Empty() {
		t.Fatalf("monitor %s, reconciler %s", monitor, reconciler)
	}
	if both := monitor.Intersection(reconciler); !both.Empty() {
		t.Errorf("both own %s", both)
	}
}

func fieldsOf(t *testing.T, w *widget.Widget, manager string) *fieldpath.Set {
	t.Helper()
	for _, entry := range read(t, w).ManagedFields {
		if entry.Manager == manager && entry.Subresource == "status" {
			set := &fieldpath.Set{}
			if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
				t.Fatal(err)
			}
			return set
		}
	}
	return &fieldpath.Set{}
}

func TestAPassThatFindsOnlyTheRegionChangedWritesNothing(t *testing.T) {
	w := create(t)
	commit(t, read(t, w), status.Written, converged, region)
	patch(t, w, "status", counted)
	commit(t, read(t, w), status.Unchanged, converged, region)
	commit(t, readLoose(t, w), status.Unchanged, converged, region)
}
