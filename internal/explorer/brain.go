// SPDX-License-Identifier: Apache-2.0

package explorer

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/claim"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/maintenance"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/metal"
)

// Brain is what decides in a world, and how its decisions are carried out. Production is the product's own; a Mutant wraps it to take
// one clause away.
type Brain struct {
	Server      func(lifecycle.ServerView) lifecycle.Decision
	Claim       func(claim.View) claim.Decision
	Maintenance func(maintenance.View) maintenance.Decision
	// LiveServers and LiveClaims decide again on a live view where a step asks for it (P4): about servers, and about claims and
	// maintenances.
	LiveServers, LiveClaims bool
	// Report writes a reconciler's own status, where a mutant reads that; nil: it is not played, since no decision sees it (P1).
	Report func(*v1alpha1.Server)
	// Expect lets the machine refuse an effect that relies on what is not so.
	Expect bool
}

// Production is what the managers run.
func Production() Brain {
	return Brain{Server: metal.Decide, Claim: claim.Decide, Maintenance: maintenance.Decide, LiveServers: true, LiveClaims: true, Expect: true}
}
