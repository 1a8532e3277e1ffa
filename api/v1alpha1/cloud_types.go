// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CloudSpec is where an OpenStack cloud is and how to talk to it.
type CloudSpec struct {
	// CloudsSecretRef names a secret in the operator's namespace whose key clouds.yaml holds a clouds.yaml file. A changed secret takes
	// effect with the next request.
	CloudsSecretRef LocalObjectReference `json:"cloudsSecretRef"`
	// CloudName is the entry of clouds.yaml to use.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CloudName string `json:"cloudName"`
	// Region of the cloud; unset: as clouds.yaml says.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Region string `json:"region,omitempty"`
	// CABundle in PEM: the certificate authorities that may have signed the cloud's certificates. Unset: the system's roots.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	// +kubebuilder:validation:XValidation:rule="self.contains('-----BEGIN CERTIFICATE-----') && self.contains('-----END CERTIFICATE-----')",message="must be certificates in PEM"
	// +kubebuilder:validation:XValidation:rule="!self.contains('PRIVATE KEY-----')",message="must not hold a private key: everyone who may read the Cloud may read it"
	CABundle string `json:"caBundle,omitempty"`
}

// QuotaUse is how much of a quota is used. A limit of -1 is none.
type QuotaUse struct {
	// Used of it.
	Used int32 `json:"used"`
	// Limit of it; -1: none.
	Limit int32 `json:"limit"`
}

// CloudObserved is the last picture of a cloud. The monitor is its only writer.
type CloudObserved struct {
	// Reachable is false after several failed looks in a row; the other facts are then the last ones seen.
	Reachable bool `json:"reachable"`
	// Reason of the last error while not reachable.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
	// Message for people that goes with reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// ProjectID that the credentials are for.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ProjectID string `json:"projectID,omitempty"`
	// Project that the credentials are for, by name.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Project string `json:"project,omitempty"`
	// ComputeMicroversion is the highest that the cloud offers.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ComputeMicroversion string `json:"computeMicroversion,omitempty"`
	// Instances of the project's quota. Quota is looked at rarely.
	// +optional
	Instances *QuotaUse `json:"instances,omitempty"`
	// Cores of the project's quota.
	// +optional
	Cores *QuotaUse `json:"cores,omitempty"`
	// MemoryMiB of the project's quota.
	// +optional
	MemoryMiB *QuotaUse `json:"memoryMiB,omitempty"`
}

// CloudStatus reports. Observed belongs to the monitor, all else to the reconciler (P7).
type CloudStatus struct {
	// Observed is the monitor's region.
	// +optional
	Observed *CloudObserved `json:"observed,omitempty"`
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

// Cloud is an OpenStack endpoint with credentials. Deleting it waits for its Servers and never cascades.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cloud,categories=holdfast
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Project",type=string,JSONPath=`.status.observed.project`
// +kubebuilder:printcolumn:name="Instances",type=integer,JSONPath=`.status.observed.instances.used`
// +kubebuilder:printcolumn:name="Limit",type=integer,JSONPath=`.status.observed.instances.limit`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Region",type=string,priority=1,JSONPath=`.spec.region`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type Cloud struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec CloudSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status CloudStatus `json:"status,omitempty"`
}

// CloudList is a list of Clouds.
// +kubebuilder:object:root=true
type CloudList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Cloud `json:"items"`
}

// SetObservedGeneration records the generation this status was computed from.
func (c *Cloud) SetObservedGeneration(generation int64) { c.Status.ObservedGeneration = generation }

// StatusConditions gives access to the conditions in place.
func (c *Cloud) StatusConditions() *[]metav1.Condition { return &c.Status.Conditions }
