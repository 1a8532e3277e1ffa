// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Settings are the operator's own, the same for every object.
type Settings struct {
	ClusterID      string        // who may act: written as owner into each ledger
	Epoch          string        // --after-restore: all effects are held until a person resumes each server; "" normally
	TakeOver       string        // --take-over: the old owner whose objects are taken over without asking one by one; "" normally
	GracePeriod    time.Duration // from a written power-off intent to the forced power-off, for a machine that is asked to shut down at once
	BootDeadline   time.Duration // from the network power-on until the override is cleared whatever the machine tells
	EffectDeadline time.Duration // of one acting call; after a power-off the next power-on waits as long
	Backstop       time.Duration // timer behind every step that waits for a fact: liveness, where the wakes are speed
	CreateAttempts int           // how often a VM that never launched is deleted and made again; an edit of its spec arms it anew
	CreateBackoff  time.Duration // from one such attempt to the next, doubled each time
}

// DefaultSettings are the defaults of the manager's flags.
func DefaultSettings(clusterID string) Settings {
	return Settings{
		ClusterID:      clusterID,
		GracePeriod:    5 * time.Minute,
		BootDeadline:   30 * time.Minute,
		EffectDeadline: 30 * time.Second,
		Backstop:       time.Minute,
		CreateAttempts: 3,
		CreateBackoff:  10 * time.Second,
	}
}

// ServerView is all that deciding about a server may look at. The reconciler fills it from one read: of the cache, or
// (Live) of the API server.
type ServerView struct {
	Now      time.Time
	Settings Settings
	// Live is true where everything below was read from the API server itself.
	Live bool
	// Server as read; NewServerView has removed from its status all but the monitor's region (P1).
	Server *v1alpha1.Server
	// Claim named by claimRef (namespace and name); nil where there is no claimRef or no such object.
	Claim *v1alpha1.ServerClaim
	// Maintenance named by maintenanceRef; nil where there is no ref or no such object.
	Maintenance *v1alpha1.ServerMaintenance
	// BoundClaims are all claims whose ledger says that they are bound to this server's identity, Claim included, sorted by namespace and name.
	BoundClaims []*v1alpha1.ServerClaim
	// Twins are the names of other Servers with this server's identity, sorted.
	Twins []string
	// BMC named by the spec; nil where it does not exist.
	BMC *v1alpha1.BMC
	// Cloud named by the spec; nil where it does not exist.
	Cloud *v1alpha1.Cloud
	// Dependencies are what a virtual server names, Cloud included, as they stand: in the order Cloud, ServerClass, SSH authorities.
	Dependencies []Dependency
	// UserData tells whether the claim's user data can be read.
	UserData UserData
}

// Dependency is one object that a virtual server needs, and that must not go while it does.
type Dependency struct {
	Kind     string // Cloud, ServerClass or SSHCertificateAuthority
	Name     string
	Missing  bool
	Deleting bool
	// Guarded says that the finalizer is on it which keeps it while it is used: set before its first use.
	Guarded bool
}

// UserData is whether a claim's user data can be had.
type UserData string

const (
	UserDataNone     UserData = ""         // the claim names no secret
	UserDataUnknown  UserData = "Unknown"  // not looked at: only a live view looks
	UserDataReadable UserData = "Readable" // there, labelled and allowed
	UserDataMissing  UserData = "Missing"  // no such secret
	UserDataDenied   UserData = "Denied"   // not labelled, or not allowed
)

// UserDataRef names a secret with user data.
type UserDataRef struct {
	// Namespace of a claim; "" for the operator's own.
	Namespace string
	Name      string
}

// UserDataRef is where the server's user data is: its claim's, or what a virtual server without a claim names itself. False for none.
func (v ServerView) UserDataRef() (UserDataRef, bool) {
	if v.Server.Spec.ClaimRef == nil {
		if vm := v.Server.Spec.OpenStack; vm != nil && vm.UserDataSecretRef != nil {
			return UserDataRef{Name: vm.UserDataSecretRef.Name}, true
		}
		return UserDataRef{}, false
	}
	if v.Claim == nil || v.Claim.Spec.Boot.UserDataSecretRef == nil {
		return UserDataRef{}, false
	}
	return UserDataRef{Namespace: v.Claim.Namespace, Name: v.Claim.Spec.Boot.UserDataSecretRef.Name}, true
}

// NewServerView copies server less every part of its status that the reconciler itself wrote (P1).
func NewServerView(server *v1alpha1.Server, now time.Time, settings Settings) ServerView {
	seen := *server
	seen.Status = v1alpha1.ServerStatus{Observed: server.Status.Observed}
	return ServerView{Now: now, Settings: settings, Server: &seen}
}

// Facts is the monitor's last picture; never nil: without one it is a picture that knows nothing.
func (v ServerView) Facts() v1alpha1.ServerObserved {
	if v.Server.Status.Observed == nil {
		return v1alpha1.ServerObserved{PowerState: v1alpha1.ObservedUnknown}
	}
	return *v.Server.Status.Observed
}
