// SPDX-License-Identifier: Apache-2.0

package metal

import (
	"strings"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// initialSteps write memory before anything else is done: finalizer, identity, owner, and which object they were confirmed for.
var initialSteps = named("Initial", steps{
	{name: "DependencyMissing", when: func(s *state) bool { return s.v.BMC == nil }, then: dependencyMissing},
	{name: "DependencyDeleting", when: all((*state).fresh, (*state).bmcDeleting), then: func(s *state) answer {
		return hold(v1alpha1.ReasonDependencyDeleting, "the BMC "+s.v.BMC.Name+" is being deleted: it takes no new server. Make it anew, or delete the Server")
	}},
	{name: "AwaitGuard", when: all(not((*state).bmcDeleting), not((*state).bmcGuarded)), then: func(s *state) answer {
		return s.wait(v1alpha1.ReasonInitializing, "waiting until the BMC "+s.v.BMC.Name+" is guarded by the finalizer "+v1alpha1.FinalizerInUse)
	}},
	{name: "AwaitIdentity", when: all((*state).unidentified, not((*state).inventoried)), then: func(s *state) answer {
		return s.wait(v1alpha1.ReasonDiscovering, "the system has no UUID in the spec: waiting for a picture that tells its serial number").unknown()
	}},
	{name: "Unidentifiable", when: (*state).unidentified, then: func(*state) answer {
		return hold(v1alpha1.ReasonAmbiguousSystem, "nothing tells this machine from others: no system UUID, no serial number, no UUID of its manager. Delete the Server and enroll it with systemUUID")
	}},
	{name: "RememberLoss", when: all((*state).fresh, (*state).lostByBoth), then: rememberLoss},
	{name: "Remember", when: (*state).fresh, then: func(s *state) answer {
		entries := ledger.Entries{}.Identity(s.derived())
		if s.discoveredOff() {
			entries.DiscoveredAt(s.now())
		}
		return s.confirm("remember who this machine is, and that it is ours", entries)
	}},
	{name: "SystemReplaced", when: (*state).replaced, then: systemReplaced},
	{name: "Complete", when: not((*state).moved), then: func(s *state) answer {
		return s.confirm("complete what is remembered", ledger.Entries{})
	}},
	{name: "AwaitFacts", when: not((*state).sameSystem), then: func(s *state) answer {
		if s.systemMissing() {
			return systemMissing(s)
		}
		return s.wait(v1alpha1.ReasonInitializing, "the object was restored or moved: waiting for a picture that shows the same machine").unknown()
	}},
	{name: "Confirm", when: always, then: func(s *state) answer {
		return s.confirm("the object was restored or moved, and the machine is the same: confirm its memory", ledger.Entries{})
	}},
})

// lostByBoth says that a live claim has this server, and neither of them remembers: nothing is bound before it remembers itself, so
// memory was lost, and with it whether the machine has booted.
func (s *state) lostByBoth() bool {
	return s.spec.ClaimRef != nil && s.reserved() && s.claim.bound != s.derived()
}

// rememberLoss remembers who the machine is, and that it may have booted: the stage of a power-on that was announced and not seen is
// the one that holds until a person, or the machine, has told. It rests on what the claim does not say, so it is decided live.
func rememberLoss(s *state) answer {
	entries := s.dirty().Identity(s.derived()).Boot(s.boot(ledger.StageStarting)).Restarted(s.restartKnown())
	a := s.confirm("remember who this machine is; whether it has booted for its claim was forgotten", entries)
	a.Live = true
	return a
}

func dependencyMissing(s *state) answer {
	name := ""
	if s.spec.Redfish != nil {
		name = s.spec.Redfish.BMCRef.Name
	}
	return holdLive(v1alpha1.ReasonDependencyMissing, "there is no BMC "+name+": create it, or restore it")
}

// confirm is the patch after which memory is confirmed. A changed object drops any intent: what it announced was another time's.
func (s *state) confirm(message string, entries ledger.Entries) answer {
	p := lifecycle.Patch{Ledger: entries.Owner(s.v.Settings.ClusterID).ObjectUID(s.v.Server.UID)}
	if !s.deleting() {
		p.AddFinalizer = v1alpha1.FinalizerServer // the API server refuses one on an object being deleted
	}
	if s.led.Intent != nil {
		s.closeIntent(&p)
	}
	return patch(v1alpha1.ReasonInitializing, message, p)
}

func (s *state) bmcDeleting() bool { return s.v.BMC != nil && !s.v.BMC.DeletionTimestamp.IsZero() }

func (s *state) bmcGuarded() bool {
	for _, f := range s.v.BMC.Finalizers {
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
		h.SystemID = s.facts.SystemID
	}
	if s.facts.Hardware != nil {
		h.Serial = s.facts.Hardware.SerialNumber
	}
	if s.v.BMC != nil && s.v.BMC.Status.Observed != nil {
		h.ManagerUUID = s.v.BMC.Status.Observed.UUID
	}
	return h
}

// inventoried says that all that an identity may be derived from was looked at.
func (s *state) inventoried() bool { return s.reachable() && s.facts.Hardware != nil }

// unidentified says that there is no identity to remember yet. Without a UUID it takes the inventory: the serial number outranks
// what else could name the machine, and an identity is written once.
func (s *state) unidentified() bool {
	if !s.fresh() || s.system().UUID != "" {
		return false
	}
	return !s.inventoried() || s.derived() == ""
}

// replaced says that the machine is not the one remembered.
func (s *state) replaced() bool {
	ref := s.system()
	if ref.UUID == "" {
		return !s.fresh() && s.otherSerial()
	}
	if seen := s.facts.SystemUUID; seen != "" && !provider.SameUUID(seen, ref.UUID) && !strings.EqualFold(seen, ref.UUID) {
		return true
	}
	return !s.fresh() && ledger.MachineIdentity(ledger.Hardware{SystemUUID: ref.UUID}) != s.led.Identity
}

// otherSerial says that the picture tells a serial number, and neither that nor what else may name the machine gives the identity
// remembered. A picture without one tells nothing.
func (s *state) otherSerial() bool {
	h := s.hardware()
	bySerial := ledger.MachineIdentity(ledger.Hardware{Serial: h.Serial})
	h.Serial = ""
	return s.inventoried() && bySerial != "" && bySerial != s.led.Identity && ledger.MachineIdentity(h) != s.led.Identity
}

// sameSystem says that the picture is one of the machine remembered.
func (s *state) sameSystem() bool {
	if !s.reachable() || s.powerUnknown() {
		return false
	}
	if s.system().UUID != "" {
		return s.facts.SystemUUID != ""
	}
	return s.facts.Hardware != nil
}

func systemReplaced(s *state) answer {
	return hold(v1alpha1.ReasonSystemReplaced, "the machine at the BMC is not the one this Server remembers ("+s.led.Identity+"): delete the Server and enroll the new machine, or put the old one back")
}
