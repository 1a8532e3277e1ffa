// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BMCTLS says how the BMC's certificate is verified. Unset: by the system's roots.
type BMCTLS struct {
	// CABundle in PEM.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle string `json:"caBundle,omitempty"`
	// PinnedSHA256 is the SHA-256 fingerprint of the BMC's certificate (DER), in hex, colons allowed.
	// +optional
	// +kubebuilder:validation:MaxLength=95
	PinnedSHA256 string `json:"pinnedSHA256,omitempty"`
	// InsecureSkipVerify accepts any certificate. A condition shows it.
	// +optional
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`
}

// ServerTemplate is what the Servers behind a BMC start with.
type ServerTemplate struct {
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`
	// +optional
	FoundRunning FoundRunningPolicy `json:"foundRunning,omitempty"`
	// +optional
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
}

// BMCSpec is where a management controller is and how to talk to it.
type BMCSpec struct {
	// Endpoint is https://host[:port], IPv6 in brackets; a base path may follow.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint"`
	// CredentialsSecretRef names a kubernetes.io/basic-auth secret in the operator's namespace.
	CredentialsSecretRef LocalObjectReference `json:"credentialsSecretRef"`
	// +optional
	TLS *BMCTLS `json:"tls,omitempty"`
	// Vendor overrides the detection of the vendor.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Vendor string `json:"vendor,omitempty"`
	// ServerTemplate is what the Servers behind this BMC start with.
	// +optional
	ServerTemplate *ServerTemplate `json:"serverTemplate,omitempty"`
}

// ObservedSystem is one system behind a BMC.
type ObservedSystem struct {
	ID string `json:"id"`
	// +optional
	UUID string `json:"uuid,omitempty"`
	// +optional
	SerialNumber string `json:"serialNumber,omitempty"`
	// CanReset is false for systems that are no hosts: they yield no Server.
	// +optional
	CanReset bool `json:"canReset,omitempty"`
}

// BMCObserved is the last picture of a BMC. The monitor is its only writer.
type BMCObserved struct {
	Reachable bool `json:"reachable"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	UUID string `json:"uuid,omitempty"`
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// +optional
	Model string `json:"model,omitempty"`
	// +optional
	Firmware string `json:"firmware,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=64
	Systems []ObservedSystem `json:"systems,omitempty"`
}

// BMCStatus reports. Observed belongs to the monitor, all else to the reconciler (P7).
type BMCStatus struct {
	// +optional
	Observed *BMCObserved `json:"observed,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	// +kubebuilder:default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// BMC is a management controller. Deleting it waits for its Servers and never cascades.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bmc,categories=holdfast
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Vendor",type=string,JSONPath=`.status.observed.vendor`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.observed.model`
// +kubebuilder:printcolumn:name="Firmware",type=string,JSONPath=`.status.observed.firmware`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Endpoint",type=string,priority=1,JSONPath=`.spec.endpoint`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type BMC struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BMCSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={observedGeneration: -1}
	Status BMCStatus `json:"status,omitempty"`
}

// BMCList is a list of BMCs.
// +kubebuilder:object:root=true
type BMCList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BMC `json:"items"`
}

// SetObservedGeneration records the generation this status was computed from.
func (b *BMC) SetObservedGeneration(generation int64) { b.Status.ObservedGeneration = generation }

// StatusConditions gives access to the conditions in place.
func (b *BMC) StatusConditions() *[]metav1.Condition { return &b.Status.Conditions }
