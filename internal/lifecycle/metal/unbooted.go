// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// unbooted: the claim has the machine, and nothing is known of a boot for it.
var unbooted = rules.Join(
	// The stamp alone remembers: it may have been booted. Where the claim remembers too, Memory came first.
	rules.Within("Stamped", rules.All((*state).stampedForClaim, rules.Not((*state).bootsAlways)), rules.Join(
		steps{{Name: "BootAgain", When: rules.All((*state).off, (*state).consentsBootAgain), Then: bootAgain}},
		bootNotConfirmed,
	)),
	rules.Within("", rules.Not(claimWants(v1alpha1.PowerKeep)), strangers),
	rules.Within("PowerOff", rules.All(rules.Not((*state).off), rules.Not(claimWants(v1alpha1.PowerKeep))), powerOff(ledger.WhyBootClaim, isElsewhere)),
	rules.Within("Off", rules.All((*state).off, rules.Not(claimWants(v1alpha1.PowerOn))), recordOff(ledger.WhyBootClaim)),
	steps{
		{Name: "PowerNotWanted", When: rules.Not(claimWants(v1alpha1.PowerOn)), Then: powerNotWanted},
		{Name: "AwaitPicture", When: rules.All(isAnnounced(ledger.WhyBootClaim), rules.Not((*state).Pictured)), Then: awaitPicture, Carries: true},
		isElsewhere,
		settling,
		{Name: "Disk", When: (*state).fromDisk, Then: func(s *state) answer {
			p := s.byClaim()
			return s.confirmOff(v1alpha1.ReasonBooting, "confirm that the machine is Off, then boot it from its disk", lifecycle.Patch{
				Ledger: s.dirty().Boot(s.boot(ledger.StageBooted)).PowerOn(&p).Restarted(s.RestartKnown()),
				Remove: s.Given(v1alpha1.AnnotationPowerOff),
			})
		}, Carries: true},
		{Name: "Boot", When: rules.Always[*state], Then: func(s *state) answer {
			return s.confirmOff(v1alpha1.ReasonBooting, "confirm that the machine is Off, then make it ready to boot for the claim", lifecycle.Patch{
				Ledger: s.dirty().Boot(s.boot(ledger.StageBooting)).PowerOn(nil).Restarted(s.RestartKnown()).AssetTag(s.rememberTag()),
				Remove: s.Given(v1alpha1.AnnotationPowerOff),
			})
		}, Carries: true},
	},
)

// powerNotWanted: the claim has its machine, and has not asked for power yet.
func powerNotWanted(*state) answer {
	return rules.Idle(v1alpha1.ReasonPowerNotWanted, "bound; the machine boots when the claim asks for power")
}

func (s *state) stampedForClaim() bool { return s.stampedFor(s.Spec.ClaimRef.Identity) }

// dirty begins a change that latches that the machine may have been booted for a tenant.
func (s *state) dirty() ledger.Entries {
	if s.Ledger.DirtySince.IsZero() {
		return ledger.Entries{}.DirtySince(s.Now())
	}
	return ledger.Entries{}
}

// bootNotConfirmed are the clauses for a machine that may have booted for its claim and gone off again: nobody but a person can tell
// whether it is installed.
var bootNotConfirmed = steps{
	{Name: "SayBooted", When: (*state).consentsBooted, Then: func(s *state) answer {
		entries := s.dirty().Boot(s.boot(ledger.StageBooted)).Restarted(s.RestartKnown())
		entries.PowerOn(nil)
		if !s.off() {
			p := s.byClaim()
			entries.PowerOn(&p)
		}
		return rules.Patch(v1alpha1.ReasonBooting, "a person says that the machine is installed: it boots from its disk", lifecycle.Patch{
			Ledger: entries, Remove: s.Given(v1alpha1.AnnotationBooted, v1alpha1.AnnotationBootAgain),
		}).Telling(eventBooted)
	}},
	{Name: "BootNotConfirmed", When: rules.Always[*state], Then: func(s *state) answer {
		id := s.Spec.ClaimRef.Identity
		return rules.Hold(v1alpha1.ReasonBootNotConfirmed, "the machine may have booted for this claim and is "+string(s.Facts.PowerState)+" now: it is not booted from the network a second time unasked. Annotate the Server with "+
			v1alpha1.AnnotationBooted+"="+id+" if it is installed, or switch it off and use "+v1alpha1.AnnotationBootAgain+"="+id+" to install it once more")
	}},
}

func (s *state) consentsBooted() bool {
	return s.Consent(v1alpha1.AnnotationBooted, s.Spec.ClaimRef.Identity)
}

func (s *state) consentsBootAgain() bool {
	return s.Consent(v1alpha1.AnnotationBootAgain, s.Spec.ClaimRef.Identity)
}

// bootAgain begins the network boot anew, as a person asked.
func bootAgain(s *state) answer {
	b := s.boot(ledger.StageBooting)
	b.Again = true
	return rules.Patch(v1alpha1.ReasonBooting, "boot the machine from the network once more, as a person asked", lifecycle.Patch{
		Ledger: s.dirty().Boot(b).PowerOn(nil).Restarted(s.RestartKnown()),
		Remove: s.Given(v1alpha1.AnnotationBooted, v1alpha1.AnnotationBootAgain),
	}).Telling(eventBootAgain)
}
