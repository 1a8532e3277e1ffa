// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// discoverySteps learn what the machine is, and bring it to Off.
var discoverySteps = rules.Named("Discovery", rules.Join(
	steps{isElsewhere},
	picture,
	strangers,
	steps{{Name: "Inventory", When: func(s *state) bool { return s.Facts.Hardware == nil }, Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonDiscovering, "waiting for the machine's inventory")
	}, Carries: true}},
	rules.Within("PowerOff", rules.All(rules.Not((*state).off), rules.Either(wants(v1alpha1.PowerOff), (*state).foundRunning)), powerOff(ledger.WhyDiscovery)),
	steps{
		{Name: "AwaitPicture", When: rules.All((*state).off, isAnnounced(ledger.WhyDiscovery), rules.Not((*state).Pictured)), Then: awaitPicture, Carries: true},
		changingPower,
		{Name: "Latch", When: rules.Always[*state], Then: func(s *state) answer {
			entries := ledger.Entries{}.DiscoveredAt(s.Now())
			p := lifecycle.Patch{Ledger: entries}
			if !s.off() {
				return rules.Patch(v1alpha1.ReasonDiscovering, "discovery is done", p)
			}
			ask := s.offToRecord() && s.Ledger.Intent == nil // as recordOff does
			entries.PowerOn(nil)
			p.Remove = s.Given(v1alpha1.AnnotationPowerOff)
			if ask {
				return s.confirmOff(v1alpha1.ReasonDiscovering, "confirm that the machine is Off: discovery is done", p)
			}
			return rules.Patch(v1alpha1.ReasonDiscovering, "discovery is done", p)
		}},
	},
))

// discoveredOff says that discovery has nothing left to learn or to do: it may be latched by the first patch. Only for a machine that
// nobody has.
func (s *state) discoveredOff() bool {
	return s.reachable() && s.Facts.Hardware != nil && s.off() && s.Spec.ClaimRef == nil && s.Spec.MaintenanceRef == nil
}
