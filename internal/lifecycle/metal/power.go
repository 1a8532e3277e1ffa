// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"time"
	"unicode/utf8"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// What the picture says. Without a picture, or with a word that nobody knows, power is Unknown: never a reason to act (B028).

// reachable says that the last look at this very machine succeeded: a BMC that answers and has no such system tells nothing of it.
func (s *state) reachable() bool { return s.Facts.Reachable && !s.systemMissing() }

func (s *state) on() bool  { return s.Facts.PowerState == v1alpha1.ObservedOn }
func (s *state) off() bool { return s.Facts.PowerState == v1alpha1.ObservedOff }

func (s *state) changing() bool {
	return s.Facts.PowerState == v1alpha1.ObservedPoweringOn || s.Facts.PowerState == v1alpha1.ObservedPoweringOff
}

func (s *state) goingDown() bool { return s.Facts.PowerState == v1alpha1.ObservedPoweringOff }

func (s *state) comingUp() bool { return s.Facts.PowerState == v1alpha1.ObservedPoweringOn }

func (s *state) powerUnknown() bool { return !s.on() && !s.off() && !s.changing() }

// armed says that the next boot takes an override, of whatever kind.
func (s *state) armed() bool {
	o := s.Facts.BootOverride
	if o == nil {
		return false
	}
	return provider.BootOverride{Target: provider.BootTarget(o.Target), Enabled: provider.BootEnabled(o.Enabled)}.Armed()
}

// remembered says that our own memory explains why the machine is On (P13): somebody who has, or had last, the machine asked for it.
func (s *state) remembered() bool {
	p := s.Ledger.PowerOn
	if p == nil || p.By == ledger.ByUnknown {
		return false
	}
	if p.By != ledger.ByClaim {
		return true
	}
	if ref := s.Spec.ClaimRef; ref != nil && ref.Identity != p.ID {
		return false
	}
	return s.Ledger.Boot != nil && s.Ledger.Boot.Claim == p.ID
}

// explained says that the machine may be switched off: its being On is remembered, or a person consents, once or by policy.
func (s *state) explained() bool {
	return s.remembered() || s.Spec.FoundRunning == v1alpha1.FoundRunningPowerOff || s.consentsPowerOff()
}

// consentsPowerOff says that a person consents to the machine being switched off as it is now: with the stamp that it bears, where that
// disagrees.
func (s *state) consentsPowerOff() bool {
	return s.Consent(v1alpha1.AnnotationPowerOff, s.powerOffConsent())
}

// powerOffConsent is what such a consent names. One that is in a snapshot comes back into force with it; by then the machine may run for
// a claim that nobody had looked at, and bears its stamp.
func (s *state) powerOffConsent() string {
	if s.mismatched() {
		return s.Facts.AssetTag
	}
	return s.Ledger.Identity
}

// wanted is what the spec asks of an unclaimed machine.
func (s *state) wanted() v1alpha1.Power {
	if s.Spec.Power == "" {
		return v1alpha1.PowerOff
	}
	return s.Spec.Power
}

func wants(p v1alpha1.Power) func(*state) bool { return func(s *state) bool { return s.wanted() == p } }

// expect is the state that an effect on power or boot relies on: power as given, and the asset tag and the serial number as seen, so that
// a machine that was stamped for somebody else in the meantime, or is another one, is left alone.
func (s *state) expect(power provider.PowerState) provider.Expect {
	return provider.Expect{Power: power, AssetTag: s.tagSeen(), Serial: s.serialSeen()}
}

// serialSeen is the serial number to rely on; "" for one so long that the picture may hold a part of it only.
func (s *state) serialSeen() string {
	if s.Facts.Hardware == nil || utf8.RuneCountInString(s.Facts.Hardware.SerialNumber) >= v1alpha1.MaxFactLength {
		return ""
	}
	return s.Facts.Hardware.SerialNumber
}

// tagSeen is the asset tag to rely on; nil for one so long that the picture may hold a part of it only.
func (s *state) tagSeen() *string {
	tag := s.Facts.AssetTag
	if utf8.RuneCountInString(tag) >= v1alpha1.MaxFactLength {
		return nil
	}
	return &tag
}

// expectSeen relies on power as it was seen.
func (s *state) expectSeen() provider.Expect {
	return s.expect(provider.PowerState(s.Facts.PowerState))
}

// expectOffArmed relies on Off, and on the override: on what was seen of it.
func (s *state) expectOffArmed() provider.Expect {
	e := s.expect(provider.PowerOff)
	e.Boot = &provider.BootExpect{Armed: s.armed()}
	if s.armed() {
		e.Boot.Target = provider.BootTarget(s.Facts.BootOverride.Target)
	}
	return e
}

// resting says that a power-off of ours may still be on the wire: the next power-on waits one effect deadline.
func (s *state) resting() bool { return s.restLeft() > 0 }

func (s *state) restLeft() time.Duration { return s.DeadlineAfter(s.Ledger.OffAt) }

func (s *state) rest(reason string, left time.Duration) answer {
	return s.Wait(reason, "an effect of an earlier time may still be on the wire: the next power-on waits until it cannot be").Soon(left)
}

// settling waits until Off has been seen for one effect deadline, before anything is done that rests on it: a BMC that has just
// restarted may say Off of a machine that runs (B018).
var settling = clause{Name: "Settle", When: func(s *state) bool { return s.settlingLeft() > 0 }, Then: func(s *state) answer {
	return s.Wait(v1alpha1.ReasonPoweringOff, "Off was first seen a moment ago: the machine is asked itself once it has had time to tell otherwise").Soon(s.settlingLeft())
}}

func (s *state) settlingLeft() time.Duration {
	if s.Facts.Since == nil {
		return 0
	}
	return s.DeadlineAfter(s.Facts.Since.Time)
}

// switchOn are the clauses that switch on a machine that is Off. Why it may be On is written first (P13).
func switchOn(by func(*state) ledger.PowerOn) steps {
	return steps{
		{Name: "Rest", When: (*state).resting, Then: func(s *state) answer { return s.rest(v1alpha1.ReasonPoweringOn, s.restLeft()) }},
		{Name: "Remember", When: func(s *state) bool { return !s.rememberedAs(by(s)) }, Then: func(s *state) answer {
			p := by(s)
			patch := lifecycle.Patch{Ledger: ledger.Entries{}.PowerOn(&p)}
			if s.rememberedFound() { // the consent has done its work
				patch.Remove = s.Given(v1alpha1.AnnotationPowerOff)
			}
			return rules.Patch(v1alpha1.ReasonPoweringOn, "remember why the machine is to be On", patch)
		}},
		{Name: "PowerOn", When: rules.Always[*state], Then: func(s *state) answer {
			return s.act(v1alpha1.ReasonPoweringOn, "power on", lifecycle.Effect{Op: lifecycle.OpPowerOn, Expect: s.expectOffArmed()})
		}},
	}
}

// rememberedAs says that the ledger names the same asker already.
func (s *state) rememberedAs(p ledger.PowerOn) bool {
	return s.Ledger.PowerOn != nil && s.Ledger.PowerOn.By == p.By && s.Ledger.PowerOn.ID == p.ID
}

func (s *state) bySpec() ledger.PowerOn { return ledger.PowerOn{By: ledger.BySpec, At: s.Now()} }

func (s *state) byClaim() ledger.PowerOn {
	return ledger.PowerOn{By: ledger.ByClaim, ID: s.Claim.Identity, At: s.Now()}
}

func (s *state) byMaintenance() ledger.PowerOn {
	return ledger.PowerOn{By: ledger.ByMaintenance, ID: s.Spec.MaintenanceRef.Name, At: s.Now()}
}

// changingPower waits for a machine that is on its way up or down.
var changingPower = clause{Name: "Changing", When: (*state).changing, Then: func(s *state) answer {
	if s.goingDown() {
		return s.Wait(v1alpha1.ReasonPoweringOff, "the machine is powering off")
	}
	return s.Wait(v1alpha1.ReasonPoweringOn, "the machine is powering on")
}}
