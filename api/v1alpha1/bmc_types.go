// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BMCTLS says how the BMC's certificate is verified. Unset: by the system's roots.
// +kubebuilder:validation:XValidation:rule="[has(self.caBundle), has(self.pinnedSHA256), has(self.insecureSkipVerify) && self.insecureSkipVerify].filter(given, given).size() <= 1",message="give one of caBundle, pinnedSHA256 and insecureSkipVerify: each replaces the others"
type BMCTLS struct {
	// CABundle in PEM: the certificate authorities that may have signed the BMC's certificate.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	// +kubebuilder:validation:XValidation:rule="self.contains('-----BEGIN CERTIFICATE-----') && self.contains('-----END CERTIFICATE-----')",message="must be certificates in PEM"
	// +kubebuilder:validation:XValidation:rule="!self.contains('PRIVATE KEY-----')",message="must not hold a private key: everyone who may read the BMC may read it"
	CABundle string `json:"caBundle,omitempty"`
	// PinnedSHA256 is the SHA-256 fingerprint of the BMC's certificate (DER), in hex, colons allowed.
	// +optional
	// +kubebuilder:validation:MaxLength=95
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9a-fA-F]{64}|([0-9a-fA-F]{2}:){31}[0-9a-fA-F]{2})$')",message="must be a SHA-256 fingerprint: 64 hexadecimal digits, or 32 pairs of them with colons, as openssl x509 -fingerprint -sha256 prints"
	PinnedSHA256 string `json:"pinnedSHA256,omitempty"`
	// InsecureSkipVerify accepts any certificate. A condition shows it.
	// +optional
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`
}

// ServerTemplate is what the Servers behind a BMC start with.
// +kubebuilder:object:generate=false
type ServerTemplate struct {
	// Labels of the Servers.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, size(key) <= 317 && !format.qualifiedName().validate(key).hasValue())",message="every key must be a label key, such as rack or example.com/rack"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !format.labelValue().validate(self[key]).hasValue())",message="every value must be a label value: at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('holdfast.dev/'))",message="labels under holdfast.dev/ are set by the operator"
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// Taints of the Servers.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=32
	Taints []Taint `json:"taints,omitempty"`
	// FoundRunning of the Servers; unset: Hold.
	// +optional
	FoundRunning FoundRunningPolicy `json:"foundRunning,omitempty"`
	// ReclaimPolicy of the Servers; unset: Recycle.
	// +optional
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
}

// BMCSpec is where a management controller is and how to talk to it.
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !isURL(self.endpoint) || url(self.endpoint).getScheme() != 'http'",message="an http:// endpoint has no certificate to verify: use https://, or drop tls",fieldPath=".tls"
type BMCSpec struct {
	// Endpoint is https://host[:port], IPv6 in brackets; a base path may follow. With http:// credentials cross the network
	// in clear.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['https', 'http'] && url(self).getHostname().size() > 0",message="must be a URL with https:// (or http://) and a host, such as https://10.0.0.7 or https://[fd00::7]:8443"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/?#]*//[^/?#]*@')",message="must not carry a user name or password: name a secret in credentialsSecretRef"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[?#]')",message="must not have a query or a fragment"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/]*//[^][/]*:[^][/]*:') && [self.find('//([[][^]]*|[^][/?#:]*)').replace('//', '').replace('[', '')].all(host, !host.contains(':') || isIP(host))",message="an IPv6 address goes in brackets, without a zone: https://[fd00::7]"
	// +kubebuilder:validation:XValidation:rule="!isURL(self) || url(self).getPort().size() == 0 || (size(url(self).getPort()) <= 5 && int(url(self).getPort()) >= 1 && int(url(self).getPort()) <= 65535)",message="port must be from 1 to 65535"
	Endpoint string `json:"endpoint"`
	// CredentialsSecretRef names a secret of type kubernetes.io/basic-auth (keys username and password) in the operator's
	// namespace. A changed secret takes effect with the next request.
	CredentialsSecretRef LocalObjectReference `json:"credentialsSecretRef"`
	// TLS says how the BMC's certificate is verified. Unset: by the system's roots.
	// +optional
	TLS *BMCTLS `json:"tls,omitempty"`
	// Vendor overrides the detection of the vendor.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Vendor string `json:"vendor,omitempty"`
	// ServerTemplate is what the Servers behind this BMC start with. Servers that exist already do not change with it.
	// +optional
	ServerTemplate *ServerTemplate `json:"serverTemplate,omitempty"`
}

// ObservedSystem is one system behind a BMC.
type ObservedSystem struct {
	// ID is the Redfish Id.
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`
	// UUID in lower case, absent where the system has none.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	UUID string `json:"uuid,omitempty"`
	// SerialNumber as told.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	SerialNumber string `json:"serialNumber,omitempty"`
	// CanReset is false for systems that are no hosts: they yield no Server.
	// +optional
	CanReset bool `json:"canReset,omitempty"`
}

// BMCObserved is the last picture of a BMC. The monitor is its only writer.
type BMCObserved struct {
	// Reachable is false after several failed looks in a row; the other facts are then the last ones seen.
	Reachable bool `json:"reachable"`
	// Reason of the last error while not reachable.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
	// Message for people that goes with reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// UUID of the Redfish service, else of its manager.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	UUID string `json:"uuid,omitempty"`
	// Vendor as detected.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Vendor string `json:"vendor,omitempty"`
	// Model of the BMC.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model,omitempty"`
	// Firmware version of the BMC.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Firmware string `json:"firmware,omitempty"`
	// Systems behind this BMC.
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=64
	Systems []ObservedSystem `json:"systems,omitempty"`
}

// BMCStatus reports. Observed belongs to the monitor, all else to the reconciler (P7).
type BMCStatus struct {
	// Observed is the monitor's region.
	// +optional
	Observed *BMCObserved `json:"observed,omitempty"`
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

// BMC is a management controller. Deleting it waits for its Servers and never cascades.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bmc,categories=holdfast
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name of a BMC is a label's value on its Servers and may have at most 63 characters"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Vendor",type=string,JSONPath=`.status.observed.vendor`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.observed.model`
// +kubebuilder:printcolumn:name="Firmware",type=string,JSONPath=`.status.observed.firmware`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Endpoint",type=string,priority=1,JSONPath=`.spec.endpoint`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type BMC struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BMCSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status BMCStatus `json:"status,omitempty"`
}

// BMCList is a list of BMCs.
// +kubebuilder:object:root=true
type BMCList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BMC `json:"items"`
}

// SetObservedGeneration records the generation this status was computed from.
func (b *BMC) SetObservedGeneration(generation int64) { b.Status.ObservedGeneration = generation }

// StatusConditions gives access to the conditions in place.
func (b *BMC) StatusConditions() *[]metav1.Condition { return &b.Status.Conditions }
