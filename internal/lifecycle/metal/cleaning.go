// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"fmt"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// cleaningSteps are the seam for what must happen before the next tenant. No policy but None is built: a machine that asks for
// another one is held, and not handed out (B075).
var cleaningSteps = named("Cleaning", steps{
	isElsewhere,
	{name: "Policy", when: always, then: func(s *state) answer {
		return hold(v1alpha1.ReasonCleaning, fmt.Sprintf("the machine must be cleaned before its next claim, and this version does not know the policy %q: set spec.cleaning to None once you have cleaned it", s.spec.Cleaning))
	}},
})
