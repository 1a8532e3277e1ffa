// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/reconciler/guard"
)

// dependencies reads what a virtual server needs, in the order in which it needs it. Its Cloud is in the view itself where it is there.
func (r *Servers) dependencies(ctx context.Context, from client.Reader, view *lifecycle.ServerView) error {
	spec, cloud := view.Server.Spec, &v1alpha1.Cloud{}
	depend := func(kind, name string, into client.Object) error {
		noted, err := guard.Dependency(ctx, from, into, kind, name)
		view.Dependencies = append(view.Dependencies, noted)
		return err
	}
	if err := depend("Cloud", spec.OpenStack.CloudRef.Name, cloud); err != nil {
		return err
	}
	if !view.Dependencies[0].Missing {
		view.Cloud = cloud
	}
	if spec.ClassRef != nil {
		if err := depend("ServerClass", spec.ClassRef.Name, &v1alpha1.ServerClass{}); err != nil {
			return err
		}
	}
	for _, ref := range spec.OpenStack.SSHCertificateAuthorityRefs {
		if err := depend("SSHCertificateAuthority", ref.Name, &v1alpha1.SSHCertificateAuthority{}); err != nil {
			return err
		}
	}
	return nil
}
