// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
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
	question question
	step     lifecycle.Step
	gates    []lifecycle.Gate
	phase    string
	onServer int             // index of the server that the patch goes to; -1 for the object itself
	write    apiserver.Write // of step.Patch, or of step.Record after the effect
	refused  apiserver.Write // of step.Refused
	tried    apiserver.Write // of step.Tried
	intent   *ledger.Intent  // open in the view
	opens    string          // id of the intent that step.Patch opens
	allowed  bool            // false where a maintenance has the server and did not ask for the effect (I4)
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
	decided := decide()
	decided.question = q
	c.list = append(c.list, decided)
	c.index[q] = i
	return i
}

// restored is what --after-restore is given.
const restored = "restored"

func (x *explorer) settings(epoch bool) lifecycle.Settings {
	s := lifecycle.DefaultSettings(cluster)
	if epoch {
		s.Epoch = restored
	}
	return s
}

// server decides about a server as seen. An intent that a decision opens must not bear the id of one that is still about.
func (x *explorer) server(q question, s *State) int32 {
	q = x.narrow(q)
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

// narrow leaves out of a question about a server what its answer cannot depend on, so that it is asked less often: claims that neither
// are named by the server nor are bound to it, servers that are no twins, a maintenance that does not have it.
func (x *explorer) narrow(q question) question {
	about := x.servers.Get(q.seen.server[q.which])
	identity := about.Annotations[ledger.KeyIdentity]
	for i := range q.seen.server {
		other := x.servers.Get(q.seen.server[i])
		if i != int(q.which) && (other == nil || identity == "" || other.Annotations[ledger.KeyIdentity] != identity) {
			q.seen.server[i] = absent
		}
	}
	for c := range q.seen.claim {
		known := x.claims.Get(q.seen.claim[c])
		if known == nil {
			continue
		}
		named := about.Spec.ClaimRef != nil && about.Spec.ClaimRef.Name == known.Name
		if !named && (identity == "" || known.Annotations[ledger.KeyBound] != identity) {
			q.seen.claim[c] = absent
		}
	}
	if about.Spec.MaintenanceRef == nil {
		q.seen.maintenance = absent
	}
	return q
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
	object := *x.servers.Get(o.server[q.which])
	object.ResourceVersion = strconv.Itoa(int(q.nonce))
	v := lifecycle.NewServerView(&object, q.now(), x.settings(q.epoch))
	v.Live, v.BMC = q.live, x.bmc
	if x.brain.Report != nil {
		v.Server.Status = object.Status
	}
	identity := object.Annotations[ledger.KeyIdentity]
	for c := range x.world.Claims {
		known := x.claims.Get(o.claim[c])
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
		v.Maintenance = x.maintenances.Get(o.maintenance)
	}
	for i := range x.world.Servers {
		other := x.servers.Get(o.server[i])
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
		c.write, c.refused, c.tried = apiserver.Write{Next: basis}, apiserver.Write{Next: basis}, apiserver.Write{Next: basis}
		if d.Step.Record != nil {
			c.write = x.writeServer(basis, d.Step.Record)
		}
		if d.Step.Refused != nil {
			c.refused = x.writeServer(basis, d.Step.Refused)
		}
		if d.Step.Tried != nil {
			c.tried = x.writeServer(basis, d.Step.Tried)
		}
	}
	return c
}

// maintenanceAllows is I4: in maintenance no effect but the maintenance's own power. A look that changes nothing is no effect.
func maintenanceAllows(v lifecycle.ServerView, op lifecycle.Op) bool {
	if v.Server.Spec.MaintenanceRef == nil || op.Confirms() {
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
