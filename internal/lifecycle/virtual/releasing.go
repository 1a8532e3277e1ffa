// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// releasingSteps end a claim's use of its VM. Under policy Delete the claim's controller deletes the Server, and with it the VM. Under
// Retain the VM is stopped: announced always, off, confirmed off, its claim taken from its stamp, and only then released.
var releasingSteps = rules.Named("Releasing", rules.Join(
	steps{{Name: "AwaitDeletion", When: rules.Not((*state).retained), Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonReleasing, "waiting until the claim has deleted this server with its VM")
	}}},
	elsewhere,
	steps{
		{Name: "NothingMade", When: func(s *state) bool { return s.vmID() == "" && !s.exists() }, Then: released("there is no VM: release the claim")},
		{Name: "VMGone", When: (*state).gone, Then: released("the VM is gone: release the claim")},
		{Name: "Announce", When: func(s *state) bool { return !s.stopAnnounced(ledger.WhyReleased) }, Then: func(s *state) answer {
			p := lifecycle.Patch{Ledger: ledger.Entries{}.Intent(s.releaseIntent())}
			if s.Ledger.ProviderID == "" {
				ledger.Entries(p.Ledger).ProviderID(s.releaseIntent().Target)
			}
			return rules.Patch(v1alpha1.ReasonReleasing, "announce the release", p)
		}, Carries: true},
	},
	rules.Carrying(rules.Join(
		rules.Answering(unconfirmed, picture),
		rules.Within("PowerOff", rules.Not((*state).off), rules.Join(steps{forbidden}, carryOut)),
		steps{
			{Name: "AwaitPicture", When: rules.Not((*state).Pictured), Then: awaitPicture},
			{Name: "Settle", When: func(s *state) bool { return s.settlingLeft() > 0 }, Then: func(s *state) answer {
				return s.Wait(v1alpha1.ReasonPoweringOff, "Off was first seen a moment ago: waiting whether it stays so").Soon(s.settlingLeft())
			}},
			{Name: "Unstamp", When: func(s *state) bool { return s.vm.Claim != "" }, Then: func(s *state) answer {
				return s.stamp(v1alpha1.ReasonReleasing, "take the claim from the VM's stamp", "", "")
			}},
			{Name: "Finish", When: rules.Always[*state], Then: func(s *state) answer {
				return s.act(v1alpha1.ReasonReleasing, "confirm that the VM is Off, then release it", lifecycle.OpConfirmStopped, "", lifecycle.VirtualEffect{
					Expect: provider.InstanceExpect{Power: provider.PowerOff},
				}).Recording(s.releasePatch())
			}},
		},
	)),
))

// releaseIntent announces the stop of the VM that is remembered, or else of the one that is seen.
func (s *state) releaseIntent() *ledger.Intent {
	i := s.intent(ledger.IntentPowerOff, ledger.WhyReleased)
	if i.Target == "" {
		i.Target = s.vm.ID
	}
	return i
}

// unconfirmed makes waiting for the VM a matter for people: a release does not end without it.
func unconfirmed(s *state, a answer) answer {
	if a.Kind != lifecycle.StepWait {
		return a
	}
	a.Message += ". The release is not confirmed: make the cloud reachable; or delete the Server and annotate it with " + v1alpha1.AnnotationAbandon + "=" + s.Name()
	a.Gate.Reason, a.Gate.Message = v1alpha1.ReasonReleaseUnconfirmed, a.Message
	return a.Stalled()
}

func released(message string) func(*state) answer {
	return func(s *state) answer {
		return rules.Patch(v1alpha1.ReasonReleasing, message, s.releasePatch())
	}
}

// releasePatch ends a release: the claim keeps its place in claimRef until a person clears it.
func (s *state) releasePatch() lifecycle.Patch {
	p := lifecycle.Patch{Ledger: ledger.Entries{}.Released(&ledger.Released{Claim: s.claimIdentity(), At: s.Now()}).PowerOn(nil)}
	s.closeIntent(&p)
	return p
}

// releasedSteps leave a retained VM alone: its power stays, until a person clears claimRef.
var releasedSteps = rules.Named("Released", steps{
	{Name: "Settled", When: rules.Always[*state], Then: func(*state) answer {
		return rules.Settled("released and retained: clear spec.claimRef to keep the VM as one that no claim has, or delete the Server")
	}},
})

// danglingSteps hold a VM whose claim is not there, or is another one (P10).
var danglingSteps = rules.Named("Reserved", rules.Lift[*state](rules.Dangling))
