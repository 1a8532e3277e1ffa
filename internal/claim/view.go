// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
)

// View is all that deciding about a claim may look at. The reconciler fills it from one read: of the cache, or (Live) of the
// API server. Nothing in it is changed.
type View struct {
	Now      time.Time
	Settings lifecycle.Settings
	// Live is true where everything below was read from the API server itself.
	Live bool
	// Claim as read. Its status is never looked at (P1).
	Claim *v1alpha1.ServerClaim
	// Server named by spec.serverName; nil where it names none or no such object exists.
	Server *v1alpha1.Server
	// Holders are the servers whose claimRef bears this claim's identity, in any order. Live: a list by the selectable field
	// spec.claimRef.identity.
	Holders []*v1alpha1.Server
	// ByIdentity are the servers whose ledger identity is SpeaksFor's answer; empty where that is none.
	ByIdentity []*v1alpha1.Server
	// Class that the claim names; nil where it names none or no such object exists.
	Class *v1alpha1.ServerClass
	// TakenNames are those of ServerNames that Servers bear, up to the first that none does: filled where the claim has still to choose one.
	TakenNames []string
	// Twins are other claims with this claim's identity.
	Twins []types.NamespacedName
	// Candidates are all servers there are, from the cache: needed where NeedsCandidates says so. Once the claim has chosen, those with the
	// identity of the chosen server are enough. A server that turns out to be taken is refused by the compare-and-swap, not by this list.
	Candidates []Candidate
	// Speakers are the servers that other claims speak for; once the claim has chosen, what is bound to the identity of the chosen server is enough.
	Speakers Speakers
	// ServerHold is the hold of the server this claim has, as its own Decide answers on the same read; nil where it does not hold. That
	// server is the one named, else the only holder. The tenant is told of it, and force-release is granted under it.
	ServerHold *lifecycle.Gate
	// ServerWaits is what that server, a VM, waits for by the same answer, in order of precedence.
	ServerWaits []lifecycle.Gate
	// ServerAwaitsPower: by the same answer the server waits for nothing but that its claim asks for power.
	ServerAwaitsPower bool
}

// Hear adds what the claim's server decides, on the same read.
func (v *View) Hear(server *v1alpha1.Server, decided lifecycle.Decision) {
	v.ServerHold, v.ServerWaits, v.ServerAwaitsPower = nil, nil, false
	for _, gate := range decided.Gates {
		switch {
		case gate.Level == lifecycle.Stalled && v.ServerHold == nil: // whether it holds or waits with a timer meanwhile
			v.ServerHold = &gate
		case gate.Level == lifecycle.Progressing && servers.IsVirtual(server):
			v.ServerWaits = append(v.ServerWaits, gate)
		case gate.Level == lifecycle.Converged && gate.Reason == v1alpha1.ReasonPowerNotWanted:
			v.ServerAwaitsPower = true
		}
	}
}

// Decision is what a pass is to do, and what it is to report.
type Decision struct {
	// Step is the one thing this pass does (P4).
	Step lifecycle.Step
	// OnServer names the Server that Step.Patch is written to, or that StepDelete deletes; "" where it is the claim itself.
	OnServer string
	// Create is what StepCreate makes.
	Create *v1alpha1.Server
	// Phase is display only.
	Phase v1alpha1.ClaimPhase
	// Conditions are Bound and Booted; the reconciler derives Ready, Reconciling and Stalled from Gates.
	Conditions []lifecycle.Condition
	Gates      []lifecycle.Gate
	// Machine is what the tenant may know of its machine; nil where it has none.
	Machine *v1alpha1.ClaimedMachine
}

// Speakers are the servers that claims other than the one decided about speak for: no two claims choose one server where that can
// be seen beforehand, and a server that a claim is bound to is that claim's, whatever its claimRef says (BoundElsewhere).
type Speakers struct {
	// Chosen maps the name of a server to the claim that names it in spec.serverName.
	Chosen map[string]types.NamespacedName
	// Bound maps the identity of a server to the claim whose ledger is bound to it.
	Bound map[string]types.NamespacedName
}

// SpeakersBut collects what all claims but one speak for. Where two claims speak for one server the first by name is told.
func SpeakersBut(self types.NamespacedName, claims []*v1alpha1.ServerClaim) Speakers {
	s := Speakers{Chosen: make(map[string]types.NamespacedName, len(claims)), Bound: make(map[string]types.NamespacedName, len(claims))}
	for _, c := range claims {
		name := NameOf(c)
		if name == self {
			continue
		}
		note(s.Chosen, c.Spec.ServerName, name)
		note(s.Bound, boundOf(c), name)
	}
	return s
}

func note(speakers map[string]types.NamespacedName, key string, claim types.NamespacedName) {
	if key == "" {
		return
	}
	if known, ok := speakers[key]; ok && known.String() <= claim.String() {
		return
	}
	speakers[key] = claim
}

// NameOf is the claim's namespace and name.
func NameOf(c *v1alpha1.ServerClaim) types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
}

// NeedsCandidates says whether deciding about the claim may look for a machine: only then need View.Candidates be filled. One that has not
// written down who it is does that first.
func NeedsCandidates(c *v1alpha1.ServerClaim) bool {
	remembered := c.Annotations[ledger.KeyIdentity] != "" && slices.Contains(c.Finalizers, v1alpha1.FinalizerClaim)
	return remembered && c.DeletionTimestamp.IsZero() && boundOf(c) == "" && c.Spec.ClassName == ""
}

// ActsOnHold says whether what is done about the claim rests on View.ServerHold: for a claim that is being released. Of any other what
// its server says is told, in Decision.Gates and Decision.Conditions, and Decision.Step is the same with and without.
func ActsOnHold(c *v1alpha1.ServerClaim) bool { return !c.DeletionTimestamp.IsZero() }

// NeedsName says whether deciding about the claim may choose a name for the Server that its class makes: only then need View.TakenNames
// be filled.
func NeedsName(c *v1alpha1.ServerClaim) bool {
	return c.DeletionTimestamp.IsZero() && boundOf(c) == "" && c.Spec.ClassName != "" && c.Spec.ServerName == ""
}

// SpeaksFor is the identity of the server that is this claim's, whatever any claimRef says: the one it is bound to, or, with a class, the
// one that is made for it and for no other; "" for none.
func SpeaksFor(c *v1alpha1.ServerClaim) string {
	if bound := boundOf(c); bound != "" {
		return bound
	}
	if identity := c.Annotations[ledger.KeyIdentity]; c.Spec.ClassName != "" && identity != "" {
		return ledger.ClaimedIdentity(identity)
	}
	return ""
}
