// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// dependencies reads what a virtual server needs, in the order in which it needs it.
func (r *Servers) dependencies(ctx context.Context, from client.Reader, view *lifecycle.ServerView) error {
	spec := view.Server.Spec
	var err error
	if view.Cloud, err = depend(ctx, from, view, "Cloud", spec.OpenStack.CloudRef.Name, &v1alpha1.Cloud{}); err != nil {
		return err
	}
	if spec.ClassRef != nil {
		if _, err := depend(ctx, from, view, "ServerClass", spec.ClassRef.Name, &v1alpha1.ServerClass{}); err != nil {
			return err
		}
	}
	for _, ref := range spec.OpenStack.SSHCertificateAuthorityRefs {
		if _, err := depend(ctx, from, view, "SSHCertificateAuthority", ref.Name, &v1alpha1.SSHCertificateAuthority{}); err != nil {
			return err
		}
	}
	return nil
}

// dependent is what is read of a dependency: a pointer to one of our kinds.
type dependent[T any] interface {
	*T
	client.Object
}

// depend reads one dependency and notes how it stands.
func depend[T any, P dependent[T]](ctx context.Context, from client.Reader, view *lifecycle.ServerView, kind, name string, into P) (P, error) {
	object, err := get(ctx, from, client.ObjectKey{Name: name}, into)
	if err != nil {
		return nil, err
	}
	noted := lifecycle.Dependency{Kind: kind, Name: name, Missing: object == nil}
	if object != nil {
		noted.Deleting = !object.GetDeletionTimestamp().IsZero()
		noted.Guarded = controllerutil.ContainsFinalizer(object, v1alpha1.FinalizerInUse)
	}
	view.Dependencies = append(view.Dependencies, noted)
	return object, nil
}
