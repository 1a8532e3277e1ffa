// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/holdfast-dev/holdfast/api/v1alpha1"
	"github.com/holdfast-dev/holdfast/internal/lifecycle"
	"github.com/holdfast-dev/holdfast/internal/lifecycle/ledger"
	lt "github.com/holdfast-dev/holdfast/internal/lifecycle/lifecycletest"
	"github.com/holdfast-dev/holdfast/internal/provider"
)

// anyScene draws a scene: one that a case shows with a few things changed, or one put together from whatever there is.
func anyScene(rt *rapid.T) *lt.Scene {
	base, most := lt.Override(nil), 12
	if rapid.IntRange(0, 4).Draw(rt, "near") > 0 {
		all := knownScenes
		base, most = all[rapid.IntRange(0, len(all)-1).Draw(rt, "case")], 3
	}
	overrides := []lt.Override{base}
	for range rapid.IntRange(0, most).Draw(rt, "changes") {
		overrides = append(overrides, rapid.SampledFrom(twists).Draw(rt, "change"))
	}
	return lt.New(overrides...)
}

// knownScenes are those of the cases.
var knownScenes = func() []lt.Override {
	var out []lt.Override
	for _, c := range cases() {
		out = append(out, c.given)
	}
	return out
}()

func claimChange(change func(*v1alpha1.ServerClaim)) lt.Override {
	return func(s *lt.Scene) {
		if s.Claim != nil {
			change(s.Claim)
		}
	}
}

// twists are things that may be different.
var twists = joinTwists(claimTwists, ledgerTwists, factTwists, specTwists, otherTwists, intentTwists())

func joinTwists(lists ...[]lt.Override) []lt.Override {
	var out []lt.Override
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

var claimTwists = []lt.Override{
	lt.Claimed, lt.All(lt.Claimed, lt.Bound), lt.All(lt.Claimed, lt.Bound), lt.All(lt.Claimed, lt.ClaimDeleting), lt.All(lt.Claimed, lt.Bound, lt.ClaimDeleting),
	lt.All(lt.Claimed, lt.ClaimGone), lt.RefCleared, lt.OtherBound,
	claimChange(func(c *v1alpha1.ServerClaim) { t := metav1.NewTime(lt.Now); c.DeletionTimestamp = &t }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.UID = "uid-2" }),
	claimChange(func(c *v1alpha1.ServerClaim) { delete(c.Annotations, ledger.KeyBound) }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyBound] = "elsewhere" }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyIdentity] = "claim-db" }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Annotations[ledger.KeyBound] = "" }), // cannot be read
	claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOff }), claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerKeep }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Power = v1alpha1.PowerOn }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Boot.When = v1alpha1.BootAlways }), claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Boot.Method = v1alpha1.BootDisk }),
	lt.BootBy(v1alpha1.BootHTTP), lt.BootBy(v1alpha1.BootVirtualMedia), lt.BootBy(v1alpha1.BootVirtualMedia),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.Boot.Image = "http://images.example/other.iso" }),
	claimChange(func(c *v1alpha1.ServerClaim) { c.Spec.ServerName = "other" }),
	claimChange(func(c *v1alpha1.ServerClaim) { t := metav1.NewTime(lt.Before(5)); c.Spec.RestartedAt = &t }),
	claimChange(func(c *v1alpha1.ServerClaim) { t := metav1.NewTime(lt.Before(90)); c.Spec.RestartedAt = &t }),
}

var ledgerTwists = []lt.Override{
	lt.RememberedOn(ledger.BySpec, ""), lt.RememberedOn(ledger.ByUnknown, ""), lt.RememberedOn(ledger.ByMaintenance, lt.Maintenance), lt.RememberedOn(ledger.ByClaim, lt.ClaimID), lt.RememberedOn(ledger.ByClaim, "claim-db"),
	lt.AtStage(ledger.StageBooting, 3), lt.AtStage(ledger.StageStarting, 3), lt.AtStage(ledger.StageBooted, 3), lt.AtStage(ledger.StageBooted, 60),
	lt.Ledger(func(l *ledger.Server) { *l = ledger.Server{} }),
	lt.Ledger(func(l *ledger.Server) { l.DiscoveredAt = time.Time{} }),
	lt.Ledger(func(l *ledger.Server) { l.PowerOn = nil }),
	lt.Ledger(func(l *ledger.Server) { l.Boot = nil }),
	lt.Ledger(func(l *ledger.Server) { l.Restarted = time.Time{} }),
	lt.Ledger(func(l *ledger.Server) { l.ObjectUID = "another" }), lt.Ledger(func(l *ledger.Server) { l.ObjectUID = "" }),
	lt.Ledger(func(l *ledger.Server) { l.Owner = "cluster-0" }), lt.Ledger(func(l *ledger.Server) { l.Owner = "" }),
	lt.Ledger(func(l *ledger.Server) { l.Identity = "another" }),
	lt.Ledger(func(l *ledger.Server) { l.OffAt = lt.Now }),
	lt.Ledger(func(l *ledger.Server) { l.DirtySince = lt.Before(9) }),
	lt.Ledger(func(l *ledger.Server) { l.Released = &ledger.Released{Claim: lt.ClaimID, At: lt.Before(9)} }),
	lt.Ledger(func(l *ledger.Server) {
		l.Boot = &ledger.Boot{Claim: "claim-db", Stage: ledger.StageBooted, At: lt.Before(9)}
	}),
	lt.Ledger(func(l *ledger.Server) { l.AssetTag = &ledger.AssetTag{Unwritable: true} }),
	lt.Ledger(func(l *ledger.Server) { l.RestoreEpoch = "e1" }),
	lt.MediaRemembered(lt.Image), lt.MediaRemembered("http://images.example/old.iso"), lt.MediaRemembered(""),
	lt.Garbled(ledger.KeyBoot, "{"),
}

var factTwists = []lt.Override{
	lt.On, lt.Off, lt.On, lt.Off, lt.Power(v1alpha1.ObservedPoweringOn), lt.Power(v1alpha1.ObservedPoweringOff), lt.Power(v1alpha1.ObservedUnknown), lt.Power("Paused"),
	lt.Stamped(lt.ClaimID), lt.Stamped("claim-db"), lt.AssetTag("shelf 7"), lt.AssetTag(""), lt.AssetTag(ledger.Stamp(lt.Identity, "cluster-0", lt.ClaimID)),
	lt.ArmedPXE, lt.Armed("UefiHttp", lt.Image), lt.Armed("Cd", ""), lt.InDrive(lt.Image), lt.InDrive(""), lt.Unseen, lt.Unreachable, lt.SeenSince(0), lt.SeenSince(2), lt.SeenSince(500), lt.Pictured,
	lt.Tasked(provider.TaskRunning), lt.Tasked(provider.TaskFailed), lt.All(lt.Tasked(provider.TaskFailed), lt.Forced), lt.Tasked(provider.TaskGone),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.Hardware = nil }),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.SystemUUID = "" }),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.SystemUUID = "11111111-2222-3333-4444-555555555555" }),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.Reason = v1alpha1.ReasonSystemNotFound }),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.StampUnsupported = true }),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.BootOverride = nil }),
	lt.Facts(func(o *v1alpha1.ServerObserved) { o.BootProgress = "OSRunning" }),
	lt.Facts(func(o *v1alpha1.ServerObserved) {
		o.BootOverride = &v1alpha1.ObservedBootOverride{Target: "Pxe", Enabled: "Continuous"}
	}),
}

var specTwists = []lt.Override{
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerOn }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = v1alpha1.PowerKeep }), lt.Spec(func(s *v1alpha1.ServerSpec) { s.Power = "" }),
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.PowerOff = v1alpha1.PowerOffNever }),
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.FoundRunning = v1alpha1.FoundRunningPowerOff }),
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.ReclaimPolicy = v1alpha1.ReclaimRetain }),
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.Cleaning = "Wipe" }),
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.IndicatorLED = v1alpha1.IndicatorLit }),
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.Paused = true }),
	lt.Spec(func(s *v1alpha1.ServerSpec) { s.Redfish = nil }),
	lt.Spec(func(s *v1alpha1.ServerSpec) {
		s.Redfish = &v1alpha1.RedfishSystem{BMCRef: v1alpha1.LocalObjectReference{Name: lt.BMCName}, SystemID: "1"}
	}),
}

var otherTwists = []lt.Override{
	lt.Deleting,
	lt.InMaintenance(v1alpha1.PowerOn), lt.InMaintenance(v1alpha1.PowerOff), lt.InMaintenance(v1alpha1.PowerKeep),
	func(s *lt.Scene) { lt.InMaintenance(v1alpha1.PowerOff)(s); s.Maintenance = nil },
	func(s *lt.Scene) {
		lt.InMaintenance(v1alpha1.PowerOff)(s)
		t := metav1.NewTime(lt.Now)
		s.Maintenance.DeletionTimestamp = &t
	},
	func(s *lt.Scene) { s.UserData = lifecycle.UserDataMissing }, func(s *lt.Scene) { s.UserData = lifecycle.UserDataDenied }, func(s *lt.Scene) { s.UserData = lifecycle.UserDataUnknown },
	lt.Settings(func(s *lifecycle.Settings) { s.Epoch = "e1" }), lt.Settings(func(s *lifecycle.Settings) { s.TakeOver = "cluster-0" }), lt.Settings(func(s *lifecycle.Settings) { *s = lifecycle.Settings{ClusterID: lt.ClusterID} }),
	func(s *lt.Scene) { s.Twins = []string{"rack9"} },
	func(s *lt.Scene) { s.BMC = nil }, func(s *lt.Scene) { s.BMC = &v1alpha1.BMC{} },
	func(s *lt.Scene) {
		t := metav1.NewTime(lt.Now)
		s.BMC = &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Name: lt.BMCName, DeletionTimestamp: &t}}
	},
	func(s *lt.Scene) { s.Server.Finalizers = nil },
	lt.Annotated(v1alpha1.AnnotationPowerOff, lt.Identity), overStamp, lt.Annotated(v1alpha1.AnnotationPowerOff, otherStampOf()), resumed, lt.Annotated(v1alpha1.AnnotationTakeOver, "cluster-0"),
	lt.Annotated(v1alpha1.AnnotationAbandon, lt.ServerName), lt.Annotated(v1alpha1.AnnotationBootAgain, lt.ClaimID), lt.Annotated(v1alpha1.AnnotationBooted, lt.ClaimID),
	lt.Annotated(v1alpha1.AnnotationPowerOff, "somebody else"), lt.Annotated(v1alpha1.AnnotationBreakGlass, "because"),
}

func intentTwists() []lt.Override {
	var out []lt.Override
	for _, why := range []ledger.Why{
		ledger.WhyDiscovery, ledger.WhySpec, ledger.WhyBootClaim, ledger.WhyClaimPower, ledger.WhyRestart, ledger.WhyReleased, ledger.WhyMaintenance, ledger.WhyConsent,
	} {
		out = append(out, lt.Announced(why, 1), lt.All(lt.Announced(why, 30), lt.Pictured))
	}
	return append(out, lt.Ledger(func(l *ledger.Server) { l.Intent = nil }))
}
