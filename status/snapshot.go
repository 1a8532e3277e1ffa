// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// snapshot is the status of an object as it was read, without the regions of other writers. Spec,
// metadata and regions are neither copied nor compared: this is what makes an unchanged pass cheap, and
// what keeps them out of the patch.
type snapshot struct {
	regions []string
	before  client.Object
	layout  *layout
}

// take makes the snapshot of an object.
func take(object client.Object, regions []string) (*snapshot, error) {
	s := &snapshot{regions: regions}
	if _, ok := object.(*unstructured.Unstructured); !ok {
		layout, err := layoutOf(reflect.TypeOf(object), regions)
		if err != nil {
			return nil, err
		}
		s.layout = layout
	}
	before, ok := s.reduce(object).DeepCopyObject().(client.Object)
	if !ok {
		return nil, fmt.Errorf("deep copy of %T is not an object", object)
	}
	s.before = before
	return s, nil
}

// patch returns the merge patch from the snapshot to the object's status as it is now, locked on version;
// nil when there is no difference.
func (s *snapshot) patch(object client.Object, version string) ([]byte, error) {
	after := s.reduce(object)
	// Equal in memory is equal on the wire, and is the usual case.
	if equal(s.before, after) {
		return nil, nil
	}
	if version == "" {
		return nil, errors.New("the object has no resourceVersion: it was not read from the API server")
	}
	// The version is in the patch because the snapshot has none: that is the optimistic lock.
	after.SetResourceVersion(version)
	patch, err := client.MergeFrom(s.before).Data(after)
	if err != nil {
		return nil, fmt.Errorf("computing the patch: %w", err)
	}
	// Different in memory may still be equal on the wire: an empty list that is omitted, a quantity or a
	// time computed anew. Then the lock is all there is.
	if string(patch) == fmt.Sprintf(`{"metadata":{"resourceVersion":%q}}`, version) {
		return nil, nil
	}
	return patch, nil
}

// reduce returns a shallow copy of the object that holds its status only, without regions.
func (s *snapshot) reduce(object client.Object) client.Object {
	if u, ok := object.(*unstructured.Unstructured); ok {
		return reduceUnstructured(u, s.regions)
	}
	return s.layout.reduce(object)
}

// equal compares in memory. Values of different form may still be equal on the wire, never the reverse.
func equal(before, after client.Object) bool {
	if u, ok := before.(*unstructured.Unstructured); ok {
		return equalJSON(u.Object, after.(*unstructured.Unstructured).Object)
	}
	return reflect.DeepEqual(before, after)
}

func reduceUnstructured(u *unstructured.Unstructured, regions []string) *unstructured.Unstructured {
	reduced := &unstructured.Unstructured{Object: map[string]any{}}
	status, ok := u.Object["status"].(map[string]any)
	if !ok {
		return reduced
	}
	own := maps.Clone(status)
	maps.DeleteFunc(own, func(field string, _ any) bool { return slices.Contains(regions, field) })
	reduced.Object["status"] = own
	return reduced
}
