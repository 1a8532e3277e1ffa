// SPDX-License-Identifier: Apache-2.0

// Package server ACTS on servers. One pass reads a view, decides, does the one step, and commits (P4); it never looks at a
// provider to learn something (P7).
package server

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
	"github.com/holdfast-dev/holdfast/internal/provider"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
	"github.com/holdfast-dev/holdfast/internal/wake"
	"github.com/holdfast-dev/holdfast/status"
)

// Actors hands out the acting side of a BMC's provider. Errors are *provider.Error, but for those of the API server.
type Actors interface {
	Actor(ctx context.Context, bmc *v1alpha1.BMC) (provider.Actor, error)
}

// Reconciler runs the passes of Server objects.
type Reconciler struct {
	Client   client.Client
	Reader   *view.Servers
	Actors   Actors
	Clouds   CloudActors
	Seeds    Seeds
	Recorder events.EventRecorder
	Metrics  *status.Metrics
	Clock    clock.PassiveClock
	Settings lifecycle.Settings
	// Patience with reports; nil for none.
	Patience *status.Patience

	efforts efforts
	reports wake.Reports
}

// Reconcile is one pass.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	now := r.Clock.Now()
	read, err := r.Reader.Cached(ctx, request.Name, now)
	if apierrors.IsNotFound(err) {
		r.forget(request.Name)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	decision := servers.Decide(read.View)
	if wait, refusal := r.resting(read.Server, decision.Step, now); wait > 0 {
		return r.report(ctx, read, decision, min(wait, decision.Step.After), refusals(refusal)...)
	}
	if decision.Step.Live {
		live, err := r.Reader.Live(ctx, request.Name, now)
		if err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		again := servers.Decide(live.View)
		if again.Step.Kind == lifecycle.StepAct && !decision.Step.SameEffect(again.Step) {
			return ctrl.Result{RequeueAfter: pass.Again}, nil // the cache is behind: its next event brings the next pass
		}
		read, decision = live, again
	}
	switch decision.Step.Kind {
	case lifecycle.StepPatch:
		return r.write(ctx, read, decision)
	case lifecycle.StepAct:
		return r.act(ctx, read, decision)
	default:
		return r.report(ctx, read, decision, decision.Step.After)
	}
}

// write sends the step's patch. The watch brings the next pass.
func (r *Reconciler) write(ctx context.Context, read view.ServerRead, decision lifecycle.Decision) (ctrl.Result, error) {
	written, result, err := r.patch(ctx, read, *decision.Step.Patch)
	if written != pass.Done {
		return result, err
	}
	tell(ctx, decision)
	pass.Tell(r.Recorder, read.Server, decision.Step)
	return ctrl.Result{}, nil
}

// tell logs the step taken: one line a step, none for a settled pass.
func tell(ctx context.Context, decision lifecycle.Decision) {
	log.FromContext(ctx).Info(decision.Step.Message, "phase", decision.Phase, "step", decision.Step.Clause)
}

func (r *Reconciler) forget(name string) {
	r.Metrics.Forget(kind, client.ObjectKey{Name: name})
	r.efforts.forget(name)
	r.reports.Forget(client.ObjectKey{Name: name})
	r.Patience.Forget(client.ObjectKey{Name: name})
}
