// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// lostSteps hold a server whose VM went: what it carried is gone, and a new one in its place would hide that.
var lostSteps = rules.Named("Lost", steps{
	{Name: "Lost", When: rules.Always[*state], Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonLost, "the cloud has no VM "+s.vmID()+" any more, which ran here: it is never made anew by itself. Delete the claim, or a server that no claim has, to start anew")
	}},
})

// erroredSteps park a VM that runs, or ran, and is called broken: whatever it carries is still there, and a person knows what to do.
var erroredSteps = rules.Named("Errored", rules.Join(remember, steps{
	{Name: "Errored", When: rules.Always[*state], Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonErrored, "the cloud calls the VM "+s.vm.ID+" broken: "+orElse(s.vm.Fault, "no reason told")+". It was launched once, so nothing is done to it: repair it at the cloud, and it goes on by itself")
	}},
}))
