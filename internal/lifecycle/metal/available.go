// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// availableSteps keep a machine that nobody has as its spec says.
var availableSteps = named("Available", join(
	steps{isElsewhere},
	picture,
	within("PowerOff", all(not((*state).off), wants(v1alpha1.PowerOff)), powerOff(ledger.WhySpec)),
	// Whatever the spec says of power: a machine that runs for no reason of ours is not free.
	within("PowerOff", all((*state).foundRunning, not(wants(v1alpha1.PowerOff))), powerOff(ledger.WhyConsent)),
	within("Off", all((*state).off, either(not(wants(v1alpha1.PowerOn)), (*state).consentOpen)), recordOff(ledger.WhySpec, ledger.WhyConsent)),
	steps{changingPower},
	within("On", all((*state).off, wants(v1alpha1.PowerOn)), switchOn((*state).bySpec)),
	idle,
	steps{{name: "Settled", when: always, then: func(*state) answer { return settled("free for a claim") }}},
))

func (s *state) consentOpen() bool {
	return s.announced(ledger.WhyConsent) || len(s.given(v1alpha1.AnnotationPowerOff)) > 0
}

// idle is what is done for a machine that needs nothing else.
var idle = steps{
	{name: "Indicator", when: (*state).indicatorDiffers, then: func(s *state) answer {
		return s.act(v1alpha1.ReasonSettled, "switch the indicator "+string(s.spec.IndicatorLED), lifecycle.Effect{
			Op: lifecycle.OpSetIndicator, Indicator: provider.IndicatorLED(s.spec.IndicatorLED),
		}).quiet()
	}},
}

// indicatorDiffers is false for a machine that tells no indicator.
func (s *state) indicatorDiffers() bool {
	return s.spec.IndicatorLED != "" && s.facts.IndicatorLED != "" && s.facts.IndicatorLED != string(s.spec.IndicatorLED)
}
