// SPDX-License-Identifier: Apache-2.0

package search

import (
	"maps"

	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// ResumesOwing is what decides about servers, of machines or of VMs, less one clause: a server that a person resumes owes the restart that
// its claim asks for (docs/decisions/0160).
func ResumesOwing(decide func(lifecycle.ServerView) lifecycle.Decision) func(lifecycle.ServerView) lifecycle.Decision {
	return func(v lifecycle.ServerView) lifecycle.Decision {
		d := decide(v)
		if d.Step.Patch != nil && d.Step.Event == rules.EventResumed {
			patch := *d.Step.Patch
			patch.Ledger = maps.Clone(patch.Ledger)
			delete(patch.Ledger, ledger.KeyRestarted)
			d.Step.Patch = &patch
		}
		return d
	}
}
