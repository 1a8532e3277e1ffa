// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	servers "github.com/holdfast-dev/holdfast/internal/lifecycle/server"
)

// Candidate is a server as matching looks at it: what is costly to find out is found out once for each version of the object.
type Candidate struct {
	Server *v1alpha1.Server
	// Identity of the server, "" until its memory is written.
	Identity string
	// Available says that the server alone would be in phase Available: a machine with no hold, no intent, and nobody's.
	Available bool
	// Intent says that an intent is open.
	Intent bool
}

// Assess looks at one server. A function of the object and the settings alone, so a caller may keep the answer for as long as the
// object's UID and resourceVersion stay the same.
func Assess(s *v1alpha1.Server, settings lifecycle.Settings) Candidate {
	_, intent := s.Annotations[ledger.KeyIntent]
	return Candidate{Server: s, Identity: identityOf(s), Available: servers.Available(s, settings), Intent: intent}
}
