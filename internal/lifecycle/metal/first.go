// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// before is what outranks even deletion.
var before = rules.Named("First", rules.Lift[*state](rules.Before))

// first are the holds that outrank every phase but Deleting, which has no effect on the machine; in order, with what lets go of each.
var first = rules.Named("First", rules.Join(
	rules.Lift[*state](rules.Steps[*rules.State]{rules.LedgerUnreadable}),
	rules.Within("TakeOver", rules.All((*state).Foreign, (*state).TakenOver), takeOver),
	rules.Lift[*state](rules.Steps[*rules.State]{rules.ForeignOwner}),
	rules.Lift[*state](rules.Standing),
	steps{{Name: "StampMismatch", When: rules.All((*state).mismatched, rules.Not((*state).consentsPowerOff)), Then: stampMismatch}},
	steps{{Name: "ResumeUnconfirmed", When: rules.All((*state).Snapshot, (*state).Resumed, (*state).mayHaveBootedSince), Then: resumeUnconfirmed}},
	rules.Lift[*state](rules.Snapshot),
	rules.Within("Stamp", rules.All((*state).mismatched, (*state).consentsPowerOff, (*state).Confirmed), resolve),
))

// mayHaveBootedSince says that the snapshot knows of a claim and of no boot for it, and that no stamp tells either: the machine may have booted
// for the claim after the snapshot was taken, and gone off again.
func (s *state) mayHaveBootedSince() bool {
	if s.Spec.ClaimRef == nil || s.Released() || s.stampedForClaim() || s.bootsAlways() || s.fromDisk() {
		return false
	}
	return inStage(ledger.StageBooting)(s) || s.Ledger.Boot == nil && !s.BoundHere()
}

// resumeUnconfirmed resumes such a server as one whose power-on may have happened: while the override of this boot stands armed it has not;
// otherwise a person is asked once more, before it is booted from the network a second time (I10). There may be no picture yet: what it would
// tell, of the asset tag, is noted later.
func resumeUnconfirmed(s *state) answer {
	entries := s.dirty().Boot(s.boot(ledger.StageStarting)).Restarted(s.RestartKnown())
	if !s.rememberedFound() {
		entries.PowerOn(nil)
	}
	return s.Resume("resume, as a person consented; whether the machine has booted for its claim since the snapshot is not known", entries)
}

func stampMismatch(s *state) answer {
	return rules.Hold(v1alpha1.ReasonStampMismatch, "the machine bears the stamp "+s.Facts.AssetTag+", which is not the one this server's memory accounts for: it was made ready for another claim or by another cluster. Restore the newer objects; or, sure that nobody uses it, annotate the Server with "+
		v1alpha1.AnnotationPowerOff+"="+s.powerOffConsent())
}

// takeOver stamps the machine anew where it bears the old owner's stamp, so that the old owner stands down, then takes the ledger.
var takeOver = rules.Join(
	picture,
	steps{
		{Name: "Restamp", When: func(s *state) bool { return s.stamped() && s.stampedBy(s.Ledger.Owner) != "" }, Then: func(s *state) answer {
			return s.act(v1alpha1.ReasonForeignOwner, "stamp the machine as ours before taking it over from "+s.Ledger.Owner, lifecycle.Effect{
				Op: lifecycle.OpWriteAssetTag, AssetTag: s.stampFor(s.stampedBy(s.Ledger.Owner)), Expect: s.expect(""),
			})
		}},
		{Name: "StampMismatch", When: rules.All((*state).stamped, func(s *state) bool { return s.stampedBy(s.V.Settings.ClusterID) == "" }), Then: stampMismatch},
		{Name: "Own", When: rules.Always[*state], Then: func(s *state) answer {
			p := lifecycle.Patch{Ledger: ledger.Entries{}.Owner(s.V.Settings.ClusterID), Remove: s.Given(v1alpha1.AnnotationTakeOver)}
			if s.Ledger.Intent != nil {
				s.closeIntent(&p)
			}
			return rules.Patch(v1alpha1.ReasonForeignOwner, "take the server over from "+s.Ledger.Owner, p).Telling(rules.EventTakenOver)
		}},
	},
)
