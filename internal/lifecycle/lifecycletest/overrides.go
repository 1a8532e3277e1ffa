// SPDX-License-Identifier: Apache-2.0

package lifecycletest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// All puts overrides together.
func All(overrides ...Override) Override {
	return func(s *Scene) {
		for _, o := range overrides {
			o(s)
		}
	}
}

// Spec changes the server's spec.
func Spec(change func(*v1alpha1.ServerSpec)) Override {
	return func(s *Scene) { change(&s.Server.Spec) }
}

// Ledger changes the server's ledger.
func Ledger(change func(*ledger.Server)) Override { return func(s *Scene) { change(&s.Ledger) } }

// Settings changes the operator's settings.
func Settings(change func(*lifecycle.Settings)) Override {
	return func(s *Scene) { change(&s.Settings) }
}

// Facts changes the picture. A scene without a picture gets one that knows nothing.
func Facts(change func(*v1alpha1.ServerObserved)) Override {
	return func(s *Scene) {
		if s.Server.Status.Observed == nil {
			s.Server.Status.Observed = &v1alpha1.ServerObserved{}
		}
		change(s.Server.Status.Observed)
	}
}

// Power is what the picture says of power.
func Power(p v1alpha1.ObservedPower) Override {
	return Facts(func(o *v1alpha1.ServerObserved) { o.PowerState = p })
}

// On, Off: what the picture says of power.
var (
	On  = Power(v1alpha1.ObservedOn)
	Off = Power(v1alpha1.ObservedOff)
)

// Unseen takes the picture away, as a wiped status does.
func Unseen(s *Scene) { s.Server.Status.Observed = nil }

// Unreachable is a BMC that does not answer; the other facts are the last ones seen.
var Unreachable = Facts(func(o *v1alpha1.ServerObserved) { o.Reachable, o.Reason = false, "Timeout" })

// ArmedPXE lets the next boot be from the network.
var ArmedPXE = Facts(func(o *v1alpha1.ServerObserved) {
	o.BootOverride = &v1alpha1.ObservedBootOverride{Target: "Pxe", Enabled: "Once", Mode: "UEFI"}
})

// Armed lets the very next boot be from target, with the URI where it takes one.
func Armed(target, uri string) Override {
	return Facts(func(o *v1alpha1.ServerObserved) {
		o.BootOverride = &v1alpha1.ObservedBootOverride{Target: target, Enabled: "Once", Mode: "UEFI", HTTPURI: uri}
	})
}

// InDrive lets the picture show an image in the virtual drive; "" an empty one.
func InDrive(image string) Override {
	return Facts(func(o *v1alpha1.ServerObserved) {
		o.Media = &v1alpha1.ObservedMedia{Slots: []v1alpha1.ObservedMediaSlot{{Slot: "Cd", Image: image, Inserted: image != ""}}}
	})
}

// AssetTag stands on the machine.
func AssetTag(tag string) Override {
	return Facts(func(o *v1alpha1.ServerObserved) { o.AssetTag = tag })
}

// Stamped lets the machine bear our stamp for the claim.
func Stamped(claim string) Override { return AssetTag(ledger.Stamp(Identity, ClusterID, claim)) }

// SeenSince is when the power state was first seen, in minutes before Now.
func SeenSince(minutes int) Override {
	return Facts(func(o *v1alpha1.ServerObserved) { t := metav1.NewTime(Before(minutes)); o.Since = &t })
}

// RememberedOn lets the ledger say why the machine may be On.
func RememberedOn(by ledger.PowerBy, id string) Override {
	return Ledger(func(l *ledger.Server) { l.PowerOn = &ledger.PowerOn{By: by, ID: id, At: Before(50)} })
}

// Announced lets a power-off intent stand, opened some minutes ago under the claim in force.
func Announced(why ledger.Why, minutes int) Override {
	return func(s *Scene) {
		i := &ledger.Intent{ID: "i-1", Op: ledger.IntentPowerOff, Why: why, At: Before(minutes), Target: SystemUUID}
		if ref := s.Server.Spec.ClaimRef; ref != nil {
			i.Claim, i.ClaimUID = ref.Identity, types.UID(ref.UID)
		} else if s.Ledger.Boot != nil {
			i.Claim = s.Ledger.Boot.Claim
		}
		s.Ledger.Intent = i
	}
}

// Asked lets the intent remember that the operating system was asked to shut down some minutes ago.
func Asked(minutes int) Override {
	return Ledger(func(l *ledger.Server) {
		if l.Intent != nil {
			l.Intent.Asked = Before(minutes)
		}
	})
}

// Pictured is a picture that was taken after the intent had been read (R4).
var Pictured = Facts(func(o *v1alpha1.ServerObserved) { o.Intent = "i-1" })

// TaskMonitor is the task that an announced power-off became.
const TaskMonitor = "/redfish/v1/TaskService/TaskMonitors/7"

// Tasked lets the intent that stands have become a task of the BMC, last seen in a phase, on a picture taken since.
func Tasked(phase provider.TaskPhase) Override {
	return func(s *Scene) {
		if s.Ledger.Intent == nil {
			return
		}
		s.Ledger.Intent.Task = TaskMonitor
		Facts(func(o *v1alpha1.ServerObserved) {
			o.Intent, o.Task, o.TaskMonitor = s.Ledger.Intent.ID, string(phase), TaskMonitor
		})(s)
	}
}

// Forced lets the task of the intent be that of a cut of power.
var Forced = Ledger(func(l *ledger.Server) {
	if l.Intent != nil {
		l.Intent.Forced = true
	}
})

// Deleting is a Server that somebody deleted.
func Deleting(s *Scene) { t := metav1.NewTime(Before(1)); s.Server.DeletionTimestamp = &t }

// Annotated is a Server that a person annotated.
func Annotated(key, value string) Override {
	return func(s *Scene) {
		if s.Server.Annotations == nil {
			s.Server.Annotations = map[string]string{}
		}
		s.Server.Annotations[key] = value
	}
}

// Garbled lets an entry of the ledger read as it stands here.
func Garbled(key, value string) Override {
	return func(s *Scene) {
		if s.Garbled == nil {
			s.Garbled = map[string]string{}
		}
		s.Garbled[key] = value
	}
}
