// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// before is what outranks even deletion.
var before = named("First", steps{
	{name: "NotOurs", when: all((*state).deleting, not((*state).ours)), then: func(*state) answer {
		return settled("being deleted, and we promised nothing about it")
	}},
	{name: "Paused", when: func(s *state) bool { return s.spec.Paused }, then: func(*state) answer {
		return hold(v1alpha1.ReasonPaused, "spec.paused: nothing is written and nothing is done, until it is false again")
	}},
})

// first are the holds that outrank every phase but Deleting, which has no effect on the machine; in order, with what lets go of each.
var first = named("First", join(
	steps{{name: "LedgerUnreadable", when: func(s *state) bool { return s.unreadable != nil }, then: func(s *state) answer {
		return hold(v1alpha1.ReasonLedgerUnreadable, s.unreadable.Error()+". Correct or remove it; with "+v1alpha1.AnnotationBreakGlass+"=<reason> in the same request the API server lets you")
	}}},
	within("TakeOver", all((*state).foreign, (*state).takenOver), takeOver),
	steps{
		{name: "ForeignOwner", when: (*state).foreign, then: func(s *state) answer {
			return hold(v1alpha1.ReasonForeignOwner, "this server belongs to the cluster "+s.led.Owner+". Once that cluster can act no more, annotate the Server with "+v1alpha1.AnnotationTakeOver+"="+s.led.Owner)
		}},
		{name: "GlassBroken", when: func(s *state) bool { return len(s.given(v1alpha1.AnnotationBreakGlass)) > 0 }, then: glassBroken},
		{name: "DuplicateIdentity", when: func(s *state) bool { return len(s.v.Twins) > 0 }, then: func(s *state) answer {
			return hold(v1alpha1.ReasonDuplicateIdentity, "the same machine is also the Server "+strings.Join(s.v.Twins, ", ")+": delete all but one")
		}},
	},
	// A consent that lets nothing go now must not lie about until a restore brings it back into force.
	steps{{name: "StaleConsent", when: func(s *state) bool { return len(s.stale()) > 0 }, then: func(s *state) answer { return s.drop(s.stale()) }}},
	steps{
		{name: "StampMismatch", when: all((*state).mismatched, not((*state).consentsPowerOff)), then: stampMismatch},
		{name: "Resume", when: all((*state).snapshot, (*state).resumed), then: func(s *state) answer {
			return patch(v1alpha1.ReasonInitializing, "resume, as a person consented", lifecycle.Patch{
				Ledger: ledger.Entries{}.RestoreEpoch(s.v.Settings.Epoch), Remove: s.given(v1alpha1.AnnotationResume),
			}).telling(eventResumed)
		}},
		{name: "RestoredSnapshot", when: (*state).snapshot, then: func(s *state) answer {
			return hold(v1alpha1.ReasonRestoredSnapshot, "the cluster was restored from a snapshot ("+s.v.Settings.Epoch+"): this server may have been claimed, booted or released since. Look at the machine, then annotate the Server with "+
				v1alpha1.AnnotationResume+"="+s.led.Identity)
		}},
	},
	within("Stamp", all((*state).mismatched, (*state).consentsPowerOff, (*state).confirmed), resolve),
))

// glassBroken turns the breaking of the glass into an Event, and puts the glass back.
func glassBroken(s *state) answer {
	const most = 200
	why := []rune(s.v.Server.Annotations[v1alpha1.AnnotationBreakGlass])
	return patch(v1alpha1.ReasonInitializing, "the glass was broken: "+string(why[:min(len(why), most)]), lifecycle.Patch{
		Remove: s.given(v1alpha1.AnnotationBreakGlass),
	}).quiet().telling(eventGlassBroken)
}

func stampMismatch(s *state) answer {
	return hold(v1alpha1.ReasonStampMismatch, "the machine bears the stamp "+s.facts.AssetTag+", which is not the one this server's memory accounts for: it was made ready for another claim or by another cluster. Restore the newer objects; or, sure that nobody uses it, annotate the Server with "+
		v1alpha1.AnnotationPowerOff+"="+s.led.Identity)
}

// foreign says that the ledger is another cluster's.
func (s *state) foreign() bool { return s.led.Owner != "" && s.led.Owner != s.v.Settings.ClusterID }

// takenOver says that a person has named the old owner, on the object or for the whole manager.
func (s *state) takenOver() bool {
	return s.consent(v1alpha1.AnnotationTakeOver, s.led.Owner) || s.v.Settings.TakeOver == s.led.Owner
}

// snapshot says that the cluster was restored, and nobody has resumed this server since.
func (s *state) snapshot() bool {
	return s.v.Settings.Epoch != "" && s.led.RestoreEpoch != s.v.Settings.Epoch && !s.fresh()
}

// stale are consents to what is not held.
func (s *state) stale() []string {
	if s.v.Settings.Epoch == "" || s.led.RestoreEpoch == s.v.Settings.Epoch {
		return s.given(v1alpha1.AnnotationTakeOver, v1alpha1.AnnotationResume)
	}
	return s.given(v1alpha1.AnnotationTakeOver)
}

// drop removes consents that let nothing go.
func (s *state) drop(consents []string) answer {
	return patch(v1alpha1.ReasonSettled, "nothing is held that the consent would let go: remove it", lifecycle.Patch{Remove: consents}).quiet()
}

func (s *state) resumed() bool { return s.consent(v1alpha1.AnnotationResume, s.led.Identity) }

// takeOver stamps the machine anew where it bears the old owner's stamp, so that the old owner stands down, then takes the ledger.
var takeOver = join(
	picture,
	steps{
		{name: "Restamp", when: func(s *state) bool { return s.stamped() && s.stampedBy(s.led.Owner) != "" }, then: func(s *state) answer {
			return s.act(v1alpha1.ReasonForeignOwner, "stamp the machine as ours before taking it over from "+s.led.Owner, lifecycle.Effect{
				Op: lifecycle.OpWriteAssetTag, AssetTag: s.stampFor(s.stampedBy(s.led.Owner)), Expect: s.expect(""),
			})
		}},
		{name: "StampMismatch", when: all((*state).stamped, func(s *state) bool { return s.stampedBy(s.v.Settings.ClusterID) == "" }), then: stampMismatch},
		{name: "Own", when: always, then: func(s *state) answer {
			p := lifecycle.Patch{Ledger: ledger.Entries{}.Owner(s.v.Settings.ClusterID), Remove: s.given(v1alpha1.AnnotationTakeOver)}
			if s.led.Intent != nil {
				s.closeIntent(&p)
			}
			return patch(v1alpha1.ReasonForeignOwner, "take the server over from "+s.led.Owner, p).telling(eventTakenOver)
		}},
	},
)
