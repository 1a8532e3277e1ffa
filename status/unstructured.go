// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FromUnstructured lets an unstructured object take part in a session. Its conditions are decoded here and
// stored back into the object at Commit; keys of a condition that metav1.Condition does not know are kept.
// Other status fields are assigned on the unstructured object itself, as ever.
//
// It fails when .status or .status.conditions are not of the form the Kubernetes API conventions give them.
func FromUnstructured(u *unstructured.Unstructured) (Object, error) {
	object := &unstructuredObject{Unstructured: u}
	if err := object.load(); err != nil {
		return nil, fmt.Errorf("%s %s: %w", u.GetKind(), client.ObjectKeyFromObject(u), err)
	}
	return object, nil
}

type unstructuredObject struct {
	*unstructured.Unstructured

	conditions []metav1.Condition
	// loaded is what the object held when conditions were decoded: storing what did not change is skipped.
	loaded []metav1.Condition
}

func (o *unstructuredObject) SetObservedGeneration(generation int64) {
	o.status()["observedGeneration"] = generation
}

func (o *unstructuredObject) StatusConditions() *[]metav1.Condition { return &o.conditions }

func (o *unstructuredObject) target() client.Object { return o.Unstructured }

// status returns the object's status for writing. load made sure that it is a map if it is there.
func (o *unstructuredObject) status() map[string]any {
	status, ok := o.Object["status"].(map[string]any)
	if !ok {
		status = map[string]any{}
		o.Object["status"] = status
	}
	return status
}

func (o *unstructuredObject) load() error {
	if o.Object == nil {
		return errors.New("the object is empty")
	}
	items, _, err := unstructured.NestedFieldNoCopy(o.Object, "status", "conditions")
	if err != nil {
		return err
	}
	list, ok := items.([]any)
	if !ok && items != nil {
		return fmt.Errorf(".status.conditions is a %T, not a list", items)
	}
	conditions := make([]metav1.Condition, len(list))
	for i, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf(".status.conditions[%d] is a %T, not an object", i, item)
		}
		if conditions[i], err = decode(fields); err != nil {
			return fmt.Errorf(".status.conditions[%d]%w", i, err)
		}
	}
	o.conditions, o.loaded = conditions, slices.Clone(conditions)
	return nil
}

func (o *unstructuredObject) store() {
	if slices.Equal(o.conditions, o.loaded) {
		return
	}
	status := o.status()
	known := map[string]map[string]any{}
	old, _ := status["conditions"].([]any)
	for _, item := range old {
		if fields, ok := item.(map[string]any); ok {
			if conditionType, ok := fields["type"].(string); ok {
				known[conditionType] = fields
			}
		}
	}
	list := make([]any, len(o.conditions))
	for i, condition := range o.conditions {
		list[i] = encode(condition, known[condition.Type])
	}
	status["conditions"] = list
}

// decode reads a condition. By hand, because it runs for every condition of every pass and the general
// converter takes many times as long.
func decode(fields map[string]any) (c metav1.Condition, err error) {
	text := func(name string) string {
		value, ok := fields[name].(string)
		if !ok && fields[name] != nil {
			err = fmt.Errorf(".%s is a %T, not a string", name, fields[name])
		}
		return value
	}
	c.Type, c.Status = text("type"), metav1.ConditionStatus(text("status"))
	c.Reason, c.Message = text("reason"), text("message")
	if transition := text("lastTransitionTime"); transition != "" {
		at, err := time.Parse(time.RFC3339, transition)
		if err != nil {
			return c, fmt.Errorf(".lastTransitionTime: %w", err)
		}
		c.LastTransitionTime = metav1.NewTime(at)
	}
	generation, ok := fields["observedGeneration"].(int64)
	if !ok && fields["observedGeneration"] != nil {
		return c, fmt.Errorf(".observedGeneration is a %T, not an integer", fields["observedGeneration"])
	}
	c.ObservedGeneration = generation
	return c, err
}

// encode returns the condition as JSON has it, on top of the keys it had before.
func encode(c metav1.Condition, before map[string]any) map[string]any {
	fields := map[string]any{}
	maps.Copy(fields, before)
	fields["type"] = c.Type
	fields["status"] = string(c.Status)
	fields["observedGeneration"] = c.ObservedGeneration
	fields["lastTransitionTime"] = c.LastTransitionTime.UTC().Format(time.RFC3339)
	fields["reason"] = c.Reason
	fields["message"] = c.Message
	return fields
}

// equalJSON compares two JSON values as unstructured objects hold them, for the same reason by hand.
func equalJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			if other, ok := b[key]; !ok || !equalJSON(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalJSON)
	case string, bool, int64, float64, nil:
		return a == b
	default:
		return reflect.DeepEqual(a, b)
	}
}
