// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

func mustRead(t *testing.T, w *widget.Widget, want kstatus.Status) {
	t.Helper()
	result, err := kstatus.Compute(readUnstructured(t, w))
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != want {
		t.Errorf("kstatus reads %s (%s), want %s", result.Status, result.Message, want)
	}
}

func TestKstatusReadsWhatAPassReported(t *testing.T) {
	for name, test := range map[string]struct {
		report func(*status.Session)
		want   kstatus.Status
	}{
		"converged":   {converged, kstatus.CurrentStatus},
		"progressing": {func(s *status.Session) { s.Progressing("Waiting", "") }, kstatus.InProgressStatus},
		"unknown":     {func(s *status.Session) { s.Unknown("NotSeen", "") }, kstatus.InProgressStatus},
		"stalled":     {func(s *status.Session) { s.Stalled("BadSpec", "") }, kstatus.FailedStatus},
		"silent":      {func(*status.Session) {}, kstatus.InProgressStatus},
	} {
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
				mustRead(t, w, kstatus.InProgressStatus) // new: nobody has looked
				commit(t, object, status.Written, test.report)
				mustRead(t, w, test.want)
				patch(t, w, "", `{"spec":{"parts":5}}`)
				mustRead(t, w, kstatus.InProgressStatus) // stale: nobody has looked at this spec
				commit(t, read(t, w), status.Written, test.report)
				mustRead(t, w, test.want)
			})
		})
	}
}

// P1: a wiped status never reads as done, and comes back whole with the next pass.
func TestAWipedStatusReadsInProgressAndComesBack(t *testing.T) {
	report := func(s *status.Session) {
		s.Set("Scheduled", yes, "NodeFound", "")
		converged(s)
	}
	wipes := map[string]func(t *testing.T, w *widget.Widget){
		"null":  func(t *testing.T, w *widget.Widget) { patch(t, w, "status", `{"status":null}`) },
		"empty": func(t *testing.T, w *widget.Widget) { update(t, w, map[string]any{}) },
		"absent": func(t *testing.T, w *widget.Widget) {
			update(t, w, nil)
		},
	}
	for name, wipe := range wipes {
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, w *widget.Widget, object status.Object) {
				commit(t, object, status.Written, report)
				wipe(t, w)
				if n := len(read(t, w).Status.Conditions); n > 0 {
					t.Fatalf("not wiped: %d conditions", n)
				}
				mustRead(t, w, kstatus.InProgressStatus)
				commit(t, read(t, w), status.Written, report)
				if n := len(read(t, w).Status.Conditions); n != 4 {
					t.Errorf("%d conditions came back", n)
				}
				mustRead(t, w, kstatus.CurrentStatus)
			})
		})
	}
}

// update replaces the whole status, as a restore or an admin would.
func update(t *testing.T, w *widget.Widget, newStatus map[string]any) {
	t.Helper()
	u := readUnstructured(t, w)
	if newStatus == nil {
		delete(u.Object, "status")
	} else {
		u.Object["status"] = newStatus
	}
	if err := api.Status().Update(t.Context(), u); err != nil {
		t.Fatal(err)
	}
}
