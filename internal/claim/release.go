// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// release lets a claim that is being deleted go once no server has it any more: claimRef is nil or another's, or `released` names
// the claim, or the server is gone. All of it as read live: a claim that goes too early leaves a machine that nobody may stop.
func (d deciding) release() Decision {
	step := lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: "Claim.Release.Done", Message: "released; let the claim go",
		Patch: &lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerClaim},
	}
	for _, s := range d.concerned() {
		if !d.bearsByName(s) || d.releasedBy(s) {
			continue
		}
		if goesWithClaim(s) {
			if decision, waits := d.dissolve(s); waits {
				return decision
			}
		}
		if !d.forced(s) {
			return d.releasing(fmt.Sprintf("server %q is being released: its machine must be confirmed off", s.Name))
		}
		step.Clause, step.Event = "Claim.Release.Forced", eventForceReleased
		step.Message = fmt.Sprintf("let the claim go without confirmation, as a person asked: the machine of server %q may still run; the server stays unclaimable until its release is confirmed", s.Name)
	}
	return d.releaseDecision(step, v1alpha1.ReasonReleased, step.Message)
}

// concerned are the servers that may have the claim: those that bear its identity, and the one it names (its identity may be lost).
func (d deciding) concerned() []*v1alpha1.Server {
	servers := d.Holders
	if d.Server != nil {
		servers = append([]*v1alpha1.Server{d.Server}, servers...)
	}
	return servers
}

// bearsByName: by name and identity where the claim has one. A claim that lost its identity is borne by name alone: what cannot
// be told apart is waited for (P10).
func (d deciding) bearsByName(s *v1alpha1.Server) bool {
	ref := s.Spec.ClaimRef
	if ref == nil || ref.Namespace != d.Claim.Namespace || ref.Name != d.Claim.Name {
		return false
	}
	return d.memory.Identity == "" || ref.Identity == d.memory.Identity
}

func (d deciding) releasedBy(s *v1alpha1.Server) bool {
	memory, err := ledger.ParseServer(s.Annotations)
	return err == nil && memory.Released != nil && memory.Released.Claim == d.memory.Identity
}

// forced: a person lets the claim go without confirmation, by the server's name, as soon as the server remembers without the claim
// that it is to be released (its intent stands), or holds and will not come to it.
func (d deciding) forced(s *v1alpha1.Server) bool {
	if d.Claim.Annotations[v1alpha1.AnnotationForceRelease] != s.Name {
		return false
	}
	memory, err := ledger.ParseServer(s.Annotations)
	if err != nil || d.ServerHold != nil {
		return true
	}
	intent := memory.Intent
	return intent != nil && intent.Why == ledger.WhyReleased && intent.ClaimUID == d.Claim.UID
}

// releasing waits for the server. The machine is not shown any more: it is no longer the tenant's to use, and each step of its going off
// would be told.
func (d deciding) releasing(message string) Decision {
	decision := d.releaseDecision(wait(d, "Claim.Releasing", message), v1alpha1.ReasonReleasing, message)
	if d.ServerHold != nil {
		decision.Gates = append([]lifecycle.Gate{*d.ServerHold}, decision.Gates...)
	}
	return decision
}

func (d deciding) releaseDecision(step lifecycle.Step, reason, message string) Decision {
	return Decision{
		Step:  step,
		Phase: v1alpha1.ClaimReleasing,
		Conditions: []lifecycle.Condition{
			{Type: v1alpha1.ConditionBound, Status: "False", Reason: reason, Message: message},
		},
		Gates: []lifecycle.Gate{{Level: lifecycle.Progressing, Reason: reason, Message: message}},
	}
}
