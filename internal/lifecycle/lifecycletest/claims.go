// SPDX-License-Identifier: Apache-2.0

package lifecycletest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// NewClaim builds a live claim that names the scene's server and is not yet bound in its own ledger.
func NewClaim(name, identity string, uid types.UID) *v1alpha1.ServerClaim {
	return &v1alpha1.ServerClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: name, UID: uid, ResourceVersion: "50", Finalizers: []string{v1alpha1.FinalizerClaim},
			Annotations: map[string]string{ledger.KeyIdentity: identity},
		},
		Spec: v1alpha1.ServerClaimSpec{
			ServerName: ServerName, Power: v1alpha1.PowerOn,
			Boot: v1alpha1.ClaimBoot{Method: v1alpha1.BootPXE, When: v1alpha1.BootOnce},
		},
	}
}

// Claimed makes server and claim name each other.
func Claimed(s *Scene) {
	s.Claim = NewClaim(ClaimName, ClaimID, ClaimUID)
	s.Server.Spec.ClaimRef = &v1alpha1.ClaimReference{Namespace: Namespace, Name: ClaimName, Identity: ClaimID, UID: string(ClaimUID)}
}

// Bound lets the claim's ledger name the server: it may have booted here.
func Bound(s *Scene) { s.Claim.Annotations[ledger.KeyBound] = Identity }

// Claim changes the claim.
func Claim(change func(*v1alpha1.ServerClaim)) Override { return func(s *Scene) { change(s.Claim) } }

// ClaimPower is what the claim asks for.
func ClaimPower(p v1alpha1.Power) Override {
	return Claim(func(c *v1alpha1.ServerClaim) { c.Spec.Power = p })
}

// BootAlways is a diskless machine.
var BootAlways = Claim(func(c *v1alpha1.ServerClaim) { c.Spec.Boot.When = v1alpha1.BootAlways })

// RestartAsked is the claim's restartedAt, in minutes before Now.
func RestartAsked(minutes int) Override {
	return Claim(func(c *v1alpha1.ServerClaim) { t := metav1.NewTime(Before(minutes)); c.Spec.RestartedAt = &t })
}

// ClaimDeleting is a claim that is seen being deleted.
var ClaimDeleting = Claim(func(c *v1alpha1.ServerClaim) { t := metav1.NewTime(Before(1)); c.DeletionTimestamp = &t })

// ClaimGone lets claimRef name a claim that is not there.
func ClaimGone(s *Scene) { s.Claim = nil }

// RefCleared is what a person does who clears claimRef.
func RefCleared(s *Scene) { s.Server.Spec.ClaimRef, s.Claim = nil, nil }

// AtStage lets the boot for the claim have come so far, some minutes ago. From Booting on the machine is dirty; from Starting on its
// being On is explained.
func AtStage(stage ledger.Stage, minutes int) Override {
	return func(s *Scene) {
		s.Ledger.Boot = &ledger.Boot{Claim: ClaimID, Stage: stage, At: Before(minutes)}
		s.Ledger.DirtySince, s.Ledger.Restarted = Before(minutes+1), Before(minutes+1)
		s.Ledger.AssetTag = &ledger.AssetTag{}
		if stage != ledger.StageBooting {
			s.Ledger.PowerOn = &ledger.PowerOn{By: ledger.ByClaim, ID: ClaimID, At: Before(minutes)}
		}
	}
}

// Running is a claim's machine that booted an hour ago, and runs.
var Running = All(Claimed, Bound, AtStage(ledger.StageBooted, 60), Stamped(ClaimID), On)

// OtherBound adds another live claim that is bound to this machine in its own ledger.
func OtherBound(s *Scene) {
	other := NewClaim("db", "claim-db", "uid-db")
	other.Annotations[ledger.KeyBound] = Identity
	s.Bound = append(s.Bound, other)
}

// InMaintenance gives the server to a maintenance that wants power so.
func InMaintenance(power v1alpha1.Power) Override {
	return func(s *Scene) {
		s.Maintenance = &v1alpha1.ServerMaintenance{
			ObjectMeta: metav1.ObjectMeta{Name: Maintenance, UID: "uid-maint", Finalizers: []string{v1alpha1.FinalizerMaintenance}},
			Spec:       v1alpha1.ServerMaintenanceSpec{ServerRef: v1alpha1.LocalObjectReference{Name: ServerName}, Power: power},
		}
		s.Server.Spec.MaintenanceRef = &v1alpha1.MaintenanceReference{Name: Maintenance, UID: "uid-maint"}
	}
}

// Image is what claims boot that name one.
const Image = "http://images.example/debian-12.iso"

// BootBy lets the claim boot its image by a method, which takes virtual media where its name says so. It follows AtStage: from Booting
// on the image is remembered.
func BootBy(method v1alpha1.BootMethod) Override {
	return func(s *Scene) {
		if s.Claim == nil {
			return
		}
		s.Claim.Spec.Boot.Method, s.Claim.Spec.Boot.Image = method, Image
		if s.Ledger.Boot != nil && method == v1alpha1.BootVirtualMedia {
			s.Ledger.Boot.Media = Image
		}
	}
}

// MediaRemembered lets the ledger say which image may be in the drive, where it speaks of a boot.
func MediaRemembered(image string) Override {
	return Ledger(func(l *ledger.Server) {
		if l.Boot != nil {
			l.Boot.Media = image
		}
	})
}
