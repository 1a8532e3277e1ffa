// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The kinds are known to kubectl by short names and by one category.
func TestNamesOfTheKinds(t *testing.T) {
	names, err := discovery.NewDiscoveryClientForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := names.ServerResourcesForGroupVersion("holdfast.dev/v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range resources.APIResources {
		if r.SingularName == "" {
			continue // a subresource
		}
		got[r.Name] = fmt.Sprintf("%s %v %v namespaced=%t", r.Kind, r.ShortNames, r.Categories, r.Namespaced)
	}
	want := map[string]string{
		"servers":                   "Server [srv] [holdfast] namespaced=false",
		"serverclaims":              "ServerClaim [sclaim] [holdfast] namespaced=true",
		"bmcs":                      "BMC [bmc] [holdfast] namespaced=false",
		"servermaintenances":        "ServerMaintenance [smaint] [holdfast] namespaced=false",
		"serverclasses":             "ServerClass [sclass] [holdfast] namespaced=false",
		"clouds":                    "Cloud [cloud] [holdfast] namespaced=false",
		"sshcertificateauthorities": "SSHCertificateAuthority [sshca] [holdfast] namespaced=false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// kubectl get shows at a glance where an object is, whose it is and, when asked for more, why.
func TestColumns(t *testing.T) {
	observed := set{
		"status.phase":      "Reserved",
		"status.conditions": []any{ready("False", "FoundRunning")},
		"status.observed":   map[string]any{"reachable": true, "powerState": "On", "hardware": map[string]any{"model": "R650"}},
	}
	claimed := set{
		"status.phase":      "Bound",
		"status.conditions": []any{ready("True", "Settled")},
		"status.machine":    map[string]any{"model": "R650", "powerState": "On"},
	}
	looked := set{
		"status.conditions": []any{ready("True", "Settled")},
		"status.observed":   map[string]any{"reachable": true, "vendor": "Dell", "model": "iDRAC9", "firmware": "7.0"},
	}
	launched := set{
		"status.phase":      "Running",
		"status.conditions": []any{ready("True", "Running")},
		"status.observed": map[string]any{"reachable": true, "powerState": "On", "instance": map[string]any{
			"id": "vm1", "exists": true, "flavor": "m1.small", "addresses": []any{"10.0.0.5"},
		}},
	}
	counted := set{
		"status.conditions": []any{ready("True", "Settled")},
		"status.observed":   map[string]any{"reachable": true, "project": "web", "instances": map[string]any{"used": int64(3), "limit": int64(10)}},
	}
	active := set{"status.conditions": []any{ready("True", "Active"), condition("Active", "True", "Active")}}
	tests := []struct {
		kind, resource string
		spec, status   set
		want           map[string]any // by column; those that are wide end in *
	}{
		{
			"Server", "servers", set{"spec.claimRef": claimRef()}, observed,
			map[string]any{"Phase": "Reserved", "Ready": "False", "Power": "On", "Claim": "web", "Model": "R650", "Flavor": nil, "Age": "", "Cloud*": nil, "IP*": nil, "BMC*": "rack1-u07", "Claim Namespace*": "default", "Reason*": "FoundRunning"},
		},
		{
			"vm", "servers", set{"spec.claimRef": claimRef()}, launched,
			map[string]any{"Phase": "Running", "Ready": "True", "Power": "On", "Claim": "web", "Model": nil, "Flavor": "m1.small", "Age": "", "Cloud*": "fra1", "IP*": "10.0.0.5", "BMC*": nil, "Claim Namespace*": "default", "Reason*": "Running"},
		},
		{
			"ServerClass", "serverclasses", nil, active,
			map[string]any{"Ready": "True", "Cloud": "fra1", "Flavor": "m1.small", "Reclaim": "Delete", "Age": "", "Reason*": "Active"},
		},
		{
			"Cloud", "clouds", set{"spec.region": "north"}, counted,
			map[string]any{"Ready": "True", "Project": "web", "Instances": int64(3), "Limit": int64(10), "Age": "", "Region*": "north", "Reason*": "Settled"},
		},
		{
			"SSHCertificateAuthority", "sshcertificateauthorities", nil, active,
			map[string]any{"Ready": "True", "Age": "", "Reason*": "Active"},
		},
		{
			"ServerClaim", "serverclaims", set{"spec.serverName": "a"}, claimed,
			map[string]any{"Phase": "Bound", "Ready": "True", "Server": "a", "Power": "On", "Model": "R650", "Age": "", "Reason*": "Settled"},
		},
		{
			"BMC", "bmcs", nil, looked,
			map[string]any{"Ready": "True", "Vendor": "Dell", "Model": "iDRAC9", "Firmware": "7.0", "Age": "", "Endpoint*": "https://10.0.0.7", "Reason*": "Settled"},
		},
		{
			"ServerMaintenance", "servermaintenances", nil, active,
			map[string]any{"Server": "rack1-u07", "Policy": "OwnerApproval", "Active": "True", "Ready": "True", "Age": "", "Reason*": "Active"},
		},
	}
	for _, test := range tests {
		object := build(test.kind, unique("columns"), test.spec)
		create(t, admin, object)
		change(object, test.status)
		if err := as(t, admin).Status().Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		got := row(t, test.resource, object)
		got["Age"] = "" // passes
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.kind, diff)
		}
	}
}

// row asks for an object as kubectl get does and returns its cells, but for the name.
func row(t *testing.T, resource string, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	restConfig := rest.CopyConfig(env.Config)
	restConfig.APIPath, restConfig.GroupVersion = "/apis", &schema.GroupVersion{Group: "holdfast.dev", Version: "v1alpha1"}
	restConfig.NegotiatedSerializer = serializer.NewCodecFactory(clientgoscheme.Scheme)
	raw, err := rest.RESTClientFor(restConfig)
	if err != nil {
		t.Fatal(err)
	}
	table := &metav1.Table{}
	request := raw.Get().Resource(resource).Name(object.GetName()).NamespaceIfScoped(object.GetNamespace(), object.GetNamespace() != "")
	if err := request.SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Into(table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 1 || table.Rows[0].Cells[0] != object.GetName() {
		t.Fatalf("table of %s: %v", object.GetName(), table.Rows)
	}
	cells := map[string]any{}
	for i, column := range table.ColumnDefinitions[1:] {
		name := column.Name
		if column.Priority > 0 {
			name += "*"
		}
		cells[name] = table.Rows[0].Cells[i+1]
	}
	return cells
}

// The API server selects by the fields by which the operator looks for objects, live (rule "first" 5 of the lifecycle).
func TestSelectableFields(t *testing.T) {
	uniqueIdentity, uniqueBMC, uniqueServer := unique("identity"), unique("bmc"), unique("server")
	reference := claimRef()
	reference["identity"] = uniqueIdentity
	bound := server(unique("select"), set{"spec.claimRef": reference})
	behind := server(unique("select"), set{"spec.redfish.bmcRef.name": uniqueBMC})
	claiming := claim(unique("select"), set{"spec.serverName": uniqueServer})
	uniqueCloud, uniqueClass := unique("cloud"), unique("class")
	made := build("vm", unique("select"), set{openstack + ".cloudRef.name": uniqueCloud, "spec.classRef.name": uniqueClass})
	asking := claim(unique("select"), set{className: uniqueClass})
	for _, object := range []*unstructured.Unstructured{bound, behind, claiming, made, asking} {
		create(t, admin, object)
	}
	for field, test := range map[string]struct{ value, kind, want string }{
		"spec.claimRef.identity":       {uniqueIdentity, "Server", bound.GetName()},
		"spec.redfish.bmcRef.name":     {uniqueBMC, "Server", behind.GetName()},
		"spec.serverName":              {uniqueServer, "ServerClaim", claiming.GetName()},
		"spec.openstack.cloudRef.name": {uniqueCloud, "Server", made.GetName()},
		"spec.classRef.name":           {uniqueClass, "Server", made.GetName()},
		className:                      {uniqueClass, "ServerClaim", asking.GetName()},
	} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("holdfast.dev/v1alpha1")
		list.SetKind(test.kind + "List")
		if err := as(t, admin).List(t.Context(), list, client.MatchingFields{field: test.value}); err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		var names []string
		for _, item := range list.Items {
			names = append(names, item.GetName())
		}
		if !slices.Equal(names, []string{test.want}) {
			t.Errorf("%s=%s selects %v, want %s", field, test.value, names, test.want)
		}
	}
}

func ready(value, reason string) map[string]any { return condition("Ready", value, reason) }

func condition(kind, value, reason string) map[string]any {
	return map[string]any{"type": kind, "status": value, "reason": reason, "message": "", "lastTransitionTime": "2026-11-29T12:00:00Z"}
}
