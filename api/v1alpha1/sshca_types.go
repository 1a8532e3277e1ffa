// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LoginPrincipals are the principals of certificates that may log in as one user.
type LoginPrincipals struct {
	// Login is the user's name on the machine.
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z_][a-z0-9_-]*$`
	Login string `json:"login"`
	// Principals of certificates that may log in as this user.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[!-"$-~]+$`
	Principals []string `json:"principals"`
}

// SSHCertificateAuthoritySpec are the keys that sign user certificates.
type SSHCertificateAuthoritySpec struct {
	// PublicKeys in the form of authorized_keys, one or more: several while one replaces another.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=16384
	// +kubebuilder:validation:items:Pattern=`^(ssh-(rsa|ed25519)|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) [A-Za-z0-9+/]+=*( [^\n]*)?$`
	PublicKeys []string `json:"publicKeys"`
	// Principals by login. Unset: sshd's own rule, a principal equal to the login.
	// +optional
	// +listType=map
	// +listMapKey=login
	// +kubebuilder:validation:MaxItems=64
	Principals []LoginPrincipals `json:"principals,omitempty"`
}

// PrincipalsByLogin are the principals as a map; nil where there are none.
func (s *SSHCertificateAuthoritySpec) PrincipalsByLogin() map[string][]string {
	var principals map[string][]string
	for _, login := range s.Principals {
		if principals == nil {
			principals = make(map[string][]string, len(s.Principals))
		}
		principals[login.Login] = login.Principals
	}
	return principals
}

// SSHCertificateAuthorityStatus reports.
type SSHCertificateAuthorityStatus struct {
	// Conditions: Ready, Reconciling and Stalled.
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

// SSHCertificateAuthority are keys whose user certificates servers trust. Servers take the keys when they are made. Deleting it
// waits for the Servers and classes that name it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=sshcertificateauthorities,scope=Cluster,shortName=sshca,categories=holdfast
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type SSHCertificateAuthority struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SSHCertificateAuthoritySpec `json:"spec"`
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status SSHCertificateAuthorityStatus `json:"status,omitempty"`
}

// SSHCertificateAuthorityList is a list of SSHCertificateAuthorities.
// +kubebuilder:object:root=true
type SSHCertificateAuthorityList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SSHCertificateAuthority `json:"items"`
}

// SetObservedGeneration records the generation this status was computed from.
func (a *SSHCertificateAuthority) SetObservedGeneration(generation int64) {
	a.Status.ObservedGeneration = generation
}

// StatusConditions gives access to the conditions in place.
func (a *SSHCertificateAuthority) StatusConditions() *[]metav1.Condition {
	return &a.Status.Conditions
}
