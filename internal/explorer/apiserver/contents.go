// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// ID names one content of one kind of object; states know objects by it.
type ID int32

// Absent is no object.
const Absent ID = 0

// Object is one of our kinds, as a pointer.
type Object[T any] interface {
	metav1.Object
	DeepCopy() T
}

// Contents gives each distinct content of one kind its ID. Contents are never changed once they are in.
type Contents[T Object[T]] struct {
	ids  map[string]ID
	list []T
}

// NewContents are contents without any.
func NewContents[T Object[T]]() Contents[T] {
	return Contents[T]{ids: map[string]ID{}, list: make([]T, 1)}
}

// Get is the content of an ID.
func (c *Contents[T]) Get(id ID) T { return c.list[id] }

// Intern is the ID of a content. It panics on one that cannot be rendered.
func (c *Contents[T]) Intern(content T) ID {
	raw, err := json.Marshal(content)
	if err != nil {
		panic("an object that cannot be rendered: " + err.Error())
	}
	if known, ok := c.ids[string(raw)]; ok {
		return known
	}
	id := ID(len(c.list))
	c.ids[string(raw)] = id
	c.list = append(c.list, content)
	return id
}

// Rewritten is the ID of a content whose rendered text is changed. It panics where that is no content any more.
func (c *Contents[T]) Rewritten(from ID, change func(string) string) ID {
	raw, err := json.Marshal(c.Get(from))
	if err != nil {
		panic("an object that cannot be rendered: " + err.Error())
	}
	content, ok := reflect.New(reflect.TypeOf(c.Get(from)).Elem()).Interface().(T)
	if !ok {
		panic("contents are pointers")
	}
	if err := json.Unmarshal([]byte(change(string(raw))), content); err != nil {
		panic("a change that leaves no object: " + err.Error())
	}
	return c.Intern(content)
}

// Write is what became of a patch that was decided from a content: the new content, Absent where it took the last finalizer of an object
// being deleted, the old one where it was refused.
type Write struct {
	Next    ID
	Refused bool
}

// Apply writes a patch to the content that it was decided from. normal gives what is written its normal form, so that states that mean the
// same are the same; nil: as it is.
func (c *Contents[T]) Apply(from ID, patch *lifecycle.Patch, normal func(T)) Write {
	before := c.Get(from)
	after := before.DeepCopy()
	patch.Apply(after)
	if normal != nil {
		normal(after)
	}
	switch {
	case Refuses(before, after):
		return Write{Next: from, Refused: true}
	case Goes(after):
		return Write{Next: Absent}
	}
	return Write{Next: c.Intern(after)}
}
