// SPDX-License-Identifier: Apache-2.0

// Package serverclass acts on ServerClass objects: it guards them while claims or servers name them, and says whether what they name is
// there. It makes nothing: a class makes servers through the claims that name it.
package serverclass

import (
	"context"
	"fmt"
	"strings"
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

const kind = "ServerClass"

// Reconciler runs the passes of ServerClass objects.
type Reconciler struct {
	Client   client.Client
	API      client.Reader // uncached: guards let go only on what it says
	Recorder events.EventRecorder
	Metrics  *status.Metrics
	Clock    clock.PassiveClock

	reports wake.Reports
}

// Reconcile is one pass: the first step that has something to do ends it (P4).
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	class := &v1alpha1.ServerClass{}
	err := r.Client.Get(ctx, request.NamespacedName, class)
	if apierrors.IsNotFound(err) {
		r.Metrics.Forget(kind, request.NamespacedName)
		r.reports.Forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if !class.DeletionTimestamp.IsZero() {
		return r.deleting(ctx, class)
	}
	// Before its first use: no claim has a server made by a class that does not bear the guard.
	if done, err := r.guard().Put(ctx, class, "guard the ServerClass"); done || err != nil {
		return guard.Next(err)
	}
	return r.report(ctx, class, 0)
}

// deleting waits for the servers that the class made and the claims that name it.
func (r *Reconciler) deleting(ctx context.Context, class *v1alpha1.ServerClass) (ctrl.Result, error) {
	if !guard.On(class) {
		return ctrl.Result{}, nil
	}
	users, err := guard.OfClass(ctx, r.API, class.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(users) > 0 {
		return r.report(ctx, class, guard.Recheck, guard.Waiting(users))
	}
	_, err = r.guard().LetGo(ctx, class, "let the ServerClass go")
	return guard.Next(err)
}

func (r *Reconciler) guard() guard.Guard { return guard.Guard{Client: r.Client, API: r.API} }

// report ends a pass with the one status commit (P9).
func (r *Reconciler) report(ctx context.Context, class *v1alpha1.ServerClass, after time.Duration, extra ...lifecycle.Gate) (ctrl.Result, error) {
	dependencies, err := Dependencies(ctx, r.Client, class)
	if err != nil {
		return ctrl.Result{}, err
	}
	conditions, gates := Describe(dependencies)
	session := status.Begin(r.Client, r.Recorder, class, status.WithMetrics(r.Metrics), status.WithClock(r.Clock))
	pass.Report(session, conditions, append(extra, gates...))
	session.AfterPersist(func() { r.reports.Persisted(class) })
	outcome, err := session.Commit(ctx)
	return ctrl.Result{RequeueAfter: outcome.Requeue(after)}, err
}

// Dependencies reads how the cloud and the SSH certificate authorities stand that a class names, in this order.
func Dependencies(ctx context.Context, from client.Reader, class *v1alpha1.ServerClass) ([]lifecycle.Dependency, error) {
	cloud, err := guard.Dependency(ctx, from, &v1alpha1.Cloud{}, "Cloud", class.Spec.OpenStack.CloudRef.Name)
	if err != nil {
		return nil, err
	}
	dependencies := []lifecycle.Dependency{cloud}
	for _, ref := range class.Spec.OpenStack.SSHCertificateAuthorityRefs {
		authority, err := guard.Dependency(ctx, from, &v1alpha1.SSHCertificateAuthority{}, "SSHCertificateAuthority", ref.Name)
		if err != nil {
			return nil, err
		}
		dependencies = append(dependencies, authority)
	}
	return dependencies, nil
}

// Describe tells how a class stands from what it names: the condition, and the gates that keep it from being ready. It is pure.
func Describe(dependencies []lifecycle.Dependency) ([]lifecycle.Condition, []lifecycle.Gate) {
	const condition = v1alpha1.ConditionDependenciesReady
	for _, d := range dependencies {
		name := strings.ToLower(d.Kind) + " " + d.Name
		switch {
		case d.Missing:
			return because(condition, v1alpha1.ReasonDependencyMissing, fmt.Sprintf("%s does not exist: create it, or delete the class and make one that names another", name))
		case d.Deleting:
			return because(condition, v1alpha1.ReasonDependencyDeleting, fmt.Sprintf("%s is being deleted and takes no new user: delete the class too", name))
		}
	}
	return []lifecycle.Condition{{Type: condition, Status: "True", Reason: v1alpha1.ReasonSettled, Message: "all that the class names is there"}}, nil
}

func because(condition, reason, message string) ([]lifecycle.Condition, []lifecycle.Gate) {
	return []lifecycle.Condition{{Type: condition, Status: "False", Reason: reason, Message: message}},
		[]lifecycle.Gate{{Level: lifecycle.Stalled, Reason: reason, Message: message}}
}
