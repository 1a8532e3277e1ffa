// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
)

// bind is a claim that has chosen and is not borne by any server yet: look again, then compare and swap.
func (d deciding) bind() Decision {
	name := d.Claim.Spec.ServerName
	if d.Server == nil {
		// Not "choose anew": after a restore the server may come back later, with this claim in its claimRef (P10, I8).
		return d.hold("Claim.ChosenMissing", v1alpha1.ReasonServerMissing,
			fmt.Sprintf("server %q, which was chosen for this claim, does not exist; restore it, or delete the claim", name))
	}
	if d.mayHaveRun() {
		return d.holdRestored()
	}
	if why := d.unfitNow(d.Server); why != "" {
		return d.chooseAgain("Claim.ChooseAgain", fmt.Sprintf("server %q cannot be bound (%s); chooses again", name, why))
	}
	return d.take(d.Server, "Claim.Bind")
}

// unfitNow looks at the chosen server again. That other claims chose it too does not count: the compare-and-swap decides.
func (d deciding) unfitNow(s *v1alpha1.Server) Unfit {
	v := d.View
	v.Speakers.Chosen = nil
	return UnfitFor(v, Assess(s, d.Settings))
}

// chooseAgain clears spec.serverName: the server was taken by another, or does not fit any more. Nothing was booted yet.
func (d deciding) chooseAgain(clause, message string) Decision {
	none := ""
	step := lifecycle.Step{
		Kind: lifecycle.StepPatch, Live: true, Clause: clause, Message: message,
		Patch: &lifecycle.Patch{ServerName: &none},
	}
	return d.pending(step, v1alpha1.ReasonBinding, message)
}

// choose finds a server among the candidates, or says why there is none. It then waits for a change of servers, on no timer.
func (d deciding) choose() Decision {
	if d.mayHaveRun() {
		return d.holdRestored()
	}
	if ref := d.Claim.Spec.ServerRef; ref != nil {
		return d.chooseNamed(ref.Name)
	}
	name, tally := Match(d.View)
	if name == "" {
		return d.pending(settled("Claim.NoMatch", tally.String()), v1alpha1.ReasonNoMatch, tally.String())
	}
	return d.name(name, "Claim.Choose")
}

func (d deciding) chooseNamed(name string) Decision {
	for _, c := range d.Candidates {
		if c.Server.Name != name {
			continue
		}
		if servers.IsVirtual(c.Server) {
			return d.askedForAVM(name)
		}
		if why := UnfitFor(d.View, c); why != "" {
			message := fmt.Sprintf("server %q cannot be bound now: %s", name, why)
			return d.pending(settled("Claim.NamedUnfit", message), v1alpha1.ReasonServerNotAvailable, message)
		}
		return d.name(name, "Claim.Choose")
	}
	return d.stuck("Claim.NoSuchServer", v1alpha1.ReasonNoSuchServer, fmt.Sprintf("there is no server %q", name))
}

// askedForAVM: a VM that exists is somebody's already, and is deleted with its claim by default. No claim gets one by asking for it.
func (d deciding) askedForAVM(name string) Decision {
	return d.stuck("Claim.NamedVM", v1alpha1.ReasonServerNotAvailable,
		fmt.Sprintf("server %q is a VM: a claim gets a VM of its own, by className", name))
}

// stuck is a claim without a server that waits for a person, or for another object to come.
func (d deciding) stuck(clause, reason, message string) Decision {
	decision := d.pending(settled(clause, message), reason, message)
	decision.Gates[0].Level = lifecycle.Stalled
	return decision
}
