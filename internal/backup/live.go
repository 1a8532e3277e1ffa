// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Live reads a cluster as a backup of it taken now would hold it. Of secrets it asks for the metadata of those that are named, one by
// one; what it is not allowed to ask for is taken for present, and told. operatorNamespace is where the credentials are.
func Live(ctx context.Context, from client.Reader, operatorNamespace string) (*Set, error) {
	set := &Set{}
	lists := map[string]client.ObjectList{
		KindServer: &v1alpha1.ServerList{}, KindClaim: &v1alpha1.ServerClaimList{}, KindBMC: &v1alpha1.BMCList{}, KindCloud: &v1alpha1.CloudList{},
		KindClass: &v1alpha1.ServerClassList{}, KindAuthority: &v1alpha1.SSHCertificateAuthorityList{}, KindMaintenance: &v1alpha1.ServerMaintenanceList{},
	}
	for kind, list := range lists {
		if err := from.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list the objects of kind %s: %w", kind, err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return nil, fmt.Errorf("take the list of kind %s apart: %w", kind, err)
		}
		for _, item := range items {
			set.add(kind, Origin{}, item.(client.Object)) // lists of ours are of objects
		}
	}
	if err := set.lookUp(ctx, from, KindNamespace, client.ObjectKey{Name: metav1.NamespaceSystem}); err != nil {
		return nil, err
	}
	for _, secret := range secretsOf(set, operatorNamespace) {
		if err := set.lookUp(ctx, from, KindSecret, secret); err != nil {
			return nil, err
		}
	}
	set.sort()
	return set, nil
}

// lookUp adds the metadata of one object of the core group, where there is one.
func (s *Set) lookUp(ctx context.Context, from client.Reader, kind string, key client.ObjectKey) error {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	err := from.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err) && kind == KindSecret:
		object.Namespace, object.Name = key.Namespace, key.Name
		object.Labels = map[string]string{v1alpha1.LabelUserData: "true"}
		s.problem(Origin{}, "the secret %s could not be looked at (forbidden): it is taken for present", key)
	case apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return fmt.Errorf("read the metadata of %s %s: %w", kind, key, err)
	}
	s.add(kind, Origin{}, object)
	return nil
}

// secretsOf are the secrets that the objects of a set name, sorted, each once.
func secretsOf(s *Set, operatorNamespace string) []client.ObjectKey {
	named := map[client.ObjectKey]bool{}
	name := func(namespace, name string) {
		if name != "" {
			named[client.ObjectKey{Namespace: namespace, Name: name}] = true
		}
	}
	for _, bmc := range of[*v1alpha1.BMC](s, KindBMC) {
		name(operatorNamespace, bmc.Spec.CredentialsSecretRef.Name)
	}
	for _, cloud := range of[*v1alpha1.Cloud](s, KindCloud) {
		name(operatorNamespace, cloud.Spec.CloudsSecretRef.Name)
	}
	for _, claim := range of[*v1alpha1.ServerClaim](s, KindClaim) {
		if ref := claim.Spec.Boot.UserDataSecretRef; ref != nil {
			name(claim.Namespace, ref.Name)
		}
	}
	for _, server := range of[*v1alpha1.Server](s, KindServer) {
		if vm := server.Spec.OpenStack; vm != nil && vm.UserDataSecretRef != nil {
			name(operatorNamespace, vm.UserDataSecretRef.Name)
		}
	}
	return slices.SortedFunc(maps.Keys(named), func(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) })
}
