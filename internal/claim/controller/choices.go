// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// choices are the servers that claims of this process have chosen and that its cache may not show yet. With them in sight a thousand
// claims choose a thousand servers in one sweep, without waiting for each other's writes and without conflicts. An optimisation, safe to
// forget: what two processes choose alike, the compare-and-swap decides.
type choices struct {
	mu      sync.Mutex
	assumed map[types.NamespacedName]string // by claim
}

// decide decides about a claim with the choices of the passes before it in sight, and assumes the choice it makes.
func (c *choices) decide(view claim.View) claim.Decision {
	if !chooses(view) {
		return claim.Decide(view)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	self := claim.NameOf(view.Claim)
	chosen := maps.Clone(view.Speakers.Chosen)
	if chosen == nil {
		chosen = map[string]types.NamespacedName{}
	}
	assumed := false
	for other, server := range c.assumed {
		if _, known := chosen[server]; !known && other != self {
			chosen[server], assumed = other, true
		}
	}
	view.Speakers.Chosen = chosen
	decision := claim.Decide(view)
	if server := choice(decision); server != "" {
		if c.assumed == nil {
			c.assumed = map[types.NamespacedName]string{}
		}
		c.assumed[self] = server
	} else if assumed && decision.Step.Kind == lifecycle.StepSettled {
		// A choice that is not written in the end leaves no event behind: look again.
		decision.Step.Kind, decision.Step.After = lifecycle.StepWait, view.Settings.Backstop
	}
	return decision
}

// forget drops what was assumed of a claim: the cache shows it by now, or it was not written, or the claim is gone (B011).
func (c *choices) forget(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.assumed, name)
}

// chooses says that the claim may have to choose a server in this pass.
func chooses(view claim.View) bool {
	return claim.NeedsCandidates(view.Claim) && view.Claim.Spec.ServerName == ""
}

// choice is the server that a decision writes into the claim; "" for none.
func choice(decision claim.Decision) string {
	step := decision.Step
	if step.Kind != lifecycle.StepPatch || decision.OnServer != "" || step.Patch == nil || step.Patch.ServerName == nil {
		return ""
	}
	return *step.Patch.ServerName
}
