// SPDX-License-Identifier: Apache-2.0

package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The condition types a session derives from Readiness. They are those of kstatus
// (sigs.k8s.io/cli-utils/pkg/kstatus) and nobody else writes them: Session.Set refuses them.
const (
	// ReadyCondition says whether the object is fully in the state its spec asks for.
	ReadyCondition = "Ready"
	// ReconcilingCondition is True while the object is on its way and will arrive by itself.
	ReconcilingCondition = "Reconciling"
	// StalledCondition is True when the object will not move until a person changes something.
	StalledCondition = "Stalled"
)

// Object is an API object whose status a session can write. A kind takes part by two methods:
//
//	func (w *Widget) SetObservedGeneration(generation int64)   { w.Status.ObservedGeneration = generation }
//	func (w *Widget) StatusConditions() *[]metav1.Condition    { return &w.Status.Conditions }
//
// The conditions are reached through the object and never handed in beside it, so that one object's
// conditions cannot be written under another's metadata.
type Object interface {
	client.Object

	// SetObservedGeneration records, in .status.observedGeneration, the generation the status describes.
	SetObservedGeneration(generation int64)
	// StatusConditions returns .status.conditions for writing in place. It returns the same slice on
	// every call and never nil.
	StatusConditions() *[]metav1.Condition
}

// Client is what a session needs of a cluster: the status subresource and the name of a kind. Every
// client.Client is one. A session never reads.
type Client interface {
	client.StatusClient
	// GroupVersionKindFor returns the kind of an object.
	GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error)
}

// adapter is implemented by objects that stand for another one (see FromUnstructured): the one stood for
// is what goes to the client, and conditions are carried between the two.
type adapter interface {
	Object
	// target is the object to send.
	target() client.Object
	// store writes the conditions into the target.
	store()
	// load reads the conditions from the target.
	load() error
}

// targetOf returns the object the client must see: the object itself but for adapters.
func targetOf(object Object) client.Object {
	if a, ok := object.(adapter); ok {
		return a.target()
	}
	return object
}
