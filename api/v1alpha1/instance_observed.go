// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaxAddresses is how many addresses of a VM, or of one of its ports, a status tells.
const MaxAddresses = 32

// ObservedInstance is the last picture of a VM at its cloud.
type ObservedInstance struct {
	// ID of the VM this picture is of.
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`
	// Exists is false only where a GET by id said 404: a missing row of a listing is no evidence (P10).
	Exists bool `json:"exists"`
	// Identity that the VM bears in its tags: the stamp.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Identity string `json:"identity,omitempty"`
	// Owner that the VM bears in its tags: the id of the cluster that may act on it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Owner string `json:"owner,omitempty"`
	// Claim that the VM bears in its metadata: the identity of the claim it was made, or is kept, for.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Claim string `json:"claim,omitempty"`
	// State as Nova tells it, such as ACTIVE, BUILD or ERROR.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	State string `json:"state,omitempty"`
	// TaskState as Nova tells it, such as rebuilding; absent where nothing is under way.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	TaskState string `json:"taskState,omitempty"`
	// Errored says that Nova calls the VM broken.
	// +optional
	Errored bool `json:"errored,omitempty"`
	// Fault is Nova's text about what went wrong.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Fault string `json:"fault,omitempty"`
	// LaunchedAt is when Nova says that the VM was first launched; absent where it never was.
	// +optional
	LaunchedAt *metav1.Time `json:"launchedAt,omitempty"`
	// ImageID the VM was last built from.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ImageID string `json:"imageID,omitempty"`
	// Flavor of the VM, by name.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Flavor string `json:"flavor,omitempty"`
	// VCPUs of the flavor.
	// +optional
	VCPUs int32 `json:"vcpus,omitempty"`
	// HostID tells VMs of one project on the same host apart from those on others; the cloud does not say which host it is.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	HostID string `json:"hostID,omitempty"`
	// MemoryMiB of the flavor.
	// +optional
	MemoryMiB int32 `json:"memoryMiB,omitempty"`
	// Addresses of the VM, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	Addresses []string `json:"addresses,omitempty"`
	// Others are the ids of other VMs that bear the same identity and owner: nobody knows which one is meant.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=256
	Others []string `json:"others,omitempty"`
}

// ObservedPort is the last picture of a port of a VM that Holdfast made.
type ObservedPort struct {
	// ID of the port.
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`
	// Index of the entry of spec.openstack.networks that the port is for.
	Index int32 `json:"index"`
	// NetworkID of the port.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	NetworkID string `json:"networkID,omitempty"`
	// DeviceID is the VM the port is plugged into; absent where it is in none.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	DeviceID string `json:"deviceID,omitempty"`
	// FixedIPs of the port, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	FixedIPs []string `json:"fixedIPs,omitempty"`
	// SecurityGroups of the port, by id, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	SecurityGroups []string `json:"securityGroups,omitempty"`
	// AllowedAddressPairs of the port, each as the address, followed by a space and the MAC address where it is not the port's own; sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=128
	AllowedAddressPairs []string `json:"allowedAddressPairs,omitempty"`
}

// ObservedFloatingIP is the last picture of the floating IP that Holdfast allocated for a VM.
type ObservedFloatingIP struct {
	// ID of the floating IP.
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`
	// Address of the floating IP.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Address string `json:"address,omitempty"`
	// PortID it is associated with; absent for none.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	PortID string `json:"portID,omitempty"`
}
