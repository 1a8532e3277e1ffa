// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// The smallest objects that are accepted. Tests start from them and change what they are about.
const (
	bareServer = `
apiVersion: holdfast.dev/v1alpha1
kind: Server
spec:
  redfish:
    bmcRef: {name: rack1-u07}
`
	bareClaim = `
apiVersion: holdfast.dev/v1alpha1
kind: ServerClaim
metadata: {namespace: default}
spec: {}
`
	bareBMC = `
apiVersion: holdfast.dev/v1alpha1
kind: BMC
spec:
  endpoint: https://10.0.0.7
  credentialsSecretRef: {name: rack1-u07}
`
	bareMaintenance = `
apiVersion: holdfast.dev/v1alpha1
kind: ServerMaintenance
spec:
  serverRef: {name: rack1-u07}
`
	bareVM = `
apiVersion: holdfast.dev/v1alpha1
kind: Server
spec:
  openstack:
    cloudRef: {name: fra1}
    flavor: {name: m1.small}
    image: {name: debian-12}
    networks: [{network: {name: private}}]
`
	bareClass = `
apiVersion: holdfast.dev/v1alpha1
kind: ServerClass
spec:
  openstack:
    cloudRef: {name: fra1}
    flavor: {name: m1.small}
    image: {name: debian-12}
    networks: [{network: {name: private}}]
`
	bareCloud = `
apiVersion: holdfast.dev/v1alpha1
kind: Cloud
spec:
  cloudsSecretRef: {name: fra1}
  cloudName: fra1
`
	bareAuthority = `
apiVersion: holdfast.dev/v1alpha1
kind: SSHCertificateAuthority
spec:
  publicKeys: [` + staffKey + `]
`
)

// bare by kind; a Server that is a VM is "vm".
var bare = map[string]string{
	"Server": bareServer, "ServerClaim": bareClaim, "BMC": bareBMC, "ServerMaintenance": bareMaintenance,
	"vm": bareVM, "ServerClass": bareClass, "Cloud": bareCloud, "SSHCertificateAuthority": bareAuthority,
}

// set is what a test changes: values by dotted path, nil to remove.
type set = map[string]any

func server(name string, changes set) *unstructured.Unstructured {
	return build("Server", name, changes)
}

func claim(name string, changes set) *unstructured.Unstructured {
	return build("ServerClaim", name, changes)
}

func build(kind, name string, changes set) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(bare[kind]), &object.Object); err != nil {
		panic(err)
	}
	object.SetName(name)
	change(object, changes)
	return object
}

func change(object *unstructured.Unstructured, changes set) {
	for path, value := range changes {
		fields := strings.Split(path, ".")
		if value == nil {
			unstructured.RemoveNestedField(object.Object, fields...)
			continue
		}
		if err := unstructured.SetNestedField(object.Object, runtime.DeepCopyJSONValue(value), fields...); err != nil {
			panic(err)
		}
	}
}

var counter atomic.Int64

// unique is a name that no other test uses.
func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }

func claimRef() map[string]any {
	return map[string]any{"namespace": "default", "name": "web", "identity": "c1", "uid": "u1"}
}

func maintenanceRef() map[string]any { return map[string]any{"name": "m1", "uid": "u1"} }
