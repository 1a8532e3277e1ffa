// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

func expectOff() provider.Expect { return provider.Expect{Power: provider.PowerOff} }

// choosing changes what a decision about a claim sees.
func choosing(change func(*claim.View)) func(*Brain) {
	return func(b *Brain) {
		decide := b.Claim
		b.Claim = func(v claim.View) claim.Decision {
			change(&v)
			return decide(v)
		}
	}
}

// claimMutants see or do something else about claims.
func claimMutants() []Mutant {
	return []Mutant{
		{Clause: "`bound` is written before the first boot", Worlds: []string{"two-claims-unstamped", "restore-unstamped", "one-claim"}, Apply: boundLate},
		{Clause: "the server that bears the claim is its choice (B049)", Worlds: []string{"two-servers-aged", "two-servers"}, Apply: choosing(func(v *claim.View) {
			if v.Claim.DeletionTimestamp == nil {
				v.Holders = nil
			}
		})},
		{Clause: "a claim that is bound never chooses anew", Worlds: []string{"two-servers", "two-servers-aged"}, Apply: choosing(func(v *claim.View) {
			if len(v.ByIdentity) == 0 && v.Claim.DeletionTimestamp == nil {
				v.Claim = v.Claim.DeepCopy()
				delete(v.Claim.Annotations, ledger.KeyBound)
				if v.Server == nil {
					v.Claim.Spec.ServerName = ""
				}
			}
		})},
		{Clause: "a restored claim that nothing tells of chooses no machine (P10)", Worlds: []string{"two-servers-restored"}, Apply: choosing(func(v *claim.View) {
			v.Claim = v.Claim.DeepCopy()
			annotate(v.Claim, v1alpha1.AnnotationChooseAnew, string(v.Claim.UID))
		})},
		{Clause: "nothing is bound while an intent is open (R2)", Worlds: []string{"consent", "people"}, Apply: bindsUnderIntent,
			Behind: "an intent is withdrawn under another's claim (R3)"},
		{Clause: "nothing is bound while an intent is open (R2), nor is it withdrawn (R3)", Worlds: []string{"consent"}, Apply: func(b *Brain) {
			bindsUnderIntent(b)
			seeing(blindToOthersIntents)(b)
		}, Behind: "what rests on Off waits for what may be on the wire, which is found to be missed by itself"},
		{Clause: "a claim goes only when no server has it", Worlds: []string{"one-claim"}, Apply: choosing(func(v *claim.View) {
			if v.Claim.DeletionTimestamp != nil {
				v.Holders, v.Server = nil, nil
			}
		})},
		{Clause: "identity outlives UID: a restored claim is the same (P11)", Worlds: []string{"restore", "one-claim-aged"}, Apply: choosing(func(v *claim.View) {
			if string(v.Claim.UID) != v.Claim.Annotations[ledger.KeyIdentity] && v.Claim.Annotations[ledger.KeyIdentity] != "" {
				v.Claim = v.Claim.DeepCopy()
				v.Claim.Annotations[ledger.KeyIdentity] = string(v.Claim.UID)
				delete(v.Claim.Annotations, ledger.KeyBound)
				v.Holders = nil
			}
		})},
		{Clause: "a claim that asks for no power says that nothing goes on (I6)", Worlds: []string{"enroll", "one-claim-aged"}, Rest: true, Apply: func(b *Brain) {
			decide := b.Claim
			b.Claim = func(v claim.View) claim.Decision {
				d := decide(v)
				for i := range d.Gates {
					if d.Gates[i].Reason == v1alpha1.ReasonPowerNotWanted {
						d.Gates[i].Level = lifecycle.Progressing
					}
				}
				return d
			}
		}},
	}
}

// bindsUnderIntent lets claims see no intent.
func bindsUnderIntent(b *Brain) {
	choosing(func(v *claim.View) {
		v.Server = withoutIntent(v.Server)
		for i, s := range v.ByIdentity {
			v.ByIdentity[i] = withoutIntent(s)
		}
		for i, c := range v.Candidates {
			v.Candidates[i] = claim.Assess(withoutIntent(c.Server), v.Settings)
		}
	})(b)
}

// blindToOthersIntents does not see an intent that was not announced under the claim that has the server.
func blindToOthersIntents(v *lifecycle.ServerView, m *ledger.Server) {
	if ref := v.Server.Spec.ClaimRef; ref != nil && m.Intent != nil && m.Intent.Claim != ref.Identity {
		m.Intent = nil
	}
}

func withoutIntent(s *v1alpha1.Server) *v1alpha1.Server {
	if s == nil || s.Annotations[ledger.KeyIntent] == "" {
		return s
	}
	s = s.DeepCopy()
	delete(s.Annotations, ledger.KeyIntent)
	return s
}

// boundLate writes `bound` only once the machine has booted, and lets the boot go on without it.
func boundLate(b *Brain) {
	decideClaim := b.Claim
	b.Claim = func(v claim.View) claim.Decision {
		d := decideClaim(v)
		if d.Step.Clause == "Claim.WriteBound" && !hasBooted(v.Server) {
			d.Step = lifecycle.Step{Kind: lifecycle.StepSettled, Clause: "Claim.WriteBound.Later"}
		}
		return d
	}
	decideServer := b.Server
	b.Server = func(v lifecycle.ServerView) lifecycle.Decision {
		if v.Claim != nil && v.Claim.Annotations[ledger.KeyBound] == "" && v.Server.Annotations[ledger.KeyBoot] != "" {
			v.Claim = v.Claim.DeepCopy()
			annotate(v.Claim, ledger.KeyBound, v.Server.Annotations[ledger.KeyIdentity])
		}
		return decideServer(v)
	}
}

func hasBooted(s *v1alpha1.Server) bool {
	if s == nil {
		return false
	}
	memory, err := ledger.ParseServer(s.Annotations)
	return err == nil && memory.Boot != nil && memory.Boot.Stage == ledger.StageBooted
}
