// SPDX-License-Identifier: Apache-2.0

package statustest

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	"github.com/holdfast-dev/holdfast/status"
)

// Accessors checks the Go type of a kind: that the two methods reach the fields they must, that copies are
// deep, that a session over it settles, and that the regions exist and stay out of the patch. It needs no
// cluster. Unstructured objects have no Go type: of them only the session is checked.
func Accessors(t TB, kind Kind) {
	t.Helper()
	object := kind.New()
	if object.StatusConditions() == nil {
		t.Errorf("StatusConditions returns nil; return the address of the field: &x.Status.Conditions")
		return
	}
	if _, loose := object.(runtime.Unstructured); !loose {
		checkConditions(t, object)
		checkGeneration(t, kind.New())
		checkCopy(t, kind.New())
	}
	checkSession(t, kind)
}

func checkConditions(t TB, object status.Object) {
	t.Helper()
	conditions := object.StatusConditions()
	*conditions = append(*conditions, metav1.Condition{Type: reportedType, Status: metav1.ConditionTrue, Reason: "Checked"})
	if again := object.StatusConditions(); len(*again) == 0 || (*again)[len(*again)-1].Type != reportedType {
		t.Errorf("a condition appended through StatusConditions is gone on the next call; return the address of the field, not of a copy")
	}
	var stored []metav1.Condition
	if err := statusField(object, "conditions", &stored); err != nil || len(stored) == 0 {
		t.Errorf("conditions do not appear as .status.conditions in the object's JSON (%v)", err)
	}
}

func checkGeneration(t TB, object status.Object) {
	t.Helper()
	const generation = 42
	object.SetObservedGeneration(generation)
	var stored int64
	if err := statusField(object, "observedGeneration", &stored); err != nil || stored != generation {
		t.Errorf("SetObservedGeneration(%d) gives .status.observedGeneration %d in the object's JSON (%v)", generation, stored, err)
	}
}

func checkCopy(t TB, object status.Object) {
	t.Helper()
	conditions := object.StatusConditions()
	*conditions = append(*conditions, metav1.Condition{Type: reportedType, Reason: "Before"})
	duplicate, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		t.Errorf("DeepCopyObject does not return a client.Object")
		return
	}
	before, err := json.Marshal(duplicate)
	if err != nil {
		t.Errorf("the object does not marshal: %v", err)
		return
	}
	for i := range *conditions {
		(*conditions)[i].Reason = "After"
	}
	after, err := json.Marshal(duplicate)
	if err != nil || string(before) != string(after) {
		t.Errorf("a copy shares its conditions with the original; generate DeepCopy anew")
	}
}

// checkSession runs two passes, the local copy of the regions filled with anything.
func checkSession(t TB, kind Kind) {
	t.Helper()
	object, recorded := kind.New(), &recordingClient{}
	object.SetResourceVersion("1")
	object.SetGeneration(1)
	for pass := range 2 {
		session := status.Begin(recorded, nil, object, status.WithRegions(kind.Regions...))
		for _, name := range kind.Regions {
			fill(object, name)
		}
		session.Set(reportedType, metav1.ConditionTrue, "Checked", "")
		session.Converged("Checked", "")
		if _, err := session.Commit(t.Context()); err != nil {
			t.Errorf("a session over the kind fails: %v", err)
			return
		}
		if len(recorded.patches) != 1 {
			t.Errorf("pass %d: %d patches sent, want 1 by the first pass and none by the second", pass+1, len(recorded.patches))
			return
		}
	}
	for _, name := range kind.Regions {
		if _, ok := recorded.patches[0].Status[name]; ok {
			t.Errorf("the region %s is in the patch", name)
		}
	}
}

// fill puts anything into a status field of a structured object.
func fill(object client.Object, name string) {
	value := reflect.ValueOf(object)
	for _, field := range []string{"status", name} {
		for value.Kind() == reflect.Pointer && !value.IsNil() {
			value = value.Elem()
		}
		if value.Kind() != reflect.Struct {
			return
		}
		value = value.FieldByNameFunc(func(goName string) bool {
			structField, _ := value.Type().FieldByName(goName)
			tag, _, _ := strings.Cut(structField.Tag.Get("json"), ",")
			return tag == field
		})
		if !value.IsValid() {
			return
		}
	}
	randfill.New().NilChance(0).NumElements(1, 1).Fill(value.Addr().Interface())
}

// statusField decodes one field of the object's .status as JSON has it.
func statusField(object client.Object, name string, into any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var document struct {
		Status map[string]json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(data, &document); err != nil || document.Status[name] == nil {
		return err
	}
	return json.Unmarshal(document.Status[name], into)
}

// recordingClient keeps the patches a session sends.
type recordingClient struct {
	client.SubResourceWriter
	patches []patch
}

type patch struct {
	Status map[string]json.RawMessage `json:"status"`
}

func (c *recordingClient) Status() client.SubResourceWriter { return c }

func (c *recordingClient) GroupVersionKindFor(object runtime.Object) (schema.GroupVersionKind, error) {
	return object.GetObjectKind().GroupVersionKind(), nil
}

func (c *recordingClient) Patch(_ context.Context, object client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
	data, err := p.Data(object)
	if err != nil {
		return err
	}
	var sent patch
	if err := json.Unmarshal(data, &sent); err != nil {
		return err
	}
	c.patches = append(c.patches, sent)
	return nil
}
