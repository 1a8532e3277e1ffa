// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// Name of the controller.
const Name = "server"

// Setup adds the controller to mgr: what wakes a server is listed here, and nowhere else.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes, pace *wake.Pace, workers int) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&v1alpha1.Server{}, wake.Paced(pace), builder.WithPredicates(wakes.On(Name, append(wake.All(), r.reports.Changed())...))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, r.twinsOf), builder.WithPredicates(wake.When(wake.Ledger))).
		Watches(&v1alpha1.ServerClaim{}, wakes.Mapped(Name, wake.CauseClaim, r.serversOfClaim),
			builder.WithPredicates(wake.When(wake.Deletion, wake.Spec, wake.Ledger, wake.Verb))).
		Watches(&v1alpha1.ServerMaintenance{}, wakes.Mapped(Name, wake.CauseMaintenance, serverOfMaintenance),
			builder.WithPredicates(wake.When(wake.Deletion, wake.Spec))).
		Watches(&v1alpha1.BMC{}, wakes.Mapped(Name, wake.CauseDependency, r.named(index.ServerBMC)),
			builder.WithPredicates(wake.When(wake.Deletion, wake.Spec))).
		Watches(&v1alpha1.Cloud{}, wakes.Mapped(Name, wake.CauseDependency, r.named(index.ServerCloud)),
			builder.WithPredicates(wake.When(wake.Deletion, wake.Spec))).
		Watches(&v1alpha1.ServerClass{}, wakes.Mapped(Name, wake.CauseDependency, r.named(index.ServerClass)),
			builder.WithPredicates(wake.When(wake.Deletion))).
		Watches(&v1alpha1.SSHCertificateAuthority{}, wakes.Mapped(Name, wake.CauseDependency, r.named(index.ServerAuthority)),
			builder.WithPredicates(wake.When(wake.Deletion))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// twinsOf are the other servers that may be the same machine, by identity or behind the same BMC: each holds while there are several.
func (r *Reconciler) twinsOf(ctx context.Context, object client.Object) []reconcile.Request {
	var same []reconcile.Request
	if identity := object.GetAnnotations()[ledger.KeyIdentity]; identity != "" {
		same = r.servers(ctx, index.ServerIdentity, identity)
	}
	if server, ok := object.(*v1alpha1.Server); ok && server.Spec.Redfish != nil {
		same = append(same, r.servers(ctx, index.ServerBMC, server.Spec.Redfish.BMCRef.Name)...)
	}
	return slices.DeleteFunc(same, func(request reconcile.Request) bool { return request.Name == object.GetName() })
}

// serversOfClaim are the servers that name a claim, the server that it names, and those that it is bound to. A claim of the name that
// a claimRef bears is that server's business whatever its identity: one made from Git turns ClaimMissing into ClaimMismatch.
func (r *Reconciler) serversOfClaim(ctx context.Context, object client.Object) []reconcile.Request {
	requests := r.servers(ctx, index.ServerClaimName, object.GetNamespace()+"/"+object.GetName())
	if claim, ok := object.(*v1alpha1.ServerClaim); ok && claim.Spec.ServerName != "" {
		requests = append(requests, requestFor(claim.Spec.ServerName))
	}
	if bound := object.GetAnnotations()[ledger.KeyBound]; bound != "" {
		requests = append(requests, r.servers(ctx, index.ServerIdentity, bound)...)
	}
	if identity := object.GetAnnotations()[ledger.KeyIdentity]; identity != "" {
		requests = append(requests, r.servers(ctx, index.ServerClaimIdentity, identity)...)
	}
	return requests
}

func serverOfMaintenance(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{requestFor(object.(*v1alpha1.ServerMaintenance).Spec.ServerRef.Name)}
}

// named maps a dependency to the servers that name it in that field.
func (r *Reconciler) named(field string) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []reconcile.Request {
		return r.servers(ctx, field, object.GetName())
	}
}

// servers finds servers in the cache. A failed look-up wakes nobody: the timers behind waiting steps do.
func (r *Reconciler) servers(ctx context.Context, field, value string) []reconcile.Request {
	var list v1alpha1.ServerList
	if err := r.Client.List(ctx, &list, client.MatchingFields{field: value}, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, requestFor(list.Items[i].Name))
	}
	return requests
}

func requestFor(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}
}
