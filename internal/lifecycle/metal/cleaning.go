// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// cleaningSteps are the seam for what must happen before the next tenant. No policy but None is built: a machine that asks for
// another one is held, and not handed out (B075).
var cleaningSteps = rules.Named("Cleaning", steps{
	isElsewhere,
	{Name: "Policy", When: rules.Always[*state], Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonCleaning, fmt.Sprintf("the machine must be cleaned before its next claim, and this version does not know the policy %q: set spec.cleaning to None once you have cleaned it", s.Spec.Cleaning))
	}},
})
