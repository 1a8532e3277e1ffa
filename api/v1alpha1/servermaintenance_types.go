// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaintenancePolicy says who must agree before a bound server enters maintenance.
// +kubebuilder:validation:Enum=OwnerApproval;Enforced
type MaintenancePolicy string

const (
	MaintenanceOwnerApproval MaintenancePolicy = "OwnerApproval" // the claim must name this maintenance in holdfast.dev/maintenance-approved
	MaintenanceEnforced      MaintenancePolicy = "Enforced"
)

// ServerMaintenanceSpec takes one server out of its lifecycle while people or tools work on it.
type ServerMaintenanceSpec struct {
	// ServerRef names the server. Immutable.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="immutable: a maintenance is of one server; delete this one, which ends it, and create a new one",reason=FieldValueForbidden
	ServerRef LocalObjectReference `json:"serverRef"`
	// Policy says who must agree before a bound server enters maintenance.
	// +optional
	// +kubebuilder:default=OwnerApproval
	Policy MaintenancePolicy `json:"policy,omitempty"`
	// Power wanted while the maintenance has the server.
	// +optional
	// +kubebuilder:default=Keep
	Power Power `json:"power,omitempty"`
	// Reason for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}

// ServerMaintenanceStatus reports.
type ServerMaintenanceStatus struct {
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

// ServerMaintenance takes one server out of the lifecycle. It ends by being deleted.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=smaint,categories=holdfast
// +kubebuilder:printcolumn:name="Server",type=string,JSONPath=`.spec.serverRef.name`
// +kubebuilder:printcolumn:name="Policy",type=string,JSONPath=`.spec.policy`
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.conditions[?(@.type=="Active")].status`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type ServerMaintenance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ServerMaintenanceSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ServerMaintenanceStatus `json:"status,omitempty"`
}

// ServerMaintenanceList is a list of ServerMaintenances.
// +kubebuilder:object:root=true
type ServerMaintenanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ServerMaintenance `json:"items"`
}

// SetObservedGeneration records the generation this status was computed from.
func (m *ServerMaintenance) SetObservedGeneration(generation int64) {
	m.Status.ObservedGeneration = generation
}

// StatusConditions gives access to the conditions in place.
func (m *ServerMaintenance) StatusConditions() *[]metav1.Condition { return &m.Status.Conditions }
