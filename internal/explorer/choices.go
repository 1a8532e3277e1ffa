// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
)

// question is a view, in numbers: what a decision depends on.
type question struct {
	which uint8 // index of the server or claim
	nonce uint8 // resourceVersion of the server, so that two intents never have one id
	era   uint8
	late  bool
	live  bool
	epoch bool
	seen  objects
}

func (q question) now() time.Time {
	if q.late {
		return late(q.era)
	}
	return early(q.era)
}

// choice is a decision and what becomes of its patch, whatever kind of object it is about.
type choice struct {
	step     lifecycle.Step
	gates    []lifecycle.Gate
	phase    string
	onServer int            // index of the server that the patch goes to; -1 for the object itself
	write    write          // of step.Patch, or of step.Record after the effect
	refused  write          // of step.Refused
	intent   *ledger.Intent // open in the view
	opens    string         // id of the intent that step.Patch opens
	allowed  bool           // false where a maintenance has the server and did not ask for the effect (I4)
}

// choices remembers decisions.
type choices struct {
	index map[question]int32
	list  []choice
}

func newChoices() choices { return choices{index: map[question]int32{}} }

func (c *choices) recall(q question, decide func() choice) int32 {
	if i, ok := c.index[q]; ok {
		return i
	}
	i := int32(len(c.list))
	c.list = append(c.list, decide())
	c.index[q] = i
	return i
}

func (x *explorer) settings(epoch bool) lifecycle.Settings {
	s := lifecycle.DefaultSettings(cluster)
	if epoch {
		s.Epoch = "restored"
	}
	return s
}

// server decides about a server as seen. An intent that a decision opens must not bear the id of one that is still about.
func (x *explorer) server(q question, s *State) int32 {
	for q.nonce = 1; ; q.nonce++ {
		i := x.serverChoices.recall(q, func() choice { return x.decideServer(q) })
		opened := x.serverChoices.list[i].opens
		if opened == "" || !slices.Contains(x.intentsAbout(s), opened) {
			return i
		}
		if q.nonce == 20 {
			panic("intent ids do not depend on the resourceVersion: " + opened)
		}
	}
}

func openedBy(step lifecycle.Step) string {
	if step.Kind != lifecycle.StepPatch || step.Patch.Ledger[ledger.KeyIntent] == "" {
		return ""
	}
	memory, err := ledger.ParseServer(map[string]string{ledger.KeyIntent: step.Patch.Ledger[ledger.KeyIntent]})
	if err != nil {
		panic("an intent that cannot be read: " + err.Error())
	}
	return memory.Intent.ID
}

func (x *explorer) serverView(q question) lifecycle.ServerView {
	o := q.seen
	object := *x.servers.get(o.server[q.which])
	object.ResourceVersion = strconv.Itoa(int(q.nonce))
	v := lifecycle.NewServerView(&object, q.now(), x.settings(q.epoch))
	v.Live, v.BMC = q.live, x.bmc
	identity := object.Annotations[ledger.KeyIdentity]
	for c := range x.world.Claims {
		known := x.claims.get(o.claim[c])
		if known == nil {
			continue
		}
		if ref := object.Spec.ClaimRef; ref != nil && ref.Name == known.Name {
			v.Claim = known
		}
		if identity != "" && known.Annotations[ledger.KeyBound] == identity {
			v.BoundClaims = append(v.BoundClaims, known)
		}
	}
	if ref := object.Spec.MaintenanceRef; ref != nil && o.maintenance != absent {
		v.Maintenance = x.maintenances.get(o.maintenance)
	}
	for i := range x.world.Servers {
		other := x.servers.get(o.server[i])
		if i != int(q.which) && other != nil && identity != "" && other.Annotations[ledger.KeyIdentity] == identity {
			v.Twins = append(v.Twins, other.Name)
		}
	}
	return v
}

func (x *explorer) decideServer(q question) choice {
	v := x.serverView(q)
	d := x.brain.Server(v)
	c := choice{step: d.Step, gates: d.Gates, phase: string(d.Phase), onServer: -1}
	if memory, err := ledger.ParseServer(v.Server.Annotations); err == nil {
		c.intent = memory.Intent
	}
	basis := q.seen.server[q.which]
	switch d.Step.Kind {
	case lifecycle.StepPatch:
		c.write, c.opens = x.writeServer(basis, d.Step.Patch), openedBy(d.Step)
	case lifecycle.StepAct:
		c.allowed = maintenanceAllows(v, d.Step.Effect.Op)
		c.write, c.refused = write{next: basis}, write{next: basis}
		if d.Step.Record != nil {
			c.write = x.writeServer(basis, d.Step.Record)
		}
		if d.Step.Refused != nil {
			c.refused = x.writeServer(basis, d.Step.Refused)
		}
	}
	return c
}

// maintenanceAllows is I4: in maintenance no effect but the maintenance's own power. A look that changes nothing is no effect.
func maintenanceAllows(v lifecycle.ServerView, op lifecycle.Op) bool {
	if v.Server.Spec.MaintenanceRef == nil || op == lifecycle.OpConfirmOff {
		return true
	}
	if v.Maintenance == nil {
		return false
	}
	switch op {
	case lifecycle.OpPowerOn:
		return v.Maintenance.Spec.Power == v1alpha1.PowerOn
	case lifecycle.OpShutDown, lifecycle.OpForceOff:
		return v.Maintenance.Spec.Power == v1alpha1.PowerOff
	}
	return false
}

// claim decides about a claim as seen.
func (x *explorer) claim(q question) int32 {
	q.nonce = 0
	return x.claimChoices.recall(q, func() choice { return x.decideClaim(q) })
}

func (x *explorer) claimView(q question) claim.View {
	o := q.seen
	self := x.claims.get(o.claim[q.which])
	v := claim.View{Now: q.now(), Settings: x.settings(q.epoch), Live: q.live, Claim: self}
	identity, bound := self.Annotations[ledger.KeyIdentity], self.Annotations[ledger.KeyBound]
	var all []*v1alpha1.ServerClaim
	for c := range x.world.Claims {
		other := x.claims.get(o.claim[c])
		if other == nil {
			continue
		}
		all = append(all, other)
		if c != int(q.which) && identity != "" && other.Annotations[ledger.KeyIdentity] == identity {
			v.Twins = append(v.Twins, types.NamespacedName{Namespace: other.Namespace, Name: other.Name})
		}
	}
	for i := range x.world.Servers {
		s := x.servers.get(o.server[i])
		if s == nil {
			continue
		}
		if s.Name == self.Spec.ServerName {
			v.Server = s
			v.ServerHold = x.holdOf(i, q)
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

func (x *explorer) holdOf(server int, q question) *lifecycle.Gate {
	q.which, q.nonce = uint8(server), 1
	c := x.serverChoices.list[x.serverChoices.recall(q, func() choice { return x.decideServer(q) })]
	if c.step.Kind != lifecycle.StepHold || len(c.gates) == 0 {
		return nil
	}
	return &c.gates[0]
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
		Maintenance: x.maintenances.get(o.maintenance), Server: x.servers.get(o.server[0]),
	}
	if v.Server != nil && v.Server.Spec.ClaimRef != nil {
		for c := range x.world.Claims {
			if known := x.claims.get(o.claim[c]); known != nil && known.Name == v.Server.Spec.ClaimRef.Name {
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
