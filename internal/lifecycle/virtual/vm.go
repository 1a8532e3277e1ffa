// SPDX-License-Identifier: Apache-2.0

package virtual

import (
	"time"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
)

// What the picture says of the VM. Without a picture, or with one of another VM than the one remembered, nothing is known: never a
// reason to act, nor to take the VM for gone (P10).

// States of Nova in which a VM may never have been launched. Any other word, known or not, is taken for one of a VM that was: what is
// taken for launched is never deleted by itself (I2).
var unlaunchedStates = map[string]bool{"": true, "BUILD": true, "ERROR": true, "DELETED": true, "SOFT_DELETED": true, "UNKNOWN": true}

func (s *state) reachable() bool { return s.Facts.Reachable }

// vmID is the VM that is meant: the one remembered. Memory of it is kept twice.
func (s *state) vmID() string {
	if s.Ledger.ProviderID == "" && s.Ledger.ProvisionedAt != nil {
		return s.Ledger.ProvisionedAt.ID
	}
	return s.Ledger.ProviderID
}

// about says that the picture is one of the VM that is meant, or of the only one known.
func (s *state) about() bool { return s.seen && (s.vmID() == "" || s.vm.ID == s.vmID()) }

// exists says that the VM was seen.
func (s *state) exists() bool { return s.about() && s.vm.Exists }

// gone says that the cloud answered 404 for the id of the VM remembered: a missing row of a listing never does.
func (s *state) gone() bool { return s.about() && !s.vm.Exists && s.vmID() != "" }

// unknown says that a VM is remembered, and nothing is known of it.
func (s *state) unknown() bool { return s.vmID() != "" && !s.about() }

// launchSeen says that the picture tells of a launch: Nova's launched_at is the second memory beside the latch. It outlives the VM: where
// it went before the latch was written, what it carried is lost all the same.
func (s *state) launchSeen() bool {
	if s.gone() {
		return s.vm.LaunchedAt != nil
	}
	return s.exists() && (s.vm.LaunchedAt != nil || !unlaunchedStates[s.vm.State])
}

// launched says that the VM was launched once, by memory or by the picture.
func (s *state) launched() bool { return s.Ledger.ProvisionedAt != nil || s.launchSeen() }

// launchTime is when the VM was first launched, as well as it is known. A rebuild makes Nova tell a later one.
func (s *state) launchTime() time.Time {
	if s.vm.LaunchedAt != nil {
		return s.vm.LaunchedAt.UTC()
	}
	return s.Now()
}

// ProviderCreateFailure says whether the creation of a server's VM has failed for good at the cloud: the cloud calls the VM broken, and
// there is no trace of a launch, neither in the ledger nor at the cloud. A VM that was launched once can never satisfy it (I2). It looks
// at the object alone: Decide and the monitor's pace (Unsettled) ask the very same question. Wakes need no filter by it, since every change
// of a picture is one.
func ProviderCreateFailure(server *v1alpha1.Server) bool {
	if server == nil {
		return false
	}
	s := newState(lifecycle.NewServerView(server, time.Time{}, lifecycle.Settings{}))
	return s.createFailed()
}

func (s *state) createFailed() bool {
	return s.Unreadable == nil && s.Ledger.ProviderID != "" && s.exists() && s.vm.Errored && !s.launched() && s.stampedOurs()
}

// stampedOurs says that the VM bears this server's identity and owner.
func (s *state) stampedOurs() bool {
	return s.vm.Identity == s.identity() && s.vm.Owner == s.Ledger.Owner
}

// busy says that the cloud is at something with the VM.
func (s *state) busy() bool {
	switch s.vm.State {
	case "REBUILD", "REBOOT", "HARD_REBOOT":
		return true
	}
	return s.vm.TaskState != ""
}

func (s *state) on() bool  { return s.Facts.PowerState == v1alpha1.ObservedOn }
func (s *state) off() bool { return s.Facts.PowerState == v1alpha1.ObservedOff }

func (s *state) comingUp() bool { return s.Facts.PowerState == v1alpha1.ObservedPoweringOn }

// picture are the clauses of everything that needs to know how the VM is: without a picture nothing is done, nothing is lost, and it
// goes on by itself when the picture comes. An open intent stays open meanwhile.
var picture = rules.Named("Picture", rules.Carrying(steps{
	{Name: "Unreachable", When: rules.Not((*state).reachable), Then: (*state).unreachable},
	{Name: "Unknown", When: (*state).unknown, Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonNotObserved, "waiting for a picture of the VM "+s.vmID()).Unknown()
	}},
}))

func (s *state) unreachable() answer {
	if s.V.Server.Status.Observed == nil {
		return s.Wait(v1alpha1.ReasonNotObserved, "the cloud was not looked at yet for this server").Unknown()
	}
	message := "the cloud does not answer"
	if s.Facts.Reason != "" {
		message += ": " + s.Facts.Reason
	}
	return s.Wait(v1alpha1.ReasonProviderUnreachable, message+". What is to be done waits and goes on by itself").Unknown()
}
