// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// picture are the clauses of everything that needs to know how the machine is: without a picture nothing is done, nothing is lost,
// and it goes on by itself when the picture comes. An open intent stays open meanwhile.
var picture = rules.Named("Picture", rules.Carrying(steps{
	{Name: "SystemMissing", When: (*state).systemMissing, Then: systemMissing},
	{Name: "Unreachable", When: rules.Not((*state).reachable), Then: unreachable},
	{Name: "SystemReplaced", When: (*state).replaced, Then: systemReplaced},
	{Name: "PowerUnknown", When: (*state).powerUnknown, Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonNotObserved, "the BMC does not tell a power state that is understood: nothing is done until it does").Unknown()
	}},
}))

// systemMissing says that the BMC answers, but not for this machine.
func (s *state) systemMissing() bool {
	return s.Facts.Reason == v1alpha1.ReasonSystemNotFound || s.Facts.Reason == v1alpha1.ReasonAmbiguousSystem
}

func systemMissing(s *state) answer {
	if s.Facts.Reason == v1alpha1.ReasonAmbiguousSystem {
		return rules.Hold(v1alpha1.ReasonAmbiguousSystem, "several systems are behind this BMC and the Server names none of them: delete it and enroll it anew with systemUUID or systemID")
	}
	return rules.Hold(v1alpha1.ReasonSystemNotFound, "the BMC has no system "+s.target()+": correct the BMC's endpoint, or delete the Server and enroll it anew")
}

func unreachable(s *state) answer {
	if s.V.Server.Status.Observed == nil {
		return s.Wait(v1alpha1.ReasonNotObserved, "the machine was not looked at yet").Unknown()
	}
	message := "the BMC does not answer"
	if s.Facts.Reason != "" {
		message += ": " + s.Facts.Reason
	}
	return s.Wait(v1alpha1.ReasonProviderUnreachable, message+". What is to be done waits and goes on by itself").Unknown()
}
