// SPDX-License-Identifier: Apache-2.0

// Package sshca acts on SSHCertificateAuthority objects: it guards them while servers or classes trust them, and says of each whether its
// keys are such that sshd would take them.
package sshca

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/cloudinit"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/guard"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
	"github.com/holdfast-dev/holdfast/internal/wake"
	"github.com/holdfast-dev/holdfast/status"
)

const kind = "SSHCertificateAuthority"

// Reconciler runs the passes of SSHCertificateAuthority objects.
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
	authority := &v1alpha1.SSHCertificateAuthority{}
	err := r.Client.Get(ctx, request.NamespacedName, authority)
	if apierrors.IsNotFound(err) {
		r.Metrics.Forget(kind, request.NamespacedName)
		r.reports.Forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if !authority.DeletionTimestamp.IsZero() {
		return r.deleting(ctx, authority)
	}
	if done, err := r.guard().Put(ctx, authority, "guard the SSH certificate authority"); done || err != nil {
		return guard.Next(err)
	}
	return r.report(ctx, authority, 0)
}

// deleting waits for the servers that trust the authority and the classes that name it: a VM takes the keys when it is made, and one
// that is made later must not find them missing.
func (r *Reconciler) deleting(ctx context.Context, authority *v1alpha1.SSHCertificateAuthority) (ctrl.Result, error) {
	if !guard.On(authority) {
		return ctrl.Result{}, nil
	}
	users, err := guard.OfAuthority(ctx, r.API, authority.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(users) > 0 {
		return r.report(ctx, authority, guard.Recheck, guard.Waiting(users))
	}
	_, err = r.guard().LetGo(ctx, authority, "let the SSH certificate authority go")
	return guard.Next(err)
}

func (r *Reconciler) guard() guard.Guard { return guard.Guard{Client: r.Client, API: r.API} }

// Describe gives the gates that keep an authority from being ready. What judges its keys is what hands them to servers, so that none is
// found unfit only when a VM is about to be made. It is pure.
func Describe(authority *v1alpha1.SSHCertificateAuthority) []lifecycle.Gate {
	_, err := cloudinit.Render(nil, []cloudinit.Authority{{
		Name: authority.Name, PublicKeys: authority.Spec.PublicKeys, Principals: authority.Spec.PrincipalsByLogin(),
	}})
	if err == nil {
		return nil
	}
	message := err.Error()
	var known *cloudinit.Error
	if errors.As(err, &known) {
		message = known.Message
	}
	return []lifecycle.Gate{{
		Level: lifecycle.Stalled, Reason: v1alpha1.ReasonAuthorityInvalid,
		Message: fmt.Sprintf("no server is made that trusts it: %s: correct the spec", message),
	}}
}

// report ends a pass with the one status commit (P9).
func (r *Reconciler) report(ctx context.Context, authority *v1alpha1.SSHCertificateAuthority, after time.Duration, extra ...lifecycle.Gate) (ctrl.Result, error) {
	session := status.Begin(r.Client, r.Recorder, authority, status.WithMetrics(r.Metrics), status.WithClock(r.Clock))
	pass.Report(session, nil, append(extra, Describe(authority)...))
	session.AfterPersist(func() { r.reports.Persisted(authority) })
	outcome, err := session.Commit(ctx)
	return ctrl.Result{RequeueAfter: outcome.Requeue(after)}, err
}
