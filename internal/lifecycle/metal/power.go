// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"
	"unicode/utf8"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// What the picture says. Without a picture, or with a word that nobody knows, power is Unknown: never a reason to act (B028).

// reachable says that the last look at this very machine succeeded: a BMC that answers and has no such system tells nothing of it.
func (s *state) reachable() bool { return s.facts.Reachable && !s.systemMissing() }

func (s *state) on() bool  { return s.facts.PowerState == v1alpha1.ObservedOn }
func (s *state) off() bool { return s.facts.PowerState == v1alpha1.ObservedOff }

func (s *state) changing() bool {
	return s.facts.PowerState == v1alpha1.ObservedPoweringOn || s.facts.PowerState == v1alpha1.ObservedPoweringOff
}

func (s *state) goingDown() bool { return s.facts.PowerState == v1alpha1.ObservedPoweringOff }

func (s *state) powerUnknown() bool { return !s.on() && !s.off() && !s.changing() }

// armed says that the next boot takes an override, of whatever kind.
func (s *state) armed() bool {
	o := s.facts.BootOverride
	if o == nil {
		return false
	}
	return provider.BootOverride{Target: provider.BootTarget(o.Target), Enabled: provider.BootEnabled(o.Enabled)}.Armed()
}

// remembered says that our own memory explains why the machine is On (P13): somebody who has, or had last, the machine asked for it.
func (s *state) remembered() bool {
	p := s.led.PowerOn
	if p == nil {
		return false
	}
	if p.By != ledger.ByClaim {
		return true
	}
	if ref := s.spec.ClaimRef; ref != nil && ref.Identity != p.ID {
		return false
	}
	return s.led.Boot != nil && s.led.Boot.Claim == p.ID
}

// explained says that the machine may be switched off: its being On is remembered, or a person consents, once or by policy.
func (s *state) explained() bool {
	return s.remembered() || s.spec.FoundRunning == v1alpha1.FoundRunningPowerOff || s.consentsPowerOff()
}

func (s *state) consentsPowerOff() bool {
	return s.consent(v1alpha1.AnnotationPowerOff, s.led.Identity)
}

// foundRunning says that the machine runs and nothing of ours explains it.
func (s *state) foundRunning() bool { return !s.off() && !s.powerUnknown() && !s.remembered() }

// wanted is what the spec asks of an unclaimed machine.
func (s *state) wanted() v1alpha1.Power {
	if s.spec.Power == "" {
		return v1alpha1.PowerOff
	}
	return s.spec.Power
}

func wants(p v1alpha1.Power) func(*state) bool { return func(s *state) bool { return s.wanted() == p } }

// expect is the state that an effect on power or boot relies on: power as given, and the asset tag and the serial number as seen, so that
// a machine that was stamped for somebody else in the meantime, or is another one, is left alone.
func (s *state) expect(power provider.PowerState) provider.Expect {
	return provider.Expect{Power: power, AssetTag: s.tagSeen(), Serial: s.serialSeen()}
}

// serialSeen is the serial number to rely on; "" for one so long that the picture may hold a part of it only.
func (s *state) serialSeen() string {
	if s.facts.Hardware == nil || utf8.RuneCountInString(s.facts.Hardware.SerialNumber) >= v1alpha1.MaxFactLength {
		return ""
	}
	return s.facts.Hardware.SerialNumber
}

// tagSeen is the asset tag to rely on; nil for one so long that the picture may hold a part of it only.
func (s *state) tagSeen() *string {
	tag := s.facts.AssetTag
	if utf8.RuneCountInString(tag) >= v1alpha1.MaxFactLength {
		return nil
	}
	return &tag
}

// expectSeen relies on power as it was seen.
func (s *state) expectSeen() provider.Expect {
	return s.expect(provider.PowerState(s.facts.PowerState))
}

// expectBoot relies on the override too: on what was seen of it.
func (s *state) expectBoot(power provider.PowerState) provider.Expect {
	e := s.expect(power)
	e.Boot = &provider.BootExpect{Armed: s.armed()}
	if s.armed() {
		e.Boot.Target = provider.BootTarget(s.facts.BootOverride.Target)
	}
	return e
}

// resting says that a power-off of ours may still be on the wire: the next power-on waits one effect deadline.
func (s *state) resting() bool { return s.restLeft() > 0 }

func (s *state) restLeft() time.Duration { return s.deadlineAfter(s.led.OffAt) }

// deadlineAfter is how long an effect that began before t may still be on the wire; 0 or less where it cannot be.
func (s *state) deadlineAfter(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return t.Add(s.v.Settings.EffectDeadline).Sub(s.v.Now)
}

func (s *state) rest(reason string, left time.Duration) answer {
	return s.wait(reason, "an effect of an earlier time may still be on the wire: the next power-on waits until it cannot be").within(left)
}

// settling waits until Off has been seen for one effect deadline, before anything is done that rests on it: a BMC that has just
// restarted may say Off of a machine that runs (B018).
var settling = clause{name: "Settle", when: func(s *state) bool { return s.settlingLeft() > 0 }, then: func(s *state) answer {
	return s.wait(v1alpha1.ReasonPoweringOff, "Off was first seen a moment ago: waiting whether it stays so").within(s.settlingLeft())
}}

func (s *state) settlingLeft() time.Duration {
	if s.facts.Since == nil {
		return 0
	}
	return s.deadlineAfter(s.facts.Since.Time)
}

// switchOn are the clauses that switch on a machine that is Off. Why it may be On is written first (P13).
func switchOn(by func(*state) ledger.PowerOn) steps {
	return steps{
		{name: "Rest", when: (*state).resting, then: func(s *state) answer { return s.rest(v1alpha1.ReasonPoweringOn, s.restLeft()) }},
		{name: "Remember", when: func(s *state) bool { return !s.rememberedAs(by(s)) }, then: func(s *state) answer {
			p := by(s)
			return patch(v1alpha1.ReasonPoweringOn, "remember why the machine is to be On", lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(&p)})
		}},
		{name: "PowerOn", when: always, then: func(s *state) answer {
			return s.act(v1alpha1.ReasonPoweringOn, "power on", lifecycle.Effect{Op: lifecycle.OpPowerOn, Expect: s.expectBoot(provider.PowerOff)})
		}},
	}
}

// rememberedAs says that the ledger names the same asker already.
func (s *state) rememberedAs(p ledger.PowerOn) bool {
	return s.led.PowerOn != nil && s.led.PowerOn.By == p.By && s.led.PowerOn.ID == p.ID
}

func (s *state) bySpec() ledger.PowerOn { return ledger.PowerOn{By: ledger.BySpec, At: s.now()} }

func (s *state) byClaim() ledger.PowerOn {
	return ledger.PowerOn{By: ledger.ByClaim, ID: s.claim.identity, At: s.now()}
}

func (s *state) byMaintenance() ledger.PowerOn {
	return ledger.PowerOn{By: ledger.ByMaintenance, ID: s.spec.MaintenanceRef.Name, At: s.now()}
}

// changingPower waits for a machine that is on its way up or down.
var changingPower = clause{name: "Changing", when: (*state).changing, then: func(s *state) answer {
	if s.goingDown() {
		return s.wait(v1alpha1.ReasonPoweringOff, "the machine is powering off")
	}
	return s.wait(v1alpha1.ReasonPoweringOn, "the machine is powering on")
}}
