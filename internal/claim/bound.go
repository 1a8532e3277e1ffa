// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/virtual"
)

// bound is a claim that may have booted: it is bound to one server for ever, never chooses anew, and waits for that server
// whatever became of it.
func (d deciding) bound() Decision {
	switch len(d.ByIdentity) {
	case 0:
		return d.serverAway()
	case 1:
		return d.boundTo(d.ByIdentity[0])
	}
	return d.hold("Claim.Bound.ServerDuplicate", v1alpha1.ReasonDuplicateIdentity,
		fmt.Sprintf("servers %s are the same machine by their memory; delete all but one", names(d.ByIdentity)))
}

// serverAway: no server has the identity. One of that name under another identity is another machine.
func (d deciding) serverAway() Decision {
	name := d.Claim.Spec.ServerName
	if d.Server == nil {
		return d.hold("Claim.Bound.ServerMissing", v1alpha1.ReasonServerMissing,
			fmt.Sprintf("server %q, which this claim may have booted, does not exist; restore it, or delete the claim", name))
	}
	if identityOf(d.Server) == "" {
		return d.pending(wait(d, "Claim.Bound.ServerInitial", "the server's memory is not confirmed yet"),
			v1alpha1.ReasonInitializing, fmt.Sprintf("server %q has not confirmed its memory yet", name))
	}
	return d.hold("Claim.Bound.ServerReplaced", v1alpha1.ReasonServerReplaced,
		fmt.Sprintf("server %q is another machine than the one this claim may have booted; restore the server, or delete the claim", name))
}

// boundTo brings claim and server together again where something was lost, and is settled where nothing is.
func (d deciding) boundTo(s *v1alpha1.Server) Decision {
	memory, err := ledger.ParseServer(s.Annotations)
	switch ref := s.Spec.ClaimRef; {
	case err != nil:
		return d.hold("Claim.Bound.ServerUnreadable", v1alpha1.ReasonLedgerUnreadable,
			fmt.Sprintf("the memory of server %q cannot be read: %v", s.Name, err))
	case memory.Released != nil && memory.Released.Claim == d.memory.Identity && (ref == nil || d.bears(s)):
		return d.alreadyReleased(s)
	case ref == nil:
		return d.bindAgain(s, memory)
	case !d.bears(s):
		return d.hold("Claim.Bound.ServerTaken", v1alpha1.ReasonServerTaken,
			fmt.Sprintf("server %q, which this claim may have booted, belongs to claim %s/%s; delete one of the two claims", s.Name, ref.Namespace, ref.Name))
	}
	return d.together(s, memory)
}

func (d deciding) alreadyReleased(s *v1alpha1.Server) Decision {
	return d.hold("Claim.AlreadyReleased", v1alpha1.ReasonAlreadyReleased,
		fmt.Sprintf("server %q was released from this claim already (the claim was restored?); delete the claim", s.Name))
}

// bindAgain: the server of this claim stands free (it was restored from before the binding, or a person cleared claimRef). Bound
// again in any phase but Deleting, and not while an intent is open (R2): the server withdraws one that this claim forbids.
func (d deciding) bindAgain(s *v1alpha1.Server, memory ledger.Server) Decision {
	switch {
	case !s.DeletionTimestamp.IsZero():
		return d.hold("Claim.Bound.ServerDeleting", v1alpha1.ReasonServerMissing,
			fmt.Sprintf("server %q, which this claim may have booted, is being deleted; restore it, or delete the claim", s.Name))
	case d.Claim.Spec.ServerName != s.Name:
		return d.name(s.Name, "Claim.Bound.Name")
	case d.handsOff(s, memory):
		return d.mayNotWrite(s, memory)
	case memory.Intent != nil:
		return d.pending(wait(d, "Claim.Bound.IntentOpen", "an intent is open on the server"), v1alpha1.ReasonBinding,
			fmt.Sprintf("server %q has announced a power-off; waits until it is withdrawn or done", s.Name))
	}
	return d.take(s, "Claim.Bound.BindAgain")
}

// held is a claim without `bound` that a server bears already: that server is its choice (B049).
func (d deciding) held(s *v1alpha1.Server) Decision {
	memory, err := ledger.ParseServer(s.Annotations)
	if err != nil {
		return d.hold("Claim.ServerUnreadable", v1alpha1.ReasonLedgerUnreadable,
			fmt.Sprintf("the memory of server %q cannot be read: %v", s.Name, err))
	}
	if memory.Released != nil && memory.Released.Claim == d.memory.Identity {
		return d.alreadyReleased(s)
	}
	return d.together(s, memory)
}

// together: the server bears this claim. The claim names it, the server has the claim's UID, and once it says that it boots for
// this claim the claim writes what it got, before the machine is switched on.
func (d deciding) together(s *v1alpha1.Server, memory ledger.Server) Decision {
	switch {
	case d.Claim.Spec.ServerName != s.Name:
		return d.name(s.Name, "Claim.Name")
	case s.Spec.ClaimRef.UID != string(d.Claim.UID) && d.handsOff(s, memory):
		return d.mayNotWrite(s, memory)
	case s.Spec.ClaimRef.UID != string(d.Claim.UID):
		return d.take(s, "Claim.StampUID")
	case d.memory.Bound == "" && d.readyToStart(s, memory):
		return d.writeBound(s, memory)
	case d.rebuilt(memory):
		return d.dropConsent(s, memory)
	}
	if d.Claim.Spec.Boot.UserDataSecretRef != nil && !d.isBooted(s, memory) && d.asksForPower(s) {
		// What is wrong with the user data is seen on a live view alone, and no watch tells when it is right: the tenant's secrets and
		// role bindings are not watched.
		return d.haveServer(s, memory, wait(d, "Claim.AwaitBoot", "waits until the machine was booted with its user data"))
	}
	return d.haveServer(s, memory, settled("Claim.Settled", "bound"))
}

// asksForPower says whether the claim wants its machine On, or its VM made: a VM is made also where its power is then left as it is.
func (d deciding) asksForPower(s *v1alpha1.Server) bool {
	want := d.Claim.Spec.Power
	return want != v1alpha1.PowerOff && (want != v1alpha1.PowerKeep || servers.IsVirtual(s))
}

// readyToStart: the server waits for nothing but that this claim writes what it got. A machine has then begun to boot for it; of a VM the
// memory is confirmed, so that what is made will be found again.
func (d deciding) readyToStart(s *v1alpha1.Server, memory ledger.Server) bool {
	if servers.IsVirtual(s) {
		return virtual.Confirmed(s, d.Settings)
	}
	return memory.Identity != "" && memory.Boot != nil && memory.Boot.Claim == d.memory.Identity
}

// rebuilt: the VM was built from the image that this claim consented to. A consent that stayed would allow the same image once more.
func (d deciding) rebuilt(memory ledger.Server) bool {
	consented := d.Claim.Annotations[v1alpha1.AnnotationRebuildApproved]
	return consented != "" && memory.Image != nil && memory.Image.Selector == consented
}

func (d deciding) dropConsent(s *v1alpha1.Server, memory ledger.Server) Decision {
	return d.haveServer(s, memory, lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: "Claim.Rebuilt", Message: fmt.Sprintf("remove the consent to a rebuild: server %q runs that image", s.Name),
		Patch: &lifecycle.Patch{Remove: []string{v1alpha1.AnnotationRebuildApproved}},
	})
}

// handsOff: a server that is paused, or that another cluster owns, is not written to.
func (d deciding) handsOff(s *v1alpha1.Server, memory ledger.Server) bool {
	return s.Spec.Paused || d.foreign(memory)
}

func (d deciding) foreign(memory ledger.Server) bool {
	return memory.Owner != "" && memory.Owner != d.Settings.ClusterID
}

func (d deciding) mayNotWrite(s *v1alpha1.Server, memory ledger.Server) Decision {
	if d.foreign(memory) {
		return d.hold("Claim.ForeignOwner", v1alpha1.ReasonForeignOwner,
			fmt.Sprintf("server %q belongs to cluster %q; take it over first", s.Name, memory.Owner))
	}
	return d.hold("Claim.ServerPaused", v1alpha1.ReasonPaused, fmt.Sprintf("server %q is paused; binding goes on when it is not", s.Name))
}

// writeBound also takes back the consent by which a restored claim chose: it has its machine.
func (d deciding) writeBound(s *v1alpha1.Server, memory ledger.Server) Decision {
	patch := &lifecycle.Patch{Ledger: map[string]string{ledger.KeyBound: memory.Identity}}
	if d.Claim.Annotations[v1alpha1.AnnotationChooseAnew] != "" {
		patch.Remove = []string{v1alpha1.AnnotationChooseAnew}
	}
	step := lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: "Claim.WriteBound",
		Message: fmt.Sprintf("write that this claim boots on server %q", s.Name),
		Patch:   patch,
	}
	return d.haveServer(s, memory, step)
}

// name writes the server's name into the claim. Another name that stands there is cleared first: the API server takes none for another.
func (d deciding) name(server, clause string) Decision {
	if other := d.Claim.Spec.ServerName; other != "" && other != server {
		return d.chooseAgain("Claim.Unname", fmt.Sprintf("this claim's server is %q and not %q", server, other))
	}
	step := lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: clause,
		Message: fmt.Sprintf("choose server %q", server),
		Patch:   &lifecycle.Patch{ServerName: &server},
	}
	return d.pending(step, v1alpha1.ReasonBinding, fmt.Sprintf("server %q is chosen", server))
}

// take writes this claim into the server's claimRef, by resourceVersion.
func (d deciding) take(s *v1alpha1.Server, clause string) Decision {
	ref := d.reference()
	step := lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: clause,
		Message: fmt.Sprintf("write this claim into server %q", s.Name),
		Patch:   &lifecycle.Patch{ClaimRef: &lifecycle.RefChange[v1alpha1.ClaimReference]{To: &ref}},
	}
	decision := d.pending(step, v1alpha1.ReasonBinding, fmt.Sprintf("server %q is being bound", s.Name))
	decision.OnServer = s.Name
	return decision
}

// reference is this claim as a server's claimRef names it.
func (d deciding) reference() v1alpha1.ClaimReference {
	return v1alpha1.ClaimReference{
		Namespace: d.Claim.Namespace, Name: d.Claim.Name, Identity: d.memory.Identity, UID: string(d.Claim.UID),
	}
}
