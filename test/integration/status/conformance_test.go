// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

func TestTheConformanceKitPassesWidget(t *testing.T) {
	crd, err := widget.CRD()
	if err != nil {
		t.Fatal(err)
	}
	structured := statustest.Kind{Regions: []string{"observed"}, New: func() status.Object {
		return &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "conformance-"}}
	}}
	loose := statustest.Kind{Regions: []string{"observed"}, New: func() status.Object { return newLoose("Widget") }}
	for name, kind := range map[string]statustest.Kind{"structured": structured, "unstructured": loose} {
		t.Run(name, func(t *testing.T) {
			statustest.Accessors(t, kind)
			statustest.Schema(t, kind, crd)
			statustest.Server(t, kind, env.Config, scheme)
		})
	}
}

func newLoose(kindName string) status.Object {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(widget.GroupVersion.WithKind(kindName))
	u.SetNamespace("default")
	u.SetGenerateName("conformance-")
	object, err := status.FromUnstructured(u)
	if err != nil {
		panic(err)
	}
	return object
}

// findings is a statustest.TB that keeps what is reported.
type findings struct {
	*testing.T
	found []string
}

func (f *findings) Errorf(format string, args ...any) {
	f.found = append(f.found, fmt.Sprintf(format, args...))
}
func (f *findings) Context() context.Context { return f.T.Context() }

// broken are kinds with one defect each, and what the kit must say of it.
var broken = map[string]struct {
	defect func(version *apiextensionsv1.CustomResourceDefinitionVersion, status map[string]apiextensionsv1.JSONSchemaProps)
	want   string
}{
	"Undefaulted": {func(v *apiextensionsv1.CustomResourceDefinitionVersion, _ map[string]apiextensionsv1.JSONSchemaProps) {
		whole := v.Schema.OpenAPIV3Schema.Properties["status"]
		whole.Default = nil
		v.Schema.OpenAPIV3Schema.Properties["status"] = whole
	}, "kstatus reads a new object as Current"},
	"Subresourceless": {func(v *apiextensionsv1.CustomResourceDefinitionVersion, _ map[string]apiextensionsv1.JSONSchemaProps) {
		v.Subresources = nil
	}, "ends in Gone, not in Written"},
	"Pruned": {func(_ *apiextensionsv1.CustomResourceDefinitionVersion, status map[string]apiextensionsv1.JSONSchemaProps) {
		delete(status, "conditions")
	}, "said again ends in Written, not in Unchanged"},
	"Generationless": {func(_ *apiextensionsv1.CustomResourceDefinitionVersion, status map[string]apiextensionsv1.JSONSchemaProps) {
		field := status["observedGeneration"]
		field.Default = nil
		status["observedGeneration"] = field
	}, "kstatus reads a status wiped by {} as Current"},
	"Narrow": {func(_ *apiextensionsv1.CustomResourceDefinitionVersion, status map[string]apiextensionsv1.JSONSchemaProps) {
		limit := int64(100)
		field := status["conditions"].Items.Schema.Properties["message"]
		field.MaxLength = &limit
		status["conditions"].Items.Schema.Properties["message"] = field
	}, "overlong texts ends in Failed"},
}

func brokenDefinitions(correct *apiextensionsv1.CustomResourceDefinition) []*apiextensionsv1.CustomResourceDefinition {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for name, test := range broken {
		crd := renamed(correct, name)
		version := &crd.Spec.Versions[0]
		test.defect(version, version.Schema.OpenAPIV3Schema.Properties["status"].Properties)
		crds = append(crds, crd)
	}
	return crds
}

func TestTheConformanceKitFindsWhatAnAPIServerMakesOfABrokenKind(t *testing.T) {
	for name, test := range broken {
		t.Run(name, func(t *testing.T) {
			f := &findings{T: t}
			statustest.Server(f, statustest.Kind{New: func() status.Object { return newLoose(name) }}, env.Config, scheme)
			if !slices.ContainsFunc(f.found, func(s string) bool { return strings.Contains(s, test.want) }) {
				t.Errorf("nothing about %q in:\n%s", test.want, strings.Join(f.found, "\n"))
			}
		})
	}
}

func TestTheConformanceKitSaysWhenNewIsRefused(t *testing.T) {
	f := &findings{T: t}
	statustest.Server(f, statustest.Kind{New: func() status.Object {
		return &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "Not A Name"}}
	}}, env.Config, scheme)
	if len(f.found) == 0 || !strings.Contains(f.found[0], "what New returns is refused") {
		t.Errorf("%q", f.found)
	}
}
