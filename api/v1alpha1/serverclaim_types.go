// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BootMethod is how a machine is booted for a claim.
// +kubebuilder:validation:Enum=PXE;HTTP;VirtualMedia;Disk
type BootMethod string

const (
	BootPXE          BootMethod = "PXE"          // network boot once, then from disk
	BootHTTP         BootMethod = "HTTP"         // the firmware boots the image from its URL once, then from disk
	BootVirtualMedia BootMethod = "VirtualMedia" // the BMC puts the image into a virtual drive, booted once, then from disk
	BootDisk         BootMethod = "Disk"         // whatever is on its disk
)

// BootWhen says how often the boot by the method is asked for.
// +kubebuilder:validation:Enum=Once;Always
type BootWhen string

const (
	BootOnce   BootWhen = "Once"   // once a claim, from disk ever after (I10)
	BootAlways BootWhen = "Always" // at each power-on of ours: diskless machines
)

// ClaimBoot is how the machine is booted for the claim.
// +kubebuilder:validation:XValidation:rule="!has(self.method) || self.method != 'Disk' || !(has(self.image) || has(self.userDataSecretRef) || (has(self.when) && self.when == 'Always'))",message="method Disk boots what is on the disk: image, userDataSecretRef and when: Always need another method"
// +kubebuilder:validation:XValidation:rule="!has(self.method) || !(self.method in ['HTTP', 'VirtualMedia']) || has(self.image)",message="methods HTTP and VirtualMedia boot an image: give its URL in image"
type ClaimBoot struct {
	// Method of the first boot for this claim.
	// +optional
	// +kubebuilder:default=PXE
	Method BootMethod `json:"method,omitempty"`
	// Image is an http or https URL: for the boot service (PXE), for the machine's firmware (HTTP) or for its BMC (VirtualMedia).
	// Holdfast hands it on and never fetches it.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHostname().size() > 0",message="must be a URL with http:// or https:// and a host"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/?#]*//[^/?#]*@')",message="must not carry a user name or password: everyone who may read the claim may read them"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[^!-~]')",message="must be plain ASCII: percent-encode other characters, and write a host's name in punycode"
	// +kubebuilder:validation:XValidation:rule="[self.find('//([[][^]]*|[^][/?#:]*)').replace('//', '').replace('[', '')].all(host, isIP(host) || !host.matches('(^|[.])(0[xX][0-9a-fA-F]*|[0-9]+)[.]?$|:'))",message="must name its host by name, by four decimal numbers, or by an IPv6 address in brackets without a zone"
	// +kubebuilder:validation:XValidation:rule="[self.find('//([[][^]]*|[^][/?#:]*)').replace('//', '').replace('[', '')].all(host, !isIP(host) || !(ip(host).isLinkLocalUnicast() || ip(host).isLinkLocalMulticast() || ip(host) in [ip('fd00:ec2::254'), ip('100.100.100.200')]))",message="must not point to a link-local or cloud metadata address"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(?i)[^/?#]*//metadata([.]google[.]internal)?[.]?(:[0-9]*)?([/?#]|$)')",message="must not point to a cloud metadata service"
	Image string `json:"image,omitempty"`
	// When the boot by the method is asked for.
	// +optional
	// +kubebuilder:default=Once
	When BootWhen `json:"when,omitempty"`
	// UserDataSecretRef names a secret in the claim's namespace, labelled holdfast.dev/user-data=true.
	// +optional
	UserDataSecretRef *LocalObjectReference `json:"userDataSecretRef,omitempty"`
}

// DriveRequirement asks for one drive.
type DriveRequirement struct {
	// MinSize of the drive.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || !quantity(string(self)).isLessThan(quantity('0'))",message="must not be negative"
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
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || !quantity(string(self)).isLessThan(quantity('0'))",message="must not be negative"
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
// +kubebuilder:validation:XValidation:rule="(has(self.key) && size(self.key) > 0) || (has(self.operator) && self.operator == 'Exists')",message="without a key, operator must be Exists: that tolerates every taint"
// +kubebuilder:validation:XValidation:rule="!has(self.value) || size(self.value) == 0 || !has(self.operator) || self.operator == 'Equal'",message="operator Exists takes no value: drop the value, or use operator Equal"
type Toleration struct {
	// Key of the taint; unset with Exists: every taint.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || !format.qualifiedName().validate(self).hasValue()",message="must be a label key, such as gpu or example.com/gpu"
	Key string `json:"key,omitempty"`
	// Operator that compares the toleration with the taint.
	// +optional
	// +kubebuilder:default=Equal
	Operator TolerationOperator `json:"operator,omitempty"`
	// Value of the taint, for operator Equal.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="!format.labelValue().validate(self).hasValue()",message="must be a label value: letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	Value string `json:"value,omitempty"`
}

// ServerClaimSpec is a tenant's request for a machine. At most one of serverRef, selector and className; none: any machine that
// fits. A className makes a VM, of which boot says but the user data.
//
// Once a server is chosen (serverName is set) what chose it and how it boots is settled: a change could only be ignored, or
// end in a boot that nobody expects (I10). Power, restartedAt and tolerations may change at any time.
//
// +kubebuilder:validation:XValidation:rule="[has(self.serverRef), has(self.selector), has(self.className)].filter(given, given).size() <= 1",message="give at most one of serverRef, selector and className"
// +kubebuilder:validation:XValidation:rule="!has(self.className) || !has(self.requirements)",message="what a class makes is what the class says: requirements are for machines that exist"
// +kubebuilder:validation:XValidation:rule="!has(self.className) || !has(self.boot) || !has(self.boot.image)",message="a VM boots the image of its class: boot.image is for machines"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.serverName) || has(self.className) == has(oldSelf.className) && (!has(self.className) || self.className == oldSelf.className)",message="a server is chosen, className cannot change any more: delete the claim and create a new one",reason=FieldValueForbidden,fieldPath=".className"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.serverName) || has(self.serverRef) == has(oldSelf.serverRef) && (!has(self.serverRef) || self.serverRef == oldSelf.serverRef)",message="a server is chosen, serverRef cannot change any more: delete the claim and create a new one",reason=FieldValueForbidden,fieldPath=".serverRef"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.serverName) || has(self.selector) == has(oldSelf.selector) && (!has(self.selector) || self.selector == oldSelf.selector)",message="a server is chosen, selector cannot change any more: delete the claim and create a new one",reason=FieldValueForbidden,fieldPath=".selector"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.serverName) || has(self.requirements) == has(oldSelf.requirements) && (!has(self.requirements) || self.requirements == oldSelf.requirements)",message="a server is chosen, requirements cannot change any more: delete the claim and create a new one",reason=FieldValueForbidden,fieldPath=".requirements"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.serverName) || (self.boot.method == oldSelf.boot.method && self.boot.when == oldSelf.boot.when)",message="a server is chosen, boot.method and boot.when cannot change any more: delete the claim and create a new one",reason=FieldValueForbidden,fieldPath=".boot"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.serverName) || self.boot.when == 'Always' || self.boot == oldSelf.boot",message="a server is chosen and boots from the network once: boot cannot change any more; delete the claim and create a new one",reason=FieldValueForbidden,fieldPath=".boot"
type ServerClaimSpec struct {
	// ServerRef asks for one server by name.
	// +optional
	ServerRef *LocalObjectReference `json:"serverRef,omitempty"`
	// Selector asks for a server by its labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// ClassName asks for a VM made by that ServerClass.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be the name of a ServerClass"
	ClassName string `json:"className,omitempty"`
	// Requirements the machine must meet.
	// +optional
	Requirements *Requirements `json:"requirements,omitempty"`
	// Tolerations let the claim be bound to servers with matching taints.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// Power wanted of the machine. A claim that asks for Off (or, of a machine, for Keep) from the start is Ready without a boot: the machine is
	// booted, or the VM made, when power is asked for.
	// +optional
	// +kubebuilder:default=On
	Power Power `json:"power,omitempty"`
	// RestartedAt restarts the machine once, by switching it off and on, when it is newer than the last restart carried out.
	// +optional
	RestartedAt *metav1.Time `json:"restartedAt,omitempty"`
	// Boot says how the machine is booted for this claim.
	// +optional
	// +kubebuilder:default={}
	Boot ClaimBoot `json:"boot,omitzero"`
	// ServerName is the server chosen. Written by the operator; in spec because it must survive a wiped status.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="serverName goes from one server to another only by being cleared",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!format.dns1123Subdomain().validate(self).hasValue()",message="must be the name of a Server"
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
	// Manufacturer of the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Manufacturer string `json:"manufacturer,omitempty"`
	// Model of the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model,omitempty"`
	// CPUs of the machine.
	// +optional
	CPUs CPUSummary `json:"cpus,omitzero"`
	// Memory in total.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
	// PowerState as last seen.
	// +optional
	PowerState ObservedPower `json:"powerState,omitempty"`
	// MACs of the machine's interfaces.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	MACs []string `json:"macs,omitempty"`
	// Addresses of the machine; of VMs alone.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	Addresses []string `json:"addresses,omitempty"`
	// FloatingIP of the machine; of VMs alone.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	FloatingIP string `json:"floatingIP,omitempty"`
}

// ServerClaimStatus reports.
type ServerClaimStatus struct {
	// Phase is display only.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase ClaimPhase `json:"phase,omitempty"`
	// Machine is what the tenant may know of the machine; absent until the claim is bound.
	// +optional
	Machine *ClaimedMachine `json:"machine,omitempty"`
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

// ServerClaim is a tenant's request for a machine and what to run on it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=sclaim,categories=holdfast
// +kubebuilder:selectablefield:JSONPath=`.spec.serverName`
// +kubebuilder:selectablefield:JSONPath=`.spec.className`
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
	// +kubebuilder:default={"observedGeneration":-1}
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
