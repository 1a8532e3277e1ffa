// SPDX-License-Identifier: Apache-2.0

// Package credentials lets go of secrets that no BMC and no Cloud names any more: an object that was given another secret has no memory
// of the former one, and must not have any (P1). Guarding a secret is the business of the controllers of what names it.
package credentials

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/reconciler/guard"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// Reconciler runs the passes of guarded secrets.
type Reconciler struct {
	Client    client.Client
	API       client.Reader // uncached: guards let go only on what it says
	Namespace string        // of the operator, where the credentials are
}

// Reconcile is one pass: the cache is asked first, so that a secret in use costs no request, then the API server itself (P10).
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := r.Client.Get(ctx, request.NamespacedName, secret); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !guard.On(secret) {
		return ctrl.Result{}, nil
	}
	used, err := r.used(ctx, request.Name)
	if err != nil || used {
		return ctrl.Result{}, err
	}
	secrets := guard.Secrets{Guard: guard.Guard{Client: r.Client, API: r.API}, Namespace: r.Namespace}
	wrote, err := secrets.LetGo(ctx, request.Name, nil, "let credentials go that nothing names any more")
	if err != nil || !wrote {
		return ctrl.Result{}, err
	}
	return guard.Next(nil)
}

// used says that the cache knows an object that names the secret.
func (r *Reconciler) used(ctx context.Context, name string) (bool, error) {
	var bmcs v1alpha1.BMCList
	if err := r.Client.List(ctx, &bmcs, client.MatchingFields{index.BMCSecret: name}); err != nil || len(bmcs.Items) > 0 {
		return true, err
	}
	var clouds v1alpha1.CloudList
	err := r.Client.List(ctx, &clouds, client.MatchingFields{index.CloudSecret: name})
	return len(clouds.Items) > 0, err
}
