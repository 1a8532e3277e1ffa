// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// unbooted: the claim has the machine, and nothing is known of a boot for it.
var unbooted = join(
	// The stamp alone remembers: it may have been booted. Where the claim remembers too, Memory came first.
	within("Stamped", all((*state).stampedForClaim, not((*state).bootsAlways)), join(
		steps{{name: "BootAgain", when: all((*state).off, (*state).consentsBootAgain), then: bootAgain}},
		bootNotConfirmed,
	)),
	within("PowerOff", all(not((*state).off), not(claimWants(v1alpha1.PowerKeep))), powerOffUnderClaim(ledger.WhyBootClaim)),
	within("Off", all((*state).off, not(claimWants(v1alpha1.PowerOn))), recordOff(ledger.WhyBootClaim)),
	steps{
		{name: "PowerNotWanted", when: not(claimWants(v1alpha1.PowerOn)), then: func(*state) answer {
			return settled("bound; the machine boots when the claim asks for power")
		}},
		{name: "AwaitPicture", when: all(isAnnounced(ledger.WhyBootClaim), not((*state).pictured)), then: awaitPicture, carries: true},
		isElsewhere,
		settling,
		{name: "Disk", when: (*state).fromDisk, then: func(s *state) answer {
			p := s.byClaim()
			return s.confirmOff(v1alpha1.ReasonBooting, "confirm that the machine is Off, then boot it from its disk", lifecycle.Patch{
				Ledger: s.dirty().Boot(s.boot(ledger.StageBooted)).PowerOn(&p).Restarted(s.restartKnown()),
				Remove: s.given(v1alpha1.AnnotationPowerOff),
			})
		}, carries: true},
		{name: "Boot", when: always, then: func(s *state) answer {
			return s.confirmOff(v1alpha1.ReasonBooting, "confirm that the machine is Off, then make it ready to boot for the claim", lifecycle.Patch{
				Ledger: s.dirty().Boot(s.boot(ledger.StageBooting)).PowerOn(nil).Restarted(s.restartKnown()).AssetTag(s.rememberTag()),
				Remove: s.given(v1alpha1.AnnotationPowerOff),
			})
		}, carries: true},
	},
)

func (s *state) stampedForClaim() bool { return s.stampedFor(s.spec.ClaimRef.Identity) }

// dirty begins a change that latches that the machine may have been booted for a tenant.
func (s *state) dirty() ledger.Entries {
	if s.led.DirtySince.IsZero() {
		return ledger.Entries{}.DirtySince(s.now())
	}
	return ledger.Entries{}
}

// bootNotConfirmed are the clauses for a machine that may have booted for its claim and gone off again: nobody but a person can tell
// whether it is installed.
var bootNotConfirmed = steps{
	{name: "SayBooted", when: (*state).consentsBooted, then: func(s *state) answer {
		entries := s.dirty().Boot(s.boot(ledger.StageBooted)).Restarted(s.restartKnown())
		if !s.off() {
			p := s.byClaim()
			entries.PowerOn(&p)
		}
		return patch(v1alpha1.ReasonBooting, "a person says that the machine is installed: it boots from its disk", lifecycle.Patch{
			Ledger: entries, Remove: s.given(v1alpha1.AnnotationBooted, v1alpha1.AnnotationBootAgain),
		}).telling(eventBooted)
	}},
	{name: "BootNotConfirmed", when: always, then: func(s *state) answer {
		id := s.spec.ClaimRef.Identity
		return hold(v1alpha1.ReasonBootNotConfirmed, "the machine may have booted for this claim and is "+string(s.facts.PowerState)+" now: it is not booted from the network a second time unasked. Annotate the Server with "+
			v1alpha1.AnnotationBooted+"="+id+" if it is installed, or switch it off and use "+v1alpha1.AnnotationBootAgain+"="+id+" to install it once more")
	}},
}

func (s *state) consentsBooted() bool {
	return s.consent(v1alpha1.AnnotationBooted, s.spec.ClaimRef.Identity)
}

func (s *state) consentsBootAgain() bool {
	return s.consent(v1alpha1.AnnotationBootAgain, s.spec.ClaimRef.Identity)
}

// bootAgain begins the network boot anew, as a person asked.
func bootAgain(s *state) answer {
	b := s.boot(ledger.StageBooting)
	b.Again = true
	return patch(v1alpha1.ReasonBooting, "boot the machine from the network once more, as a person asked", lifecycle.Patch{
		Ledger: s.dirty().Boot(b).PowerOn(nil).Restarted(s.restartKnown()),
		Remove: s.given(v1alpha1.AnnotationBooted, v1alpha1.AnnotationBootAgain),
	}).telling(eventBootAgain)
}
