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

// LocalObjectReference names an object of one kind, in a place that the field holding the reference fixes: a tenant has no
// way to name an object of another namespace.
type LocalObjectReference struct {
	// Name of the object.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be the name of an object: lower case letters, digits, '-' and '.', beginning and ending with a letter or digit"
	Name string `json:"name"`
}

// RedfishSystem says which system behind which BMC a Server is. With neither systemUUID nor systemID it is the only system
// there is; where there are several, the Server is held (AmbiguousSystem).
// +kubebuilder:validation:XValidation:rule="!(has(self.systemUUID) && has(self.systemID))",message="give systemUUID or systemID, not both: either names the system alone"
type RedfishSystem struct {
	// BMCRef names the BMC.
	BMCRef LocalObjectReference `json:"bmcRef"`
	// SystemUUID is the UUID of the ComputerSystem, compared without regard to case.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:validation:XValidation:rule="!format.uuid().validate(self.lowerAscii()).hasValue() && !self.matches('^([0-]*|[fF-]*)$')",message="must be a UUID of 32 hexadecimal digits in five groups, and not the same 0 or F throughout; name a system that has none by systemID"
	SystemUUID string `json:"systemUUID,omitempty"`
	// SystemID is the Redfish Id, for systems that have no UUID of their own.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/[:cntrl:]]*$') && !self.matches('^ | $')",message="must be the Id of a ComputerSystem, without slashes, and without spaces at its ends"
	SystemID string `json:"systemID,omitempty"`
}

// Taint keeps claims away that do not tolerate it.
type Taint struct {
	// Key of the taint, in the form of a label key.
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="must be a label key, such as gpu or example.com/gpu"
	Key string `json:"key"`
	// Value of the taint, in the form of a label value.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="!format.labelValue().validate(self).hasValue()",message="must be a label value: letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	Value string `json:"value,omitempty"`
	// Effect on claims that do not tolerate the taint.
	Effect TaintEffect `json:"effect"`
}

// ClaimReference is the claim that has a server. Set by the claim controller; a person may clear it (a manual release).
// +kubebuilder:validation:XValidation:rule="self.__namespace__ == oldSelf.__namespace__ && self.name == oldSelf.name && self.identity == oldSelf.identity",message="claimRef goes from one claim to another only by being cleared, which releases the server; while it is set, only its uid may change",reason=FieldValueForbidden
type ClaimReference struct {
	// Namespace of the claim.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Label().validate(self).hasValue()",message="must be the name of a namespace"
	Namespace string `json:"namespace"`
	// Name of the claim.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be the name of a ServerClaim"
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
// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="maintenanceRef goes from one maintenance to another only by being cleared; while it is set, only its uid may change",reason=FieldValueForbidden
type MaintenanceReference struct {
	// Name of the maintenance.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be the name of a ServerMaintenance"
	Name string `json:"name"`
	// UID the maintenance had when it was last seen; stamped anew after a restore.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
}

// ServerSpec is what is wanted of a machine, and who has it.
type ServerSpec struct {
	// Redfish names the machine. Immutable: another machine is another Server.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="immutable: another machine is another Server; delete this one and create a new one",reason=FieldValueForbidden
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
	// +listMapKey=effect
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
	// +kubebuilder:validation:MaxLength=64
	Phase ServerPhase `json:"phase,omitempty"`
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
// +kubebuilder:printcolumn:name="Claim Namespace",type=string,priority=1,JSONPath=`.spec.claimRef.namespace`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type Server struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ServerSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
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
