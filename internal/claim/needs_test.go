// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// What is only told of a claim need not be read before a write: the hold of its server changes what is done of a claim that is being
// released, and of no other.
func TestTheHoldOfItsServerChangesOnlyWhatIsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawView(t)
		if claim.ActsOnHold(v.Claim) {
			t.Skip("being released")
		}
		without := v
		without.ServerHold, without.ServerWaits, without.ServerAwaitsPower = nil, nil, false
		told, untold := claim.Decide(v), claim.Decide(without)
		told.Gates, untold.Gates = nil, nil
		told.Conditions, untold.Conditions = nil, nil
		if !reflect.DeepEqual(told, untold) {
			t.Fatalf("with the hold of its server and without:\n%+v\n%+v", told, untold)
		}
	})
}

// A claim that has chosen is decided about alike with the whole fleet in sight, and with what has the identity of its choice alone.
func TestAClaimThatHasChosenNeedsTheRivalsOfItsChoiceAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawView(t)
		if v.Claim.Spec.ServerName == "" {
			t.Skip("has not chosen")
		}
		if rapid.Bool().Draw(t, "one machine twice") {
			v.Candidates = append(v.Candidates, claim.Assess(server("s3", entries(ledger.Entries{ledger.KeyIdentity: idOf("s1")})), settings))
		}
		v.Speakers = claim.SpeakersBut(claim.NameOf(v.Claim), drawOthers(t))
		narrow := v
		narrow.Candidates, narrow.Speakers = nil, claim.Speakers{}
		if v.Server != nil && v.Server.Annotations[ledger.KeyIdentity] != "" {
			narrow.Candidates, narrow.Speakers = rivalsOf(v, v.Server.Annotations[ledger.KeyIdentity])
		}
		if all, few := claim.Decide(v), claim.Decide(narrow); !reflect.DeepEqual(all, few) {
			t.Fatalf("with all in sight, and with its rivals:\n%+v\n%+v", all, few)
		}
	})
}

// drawOthers are other claims: some choose, or are bound to, what the claim of drawView may have chosen.
func drawOthers(t *rapid.T) []*v1alpha1.ServerClaim {
	var others []*v1alpha1.ServerClaim
	for _, name := range []string{"first", "second"} {
		c := tenant(named(rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "chosen by "+name)))
		c.Name = name
		if rapid.Bool().Draw(t, name+" is bound") {
			boundTo(rapid.SampledFrom([]string{idOf("s1"), idOf("s2")}).Draw(t, "bound by "+name))(c)
		}
		others = append(others, c)
	}
	return others
}

// rivalsOf is what the reconciler looks up for a claim that has chosen: by identity.
func rivalsOf(v claim.View, identity string) (same []claim.Candidate, bound claim.Speakers) {
	for _, c := range v.Candidates {
		if c.Identity == identity {
			same = append(same, c)
		}
	}
	if by, ok := v.Speakers.Bound[identity]; ok {
		bound.Bound = map[string]types.NamespacedName{identity: by}
	}
	return same, bound
}
