// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// booting: the machine is made ready, each part only if it is not seen so already: the claim remembers, the image is in the drive where
// the method takes one, the override is armed, the machine is stamped. The override comes before the stamp: a machine that is stamped for the claim and has nothing armed may then
// have booted already, whatever an old ledger says, and is held (docs/decisions/0036).
var booting = rules.Join(
	steps{
		{Name: "FoundOn", When: (*state).on, Then: func(s *state) answer {
			p := s.byClaim()
			return rules.Patch(v1alpha1.ReasonBooting, "the machine is On already: take it as booted", lifecycle.Patch{Ledger: ledger.Entries{}.Boot(s.boot(ledger.StageBooted)).PowerOn(&p)})
		}},
		changingPower,
		awaitBound,
		isElsewhere,
	},
	rules.Within("Stamped", rules.All((*state).stampedForClaim, rules.Not((*state).armedForClaim), rules.Not((*state).bootsAlways), func(s *state) bool { return !s.Ledger.Boot.Again }), rules.Join(
		steps{{Name: "BootAgain", When: (*state).consentsBootAgain, Then: bootAgain}},
		bootNotConfirmed,
	)),
	steps{
		// After the hold: whoever asks for no power now learns what is in doubt before power is needed.
		{Name: "PowerNotWanted", When: rules.Not(claimWants(v1alpha1.PowerOn)), Then: powerNotWanted},
		{Name: "UserData", When: (*state).UserDataLacking, Then: (*state).AwaitUserData},
		{Name: "Rest", When: func(s *state) bool { return s.bootRestLeft() > 0 }, Then: func(s *state) answer { return s.rest(v1alpha1.ReasonBooting, s.bootRestLeft()) }},
	},
	media,
	steps{
		{Name: "Override", When: rules.Not((*state).armedForClaim), Then: armOverride},
		{Name: "RememberTag", When: rules.All((*state).stampable, (*state).tagForgotten), Then: func(s *state) answer {
			return rules.Patch(v1alpha1.ReasonBooting, "remember the asset tag that the stamp will stand in for", lifecycle.Patch{Ledger: ledger.Entries{}.AssetTag(s.rememberTag())})
		}},
		{Name: "Stamp", When: rules.All((*state).stampable, rules.Not((*state).stampedForClaim)), Then: func(s *state) answer {
			a := s.act(v1alpha1.ReasonBooting, "stamp the machine for the claim", lifecycle.Effect{
				Op: lifecycle.OpWriteAssetTag, AssetTag: s.stampFor(s.Spec.ClaimRef.Identity), Expect: s.expectOffArmed(),
			})
			a.Refused = &lifecycle.Patch{Ledger: ledger.Entries{}.AssetTag(&ledger.AssetTag{Previous: s.Facts.AssetTag, Unwritable: true})}
			return a
		}},
		// The drive itself is asked once more before each boot: what was seen in it may be left over from an ejection (B113).
		{Name: "ConfirmMedia", When: (*state).byMedia, Then: func(s *state) answer {
			return s.insert("confirm that the image is in the drive, then announce the power-on", s.expectOffArmed()).Recording(s.startPatch())
		}},
		{Name: "Start", When: rules.Always[*state], Then: func(s *state) answer {
			return rules.Patch(v1alpha1.ReasonBooting, "ready to boot for the claim: announce the power-on", s.startPatch())
		}},
	},
)

// startPatch announces the power-on for the claim.
func (s *state) startPatch() lifecycle.Patch {
	p := s.byClaim()
	return lifecycle.Patch{Ledger: ledger.Entries{}.Boot(s.boot(ledger.StageStarting)).PowerOn(&p)}
}

// awaitBound waits until the claim remembers the machine, which it must before the machine first boots for it.
var awaitBound = rules.Lift[*state](rules.Steps[*rules.State]{rules.AwaitBound})[0]

// bootRestLeft is how long nothing is armed yet: a power-on of a former claim's boot that is still on the wire must find nothing armed,
// or it boots this claim's machine (I10). A Server made anew does not know of the last power-off, but when it was discovered.
func (s *state) bootRestLeft() time.Duration {
	return max(s.restLeft(), s.DeadlineAfter(s.Ledger.DiscoveredAt))
}

func armOverride(s *state) answer {
	return s.act(v1alpha1.ReasonBooting, "arm the boot by "+string(s.method()), lifecycle.Effect{
		Op: lifecycle.OpSetBootOverride, Override: s.override(), Expect: s.expect(provider.PowerOff),
	})
}

func clearOverride(s *state) answer {
	return s.act(v1alpha1.ReasonBooting, "clear the boot override: the machine boots from its disk from now on", lifecycle.Effect{
		Op: lifecycle.OpClearBootOverride, Expect: s.expectSeen(),
	}).Quiet()
}
