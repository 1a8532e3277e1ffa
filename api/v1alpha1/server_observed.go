// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Lengths of what a status tells, in characters. A machine may say anything: whoever writes a fact cuts it by Fact or
// Message first, because the API server refuses a longer one, and with it the whole write.
const (
	MaxFactLength    = 256
	MaxMessageLength = 1024
	MaxURLLength     = 2048
)

// MaxMediaSlots is how many slots for virtual media a status tells. Machines have one to four.
const MaxMediaSlots = 16

// Fact returns what a machine said about itself as it may stand in a status: valid UTF-8 of at most MaxFactLength characters.
func Fact(said string) string { return clip(said, MaxFactLength) }

// URL returns an address that a machine tells as it may stand in a status: valid UTF-8 of at most MaxURLLength characters.
func URL(said string) string { return clip(said, MaxURLLength) }

// Message returns a text for people as it may stand in status.observed: valid UTF-8 of at most MaxMessageLength characters.
func Message(said string) string { return clip(said, MaxMessageLength) }

func clip(said string, length int) string {
	said = strings.ToValidUTF8(said, "\uFFFD")
	count := 0
	for at := range said {
		if count == length {
			return said[:at]
		}
		count++
	}
	return said
}

// ObservedPower is a power state as seen at the provider.
// +kubebuilder:validation:MaxLength=64
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
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
	// SystemUUID and SystemID of the system this picture is of.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	SystemUUID string `json:"systemUUID,omitempty"`
	// SystemID is the Redfish Id of the system this picture is of.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	SystemID string `json:"systemID,omitempty"`
	// PowerState as last seen.
	// +optional
	PowerState ObservedPower `json:"powerState,omitempty"`
	// Since is when this power state was first seen.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Health of the system: OK, Warning or Critical.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Health string `json:"health,omitempty"`
	// IndicatorLED as it stands; absent where there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	IndicatorLED string `json:"indicatorLED,omitempty"`
	// BootOverride as it stands.
	// +optional
	BootOverride *ObservedBootOverride `json:"bootOverride,omitempty"`
	// Media are the drives for virtual media. Looked at only while an image of a claim may be in one of them; absent otherwise.
	// +optional
	Media *ObservedMedia `json:"media,omitempty"`
	// BootProgress where the BMC tells it: None, Booting or OSRunning.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	BootProgress string `json:"bootProgress,omitempty"`
	// Intent is the id of the intent that was open on the object before this picture was taken (R4).
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Intent string `json:"intent,omitempty"`
	// Task is the state of the intent's task where it became one: Running, Done, Failed or Gone.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Task string `json:"task,omitempty"`
	// TaskMonitor is the URI of the task that Task speaks of: an effect that is asked for again may become another one.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	TaskMonitor string `json:"taskMonitor,omitempty"`
	// TaskMessage is why the last task of the intent that failed did so.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	TaskMessage string `json:"taskMessage,omitempty"`
	// AssetTag as it stands on the machine: where the stamp is kept.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	AssetTag string `json:"assetTag,omitempty"`
	// StampUnsupported is true where the machine is known not to keep a stamp.
	// +optional
	StampUnsupported bool `json:"stampUnsupported,omitempty"`
	// Hardware is the inventory; absent until it was read once.
	// +optional
	Hardware *Hardware `json:"hardware,omitempty"`
	// ProjectID at the cloud that was looked at for a virtual server. What is not found in another project says nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ProjectID string `json:"projectID,omitempty"`
	// Instance is the VM of a virtual server; absent until one was seen.
	// +optional
	Instance *ObservedInstance `json:"instance,omitempty"`
	// Ports of the VM that Holdfast made, by index.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Ports []ObservedPort `json:"ports,omitempty"`
	// FloatingIP of the VM that Holdfast allocated; absent where there is none.
	// +optional
	FloatingIP *ObservedFloatingIP `json:"floatingIP,omitempty"`
}

// ObservedBootOverride is the boot source override as it stands.
type ObservedBootOverride struct {
	// Target as told, such as Pxe or Hdd.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Target string `json:"target,omitempty"`
	// Enabled: Disabled, Once or Continuous.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Enabled string `json:"enabled,omitempty"`
	// Mode: UEFI or Legacy, absent where not told.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Mode string `json:"mode,omitempty"`
	// HTTPURI for boot over HTTP.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	HTTPURI string `json:"httpURI,omitempty"`
}

// ObservedMedia are the drives for virtual media as they stand.
type ObservedMedia struct {
	// Slots that take a CD or DVD image, in the BMC's order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Slots []ObservedMediaSlot `json:"slots,omitempty"`
}

// ObservedMediaSlot is one slot for virtual media.
type ObservedMediaSlot struct {
	// Slot is its Redfish Id.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Slot string `json:"slot,omitempty"`
	// Image as the BMC tells it, which may lack scheme or host.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Image string `json:"image,omitempty"`
	// Inserted says that the machine sees the image.
	Inserted bool `json:"inserted"`
}

// Hardware is the inventory of a machine. Long lists are cut; the counts tell the whole.
type Hardware struct {
	// Manufacturer of the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Manufacturer string `json:"manufacturer,omitempty"`
	// Model of the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model,omitempty"`
	// SerialNumber of the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	SerialNumber string `json:"serialNumber,omitempty"`
	// SKU is the part number under which the machine is sold.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	SKU string `json:"sku,omitempty"`
	// BIOSVersion of the machine.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	BIOSVersion string `json:"biosVersion,omitempty"`
	// CPUs summed up.
	// +optional
	CPUs CPUSummary `json:"cpus,omitzero"`
	// Memory in total.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
	// NICs, sorted by MAC.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	NICs []NIC `json:"nics,omitempty"`
	// NICCount of all.
	// +optional
	NICCount int32 `json:"nicCount,omitempty"`
	// Drives, sorted by name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Drives []Drive `json:"drives,omitempty"`
	// DriveCount of all.
	// +optional
	DriveCount int32 `json:"driveCount,omitempty"`
	// Accelerators: GPUs, FPGAs and other processors that are no CPUs.
	// +optional
	AcceleratorCount int32 `json:"acceleratorCount,omitempty"`
	// Gaps names what could not be read.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	Gaps []string `json:"gaps,omitempty"`
}

// CPUSummary sums up the populated CPU sockets.
type CPUSummary struct {
	// Sockets that are populated.
	// +optional
	Sockets int32 `json:"sockets,omitempty"`
	// Cores in total, 0 where not told.
	// +optional
	Cores int32 `json:"cores,omitempty"`
	// Threads in total, 0 where not told.
	// +optional
	Threads int32 `json:"threads,omitempty"`
	// Model of the first CPU.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model,omitempty"`
}

// NIC is one network interface.
type NIC struct {
	// Name of the interface.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// MAC is lower case and colon-separated.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	MAC string `json:"mac,omitempty"`
	// LinkUp is absent where not told.
	// +optional
	LinkUp *bool `json:"linkUp,omitempty"`
	// SpeedMbps in megabits a second, 0 where not told.
	// +optional
	SpeedMbps int32 `json:"speedMbps,omitempty"`
}

// Drive is one physical drive.
type Drive struct {
	// Name of the drive.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// Model of the drive.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model,omitempty"`
	// Type is SSD or HDD, "" where not told.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Type string `json:"type,omitempty"`
	// Protocol: NVMe, SATA or SAS; absent where not told.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Protocol string `json:"protocol,omitempty"`
	// Size of the drive.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
}
