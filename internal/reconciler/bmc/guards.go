// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// recheck is how often a deletion that waits looks for users again, behind the wakes of the users' own deletion.
const recheck = time.Minute

// changes tells whether a finalizer patch would change anything. A finalizer is never added to an object being deleted: the API
// server refuses it.
func changes(object client.Object, patch lifecycle.Patch) bool {
	if patch.AddFinalizer != "" {
		return object.GetDeletionTimestamp().IsZero() && !controllerutil.ContainsFinalizer(object, patch.AddFinalizer)
	}
	return patch.RemoveFinalizer != "" && controllerutil.ContainsFinalizer(object, patch.RemoveFinalizer)
}

// guardSecret keeps the credentials there until the last BMC that uses them has gone (B070, B061).
func (r *Reconciler) guardSecret(ctx context.Context, bmc *v1alpha1.BMC) (bool, error) {
	secret, err := r.secret(ctx, r.Client, bmc)
	if err != nil || secret == nil {
		return false, err
	}
	return r.write(ctx, secret, lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerInUse}, "guard the BMC's credentials")
}

// deleting waits for the BMC's servers, then lets go of the credentials, then of the BMC.
func (r *Reconciler) deleting(ctx context.Context, bmc *v1alpha1.BMC) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(bmc, v1alpha1.FinalizerInUse) {
		return ctrl.Result{}, nil
	}
	users, err := r.users(ctx, bmc)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(users) > 0 {
		return r.report(ctx, bmc, recheck, reachability(bmc), []lifecycle.Gate{{
			Level: lifecycle.Progressing, Reason: v1alpha1.ReasonInUse, Message: "deletion waits for " + named(users) + ": delete them first",
		}})
	}
	if done, err := r.releaseSecret(ctx, bmc); done || err != nil {
		return next(err)
	}
	_, err = r.write(ctx, bmc, lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerInUse}, "let the BMC go")
	return next(err)
}

// users names the servers behind the BMC, from the API server itself (P10).
func (r *Reconciler) users(ctx context.Context, bmc *v1alpha1.BMC) ([]string, error) {
	var servers v1alpha1.ServerList
	if err := r.API.List(ctx, &servers, client.MatchingFields{index.ServerBMC: bmc.Name}); err != nil {
		return nil, fmt.Errorf("list the servers of BMC %s: %w", bmc.Name, err)
	}
	names := make([]string, 0, len(servers.Items))
	for i := range servers.Items {
		names = append(names, servers.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

// releaseSecret takes the guard off the credentials unless another BMC uses them. It tells whether it wrote.
func (r *Reconciler) releaseSecret(ctx context.Context, bmc *v1alpha1.BMC) (bool, error) {
	secret, err := r.secret(ctx, r.API, bmc)
	if err != nil || secret == nil {
		return false, err
	}
	var all v1alpha1.BMCList
	if err := r.API.List(ctx, &all); err != nil {
		return false, fmt.Errorf("list BMCs: %w", err)
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.Name != bmc.Name && other.Spec.CredentialsSecretRef == bmc.Spec.CredentialsSecretRef {
			return false, nil
		}
	}
	return r.write(ctx, secret, lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerInUse}, "let the BMC's credentials go")
}

// secret reads the metadata of the BMC's credentials; nil where there are none.
func (r *Reconciler) secret(ctx context.Context, from client.Reader, bmc *v1alpha1.BMC) (*metav1.PartialObjectMetadata, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	key := client.ObjectKey{Namespace: r.Namespace, Name: bmc.Spec.CredentialsSecretRef.Name}
	err := from.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the metadata of secret %s: %w", key, err)
	}
	return secret, nil
}

// named lists names for a person, cut after five.
func named(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
