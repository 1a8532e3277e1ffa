// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Secrets guards the credentials of BMCs and clouds: deleting everything at once takes the secret last (B070, B061). Only their metadata
// is ever read.
type Secrets struct {
	Guard

	// Namespace of the operator, where all credentials are.
	Namespace string
}

// Put keeps a secret there until the last object that names it has gone. It tells whether it wrote; no secret is none to guard.
func (s Secrets) Put(ctx context.Context, name, message string) (bool, error) {
	secret, err := s.read(ctx, s.Client, name)
	if err != nil || secret == nil {
		return false, err
	}
	return s.Guard.Put(ctx, secret, message)
}

// LetGo takes the guard off a secret unless an object other than user names it, by the API server's own word (P10). It tells whether it
// wrote. A nil user is nobody.
func (s Secrets) LetGo(ctx context.Context, name string, user client.Object, message string) (bool, error) {
	secret, err := s.read(ctx, s.API, name)
	if err != nil || secret == nil {
		return false, err
	}
	users, err := s.users(ctx, name, user)
	if err != nil || users > 0 {
		return false, err
	}
	return s.Guard.LetGo(ctx, secret, message)
}

// users counts what names a secret, user left out.
func (s Secrets) users(ctx context.Context, name string, user client.Object) (int, error) {
	var bmcs v1alpha1.BMCList
	if err := s.API.List(ctx, &bmcs); err != nil {
		return 0, fmt.Errorf("list BMCs: %w", err)
	}
	var clouds v1alpha1.CloudList
	if err := s.API.List(ctx, &clouds); err != nil {
		return 0, fmt.Errorf("list Clouds: %w", err)
	}
	count := 0
	for i := range bmcs.Items {
		if bmcs.Items[i].Spec.CredentialsSecretRef.Name == name && !same(&bmcs.Items[i], user) {
			count++
		}
	}
	for i := range clouds.Items {
		if clouds.Items[i].Spec.CloudsSecretRef.Name == name && !same(&clouds.Items[i], user) {
			count++
		}
	}
	return count, nil
}

func same(object, user client.Object) bool { return user != nil && object.GetUID() == user.GetUID() }

// read reads the metadata of a secret; nil where there is none.
func (s Secrets) read(ctx context.Context, from client.Reader, name string) (*metav1.PartialObjectMetadata, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	key := client.ObjectKey{Namespace: s.Namespace, Name: name}
	err := from.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the metadata of secret %s: %w", key, err)
	}
	return secret, nil
}
