// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// UserData tells whether tenants' user data can be read. It asks for metadata alone: the content is nobody's business before
// somebody boots from it.
type UserData struct {
	// API reads from the API server: secrets outside the operator's namespace are never listed, watched or cached.
	API client.Reader
}

// UserData tells whether the secret that claim names is there, offered as user data, and allowed to be read (B247).
func (u UserData) UserData(ctx context.Context, claim *v1alpha1.ServerClaim) (lifecycle.UserData, error) {
	key := client.ObjectKey{Namespace: claim.Namespace, Name: claim.Spec.Boot.UserDataSecretRef.Name}
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := u.API.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return lifecycle.UserDataMissing, nil
	case apierrors.IsForbidden(err):
		return lifecycle.UserDataDenied, nil
	case err != nil:
		return lifecycle.UserDataUnknown, fmt.Errorf("read the metadata of secret %s: %w", key, err)
	case secret.Labels[v1alpha1.LabelUserData] != "true":
		return lifecycle.UserDataDenied, nil
	default:
		return lifecycle.UserDataReadable, nil
	}
}
