// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/reconciler/display"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// Name of the controller.
const Name = "claim"

// workers are many, for a pass of a claim mostly waits for the API server: with fewer than servers have, a thousand claims that are made at
// once are bound behind the boots of those that were bound first.
const workers = 48

// Setup adds the controller to mgr: what wakes a claim is listed here, and nowhere else.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&v1alpha1.ServerClaim{}, &handler.EnqueueRequestForObject{},
			builder.WithPredicates(wakes.On(Name, wake.Deletion, wake.Spec, wake.Ledger, wake.Verb, r.reports.Changed()))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, r.claimsOf), builder.WithPredicates(wake.When(append(wake.All(), display.ReportMoved)...))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, r.unmatched), builder.WithPredicates(offers(r.Reader.Settings))).
		Watches(&v1alpha1.ServerClass{}, wakes.Mapped(Name, wake.CauseDependency, r.unmadeOf), builder.WithPredicates(wake.When(wake.Deletion, wake.Spec))).
		Watches(&v1alpha1.ServerClaim{}, wakes.Mapped(Name, wake.CauseClaim, r.rivals), builder.WithPredicates(unspoken)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// claimsOf are the claims that any change of server concerns: those that have it, name it or are bound to it.
func (r *Reconciler) claimsOf(ctx context.Context, object client.Object) []reconcile.Request {
	server := object.(*v1alpha1.Server)
	requests := r.claims(ctx, client.MatchingFields{index.ClaimServerName: server.Name})
	if ref := server.Spec.ClaimRef; ref != nil {
		return append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}})
	}
	if identity := server.Annotations[ledger.KeyIdentity]; identity != "" {
		requests = append(requests, r.claims(ctx, client.MatchingFields{index.ClaimBound: identity})...)
	}
	return requests
}

// unmatched are the claims that still have no server and are made none, where server could be bound now (B048).
func (r *Reconciler) unmatched(ctx context.Context, object client.Object) []reconcile.Request {
	if !claim.Assess(object.(*v1alpha1.Server), r.Reader.Settings).Available {
		return nil
	}
	return r.claims(ctx, client.MatchingFields{index.ClaimServerName: index.None})
}

// unmadeOf are the claims that still wait for a class to make their server. What was made does not change with its class.
func (r *Reconciler) unmadeOf(ctx context.Context, object client.Object) []reconcile.Request {
	var list v1alpha1.ServerClaimList
	ofClass := client.MatchingFields{index.ClaimClass: object.GetName()}
	if err := r.Client.List(ctx, &list, ofClass, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return nil // the class wakes them again with its next change, and a claim that waits for the guard has a timer
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Annotations[ledger.KeyBound] == "" {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// unspoken passes claims that speak for a server no more: gone, or choosing anew.
var unspoken = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
	UpdateFunc: func(update event.UpdateEvent) bool {
		before := update.ObjectOld.(*v1alpha1.ServerClaim).Spec.ServerName
		return before != "" && before != update.ObjectNew.(*v1alpha1.ServerClaim).Spec.ServerName
	},
}

// rivals are the claims that still have no server, where one that object spoke for is free. They passed that server over while the claim
// was in sight, and no change of the server tells them that it is not any more: a released server is free before its claim is gone (B048).
func (r *Reconciler) rivals(ctx context.Context, object client.Object) []reconcile.Request {
	name := object.(*v1alpha1.ServerClaim).Spec.ServerName
	if name == "" {
		return nil
	}
	server := &v1alpha1.Server{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, server, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil || !claim.Assess(server, r.Reader.Settings).Available {
		return nil // when it is free, or made, its own event wakes them
	}
	return r.claims(ctx, client.MatchingFields{index.ClaimServerName: index.None})
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
