// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/randfill"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Whatever a machine says, its status can be written: the API server counts characters, and JSON carries UTF-8 alone.
func TestFactsAreCutToWhatTheSchemaTakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := string(rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "said"))
		fact, message := v1alpha1.Fact(said), v1alpha1.Message(said)
		if !utf8.ValidString(fact) || utf8.RuneCountInString(fact) > v1alpha1.MaxFactLength {
			t.Fatalf("fact of %d characters, valid: %t", utf8.RuneCountInString(fact), utf8.ValidString(fact))
		}
		if !strings.HasPrefix(message, fact) || utf8.RuneCountInString(message) > v1alpha1.MaxMessageLength {
			t.Fatalf("message of %d characters", utf8.RuneCountInString(message))
		}
		if utf8.ValidString(said) && utf8.RuneCountInString(said) <= v1alpha1.MaxFactLength && fact != said {
			t.Fatalf("%q became %q", said, fact)
		}
	})
}

// The one copy that is written by hand shares nothing with its original, whatever fields are added.
func TestServerTemplateIsCopiedDeeply(t *testing.T) {
	original, same := &v1alpha1.ServerTemplate{}, &v1alpha1.ServerTemplate{}
	fill := func(template *v1alpha1.ServerTemplate) {
		randfill.NewWithSeed(1).NilChance(0).NumElements(2, 2).Fill(template)
	}
	fill(original)
	fill(same)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[v1alpha1.ServerTemplate]()) {
		if reflect.ValueOf(original).Elem().FieldByIndex(field.Index).IsZero() {
			t.Fatalf("%s was not filled", field.Name)
		}
	}
	duplicate := original.DeepCopy()
	if diff := cmp.Diff(original, duplicate); diff != "" {
		t.Errorf("the copy differs:\n%s", diff)
	}
	overwrite(reflect.ValueOf(duplicate).Elem())
	if diff := cmp.Diff(same, original); diff != "" {
		t.Errorf("the original changed with its copy:\n%s", diff)
	}
}

// overwrite changes, in place, everything that a shallow copy would share.
func overwrite(value reflect.Value) {
	for i := range value.NumField() {
		switch field := value.Field(i); field.Kind() {
		case reflect.Map:
			for _, key := range field.MapKeys() {
				field.SetMapIndex(key, reflect.Zero(field.Type().Elem()))
			}
		case reflect.Slice:
			for j := range field.Len() {
				field.Index(j).SetZero()
			}
		case reflect.Pointer:
			field.Elem().SetZero()
		}
	}
}
