// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// booted: from now on the machine boots from its disk, however often its tenant powers it off; its power is kept as the claim says.
var booted = rules.Join(
	steps{{Name: "RestartForgotten", When: rules.All((*state).RestartUnknown, (*state).RestartWanted), Then: recordRestart("an absent record never means an older one: take the restart as carried out")}},
	rules.Within("Restart", rules.All(rules.Not((*state).RestartUnknown), (*state).RestartWanted), restart),
	steps{{Name: "Restarted", When: (*state).RestartOver, Then: func(s *state) answer {
		p := *s.Ledger.PowerOn
		p.Restart = false
		over := lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(&p)}
		if s.ClaimPower() == v1alpha1.PowerOff {
			return rules.Patch(v1alpha1.ReasonBooted, "the claim asks for Off after its restart", over)
		}
		return s.act(v1alpha1.ReasonBooted, "confirm that the machine is On after its restart", lifecycle.Effect{Op: lifecycle.OpConfirmOn, Expect: s.expectSeen()}).Recording(over).Quiet()
	}, Carries: true}},
	rules.Within("PowerOff", rules.All(rules.Not((*state).off), claimWants(v1alpha1.PowerOff)), powerOff(ledger.WhyClaimPower, isElsewhere)),
	rules.Within("Off", rules.All((*state).off, claimWants(v1alpha1.PowerOff)), recordOff(ledger.WhyClaimPower)),
	steps{
		{Name: "Adopt", When: rules.All((*state).on, claimWants(v1alpha1.PowerOn), rules.Not((*state).remembered)), Then: func(s *state) answer {
			p := s.byClaim()
			return rules.Patch(v1alpha1.ReasonBooted, "the claim asks for On and its machine is: remember it", lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(&p)})
		}},
		changingPower,
		{Name: "ClearOverride", When: rules.All((*state).armed, rules.Not((*state).bootsAlways), rules.Either((*state).off, (*state).bootOver)), Then: clearOverride},
		{Name: "Eject", When: rules.All((*state).mediaMayBeIn, rules.Not((*state).bootsAlways), rules.Either((*state).off, (*state).bootOver)), Then: ejectBooted},
	},
	rules.Within("On", (*state).powerOnDue, rules.Join(
		steps{
			awaitBound,
			settling,
		},
		rules.Within("", (*state).bootsAlways, media),
		steps{
			{Name: "ArmOverride", When: rules.All((*state).bootsAlways, rules.Not((*state).armedForClaim)), Then: armOverride},
		},
		switchOn((*state).byClaim),
	)),
	steps{
		{Name: "OverrideArmed", When: rules.All((*state).on, (*state).armed, rules.Not((*state).bootsAlways)), Then: func(s *state) answer {
			return s.Wait(v1alpha1.ReasonBooted, "booted; the boot override is cleared when the operating system is up, or after the boot deadline").Soon(s.bootLeft()).Quiet()
		}},
		{Name: "MediaInserted", When: rules.All((*state).on, (*state).mediaMayBeIn, rules.Not((*state).bootsAlways)), Then: func(s *state) answer {
			return s.Wait(v1alpha1.ReasonBooted, "booted; the image is ejected when the operating system is up, or after the boot deadline").Soon(s.bootLeft()).Quiet()
		}},
	},
	idle,
	rules.Lift[*state](rules.Steps[*rules.State]{rules.AwaitRestartOver}),
	steps{{Name: "Settled", When: rules.Always[*state], Then: func(*state) answer { return rules.Settled("booted, and as the claim asks") }}},
)

// ejectBooted leaves the claim as ready as it was.
func ejectBooted(s *state) answer { return eject(s).Quiet() }

// restart are the clauses of a restart asked for by the claim: off through an intent, recorded once, then on. One that is asked for before
// the machine was seen On is that On (docs/decisions/0161).
var restart = rules.Join(
	steps{{Name: "Since", When: rules.All((*state).OnSinceRestart, rules.Not(isAnnounced(ledger.WhyRestart))), Then: recordRestart("the machine was started after the restart was asked for")}},
	steps{{Name: "ComingUp", When: rules.All((*state).comingUp, rules.Not(isAnnounced(ledger.WhyRestart)), rules.Not(claimWants(v1alpha1.PowerOff))), Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonPoweringOn, "the machine is powering on: when it is On tells whether the restart that is asked for came before that")
	}}},
	rules.Within("PowerOff", rules.Not((*state).off), powerOff(ledger.WhyRestart, isElsewhere)),
	steps{
		{Name: "AwaitPicture", When: rules.All(isAnnounced(ledger.WhyRestart), rules.Not((*state).Pictured)), Then: awaitPicture, Carries: true},
		{Name: "Record", When: rules.Always[*state], Then: recordRestart("the machine is Off: record the restart, then power on")},
	},
)

// recordRestart notes the restart as carried out. Where the machine is Off it forgets why it was On, unless it is Off for that restart.
func recordRestart(message string) func(*state) answer {
	return func(s *state) answer {
		entries := ledger.Entries{}.Restarted(s.RestartAsked())
		if s.off() {
			entries.PowerOn(s.pastOff())
		}
		return rules.Patch(v1alpha1.ReasonBooted, message, lifecycle.Patch{Ledger: entries})
	}
}

// bootOver says that the override has done its work: the operating system is up, or the boot deadline has passed.
func (s *state) bootOver() bool { return s.Facts.BootProgress == "OSRunning" || s.bootLeft() <= 0 }

func (s *state) bootLeft() time.Duration {
	if s.Ledger.Boot == nil {
		return 0
	}
	return s.Ledger.Boot.At.Add(s.V.Settings.BootDeadline).Sub(s.V.Now)
}

// powerOnDue says that the machine is Off and to be On: the claim says so, or (Keep) it was switched off for a restart only.
func (s *state) powerOnDue() bool {
	if !s.off() {
		return false
	}
	if s.ClaimPower() == v1alpha1.PowerKeep {
		return s.Restarting()
	}
	return s.ClaimPower() == v1alpha1.PowerOn
}
