// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ObservedPower is a power state as seen at the provider.
type ObservedPower string

const (
	ObservedUnknown     ObservedPower = "Unknown"
	ObservedOn          ObservedPower = "On"
	ObservedOff         ObservedPower = "Off"
	ObservedPoweringOn  ObservedPower = "PoweringOn"
	ObservedPoweringOff ObservedPower = "PoweringOff"
)

// ServerObserved is the last picture of a machine. The monitor is its only writer; it is rewritten only when it differs.
type ServerObserved struct {
	// Reachable is false after several failed looks in a row; the other facts are then the last ones seen.
	Reachable bool `json:"reachable"`
	// Reason is the class and reason of the last error while not reachable, or why the system could not be read.
	// +optional
	Reason string `json:"reason,omitempty"`
	// SystemUUID and SystemID of the system this picture is of.
	// +optional
	SystemUUID string `json:"systemUUID,omitempty"`
	// +optional
	SystemID string `json:"systemID,omitempty"`
	// +optional
	PowerState ObservedPower `json:"powerState,omitempty"`
	// Since is when this power state was first seen.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// +optional
	Health string `json:"health,omitempty"`
	// +optional
	IndicatorLED string `json:"indicatorLED,omitempty"`
	// +optional
	BootOverride *ObservedBootOverride `json:"bootOverride,omitempty"`
	// BootProgress where the BMC tells it: None, Booting or OSRunning.
	// +optional
	BootProgress string `json:"bootProgress,omitempty"`
	// Intent is the id of the intent that was open on the object before this picture was taken (R4).
	// +optional
	Intent string `json:"intent,omitempty"`
	// Task is the state of the intent's task where it became one: Running, Done, Failed or Gone.
	// +optional
	Task string `json:"task,omitempty"`
	// AssetTag as it stands on the machine: where the stamp is kept.
	// +optional
	AssetTag string `json:"assetTag,omitempty"`
	// StampUnsupported is true where the machine is known not to keep a stamp.
	// +optional
	StampUnsupported bool `json:"stampUnsupported,omitempty"`
	// Hardware is the inventory; absent until it was read once.
	// +optional
	Hardware *Hardware `json:"hardware,omitempty"`
}

// ObservedBootOverride is the boot source override as it stands.
type ObservedBootOverride struct {
	// +optional
	Target string `json:"target,omitempty"`
	// +optional
	Enabled string `json:"enabled,omitempty"`
	// +optional
	Mode string `json:"mode,omitempty"`
	// +optional
	HTTPURI string `json:"httpURI,omitempty"`
}

// Hardware is the inventory of a machine. Long lists are cut; the counts tell the whole.
type Hardware struct {
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// +optional
	Model string `json:"model,omitempty"`
	// +optional
	SerialNumber string `json:"serialNumber,omitempty"`
	// +optional
	SKU string `json:"sku,omitempty"`
	// +optional
	BIOSVersion string `json:"biosVersion,omitempty"`
	// +optional
	CPUs CPUSummary `json:"cpus,omitzero"`
	// Memory in total.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	NICs []NIC `json:"nics,omitempty"`
	// +optional
	NICCount int32 `json:"nicCount,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Drives []Drive `json:"drives,omitempty"`
	// +optional
	DriveCount int32 `json:"driveCount,omitempty"`
	// Accelerators: GPUs, FPGAs and other processors that are no CPUs.
	// +optional
	AcceleratorCount int32 `json:"acceleratorCount,omitempty"`
	// Gaps names what could not be read.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Gaps []string `json:"gaps,omitempty"`
}

// CPUSummary sums up the populated CPU sockets.
type CPUSummary struct {
	// +optional
	Sockets int32 `json:"sockets,omitempty"`
	// Cores in total, 0 where not told.
	// +optional
	Cores int32 `json:"cores,omitempty"`
	// +optional
	Threads int32 `json:"threads,omitempty"`
	// +optional
	Model string `json:"model,omitempty"`
}

// NIC is one network interface.
type NIC struct {
	// +optional
	Name string `json:"name,omitempty"`
	// MAC is lower case and colon-separated.
	// +optional
	MAC string `json:"mac,omitempty"`
	// LinkUp is absent where not told.
	// +optional
	LinkUp *bool `json:"linkUp,omitempty"`
	// +optional
	SpeedMbps int32 `json:"speedMbps,omitempty"`
}

// Drive is one physical drive.
type Drive struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Model string `json:"model,omitempty"`
	// Type is SSD or HDD, "" where not told.
	// +optional
	Type string `json:"type,omitempty"`
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
}
