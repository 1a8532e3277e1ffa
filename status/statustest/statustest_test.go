// SPDX-License-Identifier: Apache-2.0

package statustest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/holdfast-dev/holdfast/status"
	"github.com/holdfast-dev/holdfast/status/statustest"
	"github.com/holdfast-dev/holdfast/status/statustest/widget"
)

// violations is a TB that keeps what is reported.
type violations struct{ found []string }

func (v *violations) Helper()                  {}
func (v *violations) Context() context.Context { return context.Background() }
func (v *violations) Cleanup(func())           {}
func (v *violations) Errorf(format string, args ...any) {
	v.found = append(v.found, fmt.Sprintf(format, args...))
}

// mustFind checks that one of the violations says want, and that none was reported when want is empty.
func (v *violations) mustFind(t *testing.T, want string) {
	t.Helper()
	if want == "" && len(v.found) > 0 {
		t.Errorf("reported %q", v.found)
	}
	if want != "" && !slices.ContainsFunc(v.found, func(s string) bool { return strings.Contains(s, want) }) {
		t.Errorf("nothing about %q in %q", want, v.found)
	}
}

func newWidget() status.Object {
	return &widget.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "w-"}}
}

// base is a correct kind to break one thing of.
type base struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            widget.WidgetStatus `json:"status,omitempty"`
}

func (b *base) SetObservedGeneration(g int64)         { b.Status.ObservedGeneration = g }
func (b *base) StatusConditions() *[]metav1.Condition { return &b.Status.Conditions }
func (b *base) copy() base {
	c := *b
	b.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	b.Status.DeepCopyInto(&c.Status)
	return c
}
func (b *base) DeepCopyObject() runtime.Object { c := b.copy(); return &c }

type conditionsOfACopy struct{ base }

func (b *conditionsOfACopy) DeepCopyObject() runtime.Object { return &conditionsOfACopy{b.copy()} }
func (b *conditionsOfACopy) StatusConditions() *[]metav1.Condition {
	conditions := slices.Clone(b.Status.Conditions)
	return &conditions
}

type noConditions struct{ base }

func (b *noConditions) DeepCopyObject() runtime.Object        { return &noConditions{b.copy()} }
func (b *noConditions) StatusConditions() *[]metav1.Condition { return nil }

type conditionsElsewhere struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            widget.WidgetStatus `json:"status,omitempty"`
	Conditions        []metav1.Condition  `json:"conditions,omitempty"`
}

func (b *conditionsElsewhere) SetObservedGeneration(g int64)         { b.Status.ObservedGeneration = g }
func (b *conditionsElsewhere) StatusConditions() *[]metav1.Condition { return &b.Conditions }
func (b *conditionsElsewhere) DeepCopyObject() runtime.Object {
	c := *b
	c.Conditions = slices.Clone(b.Conditions)
	return &c
}

type generationForgotten struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            widget.WidgetStatus `json:"status,omitempty"`
}

func (b *generationForgotten) SetObservedGeneration(int64)           {}
func (b *generationForgotten) StatusConditions() *[]metav1.Condition { return &b.Status.Conditions }
func (b *generationForgotten) DeepCopyObject() runtime.Object {
	c := *b
	b.Status.DeepCopyInto(&c.Status)
	return &c
}

type shallowCopy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            widget.WidgetStatus `json:"status,omitempty"`
}

func (b *shallowCopy) SetObservedGeneration(g int64)         { b.Status.ObservedGeneration = g }
func (b *shallowCopy) StatusConditions() *[]metav1.Condition { return &b.Status.Conditions }
func (b *shallowCopy) DeepCopyObject() runtime.Object        { c := *b; return &c }

func TestAccessorsFindsWhatIsWrongWithAGoType(t *testing.T) {
	for name, test := range map[string]struct {
		kind statustest.Kind
		want string
	}{
		"widget":                       {statustest.Kind{New: newWidget, Regions: []string{"observed"}}, ""},
		"unstructured":                 {statustest.Kind{New: newUnstructured, Regions: []string{"observed"}}, ""},
		"a region that is not there":   {statustest.Kind{New: newWidget, Regions: []string{"obsreved"}}, "obsreved"},
		"no conditions":                {kindOf(func() status.Object { return &noConditions{} }), "StatusConditions returns nil"},
		"conditions of a copy":         {kindOf(func() status.Object { return &conditionsOfACopy{} }), "gone on the next call"},
		"conditions outside of status": {kindOf(func() status.Object { return &conditionsElsewhere{} }), ".status.conditions"},
		"generation not stored":        {kindOf(func() status.Object { return &generationForgotten{} }), "SetObservedGeneration(42)"},
		"shallow copy":                 {kindOf(func() status.Object { return &shallowCopy{} }), "generate DeepCopy anew"},
	} {
		t.Run(name, func(t *testing.T) {
			found := &violations{}
			statustest.Accessors(found, test.kind)
			found.mustFind(t, test.want)
		})
	}
}

func kindOf(newObject func() status.Object) statustest.Kind { return statustest.Kind{New: newObject} }

func newUnstructured() status.Object {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(widget.GroupVersion.WithKind("Widget"))
	u.SetNamespace("default")
	u.SetGenerateName("w-")
	object, err := status.FromUnstructured(u)
	if err != nil {
		panic(err)
	}
	return object
}

func TestSchemaFindsWhatIsWrongWithACRD(t *testing.T) {
	type props = apiextensionsv1.JSONSchemaProps
	ofStatus := func(edit func(status *props)) func(*apiextensionsv1.CustomResourceDefinitionVersion) {
		return func(v *apiextensionsv1.CustomResourceDefinitionVersion) {
			status := v.Schema.OpenAPIV3Schema.Properties["status"]
			edit(&status)
			v.Schema.OpenAPIV3Schema.Properties["status"] = status
		}
	}
	ofField := func(name string, edit func(field *props)) func(*apiextensionsv1.CustomResourceDefinitionVersion) {
		return ofStatus(func(status *props) {
			field := status.Properties[name]
			edit(&field)
			status.Properties[name] = field
		})
	}
	atomic := "atomic"
	for name, test := range map[string]struct {
		edit func(*apiextensionsv1.CustomResourceDefinitionVersion)
		want string
	}{
		"widget":         {func(*apiextensionsv1.CustomResourceDefinitionVersion) {}, ""},
		"no subresource": {func(v *apiextensionsv1.CustomResourceDefinitionVersion) { v.Subresources = nil }, "no status subresource"},
		"no schema":      {func(v *apiextensionsv1.CustomResourceDefinitionVersion) { v.Schema = nil }, "no schema"},
		"not served":     {func(v *apiextensionsv1.CustomResourceDefinitionVersion) { v.Served = false }, "serves no version"},
		"no status": {func(v *apiextensionsv1.CustomResourceDefinitionVersion) {
			delete(v.Schema.OpenAPIV3Schema.Properties, "status")
		}, "no .status"},
		"no default on status":          {ofStatus(func(s *props) { s.Default = nil }), ".status must default"},
		"another default on status":     {ofStatus(func(s *props) { s.Default = &apiextensionsv1.JSON{Raw: []byte(`{}`)} }), ".status must default"},
		"no default on the field":       {ofField("observedGeneration", func(f *props) { f.Default = nil }), "observedGeneration must default"},
		"zero as default on the field":  {ofField("observedGeneration", func(f *props) { f.Default = &apiextensionsv1.JSON{Raw: []byte(`0`)} }), "observedGeneration must default"},
		"no observedGeneration":         {ofStatus(func(s *props) { delete(s.Properties, "observedGeneration") }), "no integer"},
		"no conditions":                 {ofStatus(func(s *props) { delete(s.Properties, "conditions") }), "no list"},
		"atomic conditions":             {ofField("conditions", func(f *props) { f.XListType, f.XListMapKeys = &atomic, nil }), "list-map by type"},
		"keyed by another field":        {ofField("conditions", func(f *props) { f.XListMapKeys = []string{"reason"} }), "list-map by type"},
		"conditions without generation": {ofField("conditions", func(f *props) { delete(f.Items.Schema.Properties, "observedGeneration") }), "observedGeneration must be of type"},
		"a required field of its own":   {ofField("conditions", func(f *props) { f.Items.Schema.Required = append(f.Items.Schema.Required, "severity") }), "severity is required"},
		"no such region":                {ofStatus(func(s *props) { delete(s.Properties, "observed") }), "named as a region"},
	} {
		t.Run(name, func(t *testing.T) {
			crd, err := widget.CRD()
			if err != nil {
				t.Fatal(err)
			}
			test.edit(&crd.Spec.Versions[0])
			found := &violations{}
			statustest.Schema(found, statustest.Kind{New: newWidget, Regions: []string{"observed"}}, crd)
			found.mustFind(t, test.want)
			if test.want != "" && len(found.found) > 1 && name != "no schema" {
				t.Errorf("one defect, reported as %q", found.found)
			}
		})
	}
}
