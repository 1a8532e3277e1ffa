// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Decide answers what is to be done for a claim. It is total and deterministic (P5). It reads as the sections of "Binding" in
// docs/concepts/binding.md, in their order.
func Decide(v View) Decision {
	d := deciding{View: v}
	if notOurs(v.Claim) {
		return Decision{Step: settled("Claim.NotOurs", "being deleted, and not held by Holdfast")}
	}
	memory, err := ledger.ParseClaim(v.Claim.Annotations)
	if err != nil {
		return d.hold("Claim.LedgerUnreadable", v1alpha1.ReasonLedgerUnreadable,
			fmt.Sprintf("%v; correct or remove the entry (break-glass)", err))
	}
	d.memory = memory
	if why, broken := v.Claim.Annotations[v1alpha1.AnnotationBreakGlass]; broken {
		return d.glassBroken(why)
	}
	if !v.Claim.DeletionTimestamp.IsZero() {
		return d.release()
	}
	if len(v.Twins) > 0 {
		return d.hold("Claim.DuplicateIdentity", v1alpha1.ReasonDuplicateIdentity,
			fmt.Sprintf("claim %s has the same identity; delete one of the two", v.Twins[0]))
	}
	if d.forgotten() {
		return d.holdForgotten()
	}
	if memory.Identity == "" || !slices.Contains(v.Claim.Finalizers, v1alpha1.FinalizerClaim) {
		return d.remember()
	}
	if memory.Bound != "" {
		return d.bound()
	}
	if held := d.holder(); held != nil {
		return d.held(held)
	}
	if v.Claim.Spec.ClassName != "" {
		return d.fromClass()
	}
	if v.Claim.Spec.ServerName != "" {
		return d.bind()
	}
	return d.choose()
}

// deciding is a view together with what was read out of it.
type deciding struct {
	View
	memory ledger.Claim
}

// notOurs: a claim that is being deleted without our finalizer is nothing of ours, and may not get it any more.
func notOurs(c *v1alpha1.ServerClaim) bool {
	return !c.DeletionTimestamp.IsZero() && !slices.Contains(c.Finalizers, v1alpha1.FinalizerClaim)
}

// remember is the first write: finalizer and identity in one patch. The identity is the first UID the claim had; a claim restored
// with its ledger keeps it (P11). One that has chosen a server had an identity and lost it: that is looked for live.
func (d deciding) remember() Decision {
	patch := &lifecycle.Patch{AddFinalizer: v1alpha1.FinalizerClaim}
	if d.memory.Identity == "" {
		patch.Ledger = map[string]string{ledger.KeyIdentity: d.firstUID()}
	}
	step := lifecycle.Step{
		Kind: lifecycle.StepPatch, Clause: "Claim.Remember", Message: "write finalizer and identity", Patch: patch, Live: d.Claim.Spec.ServerName != "",
	}
	return d.pending(step, v1alpha1.ReasonInitializing, "its memory is being written")
}

// firstUID is what the claim's server remembers as its identity, where it has this very object: a claim that was restored and then lost its
// ledger would be another claim otherwise, and get a second machine (I8).
func (d deciding) firstUID() string {
	if identity := d.rememberedByServer(); identity != "" {
		return identity
	}
	return string(d.Claim.UID)
}

// rememberedByServer is the identity of this very object as the server that it names has it; "" where that has none.
func (d deciding) rememberedByServer() string {
	if d.Server == nil {
		return ""
	}
	ref := d.Server.Spec.ClaimRef
	if ref == nil || ref.UID != string(d.Claim.UID) || ref.Namespace != d.Claim.Namespace || ref.Name != d.Claim.Name {
		return ""
	}
	return ref.Identity
}

// Events told of patches that a person must be able to read about later.
const (
	eventGlassBroken   = "GlassBroken"
	eventForceReleased = "ForceReleased"
)

// glassBroken turns the annotation by which somebody got past the admission policy into an Event, and removes it: it lets nobody past
// twice.
func (d deciding) glassBroken(why string) Decision {
	const most = 200
	told := []rune(why)
	message := "the glass was broken: " + string(told[:min(len(told), most)])
	return d.pending(lifecycle.Step{
		Kind: lifecycle.StepPatch, Clause: "Claim.GlassBroken", Message: message, Event: eventGlassBroken,
		Patch: &lifecycle.Patch{Remove: []string{v1alpha1.AnnotationBreakGlass}},
	}, v1alpha1.ReasonInitializing, message)
}

// holder is the server that bears this claim. Several can only come from restored objects: then it is the one that the claim is
// bound to, else the one that it names, else the first by name; the others hold by themselves (ClaimMismatch).
func (d deciding) holder() *v1alpha1.Server {
	var first *v1alpha1.Server
	for _, s := range d.Holders {
		if !d.bears(s) {
			continue
		}
		if d.memory.Bound != "" && identityOf(s) == d.memory.Bound {
			return s
		}
		if first == nil || d.before(s, first) {
			first = s
		}
	}
	return first
}

func (d deciding) before(a, b *v1alpha1.Server) bool {
	if named := d.Claim.Spec.ServerName; a.Name == named || b.Name == named {
		return a.Name == named
	}
	return a.Name < b.Name
}

// bears says that the server's claimRef is this claim: name and identity; the UID changes with a restore.
func (d deciding) bears(s *v1alpha1.Server) bool {
	ref := s.Spec.ClaimRef
	return ref != nil && ref.Identity == d.memory.Identity && ref.Namespace == d.Claim.Namespace && ref.Name == d.Claim.Name
}

func identityOf(s *v1alpha1.Server) string { return s.Annotations[ledger.KeyIdentity] }

// boundOf reads the one entry without parsing: an unreadable ledger still says which server it speaks for.
func boundOf(c *v1alpha1.ServerClaim) string { return c.Annotations[ledger.KeyBound] }

func names(servers []*v1alpha1.Server) string {
	list := make([]string, len(servers))
	for i, s := range servers {
		list[i] = s.Name
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
