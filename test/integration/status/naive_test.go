// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/testenv"
	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

const quota = 100

// NaiveReconciler reports as many controllers do. The tests below show what its users see of that; the
// guide on package status tells it.
type NaiveReconciler struct {
	Client client.Client
}

func (r *NaiveReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	w := &widget.Widget{}
	if err := r.Client.Get(ctx, request.NamespacedName, w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	if w.Spec.Parts > quota {
		r.setReady(w, metav1.ConditionFalse, "QuotaExceeded", "too many parts")
	}
	if w.Status.Observed == nil {
		r.setReady(w, metav1.ConditionFalse, "NotCounted", "nobody has counted yet")
	} else if len(w.Status.Observed.Parts) >= int(w.Spec.Parts) {
		r.setReady(w, metav1.ConditionTrue, "AllParts", "all parts are there")
	}

	return ctrl.Result{}, r.updateStatus(ctx, w)
}

func (r *NaiveReconciler) setReady(w *widget.Widget, value metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: value, Reason: reason, Message: message, ObservedGeneration: w.Generation,
	})
}

func (r *NaiveReconciler) updateStatus(ctx context.Context, w *widget.Widget) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		latest := &widget.Widget{}
		if err := r.Client.Get(ctx, client.ObjectKeyFromObject(w), latest); err != nil {
			return err
		}
		latest.Status = w.Status
		latest.Status.ObservedGeneration = latest.Generation
		return r.Client.Status().Update(ctx, latest)
	})
}

func requestFor(w *widget.Widget) ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKeyFromObject(w)}
}

func mustReconcile(t *testing.T, r interface {
	Reconcile(context.Context, ctrl.Request) (ctrl.Result, error)
}, w *widget.Widget) {
	t.Helper()
	if _, err := r.Reconcile(t.Context(), requestFor(w)); err != nil {
		t.Fatal(err)
	}
}

// The naive pass sends a request whether or not there is news: 50 passes, 50 requests. A session sends one.
func TestNaiveEveryPassIsARequest(t *testing.T) {
	for name, test := range map[string]struct {
		pass func(w *widget.Widget)
		want map[string]int
	}{
		"naive":   {func(w *widget.Widget) { mustReconcile(t, &NaiveReconciler{api}, w) }, map[string]int{"create": 1, "update status": 50, "patch": 1}},
		"session": {func(w *widget.Widget) { sessionPass(t, w) }, map[string]int{"create": 1, "patch status": 1, "patch": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := create(t)
			for range 50 {
				test.pass(w)
			}
			patch(t, w, "", `{"metadata":{"annotations":{"marker":"last"}}}`)
			testenv.Eventually(t, "the audit log to hold the last write", func(context.Context) error {
				return auditedWrites(w.Name, test.want)
			})
		})
	}
}

func sessionPass(t *testing.T, w *widget.Widget) {
	t.Helper()
	stored := read(t, w)
	session := status.Begin(api, nil, stored, region)
	if stored.Spec.Parts > quota {
		session.Stalled("QuotaExceeded", "too many parts")
	}
	if stored.Status.Observed == nil {
		session.Unknown("NotCounted", "nobody has counted yet")
	}
	session.Converged("AllParts", "all parts are there")
	if _, err := session.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The last gate that speaks wins, so a widget that needs a person reads as one on its way, for ever.
func TestNaiveABrokenObjectReadsInProgress(t *testing.T) {
	w := create(t)
	patch(t, w, "", fmt.Sprintf(`{"spec":{"parts":%d}}`, quota+1))
	mustReconcile(t, &NaiveReconciler{api}, w)
	mustRead(t, w, kstatus.InProgressStatus)
	sessionPass(t, w)
	mustRead(t, w, kstatus.FailedStatus)
}

// Reading again before writing stamps the old answer with the new generation: kstatus reads Current for a
// spec that nobody has looked at.
func TestNaiveASpecNobodyLookedAtReadsCurrent(t *testing.T) {
	change := func(t *testing.T, w *widget.Widget) {
		patch(t, w, "", fmt.Sprintf(`{"spec":{"parts":%d}}`, quota+1))
	}
	t.Run("naive", func(t *testing.T) {
		w := create(t)
		patch(t, w, "status", counted)
		r := &NaiveReconciler{&changesAfterRead{Client: api, change: func() { change(t, w) }}}
		mustReconcile(t, r, w)
		mustRead(t, w, kstatus.CurrentStatus)
	})
	t.Run("session", func(t *testing.T) {
		w := create(t)
		patch(t, w, "status", counted)
		local := read(t, w)
		change(t, w)
		commit(t, local, status.LostRace, converged, region)
		mustRead(t, w, kstatus.InProgressStatus)
	})
}

// changesAfterRead lets a person edit the object right after the controller's first read.
type changesAfterRead struct {
	client.Client
	change func()
}

func (c *changesAfterRead) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, key, object, options...)
	if c.change != nil {
		c.change()
		c.change = nil
	}
	return err
}

// Writing the whole status writes the other writer's part too, as it was when this one read it.
func TestNaiveTheOtherWritersRegionIsRolledBack(t *testing.T) {
	for name, test := range map[string]struct {
		report func(t *testing.T, local, w *widget.Widget)
		want   string
	}{
		"naive": {func(t *testing.T, local, _ *widget.Widget) {
			if err := (&NaiveReconciler{api}).updateStatus(t.Context(), local); err != nil {
				t.Fatal(err)
			}
		}, "axle"},
		"session": {func(t *testing.T, local, w *widget.Widget) {
			commit(t, local, status.LostRace, converged, region)
			commit(t, read(t, w), status.Written, converged, region)
		}, "wheel"},
	} {
		t.Run(name, func(t *testing.T) {
			w := create(t)
			patch(t, w, "status", counted)
			local := read(t, w)
			patch(t, w, "status", `{"status":{"observed":{"parts":[{"name":"wheel"}]}}}`)
			test.report(t, local, w)
			if got := read(t, w).Status.Observed.Parts[0].Name; got != test.want {
				t.Errorf("the region says %s, not %s", got, test.want)
			}
		})
	}
}
