// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// discoverySteps learn what the machine is, and bring it to Off.
var discoverySteps = named("Discovery", join(
	steps{isElsewhere},
	picture,
	steps{{name: "Inventory", when: func(s *state) bool { return s.facts.Hardware == nil }, then: func(s *state) answer {
		return s.wait(v1alpha1.ReasonDiscovering, "waiting for the machine's inventory")
	}, carries: true}},
	within("PowerOff", all(not((*state).off), either(wants(v1alpha1.PowerOff), (*state).foundRunning)), powerOff(ledger.WhyDiscovery)),
	steps{
		{name: "AwaitPicture", when: all((*state).off, isAnnounced(ledger.WhyDiscovery), not((*state).pictured)), then: awaitPicture, carries: true},
		changingPower,
		{name: "Latch", when: always, then: func(s *state) answer {
			entries := ledger.Entries{}.DiscoveredAt(s.now())
			p := lifecycle.Patch{Ledger: entries}
			if s.off() {
				entries.PowerOn(nil)
				p.Remove = s.given(v1alpha1.AnnotationPowerOff)
			}
			return patch(v1alpha1.ReasonDiscovering, "discovery is done", p)
		}},
	},
))

// discoveredOff says that discovery has nothing left to learn or to do: it may be latched by the first patch. Only for a machine that
// nobody has.
func (s *state) discoveredOff() bool {
	return s.reachable() && s.facts.Hardware != nil && s.off() && s.spec.ClaimRef == nil && s.spec.MaintenanceRef == nil
}
