// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// Name of the controller.
const Name = "maintenance"

// Setup adds the controller to mgr: what wakes a maintenance is listed here, and nowhere else.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&v1alpha1.ServerMaintenance{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(wakes.On(Name, wake.Deletion, wake.Spec, wake.Verb, r.reports.Changed()))).
		Watches(&v1alpha1.ServerMaintenance{}, wakes.Mapped(Name, wake.CauseMaintenance, r.rivals), builder.WithPredicates(wake.When(wake.Deletion))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, r.ofServer), builder.WithPredicates(wake.When(wake.Deletion, wake.Spec, wake.Ledger))).
		Watches(&v1alpha1.ServerClaim{}, wakes.Mapped(Name, wake.CauseClaim, r.ofClaim), builder.WithPredicates(wake.When(wake.Deletion, wake.Verb))).
		Complete(r)
}

// rivals are the other maintenances of the same server: the queue moves when one goes.
func (r *Reconciler) rivals(ctx context.Context, object client.Object) []reconcile.Request {
	return r.of(ctx, object.(*v1alpha1.ServerMaintenance).Spec.ServerRef.Name)
}

func (r *Reconciler) ofServer(ctx context.Context, object client.Object) []reconcile.Request {
	return r.of(ctx, object.GetName())
}

// ofClaim are the maintenances of the claim's server: the claim's owner may have approved one.
func (r *Reconciler) ofClaim(ctx context.Context, object client.Object) []reconcile.Request {
	return r.of(ctx, object.(*v1alpha1.ServerClaim).Spec.ServerName)
}

func (r *Reconciler) of(ctx context.Context, server string) []reconcile.Request {
	if server == "" {
		return nil
	}
	var list v1alpha1.ServerMaintenanceList
	if err := r.Client.List(ctx, &list, client.MatchingFields{index.MaintenanceServer: server}, client.DisableReadYourWritesConsistency); err != nil {
		return nil // a maintenance that waits is looked at again when its server or its rivals move
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: list.Items[i].Name}})
	}
	return requests
}
