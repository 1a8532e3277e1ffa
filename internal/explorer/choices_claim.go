// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
)

// claim decides about a claim as seen.
func (x *explorer) claim(q question) int32 {
	q.nonce = 0
	return x.claimChoices.recall(q, func() choice { return x.decideClaim(q) })
}

func (x *explorer) claimView(q question) claim.View {
	o := q.seen
	self := x.claims.Get(o.claim[q.which])
	v := claim.View{Now: q.now(), Settings: x.settings(q.epoch), Live: q.live, Claim: self}
	identity, bound := self.Annotations[ledger.KeyIdentity], self.Annotations[ledger.KeyBound]
	var all []*v1alpha1.ServerClaim
	for c := range x.world.Claims {
		other := x.claims.Get(o.claim[c])
		if other == nil {
			continue
		}
		all = append(all, other)
		if c != int(q.which) && identity != "" && other.Annotations[ledger.KeyIdentity] == identity {
			v.Twins = append(v.Twins, types.NamespacedName{Namespace: other.Namespace, Name: other.Name})
		}
	}
	for i := range x.world.Servers {
		s := x.servers.Get(o.server[i])
		if s == nil {
			continue
		}
		if s.Name == self.Spec.ServerName {
			v.Server = s
			v.Hear(s, x.decisionOf(i, q))
		}
		if ref := s.Spec.ClaimRef; ref != nil && identity != "" && ref.Identity == identity {
			v.Holders = append(v.Holders, s)
		}
		if bound != "" && s.Annotations[ledger.KeyIdentity] == bound {
			v.ByIdentity = append(v.ByIdentity, s)
		}
		v.Candidates = append(v.Candidates, claim.Assess(s, v.Settings))
	}
	v.Speakers = claim.SpeakersBut(claim.NameOf(self), all)
	return v
}

// decisionOf is what a server decides on the same view.
func (x *explorer) decisionOf(server int, q question) lifecycle.Decision {
	q.which = uint8(server)
	q = x.narrow(q)
	q.nonce = 1
	c := x.serverChoices.list[x.serverChoices.recall(q, func() choice { return x.decideServer(q) })]
	return lifecycle.Decision{Step: c.step, Gates: c.gates}
}

func (x *explorer) decideClaim(q question) choice {
	d := x.brain.Claim(x.claimView(q))
	c := choice{step: d.Step, gates: d.Gates, phase: string(d.Phase), onServer: x.serverIndex(d.OnServer)}
	if d.Step.Kind != lifecycle.StepPatch {
		return c
	}
	if c.onServer >= 0 {
		c.write = x.writeServer(q.seen.server[c.onServer], d.Step.Patch)
	} else {
		c.write = x.writeClaim(q.seen.claim[q.which], d.Step.Patch)
	}
	return c
}

// maintenance decides about the maintenance as seen.
func (x *explorer) maintenance(q question) int32 {
	q.nonce = 0
	return x.maintenanceChoices.recall(q, func() choice { return x.decideMaintenance(q) })
}

func (x *explorer) decideMaintenance(q question) choice {
	o := q.seen
	v := maintenance.View{
		Now: q.now(), Settings: x.settings(q.epoch), Live: q.live,
		Maintenance: x.maintenances.Get(o.maintenance), Server: x.servers.Get(o.server[0]),
	}
	if v.Server != nil && v.Server.Spec.ClaimRef != nil {
		for c := range x.world.Claims {
			if known := x.claims.Get(o.claim[c]); known != nil && known.Name == v.Server.Spec.ClaimRef.Name {
				v.Claim = known
			}
		}
	}
	d := x.brain.Maintenance(v)
	c := choice{step: d.Step, gates: d.Gates, onServer: x.serverIndex(d.OnServer)}
	if d.Step.Kind != lifecycle.StepPatch {
		return c
	}
	if c.onServer >= 0 {
		c.write = x.writeServer(o.server[c.onServer], d.Step.Patch)
	} else {
		c.write = x.writeMaintenance(o.maintenance, d.Step.Patch)
	}
	return c
}

func (x *explorer) serverIndex(name string) int {
	for i := range x.world.Servers {
		if name != "" && name == serverName(i) {
			return i
		}
	}
	return -1
}
