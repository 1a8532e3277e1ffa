// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// remember latches what is seen of a VM and not remembered: its id, its first launch, and what it runs. It writes to the object alone.
var remember = steps{{Name: "Remember", When: func(s *state) bool { return len(s.forgotten()) > 0 }, Then: func(s *state) answer {
	return rules.Patch(v1alpha1.ReasonRunning, "remember the VM "+s.vmID(), lifecycle.Patch{Ledger: s.forgotten()})
}, Carries: true}}

// forgotten are the entries that the picture gives and the ledger lacks. The image of a VM of which nothing is remembered is adopted as it
// is: it is never rebuilt for what was forgotten.
func (s *state) forgotten() ledger.Entries {
	entries := ledger.Entries{}
	switch {
	case s.Ledger.ProviderID != "":
	case s.vmID() != "":
		entries.ProviderID(s.vmID())
	case s.exists():
		entries.ProviderID(s.vm.ID)
	}
	if !s.exists() {
		return entries
	}
	if s.Ledger.ProviderID == "" && s.RestartUnknown() && s.Claim.Found != nil {
		entries.Restarted(s.RestartKnown()) // as the record of the creation has it, or the first restart would be taken for one whose record was lost
	}
	if s.Ledger.Project == "" && s.Facts.ProjectID != "" {
		entries.Project(s.Facts.ProjectID)
	}
	if s.Ledger.ProvisionedAt == nil && s.launchSeen() {
		entries.ProvisionedAt(&ledger.Provisioned{ID: s.vm.ID, At: s.launchTime()})
	}
	if s.vm.ImageID != "" && s.Ledger.Intent == nil && (s.Ledger.Image == nil || s.imageNamed()) {
		entries.Image(&ledger.Image{Selector: s.openstack.Image.String(), ID: s.vm.ImageID})
	}
	return entries
}

// imageNamed says that the spec names by its id what runs already: that needs no rebuild.
func (s *state) imageNamed() bool {
	return s.imageEdited() && s.openstack.Image.ID != "" && s.openstack.Image.ID == s.vm.ImageID && !s.busy()
}

// reservedSteps and runningSteps keep a VM as its claim, or its spec, says: differences only.
var (
	reservedSteps = rules.Named("Reserved", rules.Join(seen, restart, restarted, kept(rules.Join(rules.Lift[*state](rules.Steps[*rules.State]{rules.AwaitBound}), startRemembered)), rebuildHolds, unapproved, rules.Lift[*state](rules.Steps[*rules.State]{rules.AwaitRestartOver}), asAsked))
	runningSteps  = rules.Named("Running", rules.Join(seen, kept(nil), rebuildHolds, asAsked))
)

// seen is what comes before anything else about a VM that was launched.
var seen = rules.Join(remember, picture, elsewhere, steps{
	{Name: "Stamp", When: func(s *state) bool { return s.vm.Claim != s.claimIdentity() }, Then: func(s *state) answer {
		return s.stamp(v1alpha1.ReasonRunning, "write onto the VM which claim it serves", s.claimIdentity(), "").Quiet()
	}, Carries: true},
})

// kept brings power and network to what is asked for; beforeOn comes before a start.
func kept(beforeOn steps) steps {
	return rules.Join(
		rules.Within("PowerOff", rules.All(rules.Not((*state).off), (*state).wantsOff), powerOff((*state).whyPower)),
		rules.Within("Off", rules.All((*state).off, (*state).wantsOff), recordOff((*state).whyPower)),
		steps{{Name: "Changing", When: (*state).busy, Then: changing}},
		rules.Within("On", rules.All((*state).off, (*state).startDue), rules.Join(beforeOn, switchOn)),
		network,
	)
}

var asAsked = steps{{Name: "Settled", When: rules.Always[*state], Then: func(*state) answer { return rules.Settled("the VM is as it is asked to be") }}}
