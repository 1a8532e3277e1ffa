// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"reflect"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// layout says where a Go type keeps its status and, within it, the regions of other writers.
type layout struct {
	statusField int
	regions     []int
}

// layoutOf finds the fields by their JSON names. A region the type does not have is an error: misspelt, it
// would protect nothing.
func layoutOf(object reflect.Type, regions []string) (*layout, error) {
	if object.Kind() != reflect.Pointer || object.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a pointer to a struct", object)
	}
	statusField, ok := fieldByJSON(object.Elem(), "status")
	if !ok {
		return nil, fmt.Errorf("%s has no field with the JSON name status", object)
	}
	l := &layout{statusField: statusField}
	statusType := object.Elem().Field(statusField).Type
	if statusType.Kind() == reflect.Pointer {
		statusType = statusType.Elem()
	}
	for _, region := range regions {
		field, ok := fieldByJSON(statusType, region)
		if !ok {
			return nil, fmt.Errorf("%s has no field with the JSON name %s to be a region", statusType, region)
		}
		l.regions = append(l.regions, field)
	}
	return l, nil
}

func fieldByJSON(structType reflect.Type, name string) (int, bool) {
	if structType.Kind() != reflect.Struct {
		return 0, false
	}
	for i := range structType.NumField() {
		if tag, _, _ := strings.Cut(structType.Field(i).Tag.Get("json"), ","); tag == name {
			return i, true
		}
	}
	return 0, false
}

// reduce returns a new object of the same type with nothing but a shallow copy of the status, its regions
// blank.
func (l *layout) reduce(object client.Object) client.Object {
	source := reflect.ValueOf(object).Elem()
	reduced := reflect.New(source.Type())
	status, copied := source.Field(l.statusField), reduced.Elem().Field(l.statusField)
	if status.Kind() == reflect.Pointer {
		if status.IsNil() {
			return reduced.Interface().(client.Object)
		}
		copied.Set(reflect.New(status.Type().Elem()))
		status, copied = status.Elem(), copied.Elem()
	}
	copied.Set(status)
	for _, region := range l.regions {
		copied.Field(region).SetZero()
	}
	return reduced.Interface().(client.Object)
}
