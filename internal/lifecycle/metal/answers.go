// SPDX-License-Identifier: Apache-2.0

package metal

import "github.com/holdfast-dev/holdfast/internal/lifecycle"

// act asks the provider for an effect on this machine.
func (s *state) act(reason, message string, e lifecycle.Effect) answer {
	e.System = s.system()
	return s.Act(reason, message, e)
}

// Reasons of the Events that only a machine's patches leave behind.
const (
	eventConsented = "PowerOffConsented"
	eventBootAgain = "BootAgain"
	eventBooted    = "BootedByConsent"
)
