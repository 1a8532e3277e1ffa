// SPDX-License-Identifier: Apache-2.0

package metal

// releasedSteps leave a retained machine alone: its power stays, until a person clears claimRef.
var releasedSteps = named("Released", steps{
	{name: "Settled", when: always, then: func(*state) answer {
		return settled("released and retained: clear spec.claimRef to free it for another claim")
	}},
})
