// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// rebuildingSteps make the VM's disk anew from an edited image: announced with the VM and the image, asked for once, closed when the
// cloud has finished, well or badly. A rebuild that failed leaves a parked VM, and is not asked for again by itself.
var rebuildingSteps = rules.Named("Rebuilding", rules.Join(
	remember,
	picture,
	elsewhere,
	rules.Within("", (*state).rebuildOpen, rules.Join(
		steps{{Name: "Unwanted", When: (*state).rebuildUnwanted, Then: withdrawn("the rebuild that was announced is not asked for any more: withdraw it")}},
		rules.Carrying(steps{
			{Name: "UnderWay", When: (*state).busy, Then: func(s *state) answer {
				return s.Wait(v1alpha1.ReasonRebuilding, "the cloud is making the disk of the VM anew")
			}},
			{Name: "AwaitPicture", When: rules.All((*state).rebuilt, rules.Not((*state).Pictured)), Then: func(s *state) answer {
				return s.Wait(v1alpha1.ReasonRebuilding, "waiting for a picture taken after the rebuild was announced")
			}},
			{Name: "Done", When: (*state).rebuilt, Then: closeRebuild},
			{Name: "AwaitRebuilt", When: (*state).rebuildAsked, Then: func(s *state) answer {
				return s.Wait(v1alpha1.ReasonRebuilding, "the cloud has taken the rebuild: waiting until it shows")
			}},
		}),
	)),
	steps{forbidden, {Name: "Announce", When: rules.Not((*state).rebuildOpen), Then: func(s *state) answer {
		i := s.intent(ledger.IntentRebuild, ledger.WhyImage)
		i.Image = s.openstack.Image.String()
		return rules.Patch(v1alpha1.ReasonRebuilding, "announce that the disk of the VM will be made anew from "+i.Image, lifecycle.Patch{Ledger: ledger.Entries{}.Intent(i)})
	}, Carries: true}},
	rules.Carrying(steps{rest(v1alpha1.ReasonRebuilding), {Name: "Rebuild", When: rules.Always[*state], Then: func(s *state) answer {
		return s.act(v1alpha1.ReasonRebuilding, "make the disk of the VM anew from "+s.Ledger.Intent.Image, lifecycle.OpRebuild, s.Ledger.Intent.ID, lifecycle.VirtualEffect{
			Image: selector(s.openstack.Image), Expect: provider.InstanceExpect{ImageID: s.Ledger.Image.ID},
		}).Recording(lifecycle.Patch{})
	}}}),
))

// imageEdited says that the spec names an image in another way than when the VM was built. That a name or tags resolve to something
// else by now is no edit.
func (s *state) imageEdited() bool {
	return s.Ledger.Image != nil && s.openstack.Image.String() != s.Ledger.Image.Selector
}

// imageKnown says that the VM runs what it was last built from, as far as we know.
func (s *state) imageKnown() bool {
	return s.Ledger.Image != nil && s.exists() && s.vm.ImageID == s.Ledger.Image.ID
}

func (s *state) rebuildAllowed() bool {
	return s.openstack.RebuildPolicy == v1alpha1.RebuildOnImageChange
}

// rebuildApproved says that the claim's owner consents to this very image, or that there is no claim.
func (s *state) rebuildApproved() bool {
	if s.Spec.ClaimRef == nil {
		return true
	}
	return s.Live() && s.Claim.Found.Annotations[v1alpha1.AnnotationRebuildApproved] == s.openstack.Image.String()
}

// rebuildWanted says that a rebuild is asked for and may be done.
func (s *state) rebuildWanted() bool {
	return s.imageEdited() && s.imageKnown() && s.rebuildAllowed() && s.rebuildApproved()
}

// rebuilding says that a rebuild of the VM is to be done, or is being done.
func (s *state) rebuilding() bool {
	return s.rebuildOpen() || s.rebuildWanted()
}

func (s *state) rebuildOpen() bool {
	return s.Ledger.Intent != nil && s.Ledger.Intent.Op == ledger.IntentRebuild
}

// rebuildUnwanted says that the announced rebuild was not asked for at the cloud yet, as far as is known, and that nobody wants it any
// more: it stands for another VM, another claim or another image than now. One that may be under way can only be waited for.
func (s *state) rebuildUnwanted() bool {
	if !s.announced(ledger.IntentRebuild, ledger.WhyImage) {
		return true
	}
	begun := s.rebuildAsked() || s.busy() || !s.imageKnown()
	return !begun && !(s.rebuildWanted() && s.Ledger.Intent.Image == s.openstack.Image.String())
}

// rebuildAsked says that the cloud has taken the announced rebuild.
func (s *state) rebuildAsked() bool { return s.rebuildOpen() && s.Ledger.Intent.ImageID != "" }

// rebuilt says that the rebuild has ended, well or badly: the VM bears its image from the moment that the cloud takes it.
func (s *state) rebuilt() bool {
	if s.rebuildAsked() {
		return s.vm.ImageID == s.Ledger.Intent.ImageID
	}
	return !s.imageKnown() // the answer was lost, and what runs is not what ran before
}

// closeRebuild records what the VM runs now. Where the answer was lost it is not known what the image was called: what runs is adopted,
// and nothing is rebuilt on a guess.
func closeRebuild(s *state) answer {
	p := lifecycle.Patch{Ledger: ledger.Entries{}.Image(nil)}
	if i := s.Ledger.Intent; s.vm.ImageID != "" && (s.rebuildAsked() || i.Image == s.openstack.Image.String()) {
		ledger.Entries(p.Ledger).Image(&ledger.Image{Selector: i.Image, ID: s.vm.ImageID})
	}
	s.closeIntent(&p)
	if s.vm.Errored {
		return rules.Patch(v1alpha1.ReasonErrored, "the rebuild failed: "+orElse(s.vm.Fault, "no reason told"), p)
	}
	return rules.Patch(v1alpha1.ReasonRebuilding, "the disk of the VM was made anew: record it", p)
}

// rebuildHolds say why an edited image is not carried out.
var rebuildHolds = rules.Named("Image", rules.Within("", (*state).imageEdited, steps{
	{Name: "Foreign", When: rules.Not((*state).imageKnown), Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonRebuildForbidden, "the VM runs the image "+orElse(s.vm.ImageID, "of nobody knows which id")+", and not "+s.Ledger.Image.ID+", which it was built from: somebody else rebuilt it, and it is not rebuilt on top. Set spec.openstack.image to the id that runs, or back to "+s.Ledger.Image.Selector)
	}},
	{Name: "Forbidden", When: rules.Not((*state).rebuildAllowed), Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonRebuildForbidden, "spec.openstack.image was edited, and rebuildPolicy is Never: the VM keeps running "+s.Ledger.Image.Selector)
	}},
}))

// unapproved says that the claim's owner has not consented.
var unapproved = rules.Named("Image", steps{
	{Name: "Approval", When: (*state).imageEdited, Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonRebuildApproval, "spec.openstack.image was edited, which makes the disk anew: the claim's owner consents by annotating the claim "+s.ClaimName()+" with "+v1alpha1.AnnotationRebuildApproved+"="+s.openstack.Image.String())
	}},
})
