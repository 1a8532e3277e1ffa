// SPDX-License-Identifier: Apache-2.0

package statustest

import (
	"encoding/json"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// conditionFields are the properties of metav1.Condition by their schema types; all are written.
var conditionFields = map[string]string{
	"type":               "string",
	"status":             "string",
	"reason":             "string",
	"message":            "string",
	"lastTransitionTime": "string",
	"observedGeneration": "integer",
}

// Schema checks every served version of a CRD: the status subresource, conditions as a list-map by type,
// and observedGeneration defaulting to -1 on .status and on the field, without which an object that no
// controller has seen, or whose status was wiped, reads as Current to kstatus. It needs no cluster.
func Schema(t TB, kind Kind, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	served := 0
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		served++
		c := schemaCheck{TB: t, version: crd.Name + " " + version.Name}
		if version.Subresources == nil || version.Subresources.Status == nil {
			c.violation("has no status subresource: +kubebuilder:subresource:status")
		}
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			c.violation("has no schema")
			continue
		}
		c.status(version.Schema.OpenAPIV3Schema, kind.Regions)
	}
	if served == 0 {
		t.Errorf("%s serves no version", crd.Name)
	}
}

type schemaCheck struct {
	TB
	version string
}

func (c schemaCheck) violation(format string, args ...any) {
	c.Helper()
	c.Errorf("%s: "+format, append([]any{c.version}, args...)...)
}

func (c schemaCheck) status(root *apiextensionsv1.JSONSchemaProps, regions []string) {
	c.Helper()
	status, ok := root.Properties["status"]
	if !ok {
		c.violation("has no .status")
		return
	}
	c.observedGeneration(status)
	c.conditions(status)
	for _, region := range regions {
		if _, ok := status.Properties[region]; !ok {
			c.violation("has no .status.%s, which is named as a region", region)
		}
	}
}

func (c schemaCheck) observedGeneration(status apiextensionsv1.JSONSchemaProps) {
	c.Helper()
	var whole struct {
		ObservedGeneration *int64 `json:"observedGeneration"`
	}
	if !decodes(status.Default, &whole) || whole.ObservedGeneration == nil || *whole.ObservedGeneration != -1 {
		c.violation(`.status must default to observedGeneration -1: +kubebuilder:default:={"observedGeneration":-1} on the field status`)
	}
	field, ok := status.Properties["observedGeneration"]
	if !ok || field.Type != "integer" {
		c.violation("has no integer .status.observedGeneration")
		return
	}
	var value int64
	if !decodes(field.Default, &value) || value != -1 {
		c.violation(".status.observedGeneration must default to -1: +kubebuilder:default=-1 on the field observedGeneration")
	}
}

func (c schemaCheck) conditions(status apiextensionsv1.JSONSchemaProps) {
	c.Helper()
	list, ok := status.Properties["conditions"]
	if !ok || list.Type != "array" || list.Items == nil || list.Items.Schema == nil {
		c.violation("has no list .status.conditions")
		return
	}
	if list.XListType == nil || *list.XListType != "map" || !slices.Equal(list.XListMapKeys, []string{"type"}) {
		c.violation(".status.conditions must be a list-map by type: +listType=map and +listMapKey=type")
	}
	item := list.Items.Schema
	for name, want := range conditionFields {
		if field, ok := item.Properties[name]; !ok || field.Type != want {
			c.violation(".status.conditions[].%s must be of type %s, as in metav1.Condition", name, want)
		}
	}
	for _, name := range item.Required {
		if _, ok := conditionFields[name]; !ok {
			c.violation(".status.conditions[].%s is required and not in metav1.Condition: no session fills it", name)
		}
	}
}

func decodes(value *apiextensionsv1.JSON, into any) bool {
	return value != nil && json.Unmarshal(value.Raw, into) == nil
}
