// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/rules"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// initialSteps write memory before anything else is done: finalizer, identity, owner, and which object they were confirmed for.
var initialSteps = rules.Named("Initial", steps{
	{Name: "DependencyMissing", When: func(s *state) bool { return s.V.BMC == nil }, Then: dependencyMissing},
	{Name: "DependencyDeleting", When: rules.All((*state).Fresh, (*state).bmcDeleting), Then: func(s *state) answer {
		return rules.Hold(v1alpha1.ReasonDependencyDeleting, "the BMC "+s.V.BMC.Name+" is being deleted: it takes no new server. Make it anew, or delete the Server")
	}},
	{Name: "AwaitGuard", When: rules.All(rules.Not((*state).bmcDeleting), rules.Not((*state).bmcGuarded)), Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonInitializing, "waiting until the BMC "+s.V.BMC.Name+" is guarded by the finalizer "+v1alpha1.FinalizerInUse)
	}},
	{Name: "AwaitIdentity", When: rules.All((*state).unidentified, rules.Not((*state).inventoried)), Then: func(s *state) answer {
		return s.Wait(v1alpha1.ReasonDiscovering, "the system has no UUID in the spec: waiting for a picture that tells its serial number").Unknown()
	}},
	{Name: "Unidentifiable", When: (*state).unidentified, Then: func(*state) answer {
		return rules.Hold(v1alpha1.ReasonAmbiguousSystem, "nothing tells this machine from others: no system UUID, no serial number, no UUID of its manager. Delete the Server and enroll it with systemUUID")
	}},
	{Name: "RememberLoss", When: rules.All((*state).Fresh, (*state).lostByBoth), Then: rememberLoss},
	{Name: "Remember", When: (*state).Fresh, Then: func(s *state) answer {
		entries := ledger.Entries{}.Identity(s.derived())
		if s.discoveredOff() {
			entries.DiscoveredAt(s.Now())
		}
		return s.confirm("remember who this machine is, and that it is ours", entries)
	}},
	{Name: "SystemReplaced", When: (*state).replaced, Then: systemReplaced},
	{Name: "Complete", When: rules.Not((*state).Moved), Then: func(s *state) answer {
		return s.confirm("complete what is remembered", ledger.Entries{})
	}},
	{Name: "AwaitFacts", When: rules.Not((*state).sameSystem), Then: func(s *state) answer {
		if s.systemMissing() {
			return systemMissing(s)
		}
		return s.Wait(v1alpha1.ReasonInitializing, "the object was restored or moved: waiting for a picture that shows the same machine").Unknown()
	}},
	{Name: "Confirm", When: rules.Always[*state], Then: func(s *state) answer {
		return s.confirm("the object was restored or moved, and the machine is the same: confirm its memory", ledger.Entries{})
	}},
})

// lostByBoth says that a live claim has this server, and neither of them remembers: nothing is bound before it remembers itself, so
// memory was lost, and with it whether the machine has booted.
func (s *state) lostByBoth() bool {
	return s.Spec.ClaimRef != nil && s.Reserved() && s.Claim.Bound != s.derived()
}

// rememberLoss remembers who the machine is, and that it may have booted: the stage of a power-on that was announced and not seen is
// the one that holds until a person, or the machine, has told. It rests on what the claim does not say, so it is decided live.
func rememberLoss(s *state) answer {
	entries := s.dirty().Identity(s.derived()).Boot(s.boot(ledger.StageStarting)).Restarted(s.RestartKnown())
	a := s.confirm("remember who this machine is; whether it has booted for its claim was forgotten", entries)
	a.Live = true
	return a
}

func dependencyMissing(s *state) answer {
	name := ""
	if s.Spec.Redfish != nil {
		name = s.Spec.Redfish.BMCRef.Name
	}
	return rules.HoldLive(v1alpha1.ReasonDependencyMissing, "there is no BMC "+name+": create it, or restore it")
}

// confirm is the patch after which memory is confirmed. A changed object drops any intent: what it announced was another time's.
func (s *state) confirm(message string, entries ledger.Entries) answer {
	p := lifecycle.Patch{Ledger: entries.Owner(s.V.Settings.ClusterID).ObjectUID(s.V.Server.UID)}
	if !s.Deleting() {
		p.AddFinalizer = v1alpha1.FinalizerServer // the API server refuses one on an object being deleted
	}
	if s.Ledger.Intent != nil {
		s.closeIntent(&p)
	}
	return rules.Patch(v1alpha1.ReasonInitializing, message, p)
}

func (s *state) bmcDeleting() bool { return s.V.BMC != nil && !s.V.BMC.DeletionTimestamp.IsZero() }

func (s *state) bmcGuarded() bool {
	for _, f := range s.V.BMC.Finalizers {
		if f == v1alpha1.FinalizerInUse {
			return true
		}
	}
	return false
}

// derived is the identity that spec and facts give; "" while they give none.
func (s *state) derived() string { return ledger.MachineIdentity(s.hardware()) }

// hardware is what tells this machine from others.
func (s *state) hardware() ledger.Hardware {
	h := ledger.Hardware{SystemUUID: s.system().UUID, SystemID: s.system().ID}
	if h.SystemID == "" {
		h.SystemID = s.Facts.SystemID
	}
	if s.Facts.Hardware != nil {
		h.Serial = s.Facts.Hardware.SerialNumber
	}
	if s.V.BMC != nil && s.V.BMC.Status.Observed != nil {
		h.ManagerUUID = s.V.BMC.Status.Observed.UUID
	}
	return h
}

// inventoried says that all that an identity may be derived from was looked at.
func (s *state) inventoried() bool { return s.reachable() && s.Facts.Hardware != nil }

// unidentified says that there is no identity to remember yet. Without a UUID it takes the inventory: the serial number outranks
// what else could name the machine, and an identity is written once.
func (s *state) unidentified() bool {
	if !s.Fresh() || s.system().UUID != "" {
		return false
	}
	return !s.inventoried() || s.derived() == ""
}

// replaced says that the machine is not the one remembered.
func (s *state) replaced() bool {
	ref := s.system()
	if ref.UUID == "" {
		return !s.Fresh() && s.otherSerial()
	}
	if seen := s.Facts.SystemUUID; seen != "" && !provider.SameUUID(seen, ref.UUID) && !strings.EqualFold(seen, ref.UUID) {
		return true
	}
	return !s.Fresh() && ledger.MachineIdentity(ledger.Hardware{SystemUUID: ref.UUID}) != s.Ledger.Identity
}

// otherSerial says that the picture tells a serial number, and neither that nor what else may name the machine gives the identity
// remembered. A picture without one tells nothing, and neither does one without the BMC, whose identity the machine's may be.
func (s *state) otherSerial() bool {
	if s.V.BMC == nil {
		return false
	}
	h := s.hardware()
	bySerial := ledger.MachineIdentity(ledger.Hardware{Serial: h.Serial})
	h.Serial = ""
	return s.inventoried() && bySerial != "" && bySerial != s.Ledger.Identity && ledger.MachineIdentity(h) != s.Ledger.Identity
}

// sameSystem says that the picture is one of the machine remembered.
func (s *state) sameSystem() bool {
	if !s.reachable() || s.powerUnknown() {
		return false
	}
	if s.system().UUID != "" {
		return s.Facts.SystemUUID != ""
	}
	return s.Facts.Hardware != nil
}

func systemReplaced(s *state) answer {
	return rules.Hold(v1alpha1.ReasonSystemReplaced, "the machine at the BMC is not the one this Server remembers ("+s.Ledger.Identity+"): delete the Server and enroll the new machine, or put the old one back")
}
