// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Power is what is wanted of a machine's power.
// +kubebuilder:validation:Enum=Off;On;Keep
type Power string

const (
	PowerOff  Power = "Off"
	PowerOn   Power = "On"
	PowerKeep Power = "Keep" // as it is
)

// PowerOffPolicy says whether Holdfast may switch a machine off at all.
// +kubebuilder:validation:Enum=Allowed;Never
type PowerOffPolicy string

const (
	PowerOffAllowed PowerOffPolicy = "Allowed"
	PowerOffNever   PowerOffPolicy = "Never" // no automatic power-off, whatever asks (B024)
)

// FoundRunningPolicy says what to do with a machine that is On with no record of ours (P13).
// +kubebuilder:validation:Enum=Hold;PowerOff
type FoundRunningPolicy string

const (
	FoundRunningHold     FoundRunningPolicy = "Hold"
	FoundRunningPowerOff FoundRunningPolicy = "PowerOff"
)

// ReclaimPolicy says what becomes of a server after its claim has gone.
// +kubebuilder:validation:Enum=Recycle;Retain
type ReclaimPolicy string

const (
	ReclaimRecycle ReclaimPolicy = "Recycle" // free for the next claim
	ReclaimRetain  ReclaimPolicy = "Retain"  // kept for a person, who clears claimRef
)

// CleaningPolicy says what must happen before the next tenant.
// +kubebuilder:validation:Enum=None
type CleaningPolicy string

// CleaningNone asks for no cleaning.
const CleaningNone CleaningPolicy = "None"

// TaintEffect says what a taint does to claims that do not tolerate it.
// +kubebuilder:validation:Enum=NoBind
type TaintEffect string

// TaintNoBind keeps claims that do not tolerate the taint from being bound.
const TaintNoBind TaintEffect = "NoBind"

// IndicatorLED is the wanted state of the identification light.
// +kubebuilder:validation:Enum=Lit;Blinking;Off
type IndicatorLED string

const (
	IndicatorLit      IndicatorLED = "Lit"
	IndicatorBlinking IndicatorLED = "Blinking"
	IndicatorOff      IndicatorLED = "Off"
)

// LocalObjectReference names a cluster-scoped object.
type LocalObjectReference struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// RedfishSystem says which system behind which BMC a Server is.
type RedfishSystem struct {
	// BMCRef names the BMC.
	BMCRef LocalObjectReference `json:"bmcRef"`
	// SystemUUID of the ComputerSystem, compared without regard to case.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	SystemUUID string `json:"systemUUID,omitempty"`
	// SystemID is the Redfish Id, for systems that have no UUID of their own.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	SystemID string `json:"systemID,omitempty"`
}

// Taint keeps claims away that do not tolerate it.
type Taint struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	Key string `json:"key"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Value  string      `json:"value,omitempty"`
	Effect TaintEffect `json:"effect"`
}

// ClaimReference is the claim that has a server. Set by the claim controller; a person may clear it (a manual release).
type ClaimReference struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Identity of the claim: the same after a restore (P11).
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Identity string `json:"identity"`
	// UID the claim had when it was last seen; stamped anew after a restore.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
}

// MaintenanceReference is the maintenance that has a server. Set by the maintenance controller; a person may clear it.
type MaintenanceReference struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
}

// ServerSpec is what is wanted of a machine, and who has it.
type ServerSpec struct {
	// Redfish names the machine. Immutable.
	Redfish *RedfishSystem `json:"redfish"`
	// Power wanted while nobody has claimed the server. A claim's power wins while bound, a maintenance's over both.
	// +optional
	// +kubebuilder:default=Off
	Power Power `json:"power,omitempty"`
	// PowerOff Never forbids every automatic power-off of this machine, whatever asks.
	// +optional
	// +kubebuilder:default=Allowed
	PowerOff PowerOffPolicy `json:"powerOff,omitempty"`
	// FoundRunning says what to do when the machine is found powered on with no record of ours.
	// +optional
	// +kubebuilder:default=Hold
	FoundRunning FoundRunningPolicy `json:"foundRunning,omitempty"`
	// ReclaimPolicy says what becomes of the server after a release.
	// +optional
	// +kubebuilder:default=Recycle
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
	// Cleaning says what must happen before the next tenant.
	// +optional
	// +kubebuilder:default=None
	Cleaning CleaningPolicy `json:"cleaning,omitempty"`
	// Unschedulable keeps new claims away (cordon).
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Taints keep claims away that do not tolerate them.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`
	// IndicatorLED wanted; unset: as it is.
	// +optional
	IndicatorLED IndicatorLED `json:"indicatorLED,omitempty"`
	// Paused takes Holdfast's hands off at once: no write but status, no effect. Deletion still waits for what it waits for.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// ClaimRef is the claim that has this server. Written by the operator.
	// +optional
	ClaimRef *ClaimReference `json:"claimRef,omitempty"`
	// MaintenanceRef is the maintenance that has this server. Written by the operator.
	// +optional
	MaintenanceRef *MaintenanceReference `json:"maintenanceRef,omitempty"`
}

// ServerPhase is where a server is in its life. Derived each pass (P2); in status it is display only.
type ServerPhase string

const (
	PhaseInitial     ServerPhase = "Initial"
	PhaseDiscovery   ServerPhase = "Discovery"
	PhaseAvailable   ServerPhase = "Available"
	PhaseReserved    ServerPhase = "Reserved"
	PhaseReleasing   ServerPhase = "Releasing"
	PhaseReleased    ServerPhase = "Released"
	PhaseCleaning    ServerPhase = "Cleaning"
	PhaseMaintenance ServerPhase = "Maintenance"
	PhaseDeleting    ServerPhase = "Deleting"
)

// ServerStatus reports. Observed belongs to the monitor, all else to the reconciler (P7).
type ServerStatus struct {
	// Observed is the monitor's region.
	// +optional
	Observed *ServerObserved `json:"observed,omitempty"`
	// Phase is display only.
	// +optional
	Phase ServerPhase `json:"phase,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// +optional
	// +kubebuilder:default=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Server is one machine.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=srv,categories=holdfast
// +kubebuilder:selectablefield:JSONPath=`.spec.claimRef.identity`
// +kubebuilder:selectablefield:JSONPath=`.spec.redfish.bmcRef.name`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Power",type=string,JSONPath=`.status.observed.powerState`
// +kubebuilder:printcolumn:name="Claim",type=string,JSONPath=`.spec.claimRef.name`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.observed.hardware.model`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="BMC",type=string,priority=1,JSONPath=`.spec.redfish.bmcRef.name`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type Server struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ServerSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={observedGeneration: -1}
	Status ServerStatus `json:"status,omitempty"`
}

// ServerList is a list of Servers.
// +kubebuilder:object:root=true
type ServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Server `json:"items"`
}

// SetObservedGeneration records the generation this status was computed from.
func (s *Server) SetObservedGeneration(generation int64) { s.Status.ObservedGeneration = generation }

// StatusConditions gives access to the conditions in place.
func (s *Server) StatusConditions() *[]metav1.Condition { return &s.Status.Conditions }
