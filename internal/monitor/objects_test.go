// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

func newBMC(name string) *v1alpha1.BMC {
	return &v1alpha1.BMC{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: v1alpha1.BMCSpec{
			Endpoint:             "https://" + name + ".example",
			CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: name + "-credentials"},
		},
	}
}

func newServer(name string) *v1alpha1.Server {
	return &v1alpha1.Server{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: v1alpha1.ServerSpec{Redfish: &v1alpha1.RedfishSystem{
			BMCRef: v1alpha1.LocalObjectReference{Name: name}, SystemUUID: "uuid-" + name,
		}},
	}
}

func newSecret(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "holdfast-system"}}
}
