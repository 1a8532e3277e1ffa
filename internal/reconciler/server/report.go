// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/pass"
	"github.com/holdfast-dev/holdfast/internal/reconciler/view"
	"github.com/holdfast-dev/holdfast/status"
)

const kind = "Server"

// report ends a pass that wrote nothing else with the one status commit (P9). Extra gates come first.
func (r *Reconciler) report(ctx context.Context, read view.ServerRead, decision lifecycle.Decision, after time.Duration, extra ...lifecycle.Gate) (ctrl.Result, error) {
	server := read.Server
	session := status.Begin(r.Client, r.Recorder, server, status.WithRegions("observed"), status.WithMetrics(r.Metrics), status.WithClock(r.Clock),
		status.WithPatience(r.Patience))
	server.Status.Phase = decision.Phase
	pass.Report(session, decision.Conditions, append(extra, decision.Gates...))
	session.AfterPersist(func() { r.reports.Persisted(server) })
	outcome, err := session.Commit(ctx)
	return ctrl.Result{RequeueAfter: outcome.Requeue(after)}, err
}
