// SPDX-License-Identifier: Apache-2.0

package status

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest"
)

// Holdfast's own kinds are the first users of the library, and of its kit.
func TestHoldfastsKindsConform(t *testing.T) {
	observed := []string{"observed"}
	for file, kind := range map[string]statustest.Kind{
		"bmcs": {Regions: observed, New: func() status.Object {
			return &v1alpha1.BMC{ObjectMeta: named(""), Spec: v1alpha1.BMCSpec{
				Endpoint: "https://192.0.2.1", CredentialsSecretRef: v1alpha1.LocalObjectReference{Name: "bmc"},
			}}
		}},
		"servers": {Regions: observed, New: func() status.Object {
			return &v1alpha1.Server{ObjectMeta: named(""), Spec: v1alpha1.ServerSpec{
				Redfish: &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: "bmc"}},
			}}
		}},
		"serverclaims": {New: func() status.Object { return &v1alpha1.ServerClaim{ObjectMeta: named("default")} }},
		"servermaintenances": {New: func() status.Object {
			return &v1alpha1.ServerMaintenance{ObjectMeta: named(""), Spec: v1alpha1.ServerMaintenanceSpec{
				ServerRef: v1alpha1.LocalObjectReference{Name: "server"},
			}}
		}},
	} {
		t.Run(file, func(t *testing.T) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			data, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "crd", "holdfast.dev_"+file+".yaml"))
			if err == nil {
				err = yaml.UnmarshalStrict(data, crd)
			}
			if err == nil {
				_, err = envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}})
			}
			if err != nil {
				t.Fatal(err)
			}
			statustest.Accessors(t, kind)
			statustest.Schema(t, kind, crd)
			statustest.Server(t, kind, env.Config, scheme)
		})
	}
}

func named(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, GenerateName: "conformance-"}
}
