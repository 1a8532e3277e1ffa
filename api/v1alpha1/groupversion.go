// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "holdfast.dev", Version: "v1alpha1"}

var (
	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Server{}, &ServerList{},
		&ServerClaim{}, &ServerClaimList{},
		&BMC{}, &BMCList{},
		&ServerMaintenance{}, &ServerMaintenanceList{},
		&ServerClass{}, &ServerClassList{},
		&Cloud{}, &CloudList{},
		&SSHCertificateAuthority{}, &SSHCertificateAuthorityList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
