// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BootMethod is how a machine is booted for a claim.
// +kubebuilder:validation:Enum=PXE;Disk
type BootMethod string

const (
	BootPXE  BootMethod = "PXE"  // network boot once, then from disk
	BootDisk BootMethod = "Disk" // whatever is on its disk
)

// BootWhen says how often network boot is asked for.
// +kubebuilder:validation:Enum=Once;Always
type BootWhen string

const (
	BootOnce   BootWhen = "Once"   // once a claim, from disk ever after (I10)
	BootAlways BootWhen = "Always" // at each power-on of ours: diskless machines
)

// ClaimBoot is how the machine is booted for the claim.
type ClaimBoot struct {
	// +optional
	// +kubebuilder:default=PXE
	Method BootMethod `json:"method,omitempty"`
	// Image is an http or https URL for the boot service.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Image string `json:"image,omitempty"`
	// +optional
	// +kubebuilder:default=Once
	When BootWhen `json:"when,omitempty"`
	// UserDataSecretRef names a secret in the claim's namespace, labelled holdfast.dev/user-data=true.
	// +optional
	UserDataSecretRef *LocalObjectReference `json:"userDataSecretRef,omitempty"`
}

// DriveRequirement asks for one drive.
type DriveRequirement struct {
	// +optional
	MinSize *resource.Quantity `json:"minSize,omitempty"`
	// Type is SSD or HDD; unset: any.
	// +optional
	// +kubebuilder:validation:Enum=SSD;HDD
	Type string `json:"type,omitempty"`
}

// Requirements a machine must meet.
type Requirements struct {
	// CPUCores in total, at least.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CPUCores int32 `json:"cpuCores,omitempty"`
	// Memory in total, at least.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
	// Disks: each needs a drive of its own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Disks []DriveRequirement `json:"disks,omitempty"`
}

// TolerationOperator compares a toleration with a taint.
// +kubebuilder:validation:Enum=Exists;Equal
type TolerationOperator string

const (
	TolerationExists TolerationOperator = "Exists"
	TolerationEqual  TolerationOperator = "Equal"
)

// Toleration lets a claim be bound to servers with a matching taint.
type Toleration struct {
	// Key of the taint; unset with Exists: every taint.
	// +optional
	// +kubebuilder:validation:MaxLength=316
	Key string `json:"key,omitempty"`
	// +optional
	// +kubebuilder:default=Equal
	Operator TolerationOperator `json:"operator,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value string `json:"value,omitempty"`
}

// ServerClaimSpec is a tenant's request for a machine. At most one of serverRef and selector; neither: any server that fits.
type ServerClaimSpec struct {
	// ServerRef asks for one server by name.
	// +optional
	ServerRef *LocalObjectReference `json:"serverRef,omitempty"`
	// Selector asks for a server by its labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Requirements the machine must meet.
	// +optional
	Requirements *Requirements `json:"requirements,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// Power wanted of the machine.
	// +optional
	// +kubebuilder:default=On
	Power Power `json:"power,omitempty"`
	// RestartedAt restarts the machine once, when it is newer than the last restart carried out.
	// +optional
	RestartedAt *metav1.Time `json:"restartedAt,omitempty"`
	// +optional
	// +kubebuilder:default={}
	Boot ClaimBoot `json:"boot,omitzero"`
	// ServerName is the server chosen. Written by the operator; in spec because it must survive a wiped status.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`
}

// ClaimPhase is display only.
type ClaimPhase string

const (
	ClaimPending   ClaimPhase = "Pending"
	ClaimBound     ClaimPhase = "Bound"
	ClaimReleasing ClaimPhase = "Releasing"
	ClaimHeld      ClaimPhase = "Held"
)

// ClaimedMachine is what a tenant may know of its machine: tenants need no right on Server.
type ClaimedMachine struct {
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// +optional
	Model string `json:"model,omitempty"`
	// +optional
	CPUs CPUSummary `json:"cpus,omitzero"`
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
	// +optional
	PowerState ObservedPower `json:"powerState,omitempty"`
	// MACs of the machine's interfaces.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MACs []string `json:"macs,omitempty"`
}

// ServerClaimStatus reports.
type ServerClaimStatus struct {
	// Phase is display only.
	// +optional
	Phase ClaimPhase `json:"phase,omitempty"`
	// +optional
	Machine *ClaimedMachine `json:"machine,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	// +kubebuilder:default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ServerClaim is a tenant's request for a machine and what to run on it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=sclaim,categories=holdfast
// +kubebuilder:selectablefield:JSONPath=`.spec.serverName`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Server",type=string,JSONPath=`.spec.serverName`
// +kubebuilder:printcolumn:name="Power",type=string,JSONPath=`.status.machine.powerState`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.machine.model`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type ServerClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ServerClaimSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={observedGeneration: -1}
	Status ServerClaimStatus `json:"status,omitempty"`
}

// ServerClaimList is a list of ServerClaims.
// +kubebuilder:object:root=true
type ServerClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ServerClaim `json:"items"`
}

// SetObservedGeneration records the generation this status was computed from.
func (c *ServerClaim) SetObservedGeneration(generation int64) {
	c.Status.ObservedGeneration = generation
}

// StatusConditions gives access to the conditions in place.
func (c *ServerClaim) StatusConditions() *[]metav1.Condition { return &c.Status.Conditions }
