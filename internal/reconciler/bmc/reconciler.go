// SPDX-License-Identifier: Apache-2.0

// Package bmc acts on BMC objects: it guards what they use and what uses them, and makes a Server of each host behind one. It never
// talks to a BMC; what it knows of one is the monitor's region (P7).
package bmc

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/guard"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
	"github.com/holdfast-dev/holdfast/internal/wake"
	"github.com/holdfast-dev/holdfast/status"
)

const kind = "BMC"

// Reconciler runs the passes of BMC objects.
type Reconciler struct {
	Client    client.Client
	API       client.Reader // uncached: guards let go only on what it says
	Recorder  events.EventRecorder
	Metrics   *status.Metrics
	Clock     clock.PassiveClock
	Namespace string // of the operator, where the credentials are
	// Forget ends the sessions of a BMC that is no more (B059).
	Forget func(ctx context.Context, name string)

	reports wake.Reports
}

// Reconcile is one pass: the first step that has something to do ends it (P4).
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	bmc := &v1alpha1.BMC{}
	err := r.Client.Get(ctx, request.NamespacedName, bmc)
	if apierrors.IsNotFound(err) {
		r.Metrics.Forget(kind, request.NamespacedName)
		r.reports.Forget(request.NamespacedName)
		r.Forget(ctx, request.Name)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if !bmc.DeletionTimestamp.IsZero() {
		return r.deleting(ctx, bmc)
	}
	for _, step := range []func(context.Context, *v1alpha1.BMC) (bool, error){r.enroll, r.guardSecret} {
		if done, err := step(ctx, bmc); done || err != nil {
			return guard.Next(err)
		}
	}
	others, err := view.OtherObjectsOf(ctx, r.Client, bmc)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(others) > 0 {
		return r.report(ctx, bmc, 0, reachability(bmc), append([]lifecycle.Gate{duplicate(others)}, gates(bmc, nil)...))
	}
	missing, conflicts, err := r.compare(ctx, bmc)
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case len(missing) > 0 && restored(bmc):
		return r.report(ctx, bmc, 0, reachability(bmc), append([]lifecycle.Gate{awaitingServers(bmc, missing)}, gates(bmc, conflicts)...))
	case len(missing) > 0:
		return guard.Next(r.makeServer(ctx, missing[0]))
	}
	if done, err := r.enrolled(ctx, bmc); done || err != nil {
		return guard.Next(err)
	}
	return r.report(ctx, bmc, 0, reachability(bmc), gates(bmc, conflicts))
}

// guardSecret keeps the credentials there until the last BMC that uses them has gone (B070, B061).
func (r *Reconciler) guardSecret(ctx context.Context, bmc *v1alpha1.BMC) (bool, error) {
	return r.secrets().Put(ctx, bmc.Spec.CredentialsSecretRef.Name, "guard the BMC's credentials")
}

// deleting waits for the BMC's servers, then lets go of the credentials, then of the BMC.
func (r *Reconciler) deleting(ctx context.Context, bmc *v1alpha1.BMC) (ctrl.Result, error) {
	if !guard.On(bmc) {
		return ctrl.Result{}, nil
	}
	users, err := guard.OfBMC(ctx, r.API, bmc.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(users) > 0 {
		return r.report(ctx, bmc, guard.Recheck, reachability(bmc), []lifecycle.Gate{guard.Waiting(users)})
	}
	if done, err := r.secrets().LetGo(ctx, bmc.Spec.CredentialsSecretRef.Name, bmc, "let the BMC's credentials go"); done || err != nil {
		return guard.Next(err)
	}
	_, err = r.guard().LetGo(ctx, bmc, "let the BMC go")
	return guard.Next(err)
}

func (r *Reconciler) guard() guard.Guard { return guard.Guard{Client: r.Client, API: r.API} }

func (r *Reconciler) secrets() guard.Secrets {
	return guard.Secrets{Guard: r.guard(), Namespace: r.Namespace}
}

func (r *Reconciler) report(ctx context.Context, bmc *v1alpha1.BMC, after time.Duration, conditions []lifecycle.Condition, gates []lifecycle.Gate) (ctrl.Result, error) {
	session := status.Begin(r.Client, r.Recorder, bmc, status.WithRegions("observed"), status.WithMetrics(r.Metrics), status.WithClock(r.Clock))
	pass.Report(session, conditions, gates)
	session.AfterPersist(func() { r.reports.Persisted(bmc) })
	outcome, err := session.Commit(ctx)
	return ctrl.Result{RequeueAfter: outcome.Requeue(after)}, err
}
