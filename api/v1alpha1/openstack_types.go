// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"
	"strings"
)

// RebuildPolicy says whether an edited image rebuilds the VM.
// +kubebuilder:validation:Enum=OnImageChange;Never
type RebuildPolicy string

const (
	RebuildOnImageChange RebuildPolicy = "OnImageChange" // an edited spec.openstack.image rebuilds; a claim's owner must consent
	RebuildNever         RebuildPolicy = "Never"
)

// ServerGroupCreation says how the VMs of one server group are made.
// +kubebuilder:validation:Enum=Parallel;Serial
type ServerGroupCreation string

const (
	CreateInParallel ServerGroupCreation = "Parallel" // as they come
	CreateSerially   ServerGroupCreation = "Serial"   // each once the cloud has found a host for the one before
)

// ResourceSelector names one resource of a cloud: by id, by name, or by tags that it must all bear. What it resolves to is
// pinned when it is first used; a name that no resource or several resources bear is an error that names the candidates.
// +kubebuilder:validation:XValidation:rule="[has(self.id), has(self.name), has(self.tags)].filter(given, given).size() == 1",message="give exactly one of id, name and tags"
type ResourceSelector struct { //nolint:recvcheck // String is of values too, what is generated of pointers
	// ID of the resource.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z_.-]+$`
	ID string `json:"id,omitempty"`
	// Name of the resource, compared exactly.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name,omitempty"`
	// Tags that the resource must all bear.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=60
	// +kubebuilder:validation:items:Pattern=`^[^,/]*$`
	Tags []string `json:"tags,omitempty"`
}

// String names the resource as it was asked for: id:…, name:… or tags:… with the tags in order. It is what ledgers remember of a
// selector, and what a person types to consent to an image.
func (s ResourceSelector) String() string {
	switch {
	case s.ID != "":
		return "id:" + s.ID
	case s.Name != "":
		return "name:" + s.Name
	}
	return "tags:" + strings.Join(slices.Sorted(slices.Values(s.Tags)), ",")
}

// FlavorSelector names a flavor by id or by name.
// +kubebuilder:validation:XValidation:rule="has(self.id) != has(self.name)",message="give exactly one of id and name"
type FlavorSelector struct {
	// ID of the flavor.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ID string `json:"id,omitempty"`
	// Name of the flavor, compared exactly.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name,omitempty"`
}

// AddressPair is one address, beside its own, that a port may send from.
type AddressPair struct {
	// IPAddress is an IP address or a CIDR.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="isIP(self) || isCIDR(self)",message="must be an IP address or a CIDR"
	IPAddress string `json:"ipAddress"`
	// MACAddress; unset: the port's own.
	// +optional
	// +kubebuilder:validation:MaxLength=17
	// +kubebuilder:validation:Pattern=`^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$`
	MACAddress string `json:"macAddress,omitempty"`
}

// NetworkAttachment is one port of a VM. Network and fixedIP are settled when the VM is made; security groups and address pairs
// may change at any time and are written to the port where they differ.
type NetworkAttachment struct {
	// Network of the port.
	Network ResourceSelector `json:"network"`
	// FixedIP wanted on the port; unset: the cloud chooses.
	// +optional
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="must be an IP address"
	FixedIP string `json:"fixedIP,omitempty"`
	// SecurityGroups of the port. Unset: the cloud's default when the port is made, and left alone; an empty list: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	SecurityGroups *[]ResourceSelector `json:"securityGroups,omitempty"`
	// AllowedAddressPairs of the port. Unset: left alone; an empty list: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	AllowedAddressPairs *[]AddressPair `json:"allowedAddressPairs,omitempty"`
}

// FloatingIP asks for a floating IP on the VM's first port, allocated for it and released with it.
type FloatingIP struct {
	// Network is the external network to allocate from.
	Network ResourceSelector `json:"network"`
}

// OpenStackServer is a VM: what it is made of. What has a verb may be edited (image, by rebuildPolicy; security groups and address
// pairs; floatingIP); all else is settled when the VM is made (see ServerSpec).
// +kubebuilder:validation:XValidation:rule="!has(self.serverGroupCreation) || has(self.serverGroup)",message="serverGroupCreation needs a serverGroup"
type OpenStackServer struct {
	// CloudRef names the Cloud.
	CloudRef LocalObjectReference `json:"cloudRef"`
	// Flavor of the VM.
	Flavor FlavorSelector `json:"flavor"`
	// Image the VM is built from. Resolved once and pinned: a name that later means another image rebuilds nothing.
	Image ResourceSelector `json:"image"`
	// KeyName of a key pair of the cloud's user.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	KeyName string `json:"keyName,omitempty"`
	// Networks: one port each, in this order.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Networks []NetworkAttachment `json:"networks"`
	// FloatingIP on the first port.
	// +optional
	FloatingIP *FloatingIP `json:"floatingIP,omitempty"`
	// UserDataSecretRef names a secret in the operator's namespace, with the key user-data, for servers that no claim made. A claim
	// brings its own.
	// +optional
	UserDataSecretRef *LocalObjectReference `json:"userDataSecretRef,omitempty"`
	// SSHCertificateAuthorityRefs name authorities whose user certificates the VM trusts.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	SSHCertificateAuthorityRefs []LocalObjectReference `json:"sshCertificateAuthorityRefs,omitempty"`
	// ConfigDrive hands the VM its user data on a drive.
	// +optional
	ConfigDrive bool `json:"configDrive,omitempty"`
	// AvailabilityZone of the VM; unset: the cloud chooses.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	AvailabilityZone string `json:"availabilityZone,omitempty"`
	// ServerGroup is the id or name of a server group, such as one with anti-affinity.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ServerGroup string `json:"serverGroup,omitempty"`
	// ServerGroupCreation says how the VMs of one server group are made: Parallel, or Serial: each is asked for once the cloud has found a
	// host for the one before. Nova finds hosts for VMs that are asked for at once without a look at each other, and a soft-anti-affinity
	// group ends up on one host. Unset: Parallel.
	// +optional
	ServerGroupCreation ServerGroupCreation `json:"serverGroupCreation,omitempty"`
	// RebuildPolicy says whether an edited image rebuilds the VM: its disk is made anew.
	// +optional
	// +kubebuilder:default=Never
	RebuildPolicy RebuildPolicy `json:"rebuildPolicy,omitempty"`
}
