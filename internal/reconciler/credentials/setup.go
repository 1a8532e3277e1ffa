// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/reconciler/guard"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// Name of the controller.
const Name = "credentials"

// Setup adds the controller to mgr: it is woken by a guarded secret that comes or is asked to go, and by what is given another one.
func (r *Reconciler) Setup(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		WatchesMetadata(&corev1.Secret{}, wakes.Mapped(Name, wake.CauseDependency, guarded), builder.WithPredicates(wake.When(wake.Deletion))).
		Watches(&v1alpha1.BMC{}, handler.Funcs{UpdateFunc: r.former}).
		Watches(&v1alpha1.Cloud{}, handler.Funcs{UpdateFunc: r.former}).
		Complete(r)
}

func guarded(_ context.Context, secret client.Object) []reconcile.Request {
	if !guard.On(secret) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(secret)}}
}

// former is the secret that an object named before it was given another one.
func (r *Reconciler) former(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if before, after := secretOf(e.ObjectOld), secretOf(e.ObjectNew); before != "" && before != after {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: r.Namespace, Name: before}})
	}
}

func secretOf(object client.Object) string {
	switch o := object.(type) {
	case *v1alpha1.BMC:
		return o.Spec.CredentialsSecretRef.Name
	case *v1alpha1.Cloud:
		return o.Spec.CloudsSecretRef.Name
	}
	return ""
}
