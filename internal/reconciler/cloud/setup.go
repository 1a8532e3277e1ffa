// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"

	corev1 "k8s.io/api/core/v1"
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
const Name = "cloud"

// Setup adds the controller to mgr: what wakes a cloud is listed here, and nowhere else.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&v1alpha1.Cloud{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(wakes.On(Name, wake.Deletion, wake.Spec, wake.Observed, r.reports.Changed()))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, cloudOfServer), builder.WithPredicates(wake.When(wake.Spec))).
		Watches(&v1alpha1.ServerClass{}, wakes.Mapped(Name, wake.CauseDependency, cloudOfClass), builder.WithPredicates(wake.When(wake.Spec))).
		WatchesMetadata(&corev1.Secret{}, wakes.Mapped(Name, wake.CauseDependency, r.cloudsOfSecret), builder.WithPredicates(wake.When(wake.Deletion))).
		Complete(r)
}

// cloudOfServer wakes the cloud of a server that came or went: a deletion names it, or it was the last to wait for.
func cloudOfServer(_ context.Context, object client.Object) []reconcile.Request {
	openstack := object.(*v1alpha1.Server).Spec.OpenStack
	if openstack == nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: openstack.CloudRef.Name}}}
}

func cloudOfClass(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: object.(*v1alpha1.ServerClass).Spec.OpenStack.CloudRef.Name}}}
}

// cloudsOfSecret wakes the clouds whose credentials came, went, or are asked to go.
func (r *Reconciler) cloudsOfSecret(ctx context.Context, object client.Object) []reconcile.Request {
	if object.GetNamespace() != r.Namespace {
		return nil
	}
	var list v1alpha1.CloudList
	if err := r.Client.List(ctx, &list, client.MatchingFields{index.CloudSecret: object.GetName()}, client.DisableReadYourWritesConsistency); err != nil {
		return nil // the Cloud's own next wake looks again
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: list.Items[i].Name}})
	}
	return requests
}
