// SPDX-License-Identifier: Apache-2.0

// Package ledger reads and writes what is remembered about an object in its metadata (P3). An entry that cannot be read is an
// error, never an empty value: the object is parked.
package ledger

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// Keys of the entries, as annotations.
const (
	KeyIdentity     = v1alpha1.LedgerPrefix + "identity"
	KeyOwner        = v1alpha1.LedgerPrefix + "owner"
	KeyObjectUID    = v1alpha1.LedgerPrefix + "object-uid"
	KeyDiscoveredAt = v1alpha1.LedgerPrefix + "discovered-at"
	KeyPowerOn      = v1alpha1.LedgerPrefix + "power-on"
	KeyBoot         = v1alpha1.LedgerPrefix + "boot"
	KeyRestarted    = v1alpha1.LedgerPrefix + "restarted"
	KeyDirtySince   = v1alpha1.LedgerPrefix + "dirty-since"
	KeyReleased     = v1alpha1.LedgerPrefix + "released"
	KeyOffAt        = v1alpha1.LedgerPrefix + "off-at"
	KeyAssetTag     = v1alpha1.LedgerPrefix + "asset-tag"
	KeyRestoreEpoch = v1alpha1.LedgerPrefix + "restore-epoch"
	KeyIntent       = v1alpha1.LedgerPrefix + "intent"
	KeyBound        = v1alpha1.LedgerPrefix + "bound" // ServerClaim

	// Of virtual servers.
	KeyProvisionedAt  = v1alpha1.LedgerPrefix + "provisioned-at"
	KeyProviderID     = v1alpha1.LedgerPrefix + "provider-id"
	KeyCreateAttempts = v1alpha1.LedgerPrefix + "create-attempts"
	KeyImage          = v1alpha1.LedgerPrefix + "image"
	KeyNetwork        = v1alpha1.LedgerPrefix + "network"
	KeyProject        = v1alpha1.LedgerPrefix + "project"
)

// Server is the ledger of a server. Zero fields are entries that are absent.
type Server struct {
	// Identity is this server for ever; write-once.
	Identity string
	// Owner is the id of the cluster that may act on it.
	Owner string
	// ObjectUID is the metadata.uid for which the ledger was last confirmed; another one means restored or moved.
	ObjectUID types.UID
	// DiscoveredAt latches that discovery finished.
	DiscoveredAt time.Time
	// PowerOn explains why the machine may be On (P13).
	PowerOn *PowerOn
	// Boot is how far the boot for a claim has come: asked for once a claim.
	Boot *Boot
	// Restarted is the claim's restartedAt that was last carried out.
	Restarted time.Time
	// DirtySince latches that the machine may have been booted for a tenant.
	DirtySince time.Time
	// OffAt is when a power-off of ours was last seen done: the next power-on waits one effect deadline from there, so that a
	// power-off that is still on the wire cannot meet it.
	OffAt time.Time
	// Released is the last release finished.
	Released *Released
	// AssetTag is what a person had in the asset tag before our stamp.
	AssetTag *AssetTag
	// RestoreEpoch is the --after-restore epoch for which a person has resumed this server.
	RestoreEpoch string
	// Intent is the one destructive effect announced (P6).
	Intent *Intent

	// ProvisionedAt latches the first launch of the VM that was seen: after it nothing deletes the VM by itself, ever (I2). Write-once.
	ProvisionedAt *Provisioned
	// ProviderID is the id of the VM that was created or adopted.
	ProviderID string
	// CreateAttempts is the budget of delete-and-retry that was used.
	CreateAttempts *CreateAttempts
	// Image is what spec.openstack.image said, and what it resolved to, when the VM was last built.
	Image *Image
	// Network is what the ports' mutable part and the floating IP were last brought to.
	Network *Network
	// Project is the id of the cloud's project in which the VM, its ports and its floating IP are, or may be. Written before the first
	// of them is asked for.
	Project string
}

// Provisioned is the first launch of a VM.
type Provisioned struct {
	ID string    `json:"id"` // of the VM
	At time.Time `json:"at"`
}

// CreateAttempts counts the VMs that never launched and were deleted to be made again.
type CreateAttempts struct {
	Hash  string    `json:"hash"` // of the openstack block: an edit arms the budget anew
	Count int       `json:"count"`
	At    time.Time `json:"at"` // of the last one
}

// Image is what a VM was built from.
type Image struct {
	Selector string `json:"selector"` // ResourceSelector.String
	ID       string `json:"id"`
}

// Network is what was resolved for the ports and the floating IP, and for which spec.
type Network struct {
	Hash       string     `json:"hash,omitempty"`       // of the networks' mutable part
	Groups     [][]string `json:"groups,omitempty"`     // security groups by id, port by port; null: left alone
	FloatingIP string     `json:"floatingIP,omitempty"` // ResourceSelector.String of the network it is from; "" for none
}

// PowerBy says who asked for power.
type PowerBy string

const (
	ByClaim       PowerBy = "claim"
	BySpec        PowerBy = "spec"
	ByMaintenance PowerBy = "maintenance"
	// ByUnknown is of a machine that was found On with nothing of ours to explain it. It explains nothing: it remembers, past the machine's
	// next Off, that somebody may be using it.
	ByUnknown PowerBy = "unknown"
)

// PowerOn is written before the machine is switched on, and cleared by the patch that records Off, unless that is for a restart. Of a VM it
// is kept through a restart only. ByUnknown is written when the machine was found On, and stays until a person has told.
type PowerOn struct {
	By PowerBy   `json:"by"`
	ID string    `json:"id,omitempty"` // identity of the claim or name of the maintenance
	At time.Time `json:"at"`
	// Restart is true from when a restart of the claim is announced until it was On again after it: where power is kept, nothing else tells
	// that what is Off is to be On.
	Restart bool `json:"restart,omitempty"`
}

// Stage of a boot for a claim.
type Stage string

const (
	// StageBooting prepares: stamp, override.
	StageBooting Stage = "Booting"
	// StageStarting has announced the network power-on, which may or may not have happened.
	StageStarting Stage = "Starting"
	// StageBooted is over: from now on the machine boots from its disk.
	StageBooted Stage = "Booted"
)

// Boot is how far the boot for a claim has come.
type Boot struct {
	Claim string    `json:"claim"` // identity
	Stage Stage     `json:"stage"`
	At    time.Time `json:"at"`
	// Again is true where a person asked for one more network boot: the machine may bear the claim's stamp already.
	Again bool `json:"again,omitempty"`
	// Media is the image that may be in the machine's virtual drive for this boot: written before it is inserted, cleared by the
	// patch that records its ejection. "" where the boot takes none.
	Media string `json:"media,omitempty"`
}

// Released is a release that finished.
type Released struct {
	Claim string    `json:"claim"` // identity
	At    time.Time `json:"at"`
}

// AssetTag is what there was before our stamp.
type AssetTag struct {
	Previous string `json:"previous"`
	// Unwritable is true where the BMC refused or altered the stamp: this machine has none.
	Unwritable bool `json:"unwritable,omitempty"`
}

// IntentOp is the destructive effect an intent announces.
type IntentOp string

const (
	// IntentPowerOff announces a power-off.
	IntentPowerOff IntentOp = "PowerOff"
	// IntentRebuild, of a VM, announces that its disk is made anew.
	IntentRebuild IntentOp = "Rebuild"
	// IntentRetry, of a VM that never launched, announces its deletion, to be made again.
	IntentRetry IntentOp = "Retry"
)

// Why an intent was opened.
type Why string

const (
	WhyDiscovery   Why = "Discovery"
	WhySpec        Why = "Spec"      // spec.power of an unclaimed server
	WhyBootClaim   Why = "BootClaim" // On before its claim's first boot
	WhyClaimPower  Why = "ClaimPower"
	WhyRestart     Why = "Restart"
	WhyReleased    Why = "Released"
	WhyMaintenance Why = "Maintenance"
	WhyImage       Why = "Image"        // spec.openstack.image was edited
	WhyCreate      Why = "CreateFailed" // the VM never launched
	WhyConsent     Why = "Consent"      // a person's power-off consent, on a machine whose stamp disagrees
)

// Intent is the one destructive effect announced (P6, R1..R5).
type Intent struct {
	ID       string    `json:"id"`
	Op       IntentOp  `json:"op"`
	Why      Why       `json:"why"`
	At       time.Time `json:"at"`
	Target   string    `json:"target"`             // the system
	Claim    string    `json:"claim,omitempty"`    // identity of the claim in force when it was opened
	ClaimUID types.UID `json:"claimUID,omitempty"` // and its UID
	Task     string    `json:"task,omitempty"`     // the BMC's task monitor where it became one
	Forced   bool      `json:"forced,omitempty"`   // Task is of a cut of power, not of a graceful shutdown
	Failed   bool      `json:"failed,omitempty"`   // an earlier task of the same kind failed
	Asked    time.Time `json:"asked,omitzero"`     // when the operating system was asked to shut down, once that is worth a write
	InVain   bool      `json:"inVain,omitempty"`   // Asked is of a request that the BMC did not carry out
	Image    string    `json:"image,omitempty"`    // Rebuild: the selector that is built from
	ImageID  string    `json:"imageID,omitempty"`  // Rebuild: what it resolved to, once asked for
}

// Claim is the ledger of a ServerClaim.
type Claim struct {
	// Identity is this claim for ever: the first UID it had.
	Identity string
	// Bound is the identity of the server it got, written before that server first boots for it.
	Bound string
}

// Times are all times that the ledger tells, in no order: the latest of them is when it last changed.
func (s Server) Times() []time.Time {
	times := []time.Time{s.DiscoveredAt, s.DirtySince, s.OffAt}
	if s.PowerOn != nil {
		times = append(times, s.PowerOn.At)
	}
	if s.Boot != nil {
		times = append(times, s.Boot.At)
	}
	if s.Intent != nil {
		times = append(times, s.Intent.At, s.Intent.Asked)
	}
	if s.Released != nil {
		times = append(times, s.Released.At)
	}
	if s.ProvisionedAt != nil {
		times = append(times, s.ProvisionedAt.At)
	}
	if s.CreateAttempts != nil {
		times = append(times, s.CreateAttempts.At)
	}
	return times
}
