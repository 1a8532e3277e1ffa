// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// releasedSteps leave a retained machine alone: its power stays, until a person clears claimRef.
var releasedSteps = rules.Named("Released", steps{
	{Name: "Settled", When: rules.Always[*state], Then: func(*state) answer {
		return rules.Settled("released and retained: clear spec.claimRef to free it for another claim")
	}},
})
