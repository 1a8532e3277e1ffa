// SPDX-License-Identifier: Apache-2.0

// Package cloud acts on Cloud objects: it guards them and their credentials, and reports what the monitor found. It never talks to a
// cloud; what it knows of one is the monitor's region (P7).
package cloud

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
	"github.com/holdfast-dev/holdfast/internal/wake"
	"github.com/holdfast-dev/holdfast/status"
)

const kind = "Cloud"

// Reconciler runs the passes of Cloud objects.
type Reconciler struct {
	Client    client.Client
	API       client.Reader // uncached: guards let go only on what it says
	Recorder  events.EventRecorder
	Metrics   *status.Metrics
	Clock     clock.PassiveClock
	Namespace string // of the operator, where the credentials are
	// Forget ends the session with a cloud that is no more (B059).
	Forget func(ctx context.Context, name string)

	reports wake.Reports
}

// Reconcile is one pass: the first step that has something to do ends it (P4).
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	cloud := &v1alpha1.Cloud{}
	err := r.Client.Get(ctx, request.NamespacedName, cloud)
	if apierrors.IsNotFound(err) {
		r.Metrics.Forget(kind, request.NamespacedName)
		r.reports.Forget(request.NamespacedName)
		r.Forget(ctx, request.Name)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if !cloud.DeletionTimestamp.IsZero() {
		return r.deleting(ctx, cloud)
	}
	for _, step := range []func(context.Context, *v1alpha1.Cloud) (bool, error){r.guardSelf, r.guardSecret} {
		if done, err := step(ctx, cloud); done || err != nil {
			return guard.Next(err)
		}
	}
	return r.report(ctx, cloud, 0)
}

// guardSelf puts the guard on the Cloud before its first use: nothing is made in a cloud that does not bear it.
func (r *Reconciler) guardSelf(ctx context.Context, cloud *v1alpha1.Cloud) (bool, error) {
	return r.guard().Put(ctx, cloud, "guard the Cloud")
}

// guardSecret keeps the credentials there until the last object that uses them has gone: VMs must be deletable to the end (B070, B061).
func (r *Reconciler) guardSecret(ctx context.Context, cloud *v1alpha1.Cloud) (bool, error) {
	return r.secrets().Put(ctx, cloud.Spec.CloudsSecretRef.Name, "guard the Cloud's credentials")
}

// deleting waits for the servers in the cloud and the classes that name it, then lets go of the credentials, then of the Cloud. It looks
// at nothing that may be wrong with the Cloud: what cannot be reached can be deleted (B062).
func (r *Reconciler) deleting(ctx context.Context, cloud *v1alpha1.Cloud) (ctrl.Result, error) {
	if !guard.On(cloud) {
		return ctrl.Result{}, nil
	}
	users, err := guard.OfCloud(ctx, r.API, cloud.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(users) > 0 {
		return r.report(ctx, cloud, guard.Recheck, guard.Waiting(users))
	}
	if done, err := r.secrets().LetGo(ctx, cloud.Spec.CloudsSecretRef.Name, cloud, "let the Cloud's credentials go"); done || err != nil {
		return guard.Next(err)
	}
	_, err = r.guard().LetGo(ctx, cloud, "let the Cloud go")
	return guard.Next(err)
}

func (r *Reconciler) guard() guard.Guard { return guard.Guard{Client: r.Client, API: r.API} }

func (r *Reconciler) secrets() guard.Secrets {
	return guard.Secrets{Guard: r.guard(), Namespace: r.Namespace}
}

// report ends a pass with the one status commit (P9). Extra gates come before those that the cloud's own standing gives.
func (r *Reconciler) report(ctx context.Context, cloud *v1alpha1.Cloud, after time.Duration, extra ...lifecycle.Gate) (ctrl.Result, error) {
	conditions, gates := Describe(cloud)
	session := status.Begin(r.Client, r.Recorder, cloud, status.WithRegions("observed"), status.WithMetrics(r.Metrics), status.WithClock(r.Clock))
	pass.Report(session, conditions, append(extra, gates...))
	session.AfterPersist(func() { r.reports.Persisted(cloud) })
	outcome, err := session.Commit(ctx)
	return ctrl.Result{RequeueAfter: outcome.Requeue(after)}, err
}
