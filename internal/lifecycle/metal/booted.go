// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// booted: from now on the machine boots from its disk, however often its tenant powers it off; its power is kept as the claim says.
var booted = join(
	steps{{name: "RestartForgotten", when: all((*state).restartUnknown, (*state).restartWanted), then: recordRestart("an absent record never means an older one: take the restart as carried out")}},
	within("Restart", all(not((*state).restartUnknown), (*state).restartWanted), restart),
	within("PowerOff", all(not((*state).off), claimWants(v1alpha1.PowerOff)), powerOffUnderClaim(ledger.WhyClaimPower)),
	within("Off", all((*state).off, claimWants(v1alpha1.PowerOff)), recordOff(ledger.WhyClaimPower)),
	steps{
		{name: "Adopt", when: all((*state).on, claimWants(v1alpha1.PowerOn), not((*state).remembered)), then: func(s *state) answer {
			p := s.byClaim()
			return patch(v1alpha1.ReasonBooted, "the claim asks for On and its machine is: remember it", lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(&p)})
		}},
		changingPower,
		{name: "ClearOverride", when: all((*state).armed, not((*state).bootsAlways), either((*state).off, (*state).bootOver)), then: clearOverride},
		{name: "Eject", when: all((*state).mediaMayBeIn, not((*state).bootsAlways), either((*state).off, (*state).bootOver)), then: ejectBooted},
	},
	within("On", (*state).powerOnDue, join(
		steps{
			awaitBound,
			settling,
		},
		within("", (*state).bootsAlways, media),
		steps{
			{name: "ArmOverride", when: all((*state).bootsAlways, not((*state).armedForClaim)), then: armOverride},
		},
		switchOn((*state).byClaim),
	)),
	steps{
		{name: "OverrideArmed", when: all((*state).on, (*state).armed, not((*state).bootsAlways)), then: func(s *state) answer {
			return s.wait(v1alpha1.ReasonBooted, "booted; the boot override is cleared when the operating system is up, or after the boot deadline").within(s.bootLeft()).quiet()
		}},
		{name: "MediaInserted", when: all((*state).on, (*state).mediaMayBeIn, not((*state).bootsAlways)), then: func(s *state) answer {
			return s.wait(v1alpha1.ReasonBooted, "booted; the image is ejected when the operating system is up, or after the boot deadline").within(s.bootLeft()).quiet()
		}},
	},
	idle,
	steps{{name: "Settled", when: always, then: func(*state) answer { return settled("booted, and as the claim asks") }}},
)

// ejectBooted leaves the claim as ready as it was.
func ejectBooted(s *state) answer { return eject(s).quiet() }

// restart are the clauses of a restart asked for by the claim: off through an intent, recorded once, then on.
var restart = join(
	steps{{name: "Since", when: (*state).onSinceRestart, then: recordRestart("the machine was started after the restart was asked for")}},
	within("PowerOff", not((*state).off), powerOffUnderClaim(ledger.WhyRestart)),
	steps{
		{name: "AwaitPicture", when: all(isAnnounced(ledger.WhyRestart), not((*state).pictured)), then: awaitPicture, carries: true},
		{name: "Record", when: always, then: recordRestart("the machine is Off: record the restart, then power on")},
	},
)

// recordRestart notes the restart as carried out. Where the machine is Off it forgets why it was On; and where it runs only because of
// the restart (power Keep), it remembers that it is to be On again.
func recordRestart(message string) func(*state) answer {
	return func(s *state) answer {
		entries := ledger.Entries{}.Restarted(s.restartAsked())
		if s.off() {
			entries.PowerOn(nil)
			if s.announced(ledger.WhyRestart) && !claimWants(v1alpha1.PowerOff)(s) {
				p := s.byClaim()
				entries.PowerOn(&p)
			}
		}
		return patch(v1alpha1.ReasonBooted, message, lifecycle.Patch{Ledger: entries})
	}
}

// restartWanted says that the claim asks for a restart that is newer than the last one known.
func (s *state) restartWanted() bool {
	asked := s.restartAsked()
	return !asked.IsZero() && asked.After(s.led.Restarted)
}

func (s *state) restartUnknown() bool { return s.led.Restarted.IsZero() }

// onSinceRestart says that the current On began after the restart was asked for.
func (s *state) onSinceRestart() bool {
	return s.on() && s.facts.Since != nil && s.facts.Since.UTC().After(s.restartAsked())
}

// bootOver says that the override has done its work: the operating system is up, or the boot deadline has passed.
func (s *state) bootOver() bool { return s.facts.BootProgress == "OSRunning" || s.bootLeft() <= 0 }

func (s *state) bootLeft() time.Duration {
	if s.led.Boot == nil {
		return 0
	}
	return s.led.Boot.At.Add(s.v.Settings.BootDeadline).Sub(s.v.Now)
}

// powerOnDue says that the machine is Off and to be On: the claim says so, or (Keep) it was switched off for a restart only.
func (s *state) powerOnDue() bool {
	if !s.off() {
		return false
	}
	if s.claimPower() == v1alpha1.PowerKeep {
		p := s.led.PowerOn
		return p != nil && p.By == ledger.ByClaim && s.facts.Since != nil && !s.facts.Since.UTC().After(p.At) && !s.led.OffAt.IsZero() && !p.At.Before(s.led.OffAt)
	}
	return s.claimPower() == v1alpha1.PowerOn
}
