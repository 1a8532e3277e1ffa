// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ServerClassSpec is how to make a virtual server on demand. Servers that exist already do not change with it.
// +kubebuilder:object:generate=false
type ServerClassSpec struct {
	// OpenStack says what the VMs are made of. A claim brings its own user data.
	// +kubebuilder:validation:XValidation:rule="!has(self.userDataSecretRef)",message="a claim brings its own user data: name it in the claim's spec.boot.userDataSecretRef"
	OpenStack OpenStackServer `json:"openstack"`
	// ReclaimPolicy of what the class makes: Delete or Retain.
	// +optional
	// +kubebuilder:default=Delete
	// +kubebuilder:validation:XValidation:rule="self != 'Recycle'",message="a VM is deleted or retained"
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
	// Labels of what the class makes.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) <= 317 && !format.qualifiedName().validate(key).hasValue())",message="every key must be a label key, such as rack or example.com/rack"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !format.labelValue().validate(self[key]).hasValue())",message="every value must be a label value: at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('holdfast.dev/'))",message="labels under holdfast.dev/ are set by the operator"
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// Taints of what the class makes.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`
}

// DeepCopyInto copies the spec: see LabelValue for why it is written by hand.
func (s *ServerClassSpec) DeepCopyInto(out *ServerClassSpec) {
	*out = *s
	s.OpenStack.DeepCopyInto(&out.OpenStack)
	out.Labels = maps.Clone(s.Labels)
	out.Taints = slices.Clone(s.Taints)
}

// ServerClassStatus reports.
type ServerClassStatus struct {
	// Conditions: Ready, Reconciling and Stalled, and what they are derived from.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation of spec this status was computed from; -1 until there is one, so that a new or
	// wiped object never reads as done.
	// +optional
	// +kubebuilder:default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ServerClass makes virtual servers for claims that name it. Deleting it waits for the Servers and claims that name it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=sclass,categories=holdfast
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Cloud",type=string,JSONPath=`.spec.openstack.cloudRef.name`
// +kubebuilder:printcolumn:name="Flavor",type=string,JSONPath=`.spec.openstack.flavor.name`
// +kubebuilder:printcolumn:name="Reclaim",type=string,JSONPath=`.spec.reclaimPolicy`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type ServerClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ServerClassSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ServerClassStatus `json:"status,omitempty"`
}

// ServerClassList is a list of ServerClasses.
// +kubebuilder:object:root=true
type ServerClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ServerClass `json:"items"`
}

// SetObservedGeneration records the generation this status was computed from.
func (c *ServerClass) SetObservedGeneration(generation int64) {
	c.Status.ObservedGeneration = generation
}

// StatusConditions gives access to the conditions in place.
func (c *ServerClass) StatusConditions() *[]metav1.Condition { return &c.Status.Conditions }
