// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
)

// othersTurn are reasons of an object that waits for what other people do, and says so.
var othersTurn = []string{
	v1alpha1.ReasonNoMatch, v1alpha1.ReasonNoSuchServer, v1alpha1.ReasonServerNotAvailable, v1alpha1.ReasonClassMissing, v1alpha1.ReasonMaintenance,
	v1alpha1.ReasonInUse, v1alpha1.ReasonAwaitingApproval,
}

// AwaitsClaim says that a server waits for what its claim is to write.
func AwaitsClaim(gates []lifecycle.Gate) bool {
	return len(gates) > 0 && gates[0].Reason == v1alpha1.ReasonAwaitingBound
}

// Stalls says that an object waits for a person.
func Stalls(gates []lifecycle.Gate) bool {
	return slices.ContainsFunc(gates, func(g lifecycle.Gate) bool { return g.Level == lifecycle.Stalled })
}

// GoesOn is what an object that has nothing to do any more says, first of all, of going on by itself; nil where it says that it waits for
// people, or nothing.
func GoesOn(gates []lifecycle.Gate) *lifecycle.Gate {
	if Stalls(gates) {
		return nil
	}
	first := slices.IndexFunc(gates, func(g lifecycle.Gate) bool { return g.Level == lifecycle.Progressing })
	if first < 0 || slices.Contains(othersTurn, gates[first].Reason) {
		return nil
	}
	return &gates[first]
}
