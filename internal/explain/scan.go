// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/holdfast-dev/holdfast/internal/reconciler/index"
)

// scan reads from the API server what the reconcilers look up in the indexes of their cache: it lists all and keeps what the index
// function selects. One explanation is worth a few whole lists; a reconciler's pass would not be.
type scan struct {
	client.Reader
	indexes map[string]client.IndexerFunc // by kind and field
}

// newScan indexes exactly what the operator's cache does.
func newScan(ctx context.Context, reader client.Reader) (*scan, error) {
	s := &scan{Reader: reader, indexes: map[string]client.IndexerFunc{}}
	return s, index.Setup(ctx, s)
}

// IndexField implements client.FieldIndexer.
func (s *scan) IndexField(_ context.Context, object client.Object, field string, values client.IndexerFunc) error {
	s.indexes[indexKey(object, field)] = values
	return nil
}

func indexKey(object runtime.Object, field string) string { return fmt.Sprintf("%T %s", object, field) }

// List implements client.Reader.
func (s *scan) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	wanted := &client.ListOptions{}
	wanted.ApplyOptions(options)
	selector := wanted.FieldSelector
	wanted.FieldSelector = nil
	if err := s.Reader.List(ctx, list, wanted); err != nil || selector == nil {
		return err
	}
	return s.keep(list, selector.Requirements())
}

// keep drops from list what the requirements do not select.
func (s *scan) keep(list client.ObjectList, requirements fields.Requirements) error {
	items, err := meta.ExtractList(list)
	if err != nil {
		return fmt.Errorf("take %T apart: %w", list, err)
	}
	kept := make([]runtime.Object, 0, len(items))
	for _, item := range items {
		selected, err := s.selects(item, requirements)
		if err != nil {
			return err
		}
		if selected {
			kept = append(kept, item)
		}
	}
	return meta.SetList(list, kept)
}

func (s *scan) selects(item runtime.Object, requirements fields.Requirements) (bool, error) {
	object, is := item.(client.Object)
	if !is {
		return false, fmt.Errorf("%T is no object", item)
	}
	for _, r := range requirements {
		values, known := s.indexes[indexKey(item, r.Field)]
		if !known {
			return false, fmt.Errorf("%T has no index %s", item, r.Field)
		}
		if !slices.Contains(values(object), r.Value) {
			return false, nil
		}
	}
	return true, nil
}
