// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// world are the objects of a cluster in memory: what the production views are gathered from, in the place of the API server and of the
// cache. It has the indexes that the operator's cache has.
type world struct {
	objects map[reflect.Type]map[client.ObjectKey]client.Object
	indexes map[reflect.Type]map[string]*fieldIndex
	version int
}

// fieldIndex finds the objects of one kind by what one field says.
type fieldIndex struct {
	values client.IndexerFunc
	keys   map[string]map[client.ObjectKey]bool
}

func newWorld(ctx context.Context) (*world, error) {
	w := &world{objects: map[reflect.Type]map[client.ObjectKey]client.Object{}, indexes: map[reflect.Type]map[string]*fieldIndex{}}
	return w, index.Setup(ctx, w)
}

// IndexField implements client.FieldIndexer.
func (w *world) IndexField(_ context.Context, object client.Object, field string, values client.IndexerFunc) error {
	kind := reflect.TypeOf(object)
	if w.indexes[kind] == nil {
		w.indexes[kind] = map[string]*fieldIndex{}
	}
	w.indexes[kind][field] = &fieldIndex{values: values, keys: map[string]map[client.ObjectKey]bool{}}
	return nil
}

// put writes an object, and gives it a version, as the API server does. One that is being deleted goes with its last finalizer.
func (w *world) put(object client.Object) {
	w.remove(object)
	if !object.GetDeletionTimestamp().IsZero() && len(object.GetFinalizers()) == 0 {
		return
	}
	kind, key := reflect.TypeOf(object), client.ObjectKeyFromObject(object)
	if w.objects[kind] == nil {
		w.objects[kind] = map[client.ObjectKey]client.Object{}
	}
	w.version++
	object.SetResourceVersion(strconv.Itoa(w.version))
	w.objects[kind][key] = object
	for _, by := range w.indexes[kind] {
		for _, value := range by.values(object) {
			if by.keys[value] == nil {
				by.keys[value] = map[client.ObjectKey]bool{}
			}
			by.keys[value][key] = true
		}
	}
}

// remove takes an object away, where it is there.
func (w *world) remove(object client.Object) {
	kind, key := reflect.TypeOf(object), client.ObjectKeyFromObject(object)
	old, there := w.objects[kind][key]
	if !there {
		return
	}
	delete(w.objects[kind], key)
	for _, by := range w.indexes[kind] {
		for _, value := range by.values(old) {
			delete(by.keys[value], key)
		}
	}
}

// has says whether an object of that kind and name is there.
func (w *world) has(kind client.Object, key client.ObjectKey) bool {
	_, there := w.objects[reflect.TypeOf(kind)][key]
	return there
}

// Get implements client.Reader.
func (w *world) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	object, there := w.objects[reflect.TypeOf(into)][key]
	if !there {
		return apierrors.NewNotFound(schema.GroupResource{Resource: fmt.Sprintf("%T", into)}, key.String())
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(object.DeepCopyObject()).Elem())
	return nil
}

// List implements client.Reader: in order of the names, by the indexes where a field is asked for.
func (w *world) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	wanted := &client.ListOptions{}
	wanted.ApplyOptions(options)
	kind, err := kindOf(list)
	if err != nil {
		return err
	}
	keys, err := w.selected(kind, wanted.FieldSelector)
	if err != nil {
		return err
	}
	var found []runtime.Object
	for _, key := range keys {
		object := w.objects[kind][key]
		if wanted.Namespace != "" && wanted.Namespace != key.Namespace {
			continue
		}
		if wanted.LabelSelector != nil && !wanted.LabelSelector.Matches(labels.Set(object.GetLabels())) {
			continue
		}
		if wanted.UnsafeDisableDeepCopy == nil || !*wanted.UnsafeDisableDeepCopy {
			object = object.DeepCopyObject().(client.Object)
		}
		found = append(found, object)
	}
	return meta.SetList(list, found)
}

// selected are the keys of the objects that the selector selects, sorted.
func (w *world) selected(kind reflect.Type, selector fields.Selector) ([]client.ObjectKey, error) {
	keys := maps.Keys(w.objects[kind])
	if selector != nil {
		for _, r := range selector.Requirements() {
			by := w.indexes[kind][r.Field]
			if by == nil || len(selector.Requirements()) != 1 {
				return nil, fmt.Errorf("%s has no index for %s", kind, selector)
			}
			keys = maps.Keys(by.keys[r.Value])
		}
	}
	return slices.SortedFunc(keys, func(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) }), nil
}

// kindOf is the type of the objects that a list is of.
func kindOf(list client.ObjectList) (reflect.Type, error) {
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	if !items.IsValid() || items.Kind() != reflect.Slice {
		return nil, fmt.Errorf("%T is no list", list)
	}
	return reflect.PointerTo(items.Type().Elem()), nil
}
