// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
)

// picture are the clauses of everything that needs to know how the machine is: without a picture nothing is done, nothing is lost,
// and it goes on by itself when the picture comes. An open intent stays open meanwhile.
var picture = named("Picture", carrying(steps{
	{name: "SystemMissing", when: (*state).systemMissing, then: systemMissing},
	{name: "Unreachable", when: not((*state).reachable), then: unreachable},
	{name: "SystemReplaced", when: (*state).replaced, then: systemReplaced},
	{name: "PowerUnknown", when: (*state).powerUnknown, then: func(s *state) answer {
		return s.wait(v1alpha1.ReasonNotObserved, "the BMC does not tell a power state that is understood: nothing is done until it does").unknown()
	}},
}))

// systemMissing says that the BMC answers, but not for this machine.
func (s *state) systemMissing() bool {
	return s.facts.Reason == v1alpha1.ReasonSystemNotFound || s.facts.Reason == v1alpha1.ReasonAmbiguousSystem
}

func systemMissing(s *state) answer {
	if s.facts.Reason == v1alpha1.ReasonAmbiguousSystem {
		return hold(v1alpha1.ReasonAmbiguousSystem, "several systems are behind this BMC and the Server names none of them: delete it and enroll it anew with systemUUID or systemID")
	}
	return hold(v1alpha1.ReasonSystemNotFound, "the BMC has no system "+s.target()+": correct the BMC's endpoint, or delete the Server and enroll it anew")
}

func unreachable(s *state) answer {
	if s.v.Server.Status.Observed == nil {
		return s.wait(v1alpha1.ReasonNotObserved, "the machine was not looked at yet").unknown()
	}
	message := "the BMC does not answer"
	if s.facts.Reason != "" {
		message += ": " + s.facts.Reason
	}
	return s.wait(v1alpha1.ReasonProviderUnreachable, message+". What is to be done waits and goes on by itself").unknown()
}
