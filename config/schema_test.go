// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/config"
)

// foreign are parts of the schemas that come from apimachinery and are as they are everywhere.
var foreign = regexp.MustCompile(`^status\.conditions\[\]\.|^spec\.selector\.|^(apiVersion|kind)$`)

// B245: no field holds a password. Secrets are named, never held.
func TestNoFieldHoldsASecret(t *testing.T) {
	secret := regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|token|credential|privatekey|userdata)`)
	reference := regexp.MustCompile(`SecretRef$`)
	forEachField(t, func(kind, path string, schema *apiextensionsv1.JSONSchemaProps) {
		name := path[strings.LastIndex(path, ".")+1:]
		if !secret.MatchString(name) {
			return
		}
		if !reference.MatchString(name) || len(schema.Properties) != 1 || schema.Properties["name"].Type != "string" {
			t.Errorf("%s %s looks like a secret, and is not a reference to one by name", kind, path)
		}
	})
}

// Every string has a length: without, one object could fill etcd, and a CEL rule over it would cost too much to be accepted.
func TestEveryStringHasALength(t *testing.T) {
	forEachField(t, func(kind, path string, schema *apiextensionsv1.JSONSchemaProps) {
		if schema.Type != "string" || foreign.MatchString(path) {
			return
		}
		if schema.MaxLength == nil && len(schema.Enum) == 0 && schema.Format != "date-time" {
			t.Errorf("%s %s has neither a maximal length nor a set of values", kind, path)
		}
	})
}

// Every list has a length, and says how it merges.
func TestEveryListHasALengthAndMerges(t *testing.T) {
	forEachField(t, func(kind, path string, schema *apiextensionsv1.JSONSchemaProps) {
		if schema.Type != "array" || foreign.MatchString(path) {
			return
		}
		if schema.MaxItems == nil && !strings.HasSuffix(path, ".conditions") {
			t.Errorf("%s %s has no maximal length", kind, path)
		}
		if schema.XListType == nil {
			t.Errorf("%s %s has no list type", kind, path)
		}
	})
}

// kubectl explain has a word on every field.
func TestEveryFieldIsDescribed(t *testing.T) {
	forEachField(t, func(kind, path string, schema *apiextensionsv1.JSONSchemaProps) {
		last := path[strings.LastIndex(path, ".")+1:]
		if strings.ContainsAny(last, "[]{}") || path == "metadata" || path == "spec" || path == "status" {
			return
		}
		if schema.Description == "" {
			t.Errorf("%s %s has no description", kind, path)
		}
	})
}

// Every rule says what to do, in words, and every rule about a change says that it forbids one.
func TestEveryRuleHasAMessage(t *testing.T) {
	forEachField(t, func(kind, path string, schema *apiextensionsv1.JSONSchemaProps) {
		for _, rule := range schema.XValidations {
			if rule.Message == "" {
				t.Errorf("%s %s: no message: %s", kind, path, rule.Rule)
			}
			transition := strings.Contains(rule.Rule, "oldSelf")
			if transition != (rule.Reason != nil && *rule.Reason == apiextensionsv1.FieldValueForbidden) {
				t.Errorf("%s %s: reason %v does not fit: %s", kind, path, rule.Reason, rule.Rule)
			}
		}
	})
}

func forEachField(t *testing.T, visit func(kind, path string, schema *apiextensionsv1.JSONSchemaProps)) {
	t.Helper()
	names, err := fs.Glob(config.CRDs(), "holdfast.dev_*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("custom resource definitions: %v, %v", names, err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(config.CRDs(), name)
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, definition); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, version := range definition.Spec.Versions {
			walk(version.Schema.OpenAPIV3Schema, "", func(path string, schema *apiextensionsv1.JSONSchemaProps) {
				if path != "" {
					visit(definition.Spec.Names.Kind, path, schema)
				}
			})
		}
	}
}

func walk(schema *apiextensionsv1.JSONSchemaProps, path string, visit func(string, *apiextensionsv1.JSONSchemaProps)) {
	visit(path, schema)
	for name, property := range schema.Properties {
		walk(&property, strings.TrimPrefix(path+"."+name, "."), visit)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		walk(schema.Items.Schema, path+"[]", visit)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		walk(schema.AdditionalProperties.Schema, path+"{}", visit)
	}
}
