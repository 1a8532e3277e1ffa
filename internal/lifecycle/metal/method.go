// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// What the claim's machine is booted from. All methods go through the same stages in the same order; they differ in the override that
// is armed, and virtual media in the image that must be in the drive before. None ever stands in for another.

// method is the claim's; PXE where it names none.
func (s *state) method() v1alpha1.BootMethod {
	if s.Claim.Found == nil || s.Claim.Found.Spec.Boot.Method == "" {
		return v1alpha1.BootPXE
	}
	return s.Claim.Found.Spec.Boot.Method
}

func (s *state) byMedia() bool { return s.method() == v1alpha1.BootVirtualMedia }

// image is what the claim wants in the drive; "" where it wants none there.
func (s *state) image() string {
	if !s.byMedia() {
		return ""
	}
	return s.Claim.Found.Spec.Boot.Image
}

// override is what the claim's method arms.
func (s *state) override() provider.BootOverride {
	o := provider.BootOverride{Target: provider.BootPXE, Enabled: provider.BootOnce}
	switch s.method() {
	case v1alpha1.BootHTTP:
		o.Target, o.HTTPURI = provider.BootHTTP, s.Claim.Found.Spec.Boot.Image
	case v1alpha1.BootVirtualMedia:
		o.Target = provider.BootCD
	}
	return o
}

// armedForClaim says that the very next boot, and it alone, is the claim's. An override that lasts is no such thing: it would still be
// there after the machine has booted, and tell nothing.
func (s *state) armedForClaim() bool {
	if !s.armedOnce() {
		return false
	}
	want, is := s.override(), s.Facts.BootOverride
	return is.Target == string(want.Target) && (want.HTTPURI == "" || is.HTTPURI == v1alpha1.URL(want.HTTPURI))
}

// armedOnce says that an override of a kind that we arm stands for the very next boot.
func (s *state) armedOnce() bool {
	if !s.armed() || s.Facts.BootOverride.Enabled != string(provider.BootOnce) {
		return false
	}
	switch provider.BootTarget(s.Facts.BootOverride.Target) {
	case provider.BootPXE, provider.BootHTTP, provider.BootCD:
		return true
	}
	return false
}

// inserted says that the drive was seen to hold the claim's image.
func (s *state) inserted() bool {
	if s.Facts.Media == nil {
		return false
	}
	for _, slot := range s.Facts.Media.Slots {
		if (provider.MediaSlot{Slot: slot.Slot, Image: slot.Image, Inserted: slot.Inserted}).Holds(v1alpha1.URL(s.image())) {
			return true
		}
	}
	return false
}

// mediaLeft is the image of ours that may be in the machine's drive, as remembered: written before it is inserted (P3).
func (s *state) mediaLeft() string {
	if s.Ledger.Boot == nil {
		return ""
	}
	return s.Ledger.Boot.Media
}

func (s *state) mediaMayBeIn() bool { return s.mediaLeft() != "" }

// media are the clauses that put the claim's image into the drive: remembered first, inserted, and seen in it before anything is armed.
var media = rules.Named("Media", steps{
	{Name: "EjectOther", When: rules.All((*state).byMedia, (*state).mediaMayBeIn, func(s *state) bool { return s.mediaLeft() != s.image() }), Then: eject},
	{Name: "Remember", When: rules.All((*state).byMedia, func(s *state) bool { return s.mediaLeft() != s.image() }), Then: func(s *state) answer {
		b := *s.Ledger.Boot
		b.Media = s.image()
		return rules.Patch(v1alpha1.ReasonBooting, "remember the image before it is inserted", lifecycle.Patch{Ledger: ledger.Entries{}.Boot(&b)})
	}},
	{Name: "Insert", When: rules.All((*state).byMedia, rules.Not((*state).inserted)), Then: func(s *state) answer {
		return s.insert("insert the claim's image into the virtual drive", s.expect(provider.PowerOff))
	}},
})

func (s *state) insert(message string, expect provider.Expect) answer {
	return s.act(v1alpha1.ReasonBooting, message, lifecycle.Effect{Op: lifecycle.OpInsertMedia, Image: s.image(), Expect: expect})
}

// eject takes the image of ours out of the drive, and forgets it then. It is asked of the machine whatever the picture says: a picture
// of another time must not leave an image in (I5). Never of a machine that may be booting from it (B123): the clauses see to that.
func eject(s *state) answer {
	b := *s.Ledger.Boot
	image := b.Media
	b.Media = ""
	return s.act(v1alpha1.ReasonBooting, "take the image out of the virtual drive", lifecycle.Effect{
		Op: lifecycle.OpEjectMedia, Image: image, Expect: s.expectSeen(),
	}).Recording(lifecycle.Patch{Ledger: ledger.Entries{}.Boot(&b)})
}

// rememberMedia writes back, for a release, that the claim may have booted here and which image that leaves in the drive: the server has
// forgotten, the claim has not. Without it the next one's machine would keep the image of this one's.
func rememberMedia(s *state) answer {
	return rules.Patch(v1alpha1.ReasonReleasing, "the claim may have booted here: remember the image that may be in the drive", lifecycle.Patch{
		Ledger: s.dirty().Boot(s.boot(ledger.StageBooted)),
	})
}
