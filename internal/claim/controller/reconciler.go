// SPDX-License-Identifier: Apache-2.0

// Package controller acts on ServerClaim objects: it writes what package claim decides, to the claim or to its server. It talks to no
// provider.
package controller

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/display"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
	"github.com/holdfast-dev/holdfast/internal/wake"
	"github.com/holdfast-dev/holdfast/status"
)

const kind = "ServerClaim"

// Reconciler runs the passes of ServerClaim objects.
type Reconciler struct {
	Client   client.Client
	Reader   *view.Claims
	Recorder events.EventRecorder
	Metrics  *status.Metrics
	Clock    clock.PassiveClock
	// Conflicts counts the writes that lost a race, see NewConflicts.
	Conflicts *prometheus.CounterVec
	// Patience with reports; nil for none.
	Patience *status.Patience

	choices choices
	reports wake.Reports
}

// Reconcile is one pass.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	now := r.Clock.Now()
	read, err := r.Reader.CachedToAct(ctx, request.NamespacedName, now)
	if apierrors.IsNotFound(err) {
		r.Metrics.Forget(kind, request.NamespacedName)
		r.reports.Forget(request.NamespacedName)
		r.choices.forget(request.NamespacedName)
		r.Patience.Forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if read.Claim.Spec.ServerName != "" || !read.Claim.DeletionTimestamp.IsZero() {
		r.choices.forget(request.NamespacedName)
	}
	decision := claim.Decide(read.View)
	if decision.Step.Live {
		if read, err = r.Reader.LiveToAct(ctx, request.NamespacedName, now); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		decision = r.choices.decide(read.View)
	}
	switch decision.Step.Kind {
	case lifecycle.StepPatch, lifecycle.StepCreate, lifecycle.StepDelete:
		return r.write(ctx, read, decision)
	default:
		return r.report(ctx, read, decision)
	}
}

// write carries out the one write that was decided (P4): of the claim, or of its server.
func (r *Reconciler) write(ctx context.Context, read view.ClaimRead, decision claim.Decision) (ctrl.Result, error) {
	var object client.Object = read.Claim
	if name := decision.OnServer; name != "" {
		server, ok := read.Servers[name]
		if !ok {
			return ctrl.Result{}, fmt.Errorf("claim %s: decided on server %s, which was not read", claim.NameOf(read.Claim), name)
		}
		object = server
	}
	written, err := r.send(ctx, object, decision)
	if written != pass.Done {
		r.choices.forget(client.ObjectKeyFromObject(read.Claim))
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if written == pass.Lost {
		r.Conflicts.WithLabelValues(decision.Step.Clause).Inc()
		return ctrl.Result{RequeueAfter: pass.Again}, nil
	}
	log.FromContext(ctx).Info(decision.Step.Message, "step", decision.Step.Clause)
	pass.Tell(r.Recorder, object, decision.Step)
	return ctrl.Result{}, nil
}

func (r *Reconciler) send(ctx context.Context, object client.Object, decision claim.Decision) (pass.Written, error) {
	switch decision.Step.Kind {
	case lifecycle.StepCreate:
		return pass.Create(ctx, r.Client, decision.Create)
	case lifecycle.StepDelete:
		return pass.Delete(ctx, r.Client, object)
	default:
		return pass.Write(ctx, r.Client, object, *decision.Step.Patch)
	}
}

// report tells of the claim, and of the server that it has what only a reader needs to know.
func (r *Reconciler) report(ctx context.Context, read view.ClaimRead, decision claim.Decision) (ctrl.Result, error) {
	added, err := read.Tell(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	if added {
		told := claim.Decide(read.View)
		decision.Gates, decision.Conditions = told.Gates, told.Conditions
	}
	decision = display.WithRefusal(read.Claim, read.View.Server, decision)
	session := status.Begin(r.Client, r.Recorder, read.Claim, status.WithMetrics(r.Metrics), status.WithClock(r.Clock), status.WithPatience(r.Patience))
	read.Claim.Status.Phase = decision.Phase
	read.Claim.Status.Machine = decision.Machine
	pass.Report(session, decision.Conditions, decision.Gates)
	session.AfterPersist(func() { r.reports.Persisted(read.Claim) })
	outcome, err := session.Commit(ctx)
	return ctrl.Result{RequeueAfter: outcome.Requeue(decision.Step.After)}, err
}
