// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// deletingSteps take everything of the server away at the cloud, each seen gone by id, then let the server go. The deletionTimestamp is
// the announcement (I7). The guards on what the server was made with are their own to drop, when an uncached list shows no user.
var deletingSteps = rules.Named("Deleting", rules.Join(
	elsewhere,
	rules.Carrying(steps{{Name: "Dismantle", When: rules.Always[*state], Then: func(s *state) answer {
		a := s.act(v1alpha1.ReasonDeleting, "take the VM away, with its ports and its floating IP, then let the server go", lifecycle.OpDismantle, "", lifecycle.VirtualEffect{})
		return a.Recording(*letGo("").Patch)
	}}}),
))

func letGo(message string) answer {
	return rules.Patch(v1alpha1.ReasonDeleting, message, lifecycle.Patch{RemoveFinalizer: v1alpha1.FinalizerServer})
}
