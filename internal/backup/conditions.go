// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
)

// Condition names how a machine, or a VM, may be when its Server comes back.
type Condition string

// Of machines, and of VMs.
const (
	Off            Condition = "off"
	On             Condition = "on"
	OffStamped     Condition = "off, stamped for its claim"
	OnStamped      Condition = "on, stamped for its claim"
	OnStampedOther Condition = "on, stamped for another claim"

	VMNone     Condition = "no VM made yet"
	VMRunning  Condition = "VM runs"
	VMStopped  Condition = "VM stopped"
	VMGone     Condition = "VM gone"
	VMForeign  Condition = "VM stamped by another cluster"
	VMLeftOver Condition = "a VM of its name, of another identity"

	// Unreachable is when what the provider is reached with is not in the backup: nothing can be seen.
	Unreachable Condition = "not reached"
)

// condition is one way in which a server's machine may be found.
type condition struct {
	Condition
	// expected says that it is what the backup tells; where it tells nothing, several are.
	expected bool
	picture  v1alpha1.ServerObserved
	// refused is the reason for which the provider will refuse to make a VM; "" where it will not.
	refused string
}

// longBefore is how long before the restore the machine got into the state that it is found in: longer than any pause of the operator.
const longBefore = 24 * time.Hour

// observer knows of one server what conditions can be made of: the object as exported, its memory, and what its claim remembers.
type observer struct {
	server *v1alpha1.Server
	memory ledger.Server
	// claim is the identity of the claim that has, or had, the machine; "" where none is known. bound says that the claim itself remembers.
	claim string
	bound bool
	// cluster is who will restore; owner whose stamp is expected.
	cluster, owner string
	power          v1alpha1.Power // that whoever has the machine asks for
	now            time.Time
}

// conditions are the ways in which the machine may be found, the expected ones first.
func (o observer) conditions() []condition {
	found := o.machine()
	if o.server.Spec.OpenStack != nil {
		found = o.instance()
	}
	slices.SortStableFunc(found, func(a, b condition) int {
		switch {
		case a.expected == b.expected:
			return 0
		case a.expected:
			return -1
		}
		return 1
	})
	return found
}

// machine are the conditions of a machine. A last picture in the backup says more than memory does.
func (o observer) machine() []condition {
	all := []condition{o.metal(Off, ""), o.metal(On, "")}
	own := ledger.Stamp(o.identity(), o.owner, o.claim)
	if o.claim != "" && o.stampable() {
		all = append(all, o.metal(OffStamped, own), o.metal(OnStamped, own))
	}
	if o.stampable() {
		all = append(all, o.metal(OnStampedOther, ledger.Stamp(o.identity(), o.owner, "another")))
	}
	for i := range all {
		all[i].expected = o.expectsMachine(all[i].Condition)
	}
	return all
}

func (o observer) metal(name Condition, tag string) condition {
	picture := o.seenBefore()
	picture.PowerState, picture.BootProgress = v1alpha1.ObservedOff, ""
	if name == On || name == OnStamped || name == OnStampedOther {
		picture.PowerState, picture.BootProgress = v1alpha1.ObservedOn, "OSRunning"
	}
	picture.AssetTag = tag
	if tag == "" && o.memory.AssetTag != nil {
		picture.AssetTag = o.memory.AssetTag.Previous
	}
	return condition{Condition: name, picture: picture}
}

// seenBefore is a picture of the machine that differs from what is remembered in nothing.
func (o observer) seenBefore() v1alpha1.ServerObserved {
	since := metav1.NewTime(o.now.Add(-longBefore))
	picture := v1alpha1.ServerObserved{
		Reachable: true, Since: &since, Hardware: &v1alpha1.Hardware{}, IndicatorLED: string(o.server.Spec.IndicatorLED),
		BootOverride: &v1alpha1.ObservedBootOverride{Enabled: "Disabled", Target: "None"},
	}
	if redfish := o.server.Spec.Redfish; redfish != nil {
		picture.SystemUUID, picture.SystemID = redfish.SystemUUID, redfish.SystemID
	}
	if seen := o.server.Status.Observed; seen != nil {
		picture.Hardware = seen.Hardware
		if picture.Hardware == nil {
			picture.Hardware = &v1alpha1.Hardware{}
		}
		if picture.SystemUUID == "" {
			picture.SystemUUID = seen.SystemUUID
		}
		if picture.SystemID == "" {
			picture.SystemID = seen.SystemID
		}
		picture.StampUnsupported = seen.StampUnsupported
	}
	if o.memory.Identity == "" && picture.SystemUUID == "" && picture.Hardware.SerialNumber == "" {
		// Nothing in the backup tells the machine from others. The machine itself will.
		picture.Hardware = picture.Hardware.DeepCopy()
		picture.Hardware.SerialNumber = "of-" + o.server.Name
	}
	return picture
}

// stampable says that the machine can keep a stamp, as far as the backup tells.
func (o observer) stampable() bool {
	seen := o.server.Status.Observed
	return (seen == nil || !seen.StampUnsupported) && (o.memory.AssetTag == nil || !o.memory.AssetTag.Unwritable)
}

// identity is the one remembered, or that which will be.
func (o observer) identity() string {
	switch {
	case o.memory.Identity != "":
		return o.memory.Identity
	case o.server.Spec.OpenStack == nil:
		return ledger.MachineIdentity(ledger.Hardware{SystemUUID: o.server.Spec.Redfish.SystemUUID})
	case o.server.Spec.ClaimRef != nil:
		return ledger.ClaimedIdentity(o.server.Spec.ClaimRef.Identity)
	}
	return ledger.ObjectIdentity(newUID(KindServer, o.server))
}

// expectsMachine says whether the backup tells that the machine is so. Where it tells nothing (Git keeps no memory) it may be Off, On, or
// On for a claim that the backup does not know.
func (o observer) expectsMachine(name Condition) bool {
	if seen := o.server.Status.Observed; seen != nil && seen.Reachable {
		return name == o.lastSeen(*seen)
	}
	boot, stamped := o.memory.Boot, o.claim != "" && o.stampable()
	booted := (boot != nil && boot.Stage != ledger.StageBooting) || o.bound
	on := o.memory.PowerOn != nil || booted
	switch {
	case o.memory.Identity == "" && !o.bound:
		return name == Off || name == On || name == OnStampedOther
	case on && o.power != v1alpha1.PowerOff && booted && stamped:
		return name == OnStamped
	case on && o.power != v1alpha1.PowerOff:
		return name == On
	case booted && stamped:
		return name == OffStamped
	}
	return name == Off
}

// lastSeen is how the last picture shows the machine.
func (o observer) lastSeen(seen v1alpha1.ServerObserved) Condition {
	stamped := ledger.IsStamp(seen.AssetTag)
	own := stamped && o.claim != "" && seen.AssetTag == ledger.Stamp(o.identity(), o.owner, o.claim)
	off := seen.PowerState == v1alpha1.ObservedOff
	switch {
	case own && off:
		return OffStamped
	case own:
		return OnStamped
	case stamped:
		return OnStampedOther
	case off:
		return Off
	}
	return On
}
