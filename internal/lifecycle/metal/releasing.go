// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// releasingSteps take the machine back: announced always, off, confirmed off, its image out of the drive, its stamp gone, and only then free. Until that is
// confirmed nobody else gets it.
var releasingSteps = named("Releasing", join(
	steps{
		{name: "Abandon", when: all((*state).deleting, func(s *state) bool { return s.consent(v1alpha1.AnnotationAbandon, s.name()) }), then: func(*state) answer {
			return letGo("let the server go without confirmation, as a person asked: what runs on the machine keeps running, and its stamp and boot override stay as they are").telling(eventAbandoned)
		}, carries: true},
		isElsewhere,
		{name: "Memory", when: all((*state).boundHere, (*state).foundRunning, not((*state).bootKnown)), then: restoreMemory},
		{name: "MediaMemory", when: all((*state).boundHere, (*state).byMedia, not((*state).bootKnown)), then: rememberMedia, carries: true},
		{name: "Announce", when: not(isAnnounced(ledger.WhyReleased)), then: func(s *state) answer {
			return patch(v1alpha1.ReasonReleasing, "announce the release", lifecycle.Patch{Ledger: ledger.Entries{}.Intent(s.intent(ledger.WhyReleased))})
		}, carries: true},
	},
	carrying(join(
		unconfirmed(picture),
		within("PowerOff", not((*state).off), powerOffReleased),
		steps{
			{name: "AwaitPicture", when: not((*state).pictured), then: awaitPicture},
			settling,
			{name: "ClearOverride", when: (*state).armedOnce, then: clearOverride},
			{name: "Eject", when: (*state).mediaMayBeIn, then: eject},
			{name: "Unstamp", when: (*state).stamped, then: func(s *state) answer {
				return s.act(v1alpha1.ReasonReleasing, "clear the stamp and put the old asset tag back", lifecycle.Effect{
					Op: lifecycle.OpWriteAssetTag, AssetTag: s.previousTag(), Expect: s.expect(provider.PowerOff),
				})
			}},
			{name: "Finish", when: always, then: func(s *state) answer {
				return s.confirmOff(v1alpha1.ReasonReleasing, "confirm that the machine is Off, then release it", s.releasePatch())
			}},
		},
	)),
))

// unconfirmed makes waiting for the machine a matter for people: a release does not end without it.
func unconfirmed(list steps) steps {
	out := make(steps, len(list))
	for i, c := range list {
		inner := c.then
		c.then = func(s *state) answer {
			a := inner(s)
			if a.Kind == lifecycle.StepWait {
				a.gate.Reason = v1alpha1.ReasonReleaseUnconfirmed
				a.Message += ". The release is not confirmed: make the BMC reachable; or delete the Server and annotate it with " + v1alpha1.AnnotationAbandon + "=" + s.name()
				a.gate.Message = a.Message
				a = a.stalled()
			}
			return a
		}
		out[i] = c
	}
	return out
}

// releasePatch ends a release: nothing is remembered of the claim but that it was released.
func (s *state) releasePatch() lifecycle.Patch {
	entries := ledger.Entries{}.Boot(nil).PowerOn(nil).Restarted(zero).AssetTag(s.unwritableTag())
	if claim, _ := s.inForce(); claim != "" {
		entries.Released(&ledger.Released{Claim: claim, At: s.now()})
	}
	p := lifecycle.Patch{
		Ledger: entries,
		Remove: s.given(v1alpha1.AnnotationPowerOff, v1alpha1.AnnotationBooted, v1alpha1.AnnotationBootAgain),
	}
	if s.spec.ReclaimPolicy == v1alpha1.ReclaimRetain && s.spec.ClaimRef != nil {
		return p
	}
	if !s.led.DirtySince.IsZero() && (s.spec.Cleaning == "" || s.spec.Cleaning == v1alpha1.CleaningNone) {
		entries.DirtySince(zero)
	}
	if s.spec.ClaimRef != nil {
		p.ClaimRef = &lifecycle.RefChange[v1alpha1.ClaimReference]{}
	}
	return p
}

// unwritableTag keeps that the machine refused a stamp, which is the machine's and not the claim's.
func (s *state) unwritableTag() *ledger.AssetTag {
	if s.led.AssetTag != nil && s.led.AssetTag.Unwritable {
		return &ledger.AssetTag{Unwritable: true}
	}
	return nil
}
