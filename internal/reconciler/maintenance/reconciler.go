// SPDX-License-Identifier: Apache-2.0

// Package maintenance acts on ServerMaintenance objects: it takes and gives back the lock on their server. It talks to no provider.
package maintenance

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
	"github.com/holdfast-dev/holdfast/internal/wake"
	"github.com/holdfast-dev/holdfast/status"
)

const kind = "ServerMaintenance"

// Reconciler runs the passes of ServerMaintenance objects.
type Reconciler struct {
	Client   client.Client
	Reader   *view.Maintenances
	Recorder events.EventRecorder
	Metrics  *status.Metrics
	Clock    clock.PassiveClock

	reports wake.Reports
}

// Reconcile is one pass.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	now := r.Clock.Now()
	read, err := r.Reader.Cached(ctx, request.Name, now)
	if apierrors.IsNotFound(err) {
		r.Metrics.Forget(kind, request.NamespacedName)
		r.reports.Forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	decision := maintenance.Decide(read)
	if decision.Step.Live {
		if read, err = r.Reader.Live(ctx, request.Name, now); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		decision = maintenance.Decide(read)
	}
	if decision.Step.Kind == lifecycle.StepPatch {
		return r.write(ctx, read, decision)
	}
	return r.report(ctx, read, decision)
}

func (r *Reconciler) write(ctx context.Context, read maintenance.View, decision maintenance.Decision) (ctrl.Result, error) {
	var object client.Object = read.Maintenance
	if decision.OnServer != "" {
		object = read.Server
	}
	written, err := pass.Write(ctx, r.Client, object, *decision.Step.Patch)
	if err != nil {
		return ctrl.Result{}, err
	}
	if written == pass.Lost {
		return ctrl.Result{RequeueAfter: pass.Again}, nil
	}
	log.FromContext(ctx).Info(decision.Step.Message, "step", decision.Step.Clause)
	return ctrl.Result{}, nil
}

func (r *Reconciler) report(ctx context.Context, read maintenance.View, decision maintenance.Decision) (ctrl.Result, error) {
	session := status.Begin(r.Client, r.Recorder, read.Maintenance, status.WithMetrics(r.Metrics), status.WithClock(r.Clock))
	pass.Report(session, decision.Conditions, decision.Gates)
	session.AfterPersist(func() { r.reports.Persisted(read.Maintenance) })
	outcome, err := session.Commit(ctx)
	return ctrl.Result{RequeueAfter: outcome.Requeue(decision.Step.After)}, err
}
