// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// availableSteps keep a machine that nobody has as its spec says.
var availableSteps = rules.Named("Available", rules.Join(
	steps{isElsewhere},
	picture,
	strangers,
	rules.Within("PowerOff", rules.All(rules.Not((*state).off), wants(v1alpha1.PowerOff)), powerOff(ledger.WhySpec)),
	// Whatever the spec says of power: a machine that runs for no reason of ours is not free.
	rules.Within("PowerOff", rules.All((*state).foundRunning, rules.Not(wants(v1alpha1.PowerOff))), powerOff(ledger.WhyConsent)),
	rules.Within("Off", rules.All((*state).off, rules.Either(rules.Not(wants(v1alpha1.PowerOn)), (*state).consentOpen)), recordOff(ledger.WhySpec, ledger.WhyConsent)),
	steps{changingPower},
	rules.Within("On", rules.All((*state).off, wants(v1alpha1.PowerOn)), switchOn((*state).bySpec)),
	idle,
	steps{{Name: "Settled", When: rules.Always[*state], Then: func(s *state) answer { return rules.Settled(s.forClaims()) }}},
))

func (s *state) consentOpen() bool {
	return s.announced(ledger.WhyConsent) || len(s.Given(v1alpha1.AnnotationPowerOff)) > 0
}

// forClaims says in words whether a machine that nobody has is free.
func (s *state) forClaims() string {
	if s.on() && s.Spec.PowerOff == v1alpha1.PowerOffNever {
		return "On as its spec asks, and spec.powerOff is Never: no claim is given it while it is On"
	}
	return "free for a claim"
}

// idle is what is done for a machine that needs nothing else.
var idle = steps{
	{Name: "Indicator", When: (*state).indicatorDiffers, Then: func(s *state) answer {
		return s.act(v1alpha1.ReasonSettled, "switch the indicator "+string(s.Spec.IndicatorLED), lifecycle.Effect{
			Op: lifecycle.OpSetIndicator, Indicator: provider.IndicatorLED(s.Spec.IndicatorLED),
		}).Quiet()
	}},
}

// indicatorDiffers is false for a machine that tells no indicator.
func (s *state) indicatorDiffers() bool {
	return s.Spec.IndicatorLED != "" && s.Facts.IndicatorLED != "" && s.Facts.IndicatorLED != string(s.Spec.IndicatorLED)
}
