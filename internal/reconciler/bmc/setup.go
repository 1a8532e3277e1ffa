// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// Name of the controller.
const Name = "bmc"

const workers = 8

// Setup adds the controller to mgr: what wakes a BMC is listed here, and nowhere else.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&v1alpha1.BMC{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(wakes.On(Name, wake.Deletion, wake.Spec, wake.Verb, wake.Observed, r.reports.Changed()))).
		Watches(&v1alpha1.BMC{}, wakes.Mapped(Name, wake.CauseDependency, r.others), builder.WithPredicates(wake.When(wake.Deletion, wake.Observed))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, bmcOfServer), builder.WithPredicates(wake.When(wake.Spec))).
		WatchesMetadata(&corev1.Secret{}, wakes.Mapped(Name, wake.CauseDependency, r.bmcsOfSecret), builder.WithPredicates(wake.When(wake.Deletion))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

// bmcOfServer wakes the BMC of a server that came or went: it may have to be made anew, or was the last to wait for.
func bmcOfServer(_ context.Context, object client.Object) []reconcile.Request {
	redfish := object.(*v1alpha1.Server).Spec.Redfish
	if redfish == nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: redfish.BMCRef.Name}}}
}

// others wakes the other BMCs that tell the UUID of one that came, went or was seen to be another.
func (r *Reconciler) others(ctx context.Context, object client.Object) []reconcile.Request {
	observed := object.(*v1alpha1.BMC).Status.Observed
	if observed == nil || observed.UUID == "" {
		return nil
	}
	requests := r.bmcs(ctx, client.MatchingFields{index.BMCManager: strings.ToLower(observed.UUID)})
	return slices.DeleteFunc(requests, func(request reconcile.Request) bool { return request.Name == object.GetName() })
}

// bmcsOfSecret wakes the BMCs whose credentials came, went, or are asked to go.
func (r *Reconciler) bmcsOfSecret(ctx context.Context, object client.Object) []reconcile.Request {
	if object.GetNamespace() != r.Namespace {
		return nil
	}
	return r.bmcs(ctx, client.MatchingFields{index.BMCSecret: object.GetName()})
}

func (r *Reconciler) bmcs(ctx context.Context, match client.MatchingFields) []reconcile.Request {
	var list v1alpha1.BMCList
	if err := r.Client.List(ctx, &list, match, client.DisableReadYourWritesConsistency); err != nil {
		return nil // the BMC's own next wake looks again
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: list.Items[i].Name}})
	}
	return requests
}
