// SPDX-License-Identifier: Apache-2.0

package access

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// UserData reads user data, always from the API server: secrets outside the operator's namespace are never listed, watched or cached.
type UserData struct {
	API client.Reader
	// Namespace of the operator, where the secrets are that servers name themselves.
	Namespace string
}

func (u UserData) key(ref lifecycle.UserDataRef) client.ObjectKey {
	return client.ObjectKey{Namespace: cmp.Or(ref.Namespace, u.Namespace), Name: ref.Name}
}

// offered says whether whoever owns the secret has given it to be read as user data: tenants by its label (B247), the platform team by
// putting it beside the operator.
func offered(ref lifecycle.UserDataRef, secret metav1.Object) bool {
	return ref.Namespace == "" || secret.GetLabels()[v1alpha1.LabelUserData] == "true"
}

// UserData tells whether the secret is there, offered as user data, and allowed to be read. It asks for metadata alone: the content is
// nobody's business before somebody boots from it.
func (u UserData) UserData(ctx context.Context, ref lifecycle.UserDataRef) (lifecycle.UserData, error) {
	key := u.key(ref)
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
	case !offered(ref, secret):
		return lifecycle.UserDataDenied, nil
	default:
		return lifecycle.UserDataReadable, nil
	}
}

// Content is the user data itself. A secret that went, or was taken back, since it was looked at is Transient: the next pass looks again.
func (u UserData) Content(ctx context.Context, ref lifecycle.UserDataRef) ([]byte, error) {
	key := u.key(ref)
	secret := &corev1.Secret{}
	if err := u.API.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("read secret %s: %w", key, err)
	}
	content, there := secret.Data[v1alpha1.KeyUserData]
	switch {
	case !offered(ref, secret):
		return nil, &provider.Error{Class: provider.Transient, Reason: provider.ReasonUserDataInvalid, Message: "the secret " + key.String() + " is not offered as user data any more"}
	case !there:
		return nil, &provider.Error{Class: provider.Terminal, Reason: provider.ReasonUserDataInvalid, Message: "the secret " + key.String() + " has no key " + v1alpha1.KeyUserData}
	}
	return content, nil
}
