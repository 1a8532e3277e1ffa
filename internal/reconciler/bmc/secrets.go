// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
	"github.com/holdfast-dev/holdfast/internal/wake"
)

// secretsName is the name of the controller that lets go of credentials.
const secretsName = "bmc-secret"

// setupSecrets adds the controller that lets go of secrets which no BMC names any more: a BMC that was given another one has no
// reason to look back.
func (r *Reconciler) setupSecrets(mgr ctrl.Manager, wakes *wake.Wakes) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named(secretsName).
		WatchesMetadata(&corev1.Secret{}, wakes.Mapped(secretsName, wake.CauseDependency, guardedSecret), builder.WithPredicates(wake.When(wake.Deletion))).
		Watches(&v1alpha1.BMC{}, handler.Funcs{UpdateFunc: r.formerSecret}).
		Complete(reconcile.Func(r.letSecretGo))
}

func guardedSecret(_ context.Context, secret client.Object) []reconcile.Request {
	if !controllerutil.ContainsFinalizer(secret, v1alpha1.FinalizerInUse) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(secret)}}
}

// formerSecret is what a BMC named before it was given another one.
func (r *Reconciler) formerSecret(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	before, after := e.ObjectOld.(*v1alpha1.BMC).Spec.CredentialsSecretRef, e.ObjectNew.(*v1alpha1.BMC).Spec.CredentialsSecretRef
	if before != after {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: r.Namespace, Name: before.Name}})
	}
}

// letSecretGo takes the guard off a secret that no BMC names, by the API server's own word (P10).
func (r *Reconciler) letSecretGo(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := r.Client.Get(ctx, request.NamespacedName, secret); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var users v1alpha1.BMCList
	if err := r.Client.List(ctx, &users, client.MatchingFields{index.BMCSecret: request.Name}); err != nil || len(users.Items) > 0 {
		return ctrl.Result{}, err
	}
	if err := r.API.List(ctx, &users); err != nil {
		return ctrl.Result{}, fmt.Errorf("list BMCs: %w", err)
	}
	for i := range users.Items {
		if users.Items[i].Spec.CredentialsSecretRef.Name == request.Name {
			return ctrl.Result{}, nil
		}
	}
	done, err := r.write(ctx, secret, lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerInUse}, "let credentials go that no BMC names any more")
	if !done {
		return ctrl.Result{}, err
	}
	return next(err)
}
