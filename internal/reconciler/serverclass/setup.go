// SPDX-License-Identifier: Apache-2.0

package serverclass

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
const Name = "serverclass"

// Setup adds the controller to mgr: what wakes a class is listed here, and nowhere else.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&v1alpha1.ServerClass{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(wakes.On(Name, wake.Deletion, wake.Spec, r.reports.Changed()))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, classOfServer), builder.WithPredicates(wake.When(wake.Spec))).
		Watches(&v1alpha1.ServerClaim{}, wakes.Mapped(Name, wake.CauseClaim, classOfClaim), builder.WithPredicates(wake.When(wake.Spec))).
		Watches(&v1alpha1.Cloud{}, wakes.Mapped(Name, wake.CauseDependency, r.classesOf(index.ClassCloud)), builder.WithPredicates(wake.When(wake.Deletion))).
		Watches(&v1alpha1.SSHCertificateAuthority{}, wakes.Mapped(Name, wake.CauseDependency, r.classesOf(index.ClassAuthority)), builder.WithPredicates(wake.When(wake.Deletion))).
		Complete(r)
}

// classOfServer wakes the class of a server that came or went: a deletion names it, or it was the last to wait for.
func classOfServer(_ context.Context, object client.Object) []reconcile.Request {
	ref := object.(*v1alpha1.Server).Spec.ClassRef
	if ref == nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: ref.Name}}}
}

func classOfClaim(_ context.Context, object client.Object) []reconcile.Request {
	name := object.(*v1alpha1.ServerClaim).Spec.ClassName
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
}

// classesOf wakes the classes that name an object, which came, is asked to go or went.
func (r *Reconciler) classesOf(field string) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []reconcile.Request {
		var list v1alpha1.ServerClassList
		if err := r.Client.List(ctx, &list, client.MatchingFields{field: object.GetName()}, client.DisableReadYourWritesConsistency); err != nil {
			return nil // the class's own next wake looks again
		}
		requests := make([]reconcile.Request, 0, len(list.Items))
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: list.Items[i].Name}})
		}
		return requests
	}
}
