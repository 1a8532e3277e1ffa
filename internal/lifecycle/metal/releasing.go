// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// releasingSteps take the machine back: announced always, off, confirmed off, its image out of the drive, its stamp gone, and only then free. Until that is
// confirmed nobody else gets it.
var releasingSteps = rules.Named("Releasing", rules.Join(
	steps{
		{Name: "Abandon", When: rules.All((*state).Deleting, func(s *state) bool { return s.Consent(v1alpha1.AnnotationAbandon, s.Name()) }), Then: func(*state) answer {
			return letGo("let the server go without confirmation, as a person asked: what runs on the machine keeps running, and its stamp and boot override stay as they are").Telling(rules.EventAbandoned)
		}, Carries: true},
		isElsewhere,
		{Name: "Memory", When: rules.All((*state).BoundHere, rules.Either((*state).foundRunning, (*state).rememberedFound), rules.Not((*state).bootKnown)), Then: restoreMemory},
		{Name: "MediaMemory", When: rules.All((*state).BoundHere, (*state).byMedia, rules.Not((*state).bootKnown)), Then: rememberMedia, Carries: true},
		{Name: "Announce", When: rules.Not(isAnnounced(ledger.WhyReleased)), Then: func(s *state) answer {
			return rules.Patch(v1alpha1.ReasonReleasing, "announce the release", lifecycle.Patch{Ledger: ledger.Entries{}.Intent(s.intent(ledger.WhyReleased))})
		}, Carries: true},
	},
	rules.Carrying(rules.Join(
		rules.Answering(unconfirmed, picture),
		steps{rememberFound},
		rules.Within("PowerOff", rules.Not((*state).off), powerOffReleased),
		steps{
			{Name: "AwaitPicture", When: rules.Not((*state).Pictured), Then: awaitPicture},
			settling,
			{Name: "ClearOverride", When: (*state).armedOnce, Then: clearOverride},
			{Name: "Eject", When: (*state).mediaMayBeIn, Then: eject},
			{Name: "Unstamp", When: (*state).stamped, Then: func(s *state) answer {
				return s.act(v1alpha1.ReasonReleasing, "clear the stamp and put the old asset tag back", lifecycle.Effect{
					Op: lifecycle.OpWriteAssetTag, AssetTag: s.previousTag(), Expect: s.expect(provider.PowerOff),
				})
			}},
			{Name: "Finish", When: rules.Always[*state], Then: func(s *state) answer {
				return s.confirmOff(v1alpha1.ReasonReleasing, "confirm that the machine is Off, then release it", s.releasePatch())
			}},
		},
	)),
))

// unconfirmed makes waiting for the machine a matter for people: a release does not end without it.
func unconfirmed(s *state, a answer) answer {
	if a.Kind != lifecycle.StepWait {
		return a
	}
	a.Message += ". The release is not confirmed: make the BMC reachable; or delete the Server and annotate it with " + v1alpha1.AnnotationAbandon + "=" + s.Name()
	a.Gate.Reason, a.Gate.Message = v1alpha1.ReasonReleaseUnconfirmed, a.Message
	return a.Stalled()
}

// releasePatch ends a release: nothing is remembered of the claim but that it was released.
func (s *state) releasePatch() lifecycle.Patch {
	entries := ledger.Entries{}.Boot(nil).PowerOn(s.found()).Restarted(zero).AssetTag(s.unwritableTag())
	if claim, _ := s.inForce(); claim != "" {
		entries.Released(&ledger.Released{Claim: claim, At: s.Now()})
	}
	p := lifecycle.Patch{
		Ledger: entries,
		Remove: s.Given(v1alpha1.AnnotationPowerOff, v1alpha1.AnnotationBooted, v1alpha1.AnnotationBootAgain),
	}
	if s.Spec.ReclaimPolicy == v1alpha1.ReclaimRetain && s.Spec.ClaimRef != nil {
		return p
	}
	if !s.Ledger.DirtySince.IsZero() && (s.Spec.Cleaning == "" || s.Spec.Cleaning == v1alpha1.CleaningNone) {
		entries.DirtySince(zero)
	}
	if s.Spec.ClaimRef != nil {
		p.ClaimRef = &lifecycle.RefChange[v1alpha1.ClaimReference]{}
	}
	return p
}

// unwritableTag keeps that the machine refused a stamp, which is the machine's and not the claim's.
func (s *state) unwritableTag() *ledger.AssetTag {
	if s.Ledger.AssetTag != nil && s.Ledger.AssetTag.Unwritable {
		return &ledger.AssetTag{Unwritable: true}
	}
	return nil
}
