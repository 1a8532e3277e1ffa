// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// Name of the controller.
const Name = "claim"

const workers = 16

// Setup adds the controller to mgr: what wakes a claim is listed here, and nowhere else.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&v1alpha1.ServerClaim{}, &handler.EnqueueRequestForObject{},
			builder.WithPredicates(wakes.On(Name, wake.Deletion, wake.Spec, wake.Ledger, wake.Verb, r.reports.Changed()))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, r.claimsOf), builder.WithPredicates(wake.When(wake.All()...))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// claimsOf are the claims that a change of server concerns: those that have it, name it or are bound to it, and, where it could be
// bound now, every claim that still has none (B048).
func (r *Reconciler) claimsOf(ctx context.Context, object client.Object) []reconcile.Request {
	server := object.(*v1alpha1.Server)
	requests := r.claims(ctx, client.MatchingFields{index.ClaimServerName: server.Name})
	if ref := server.Spec.ClaimRef; ref != nil {
		return append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}})
	}
	if identity := server.Annotations[ledger.KeyIdentity]; identity != "" {
		requests = append(requests, r.claims(ctx, client.MatchingFields{index.ClaimBound: identity})...)
	}
	if claim.Assess(server, r.Reader.Settings).Available {
		requests = append(requests, r.claims(ctx, client.MatchingFields{index.ClaimServerName: index.None})...)
	}
	return requests
}

func (r *Reconciler) claims(ctx context.Context, match client.MatchingFields) []reconcile.Request {
	var list v1alpha1.ServerClaimList
	if err := r.Client.List(ctx, &list, match, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return nil // an unmatched claim is looked at again with the next change of any server
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}
