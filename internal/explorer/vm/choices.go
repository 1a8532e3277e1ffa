// SPDX-License-Identifier: Apache-2.0

package vm

import (
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/explorer/apiserver"
	"github.com/holdfast-dev/holdfast/internal/explorer/search"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

// Brain is what decides in a world, and how its decisions are carried out. Production is the product's own; a Mutant wraps it to take
// one clause away.
type Brain struct {
	Server      func(lifecycle.ServerView) lifecycle.Decision
	Claim       func(claim.View) claim.Decision
	Maintenance func(maintenance.View) maintenance.Decision
	// Live decides again on a live view where a step asks for it (P4).
	Live bool
	// Expect lets the cloud refuse an effect that relies on what is not so.
	Expect bool
	// Own lets each call look whose the VM is that it is about.
	Own bool
	// Find lets the call that makes a VM look for one first; Ports lets it see by its ports that there is one which no listing shows.
	Find, Ports bool
	// ByID lets the monitor ask by its id for a VM that is in no listing.
	ByID bool
	// Project lets each call check that it is about the project that the server remembers.
	Project bool
	// OnPort lets a floating IP be allocated for a port that is there, in one request.
	OnPort bool
	// Whole lets a server go only when everything of it was seen gone.
	Whole bool
}

// Production is what the managers run.
func Production() Brain {
	return Brain{
		Server: virtual.Decide, Claim: claim.Decide, Maintenance: maintenance.Decide,
		Live: true, Expect: true, Own: true, Find: true, Ports: true, ByID: true, Project: true, OnPort: true, Whole: true,
	}
}

// question is a view, in numbers: what a decision depends on.
type question struct {
	slot  uint8
	nonce uint8 // resourceVersion, so that two intents never have one id
	live  bool
	epoch bool // the managers were told of a snapshot
	seen  objects
}

// choice is a decision and what becomes of its patch.
type choice struct {
	question question
	step     lifecycle.Step
	gates    []lifecycle.Gate
	onServer int // slot of the server that a claim's decision goes to; -1 for the claim itself
	create   *v1alpha1.Server
	write    apiserver.Write
	intent   *ledger.Intent // open in the view
	opens    string         // id of the intent that step.Patch opens
	rests    bool           // an effect that would wait, if time did not stand still, until no stop of ours can be on the wire
	deleting bool           // the server of the view was being deleted
	allowed  bool           // false where a maintenance has the server and did not ask for the effect (I4)
}

// choices remembers decisions.
type choices struct {
	index map[question]int32
	list  []choice
}

func (c *choices) recall(q question, decide func() choice) int32 {
	if i, ok := c.index[q]; ok {
		return i
	}
	decided := decide() // which may remember others first: a claim's goes by its server's
	i := int32(len(c.list))
	c.list = append(c.list, decided)
	c.index[q] = i
	return i
}

// explorer explores one world with one brain.
type explorer struct {
	world   World
	brain   Brain
	servers apiserver.Contents[*v1alpha1.Server]
	claims  apiserver.Contents[*v1alpha1.ServerClaim]
	choices choices

	maintenances apiserver.Contents[*v1alpha1.ServerMaintenance]

	same     map[[2]int32]bool
	records  map[recordOf]apiserver.Write
	looks    map[look]id
	rests    search.Set[State] // states from which everything is known to come to rest
	backups  bool              // some harm needs one
	lingers  bool              // deletions may take their time
	restarts bool              // somebody may ask for restarts
}

func newExplorer(w World, b Brain) *explorer {
	return &explorer{
		world: w, brain: b, servers: apiserver.NewContents[*v1alpha1.Server](), claims: apiserver.NewContents[*v1alpha1.ServerClaim](),
		maintenances: apiserver.NewContents[*v1alpha1.ServerMaintenance](),
		choices:      choices{index: map[question]int32{}}, same: map[[2]int32]bool{}, records: map[recordOf]apiserver.Write{}, looks: map[look]id{}, rests: search.NewSet[State](),
		backups: slices.ContainsFunc(w.Harms, Harm.needsBackup), lingers: slices.Contains(w.Chances, Linger), restarts: slices.Contains(w.Deeds, Restart),
	}
}

// Decisions implements search.Game.
func (x *explorer) Decisions() int { return len(x.choices.list) }

// Remembers implements search.Walker.
func (x *explorer) Remembers() int { return x.Decisions() + x.rests.Len() }

// server decides about a server as seen. An intent that a decision opens must not bear the id of one that is still about.
func (x *explorer) server(q question, s *State) int32 {
	for q.nonce = 1; ; q.nonce++ {
		i := x.choices.recall(q, func() choice { return x.decideServer(q) })
		opened := x.choices.list[i].opens
		if opened == "" || !x.about(s, opened) {
			return i
		}
		if q.nonce == 20 {
			panic("intent ids do not depend on the resourceVersion: " + opened)
		}
	}
}

// about says that somebody may still speak of an intent.
func (x *explorer) about(s *State, intent string) bool {
	for _, o := range []objects{s.now, s.lag, s.old} {
		for _, server := range o.server {
			object := x.servers.Get(server)
			if object == nil {
				continue
			}
			if led, err := ledger.ParseServer(object.Annotations); err == nil && led.Intent != nil && led.Intent.ID == intent {
				return true
			}
			if seen := object.Status.Observed; seen != nil && seen.Intent == intent {
				return true
			}
		}
	}
	if s.flight.kind == noFlight || s.flight.slot == claimSlot {
		return false
	}
	c := &x.choices.list[s.flight.choice]
	return c.opens == intent || (c.intent != nil && c.intent.ID == intent)
}

func (x *explorer) decideServer(q question) choice {
	v := x.serverView(q)
	d := x.brain.Server(v)
	c := choice{question: q, step: d.Step, gates: d.Gates, onServer: -1, deleting: v.Server.DeletionTimestamp != nil}
	if led, err := ledger.ParseServer(v.Server.Annotations); err == nil {
		c.intent = led.Intent
	}
	if d.Step.Kind == lifecycle.StepAct {
		c.allowed = maintenanceAllows(v, d.Step.Effect.Op)
		c.rests = x.wouldRest(v)
	}
	if d.Step.Kind == lifecycle.StepPatch {
		c.write = x.writeServer(q.seen.server[q.slot], d.Step.Patch)
		if led, err := ledger.ParseServer(onlySet(d.Step.Patch.Ledger)); err == nil && led.Intent != nil {
			c.opens = led.Intent.ID
		}
	}
	return c
}

// wouldRest says that the decision waits for what may be on the wire, asked as if no deadline had passed.
func (x *explorer) wouldRest(v lifecycle.ServerView) bool {
	v.Settings.EffectDeadline = time.Hour
	step := x.brain.Server(v).Step
	return step.Kind == lifecycle.StepWait && (strings.HasSuffix(step.Clause, ".Rest") || strings.HasSuffix(step.Clause, ".RestartOver"))
}

func onlySet(entries map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range entries {
		if value != "" {
			out[key] = value
		}
	}
	return out
}

func (x *explorer) serverView(q question) lifecycle.ServerView {
	object := *x.servers.Get(q.seen.server[q.slot])
	object.ResourceVersion = strconv.Itoa(int(q.nonce))
	v := lifecycle.NewServerView(&object, now, settings(q.epoch))
	v.Live = q.live
	v.Cloud = &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Name: cloudName, Finalizers: []string{v1alpha1.FinalizerInUse}}}
	v.Dependencies = []lifecycle.Dependency{{Kind: "Cloud", Name: cloudName, Guarded: true}}
	if ref := object.Spec.MaintenanceRef; ref != nil && q.seen.maintenance != absent {
		v.Maintenance = x.maintenances.Get(q.seen.maintenance)
	}
	identity := object.Annotations[ledger.KeyIdentity]
	if known := x.claims.Get(q.seen.claim); known != nil {
		if ref := object.Spec.ClaimRef; ref != nil && ref.Name == known.Name {
			v.Claim = known
		}
		if identity != "" && known.Annotations[ledger.KeyBound] == identity {
			v.BoundClaims = []*v1alpha1.ServerClaim{known}
		}
	}
	for slot, server := range q.seen.server {
		if other := x.servers.Get(server); slot != int(q.slot) && other != nil && identity != "" && other.Annotations[ledger.KeyIdentity] == identity {
			v.Twins = append(v.Twins, other.Name)
		}
	}
	return v
}

// claim decides about the claim as seen.
func (x *explorer) claim(q question) int32 {
	return x.choices.recall(q, func() choice { return x.decideClaim(q) })
}

func (x *explorer) claimView(q question) claim.View {
	self := x.claims.Get(q.seen.claim)
	v := claim.View{Now: now, Settings: settings(q.epoch), Live: q.live, Claim: self, Class: x.class(), Speakers: claim.SpeakersBut(claim.NameOf(self), nil)}
	identity, speaksFor := self.Annotations[ledger.KeyIdentity], claim.SpeaksFor(self)
	for slot, server := range q.seen.server {
		o := x.servers.Get(server)
		if o == nil {
			continue
		}
		if ref := o.Spec.ClaimRef; ref != nil && identity != "" && ref.Identity == identity {
			v.Holders = append(v.Holders, o)
		}
		if speaksFor != "" && o.Annotations[ledger.KeyIdentity] == speaksFor {
			v.ByIdentity = append(v.ByIdentity, o)
		}
		if o.Name == self.Spec.ServerName {
			v.Server = o
			v.Hear(o, x.decisionOf(q, slot))
		}
	}
	if v.Server == nil && len(v.Holders) == 1 {
		v.Hear(v.Holders[0], x.decisionOf(q, x.slotNamed(q.seen, v.Holders[0].Name)))
	}
	if claim.NeedsName(self) {
		v.TakenNames = x.taken(q.seen, self)
	}
	return v
}

// taken are the names for the claim's server that are borne already, up to the first that is not.
func (x *explorer) taken(seen objects, self *v1alpha1.ServerClaim) []string {
	var names []string
	for name := range claim.ServerNames(self) {
		if x.slotNamed(seen, name) < 0 {
			return names
		}
		names = append(names, name)
	}
	return names
}

// slotNamed is the slot of the server of a name; -1 for none.
func (x *explorer) slotNamed(o objects, name string) int {
	for slot, server := range o.server {
		if known := x.servers.Get(server); known != nil && known.Name == name {
			return slot
		}
	}
	return -1
}

// decisionOf is what a server decides on the same view.
func (x *explorer) decisionOf(q question, slot int) lifecycle.Decision {
	q.slot, q.nonce = uint8(slot), 1
	c := x.choices.list[x.choices.recall(q, func() choice { return x.decideServer(q) })]
	return lifecycle.Decision{Step: c.step, Gates: c.gates}
}

func (x *explorer) decideClaim(q question) choice {
	d := x.brain.Claim(x.claimView(q))
	c := choice{question: q, step: d.Step, gates: d.Gates, onServer: -1, create: d.Create}
	if d.OnServer != "" {
		c.onServer = x.slotNamed(q.seen, d.OnServer)
	}
	switch d.Step.Kind {
	case lifecycle.StepPatch:
		if c.onServer >= 0 {
			c.write = x.writeServer(q.seen.server[c.onServer], d.Step.Patch)
		} else {
			c.write = x.writeClaim(q.seen.claim, d.Step.Patch)
		}
	case lifecycle.StepDelete:
		going := x.servers.Get(q.seen.server[c.onServer]).DeepCopy()
		deleted(going)
		c.write = apiserver.Write{Next: absent}
		if !apiserver.Goes(going) {
			c.write.Next = x.servers.Intern(going)
		}
	}
	return c
}

// class is what VMs are made by.
func (x *explorer) class() *v1alpha1.ServerClass {
	policy := v1alpha1.ReclaimDelete
	if x.world.Retain {
		policy = v1alpha1.ReclaimRetain
	}
	return &v1alpha1.ServerClass{
		ObjectMeta: metav1.ObjectMeta{Name: className, UID: types.UID(className), Finalizers: []string{v1alpha1.FinalizerInUse}},
		Spec:       v1alpha1.ServerClassSpec{OpenStack: x.template(), ReclaimPolicy: policy},
	}
}
