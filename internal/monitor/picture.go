// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// taken says how a picture was taken.
type taken struct {
	intent ledger.Intent      // that was open before the provider was asked (R4); zero for none
	task   provider.TaskState // of the intent's task; zero where it has none, or nothing is known of it
	media  bool               // an image may be in the machine's drive, or is about to be: the drives matter
	at     time.Time          // when it was told: no state is dated before it began (docs/decisions/0161)

	project string // virtual: that was looked at
}

// mediaMatter says that an image of a claim may be in a virtual drive, or is about to be inserted: then alone the drives are looked at.
func mediaMatter(server *v1alpha1.Server) bool {
	remembered, err := ledger.ParseServer(server.Annotations)
	return err == nil && remembered.Boot != nil && remembered.Boot.Media != ""
}

// openIntent returns the intent that is open on a server. A ledger that cannot be read has none: the object is parked, and no
// picture may close what nobody can read.
func openIntent(server *v1alpha1.Server) ledger.Intent {
	remembered, err := ledger.ParseServer(server.Annotations)
	if err != nil || remembered.Intent == nil {
		return ledger.Intent{}
	}
	return *remembered.Intent
}

// serverPicture is the region after a look. before is the region the look is compared with, nil where there is none; it is not
// modified. Facts that were not read this time stay: the hardware, the drives while they matter, and on NotModified
// all of them.
func serverPicture(before *v1alpha1.ServerObserved, facts provider.SystemFacts, look taken) *v1alpha1.ServerObserved {
	picture := &v1alpha1.ServerObserved{}
	if before != nil {
		picture = before.DeepCopy()
	}
	picture.Reachable, picture.Reason = true, ""
	if !facts.NotModified {
		stateOf(picture, facts)
	}
	switch {
	case !look.media:
		picture.Media = nil
	case facts.Media != nil:
		picture.Media = mediaOf(facts.Media)
	}
	if facts.Hardware != nil {
		picture.Hardware = hardwareOf(*facts.Hardware, facts.Gaps, picture.Hardware)
	}
	if picture.Hardware != nil && facts.Serial != "" {
		// Told by every look: another machine behind the same Redfish Id must not bear the serial number of the one before it until
		// the inventory is read anew (P11).
		picture.Hardware.SerialNumber = v1alpha1.Fact(facts.Serial)
	}
	if before == nil || before.Since == nil || before.PowerState != picture.PowerState {
		picture.Since = new(metav1.NewTime(look.at.Truncate(time.Second)))
	}
	picture.Task, picture.TaskMonitor, picture.TaskMessage = string(taskOf(before, look)), "", ""
	switch {
	case look.task.Phase == provider.TaskFailed:
		picture.TaskMessage = v1alpha1.Fact(look.task.Message)
	case look.intent.Task != "" && before != nil && before.Intent == look.intent.ID:
		picture.TaskMessage = before.TaskMessage // of an earlier task, perhaps: one that fails each time is told in the same words
	}
	if picture.Task != "" {
		picture.TaskMonitor = v1alpha1.URL(look.intent.Task)
	}
	picture.Intent = v1alpha1.Fact(look.intent.ID)
	return picture
}

// taskOf is what is known of the task of the intent that is open: the last state seen where this look tells none. Another intent's
// task says nothing about this one's, nor does an earlier task of this one: an effect that is asked for again becomes another (B067).
func taskOf(before *v1alpha1.ServerObserved, look taken) provider.TaskPhase {
	if look.intent.Task == "" {
		return ""
	}
	if look.task.Phase == "" && before != nil && before.Intent == look.intent.ID && before.TaskMonitor == v1alpha1.URL(look.intent.Task) {
		return provider.TaskPhase(before.Task)
	}
	return look.task.Phase
}

func stateOf(picture *v1alpha1.ServerObserved, facts provider.SystemFacts) {
	picture.SystemUUID = v1alpha1.Fact(facts.UUID)
	picture.SystemID = v1alpha1.Fact(facts.ID)
	picture.PowerState = powerOf(facts.Power)
	picture.Health = v1alpha1.Fact(facts.Health)
	picture.IndicatorLED = v1alpha1.Fact(string(facts.Indicator))
	picture.BootOverride = overrideOf(facts.Boot)
	picture.BootProgress = v1alpha1.Fact(string(facts.BootProgress))
	picture.AssetTag = v1alpha1.Fact(facts.AssetTag)
	picture.StampUnsupported = !facts.StampSupport
}

// powerOf translates a power state; a word nobody knows is Unknown, never a reason to act (B028).
func powerOf(power provider.PowerState) v1alpha1.ObservedPower {
	switch power {
	case provider.PowerOn:
		return v1alpha1.ObservedOn
	case provider.PowerOff:
		return v1alpha1.ObservedOff
	case provider.PoweringOn:
		return v1alpha1.ObservedPoweringOn
	case provider.PoweringOff:
		return v1alpha1.ObservedPoweringOff
	case provider.PowerUnknown:
	}
	return v1alpha1.ObservedUnknown
}

func overrideOf(boot provider.BootOverride) *v1alpha1.ObservedBootOverride {
	if boot == (provider.BootOverride{}) {
		return nil
	}
	return &v1alpha1.ObservedBootOverride{
		Target:  v1alpha1.Fact(string(boot.Target)),
		Enabled: v1alpha1.Fact(string(boot.Enabled)),
		Mode:    v1alpha1.Fact(boot.Mode),
		HTTPURI: v1alpha1.URL(boot.HTTPURI),
	}
}

// mediaOf translates the drives; a machine that has none is told to have none.
func mediaOf(slots []provider.MediaSlot) *v1alpha1.ObservedMedia {
	media := &v1alpha1.ObservedMedia{}
	for _, slot := range slots[:min(len(slots), v1alpha1.MaxMediaSlots)] {
		media.Slots = append(media.Slots, v1alpha1.ObservedMediaSlot{
			Slot: v1alpha1.Fact(slot.Slot), Image: v1alpha1.URL(slot.Image), Inserted: slot.Inserted,
		})
	}
	return media
}

// serverFailed is the region after failures. The facts stay as last seen and keep the intent they were seen under: a failed
// look is no picture, and must not close an intent (R4).
func serverFailed(before *v1alpha1.ServerObserved, f failure) *v1alpha1.ServerObserved {
	picture := &v1alpha1.ServerObserved{PowerState: v1alpha1.ObservedUnknown}
	if before != nil {
		picture = before.DeepCopy()
	}
	picture.Reachable, picture.Reason = f.absent, v1alpha1.Fact(f.reason)
	return picture
}

// serverStanding is how the region speaks of a server.
func serverStanding(observed *v1alpha1.ServerObserved) standing {
	switch {
	case observed == nil:
		return standingUnknown
	case observed.Reachable && observed.Reason == "":
		return standingGood
	}
	return standingBad
}
