// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// desired is what whoever has the VM asks of its power. A standalone VM is On unless its spec says otherwise; one that was made for a
// claim and has none stays as it is.
func (s *state) desired() v1alpha1.Power {
	switch {
	case s.Spec.ClaimRef != nil:
		return s.ClaimPower()
	case s.Spec.Power != "":
		return s.Spec.Power
	case s.Spec.ClassRef != nil:
		return v1alpha1.PowerKeep
	}
	return v1alpha1.PowerOn
}

func (s *state) wantsOff() bool { return s.desired() == v1alpha1.PowerOff }

// whyPower says who asks for Off.
func (s *state) whyPower() ledger.Why {
	if s.Spec.ClaimRef != nil {
		return ledger.WhyClaimPower
	}
	return ledger.WhySpec
}

// forbidden holds whatever would end what runs, where the spec says never.
var forbidden = clause{Name: "Forbidden", When: func(s *state) bool { return s.Spec.PowerOff == v1alpha1.PowerOffNever }, Then: func(*state) answer {
	return rules.Hold(v1alpha1.ReasonPowerOffForbidden, "the VM should be stopped, restarted or rebuilt, and spec.powerOff is Never: do it by hand, or set spec.powerOff to Allowed")
}}

// powerOff are the clauses that stop a VM that is not Off: never without the intent having been written and read back (P6).
func powerOff(why func(*state) ledger.Why) steps {
	stands := func(s *state) bool { return s.stopAnnounced(why(s)) }
	return rules.Join(
		steps{forbidden, {Name: "Announce", When: rules.Not(stands), Then: func(s *state) answer {
			entries := ledger.Entries{}.Intent(s.intent(ledger.IntentPowerOff, why(s)))
			if p := s.ForRestart(); why(s) == ledger.WhyRestart && p != nil {
				entries.PowerOn(p)
			}
			return rules.Patch(v1alpha1.ReasonPoweringOff, "announce that the VM will be stopped: "+string(why(s)), lifecycle.Patch{Ledger: entries})
		}, Carries: true}},
		carryOut,
	)
}

// carryOut are the clauses that carry out an announced stop.
var carryOut = rules.Carrying(steps{
	{Name: "Stopping", When: func(s *state) bool { return s.busy() || !s.on() }, Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonPoweringOff, "the VM is "+orElse(s.vm.TaskState, s.vm.State)+": waiting until it is Off, or can be stopped")
	}},
	{Name: "Stop", When: rules.Always[*state], Then: func(s *state) answer {
		return s.act(v1alpha1.ReasonPoweringOff, "stop the VM: "+string(s.Ledger.Intent.Why), lifecycle.OpStop, s.Ledger.Intent.ID, lifecycle.VirtualEffect{
			Expect: provider.InstanceExpect{Power: provider.PowerOn},
		})
	}},
})

// recordOff closes a stop once the VM is Off, on a picture taken after it was announced (R4).
func recordOff(why func(*state) ledger.Why) steps {
	open := func(s *state) bool { return s.stopAnnounced(why(s)) && s.Ledger.Intent.Why == why(s) }
	return steps{
		{Name: "AwaitPicture", When: rules.All(open, rules.Not((*state).Pictured)), Then: awaitPicture, Carries: true},
		{Name: "RecordOff", When: open, Then: func(s *state) answer {
			p := lifecycle.Patch{}
			s.closeIntent(&p)
			return rules.Patch(v1alpha1.ReasonPoweringOff, "record that the VM is Off", p)
		}},
	}
}

func awaitPicture(s *state) answer {
	return s.Wait(v1alpha1.ReasonPoweringOff, "waiting for a picture taken after the effect was announced")
}

// stopAnnounced says that the stop stands written. An announced release stands in for a maintenance's stop: it is the memory that the
// claim was being released, and a maintenance must not cost it.
func (s *state) stopAnnounced(why ledger.Why) bool {
	return s.announced(ledger.IntentPowerOff, why) || (why == ledger.WhyMaintenance && s.announced(ledger.IntentPowerOff, ledger.WhyReleased))
}

// switchOn are the clauses that start a VM that is Off. A stop of ours that may still be on the wire is waited out.
var switchOn = steps{
	rest(v1alpha1.ReasonPoweringOn),
	{Name: "Start", When: rules.Always[*state], Then: func(s *state) answer {
		return s.act(v1alpha1.ReasonPoweringOn, "start the VM", lifecycle.OpStart, "", lifecycle.VirtualEffect{Expect: provider.InstanceExpect{Power: provider.PowerOff}})
	}},
}

// rest waits before what makes the VM run until no stop of ours can be on the wire any more.
func rest(reason string) clause {
	return clause{Name: "Rest", When: func(s *state) bool { return s.DeadlineAfter(s.Ledger.OffAt) > 0 }, Then: func(s *state) answer {
		return s.Wait(reason, "a stop of an earlier time may still be on the wire: waiting until it cannot be").Soon(s.DeadlineAfter(s.Ledger.OffAt))
	}}
}

// announced says that this effect, for this reason, on this VM, under the claim in force, stands written (P6).
func (s *state) announced(op ledger.IntentOp, why ledger.Why) bool {
	i := s.Ledger.Intent
	if i == nil || i.Op != op || i.Why != why || i.Target != s.vmID() {
		return false
	}
	claim, uid := s.ClaimInForce()
	return i.Claim == claim && i.ClaimUID == uid
}

// intent announces an effect on the VM.
func (s *state) intent(op ledger.IntentOp, why ledger.Why) *ledger.Intent {
	claim, uid := s.ClaimInForce()
	return &ledger.Intent{ID: s.IntentID(why), Op: op, Why: why, At: s.Now(), Target: s.vmID(), Claim: claim, ClaimUID: uid}
}

// restart are the clauses of a restart that a claim asks for, as of a machine's: off through an intent, recorded once, then on. Nova's own
// reboot is not used: one that is over has nothing to be seen by, and would be asked for again where its answer or its record was lost. One
// that is asked for before the VM was seen On is that On (docs/decisions/0161).
var restart = rules.Within("Restart", (*state).RestartWanted, rules.Join(
	steps{{Name: "Skip", When: rules.Either((*state).RestartUnknown, rules.All((*state).OnSinceRestart, rules.Not((*state).restartAnnounced))), Then: recordRestart("take the restart as carried out: the VM was started since, or its record was lost")}},
	steps{{Name: "ComingUp", When: rules.All((*state).comingUp, rules.Not((*state).restartAnnounced), rules.Not((*state).wantsOff)), Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonPoweringOn, "the VM is powering on: when it is On tells whether the restart that is asked for came before that")
	}}},
	rules.Within("PowerOff", rules.Not((*state).off), powerOff(whyRestart)),
	steps{
		{Name: "AwaitPicture", When: rules.All((*state).restartAnnounced, rules.Not((*state).Pictured)), Then: awaitPicture, Carries: true},
		{Name: "Record", When: rules.Always[*state], Then: recordRestart("the VM is Off: record the restart, then start it")},
	},
))

// restarted forgets that the VM is to be On again. The cloud itself is asked whether it is: a start of a VM that is On changes nothing.
var restarted = steps{{Name: "Restarted", When: (*state).RestartOver, Then: func(s *state) answer {
	over := lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(nil)}
	if s.ClaimPower() == v1alpha1.PowerOff {
		return rules.Patch(v1alpha1.ReasonRunning, "the claim asks for Off after its restart", over)
	}
	return s.act(v1alpha1.ReasonRunning, "confirm that the VM is On after its restart", lifecycle.OpStart, "", lifecycle.VirtualEffect{Expect: provider.InstanceExpect{Power: provider.PowerOn}}).Recording(over).Quiet()
}, Carries: true}}

// startRemembered notes when the VM is started again: from then on it is looked at more often (Unsettled).
var startRemembered = steps{{Name: "Remember", When: (*state).startUnremembered, Then: func(s *state) answer {
	p := *s.Ledger.PowerOn
	p.At = s.Now()
	return rules.Patch(v1alpha1.ReasonPoweringOn, "remember when the VM is started", lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(&p)})
}}}

func (s *state) startUnremembered() bool {
	rested := s.Ledger.OffAt.Add(s.V.Settings.EffectDeadline)
	return s.Restarting() && s.Ledger.PowerOn.At.Before(rested) && !s.V.Now.Before(rested)
}

func whyRestart(*state) ledger.Why { return ledger.WhyRestart }

func (s *state) restartAnnounced() bool { return s.stopAnnounced(ledger.WhyRestart) }

// recordRestart notes the restart as carried out.
func recordRestart(message string) func(*state) answer {
	return func(s *state) answer {
		return rules.Patch(v1alpha1.ReasonPoweringOff, message, lifecycle.Patch{Ledger: ledger.Entries{}.Restarted(s.RestartAsked())})
	}
}

// startDue says that the VM is to be On: whoever has it says so, or it was stopped for a restart only.
func (s *state) startDue() bool {
	switch s.desired() {
	case v1alpha1.PowerOn:
		return true
	case v1alpha1.PowerKeep:
		return s.Restarting()
	}
	return false
}

func changing(s *state) answer {
	return s.Wait(v1alpha1.ReasonRunning, "the cloud is at the VM ("+orElse(s.vm.TaskState, s.vm.State)+")")
}

// settlingLeft is how long Off must still be seen before a release rests on it.
func (s *state) settlingLeft() time.Duration {
	if s.Facts.Since == nil {
		return 0
	}
	return s.DeadlineAfter(s.Facts.Since.Time)
}
