// SPDX-License-Identifier: Apache-2.0

package sshca

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// Name of the controller.
const Name = "sshca"

// Setup adds the controller to mgr: what wakes an authority is listed here, and nowhere else.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&v1alpha1.SSHCertificateAuthority{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(wakes.On(Name, wake.Deletion, wake.Spec, r.reports.Changed()))).
		Watches(&v1alpha1.Server{}, wakes.Mapped(Name, wake.CauseDependency, ofServer), builder.WithPredicates(wake.When(wake.Spec))).
		Watches(&v1alpha1.ServerClass{}, wakes.Mapped(Name, wake.CauseDependency, ofClass), builder.WithPredicates(wake.When(wake.Spec))).
		Complete(r)
}

// ofServer wakes the authorities of a server that came or went: a deletion names it, or it was the last to wait for.
func ofServer(_ context.Context, object client.Object) []reconcile.Request {
	return trusted(object.(*v1alpha1.Server).Spec.OpenStack)
}

func ofClass(_ context.Context, object client.Object) []reconcile.Request {
	return trusted(&object.(*v1alpha1.ServerClass).Spec.OpenStack)
}

func trusted(openstack *v1alpha1.OpenStackServer) []reconcile.Request {
	if openstack == nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(openstack.SSHCertificateAuthorityRefs))
	for _, ref := range openstack.SSHCertificateAuthorityRefs {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: ref.Name}})
	}
	return requests
}
