// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/holdfast-dev/holdfast/config"
)

// rule is a CEL rule of a schema with objects that it lets pass and objects that it refuses. Those that are about a transition
// name what the object was before.
type rule struct {
	kind    string
	of      string // which of the smallest objects to start from, where it is not kind's
	at      string // where in the schema; [] for the items of a list
	message string // how its message begins
	accept  []try
	reject  []try
}

// try is an object: as it is created, or with before as it was and with now as it is changed.
type try struct {
	before set
	now    set
}

func created(now ...set) []try {
	var tries []try
	for _, changes := range now {
		tries = append(tries, try{now: changes})
	}
	return tries
}

// at makes one creation for each value of one field.
func at(path string, values ...any) []try {
	var tries []try
	for _, value := range values {
		tries = append(tries, try{now: set{path: value}})
	}
	return tries
}

func allRules() []rule {
	return slices.Concat(serverRules, claimRules, bootRules, bmcRules, openstackRules)
}

// Each rule accepts what it should and refuses what it should, with its own message.
func TestRulesOfTheSchema(t *testing.T) {
	for _, r := range allRules() {
		t.Run(r.kind+"/"+r.at+"/"+r.message, func(t *testing.T) {
			for _, accepted := range r.accept {
				if err := attempt(t, cmp.Or(r.of, r.kind), accepted); err != nil {
					t.Errorf("%v: refused: %v", accepted, err)
				}
			}
			for _, rejected := range r.reject {
				expectRefusal(t, attempt(t, cmp.Or(r.of, r.kind), rejected), r, rejected)
			}
		})
	}
}

func attempt(t *testing.T, kind string, attempted try) error {
	t.Helper()
	c := as(t, admin)
	if attempted.before == nil {
		return c.Create(t.Context(), build(kind, unique("rule"), attempted.now), client.DryRunAll)
	}
	object := build(kind, unique("rule"), attempted.before)
	if err := as(t, admin).Create(t.Context(), object); err != nil {
		t.Fatalf("%v: %v", attempted.before, err)
	}
	before := object.DeepCopy()
	change(object, attempted.now)
	return as(t, operator).Patch(t.Context(), object, client.MergeFrom(before), client.DryRunAll)
}

func expectRefusal(t *testing.T, err error, r rule, rejected try) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Errorf("%v: got %v, want invalid", rejected, err)
		return
	}
	for _, cause := range status.Status().Details.Causes {
		if strings.Contains(cause.Message, r.message) {
			return
		}
	}
	t.Errorf("%v: refused for other reasons: %v", rejected, err)
}

// No rule is without an object that it accepts and one that it refuses.
func TestEveryRuleIsTried(t *testing.T) {
	var tried []string
	for _, r := range allRules() {
		if len(r.accept) == 0 || len(r.reject) == 0 {
			t.Errorf("%s %s %q: needs objects to accept and to reject", r.kind, r.at, r.message)
		}
		tried = append(tried, r.kind+" "+r.at+" "+r.message)
	}
	var written []string
	for _, definition := range definitions(t) {
		kind := definition.Spec.Names.Kind
		walk(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, "", func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			for _, validation := range schema.XValidations {
				written = append(written, kind+" "+path+" "+validation.Message)
			}
		})
	}
	for i, w := range written {
		for _, r := range tried {
			if strings.HasPrefix(w, r) {
				written[i] = r
			}
		}
	}
	slices.Sort(tried)
	slices.Sort(written)
	if diff := gocmp.Diff(written, tried); diff != "" {
		t.Errorf("rules of the schemas (-) and rules tried (+):\n%s", diff)
	}
}

func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	names, err := fs.Glob(config.CRDs(), "holdfast.dev_*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("custom resource definitions: %v, %v", names, err)
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, name := range names {
		content, err := fs.ReadFile(config.CRDs(), name)
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, definition); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, definition)
	}
	return all
}

// walk visits a schema and everything below it.
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
