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
	PowerOffNever   PowerOffPolicy = "Never" // no automatic power-off, whatever asks (B024); no claim is given such a machine while it is On
)

// FoundRunningPolicy says what to do with a machine that is On with no record of ours (P13).
// +kubebuilder:validation:Enum=Hold;PowerOff
type FoundRunningPolicy string

const (
	FoundRunningHold     FoundRunningPolicy = "Hold"
	FoundRunningPowerOff FoundRunningPolicy = "PowerOff"
)

// ReclaimPolicy says what becomes of a server after its claim has gone.
// +kubebuilder:validation:Enum=Recycle;Retain;Delete
type ReclaimPolicy string

const (
	ReclaimRecycle ReclaimPolicy = "Recycle" // metal: free for the next claim
	ReclaimRetain  ReclaimPolicy = "Retain"  // kept for a person, who clears claimRef
	ReclaimDelete  ReclaimPolicy = "Delete"  // virtual: deleted with its VM
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
// +kubebuilder:validation:XValidation:rule="has(self.redfish) != has(self.openstack)",message="give exactly one of redfish and openstack"
// +kubebuilder:validation:XValidation:rule="has(self.redfish) == has(oldSelf.redfish)",message="a machine cannot become a VM, or a VM a machine: delete this Server and create a new one",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.reclaimPolicy) || self.reclaimPolicy != (has(self.redfish) ? 'Delete' : 'Recycle')",message="a machine is recycled or retained, a VM deleted or retained"
// +kubebuilder:validation:XValidation:rule="!has(self.classRef) || has(self.openstack)",message="classRef is for virtual servers"
// +kubebuilder:validation:XValidation:rule="has(self.classRef) == has(oldSelf.classRef) && (!has(self.classRef) || self.classRef == oldSelf.classRef)",message="classRef says which class made the Server and does not change",reason=FieldValueForbidden
type ServerSpec struct {
	// Redfish names a machine. Immutable: another machine is another Server.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="immutable: another machine is another Server; delete this one and create a new one",reason=FieldValueForbidden
	Redfish *RedfishSystem `json:"redfish,omitempty"`
	// OpenStack says what a VM is made of. What has a verb may be edited (image, by rebuildPolicy; security groups and address pairs of
	// the ports; floatingIP); all else is settled when the VM is made.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.cloudRef == oldSelf.cloudRef && self.flavor == oldSelf.flavor",message="cloudRef and flavor are settled when the VM is made: delete this Server and create a new one",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="[has(self.keyName), has(self.availabilityZone), has(self.serverGroup), has(self.configDrive)] == [has(oldSelf.keyName), has(oldSelf.availabilityZone), has(oldSelf.serverGroup), has(oldSelf.configDrive)] && (!has(self.keyName) || self.keyName == oldSelf.keyName) && (!has(self.availabilityZone) || self.availabilityZone == oldSelf.availabilityZone) && (!has(self.serverGroup) || self.serverGroup == oldSelf.serverGroup) && (!has(self.configDrive) || self.configDrive == oldSelf.configDrive)",message="keyName, availabilityZone, serverGroup and configDrive are settled when the VM is made: delete this Server and create a new one",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="has(self.userDataSecretRef) == has(oldSelf.userDataSecretRef) && (!has(self.userDataSecretRef) || self.userDataSecretRef == oldSelf.userDataSecretRef) && has(self.sshCertificateAuthorityRefs) == has(oldSelf.sshCertificateAuthorityRefs) && (!has(self.sshCertificateAuthorityRefs) || self.sshCertificateAuthorityRefs == oldSelf.sshCertificateAuthorityRefs)",message="userDataSecretRef and sshCertificateAuthorityRefs are handed to the VM when it is made: delete this Server and create a new one",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="self.networks.map(n, n.network) == oldSelf.networks.map(n, n.network) && self.networks.map(n, has(n.fixedIP) ? n.fixedIP : '') == oldSelf.networks.map(n, has(n.fixedIP) ? n.fixedIP : '')",message="the ports' networks and fixed IPs are settled when the VM is made: delete this Server and create a new one",reason=FieldValueForbidden
	OpenStack *OpenStackServer `json:"openstack,omitempty"`
	// ClassRef names the ServerClass that made the Server for a claim.
	// +optional
	ClassRef *LocalObjectReference `json:"classRef,omitempty"`
	// Power wanted while nobody has claimed the server. A claim's power wins while bound, a maintenance's over both. Unset: Off for
	// a machine, On for a VM.
	// +optional
	Power Power `json:"power,omitempty"`
	// PowerOff Never forbids every automatic power-off of this machine, whatever asks.
	// +optional
	// +kubebuilder:default=Allowed
	PowerOff PowerOffPolicy `json:"powerOff,omitempty"`
	// FoundRunning says what to do when the machine is found powered on with no record of ours, and once it is Off again after that.
	// +optional
	// +kubebuilder:default=Hold
	FoundRunning FoundRunningPolicy `json:"foundRunning,omitempty"`
	// ReclaimPolicy says what becomes of the server after a release. Unset: Recycle for a machine, Delete for a VM.
	// +optional
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

	// Of virtual servers alone.
	PhaseCreating   ServerPhase = "Creating"
	PhaseRetrying   ServerPhase = "Retrying"
	PhaseFailed     ServerPhase = "Failed"
	PhaseLost       ServerPhase = "Lost"
	PhaseRebuilding ServerPhase = "Rebuilding"
	PhaseErrored    ServerPhase = "Errored"
	PhaseRunning    ServerPhase = "Running"
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
// +kubebuilder:selectablefield:JSONPath=`.spec.openstack.cloudRef.name`
// +kubebuilder:selectablefield:JSONPath=`.spec.classRef.name`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Power",type=string,JSONPath=`.status.observed.powerState`
// +kubebuilder:printcolumn:name="Claim",type=string,JSONPath=`.spec.claimRef.name`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.observed.hardware.model`
// +kubebuilder:printcolumn:name="Flavor",type=string,JSONPath=`.status.observed.instance.flavor`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Cloud",type=string,priority=1,JSONPath=`.spec.openstack.cloudRef.name`
// +kubebuilder:printcolumn:name="IP",type=string,priority=1,JSONPath=`.status.observed.instance.addresses[0]`
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
